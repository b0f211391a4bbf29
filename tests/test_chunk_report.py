"""The report of counts beside the paper's, and the command that prints it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from chunkers.model.report import (
    Count,
    Report,
    count_chunks,
    format_counts,
    format_report,
    select_editions,
)
from manuals.library.editions import open_manuals
from manuals.model.source import SOURCES
from tam.cli.chunk import chunk
from tam.errors import BadOption, UnknownYear

COUNTS = {name: source.counts for name, source in SOURCES.items() if source.counts is not None}
TITLE_18 = tuple(
    Count("title18", year, COUNTS["title18"].measured[year][0], 100, 200)
    for year in range(2021, 2026)
)


def line_of(text: str, start: str) -> str:
    """The last line that begins so, once its blanks are collapsed."""
    lines = [" ".join(line.split()) for line in text.split("\n")]
    return [line for line in lines if line.startswith(start)][-1]


def test_papers_own_numbers() -> None:
    rows = {name: row.chunks for name, row in COUNTS.items()}
    assert rows == {
        "guidelines": 126, "tabular": 2255, "index": 14457, "title18": 6824, "ussg": 6267,
    }  # fmt: skip
    assert {(row.index, row.index_chunks) for row in COUNTS.values()} == {
        ("ICD-10-CM", 17138), ("legal", 13091),
    }  # fmt: skip
    assert sum(count.chunks for count in TITLE_18) == rows["title18"]


def test_a_full_row_is_compared() -> None:
    text = format_report(Report("paper", TITLE_18))
    assert line_of(text, "United States Code, Title 18") == (
        "United States Code, Title 18 2021-2025 6,824 6,824 equal"
    )
    assert line_of(text, "legal total") == "legal total 6,824 13,091 editions are missing"
    assert line_of(text, "title18 2023") == "title18 2023 1,366 1,366 as measured"
    off = (*TITLE_18[:-1], TITLE_18[-1]._replace(chunks=1300))
    text = format_report(Report("paper", off))
    assert line_of(text, "United States Code, Title 18").endswith("6,757 6,824 DIFFERS")
    assert line_of(text, "title18 2025") == "title18 2025 1,300 1,367 DIFFERS"


@pytest.mark.parametrize(
    ("years", "missing"),
    [
        ((2021, 2023, 2024, 2025), ()),
        ((2021,), (2023, 2024, 2025)),
        ((2025,), (2021, 2022, 2023, 2024)),
        ((), (2021, 2022, 2023, 2024, 2025)),
    ],
)
def test_missing_editions(years: tuple[int, ...], missing: tuple[int, ...]) -> None:
    """The manual of 2021 counts for 2022, which had none."""
    report = Report("paper", tuple(Count("ussg", year, 1250, 1, 1) for year in years))
    compared = report.compared("ussg", COUNTS["ussg"])
    assert compared.missing == missing
    assert compared.chunks == 1250 * (5 - len(missing))


def test_what_the_paper_leaves_open_is_said() -> None:
    text = format_report(Report("paper", TITLE_18))
    assert "add up to 16,838; it states 17,138 (+300)" in text
    assert "There is no ussg manual of 2022" in text
    assert "missing: ussg 2021-2025" in text
    assert "missing: index 2019" in text
    only = format_report(Report("paper", TITLE_18, sources=("title18",)))
    assert "16,838" not in only and "ussg" not in only and "legal total" not in only


def test_other_preset_and_sample_are_not_compared() -> None:
    counts = (Count("guidelines", 2025, 470, 170, 500),)
    text = format_report(Report("sections", counts))
    assert "DIFFERS" not in text and "preset paper" in text
    text = format_report(Report("paper", counts), official=False)
    assert "DIFFERS" not in text and "reference" not in text
    assert "DIFFERS" in format_report(Report("paper", counts))


def test_problems_are_printed() -> None:
    text = format_report(Report("paper", (), ("x.pdf: truncated PDF; download the file again",)))
    assert "x.pdf: truncated" in text
    assert "total" in format_counts(Report("paper", ()))


def test_select_editions(sample_manuals: Path) -> None:
    library = open_manuals(sample_manuals)
    chosen = select_editions(library, ["guidelines"], [2025])
    assert [edition.name for edition in chosen] == ["guidelines/2025"]
    assert select_editions(library) == library.editions
    with pytest.raises(BadOption, match="sources are guidelines"):
        select_editions(library, ["codes"])
    with pytest.raises(UnknownYear, match="guidelines/2024"):
        select_editions(library, ["guidelines"], [1999])


def test_counts_of_the_sample(sample_manuals: Path) -> None:
    library = open_manuals(sample_manuals)
    report = count_chunks(library, ["guidelines"])
    assert [(count.source, count.year) for count in report.counts] == [
        ("guidelines", 2024), ("guidelines", 2025),
    ]  # fmt: skip
    assert all(0 < count.median <= count.longest for count in report.counts)


def test_command(sample_manuals: Path, tmp_path: Path) -> None:
    base = ["--manuals", str(sample_manuals), "--source", "guidelines", "--year", "2025"]
    runner = CliRunner()
    report = runner.invoke(chunk, [*base, "--report"])
    assert report.exit_code == 0, report.output
    assert "missing: guidelines 2019" in report.output
    # The sample bears a real year but is not measured against the real edition.
    assert "DIFFERS" not in report.output
    path = tmp_path / "out" / "chunks.jsonl"
    written = runner.invoke(chunk, [*base, "--preset", "sections", "--jsonl", str(path)])
    assert written.exit_code == 0, written.output
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert written.output.startswith(f"{len(records)} chunks in ")
    assert len({record["id"] for record in records}) == len(records)
    first = records[0]
    assert (first["source"], first["year"]) == ("guidelines", 2025)
    assert first["effective_from"] == "2024-10-01" and first["effective_to"] == "2025-09-30"
    again = path.read_bytes()
    runner.invoke(chunk, [*base, "--preset", "sections", "--jsonl", str(path)])
    assert path.read_bytes() == again


@pytest.mark.real
def test_real_counts(real_manuals: Path) -> None:
    """Editions that the rules were measured on still give their counts.

    The index and the Guidelines Manual take long and have tests of their own;
    ``tam chunk --report`` compares them all.
    """
    library = open_manuals(real_manuals)
    report = count_chunks(library, ["guidelines", "tabular", "title18"])
    print("\n" + format_report(report))
    assert report.problems == ()
    measured = [count for count in report.counts if count.expected]
    assert len(measured) == 8
    assert [count for count in measured if not count.agrees] == []
