"""A study's page: prose by hand, with the table that the study printed between two marks."""

from __future__ import annotations

from pathlib import Path

from eval.ablation.reporting.summary import Summary
from eval.ablation.reporting.tables import details
from tam.errors import StudyError
from tam.files import write_text

BEGIN, END = "<!-- table -->", "<!-- end of table -->"


def fill_page(path: Path, summary: Summary) -> None:
    """Put the study's table between the marks of a Markdown page; a page that is not there is made
    of title and table. Raises ``StudyError`` for a page without the marks."""
    if path.exists():
        text = path.read_text(encoding="utf-8")
    else:
        text = f"# {summary.study.title}\n\n{summary.study.about}\n\n{BEGIN}\n{END}\n"
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise StudyError(f"{path}: no lines {BEGIN} and {END} for the table; add them")
    write_text(path, f"{before}{BEGIN}\n\n{details(summary)}\n{END}{after}")
