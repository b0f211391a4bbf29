"""Texts of an evaluation's queries and golds, for the commands that show them.

An evaluation's folder keeps the queries of public sets only. Those of a private one are read from
the user's file again, and only when that is asked for. Golds are looked up in an index.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval.queries.query_sets import read_query_set
from eval.queries.trec import is_jsonl, read_jsonl
from tam.errors import BadIndex, BadOption, TamError
from tam.files import sha256_file

if TYPE_CHECKING:
    from eval.golds.gold import Gold
    from manuals.library.editions import Library

#: the queries of a public set in an evaluation's folder
QUERIES = "queries.jsonl"
#: characters of a text that are shown
SHOWN = 200


@dataclass(frozen=True)
class Texts:
    """Query id -> text, the manuals that hold the golds, and lines on what cannot be shown."""

    queries: Mapping[str, str] = field(default_factory=dict, repr=False)
    library: Library | None = None
    notes: tuple[str, ...] = ()

    def query(self, query_id: str) -> str:
        """The beginning of a query's text; empty when it is not known."""
        return excerpt(self.queries.get(query_id, ""))

    def gold(self, gold: Gold) -> str:
        """The beginning of a gold's text; empty when it is not here."""
        if self.library is None:
            return ""
        try:
            manual = self.library.manual(gold.source, gold.year)
            return excerpt(manual.subtree_text(manual.get(gold.key)))
        except TamError:
            return ""


def excerpt(text: str, most: int = SHOWN) -> str:
    """The beginning of a text on one line."""
    line = " ".join(text[: 4 * most].split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def read_texts(
    folder: Path,
    report: Mapping[str, Any],
    root: Path,
    queries: Path | None = None,
    show_private: bool = False,
    columns: Mapping[str, str] | None = None,
) -> Texts:
    """The texts for the evaluation in ``folder`` with its report.

    ``root`` is an index or the folder of indexes; ``queries`` the file that was evaluated. Raises
    ``BadOption`` when it is another file, or its texts are private and ``show_private`` is off.
    """
    notes: list[str] = []
    found: dict[str, str] = {}
    if queries is not None:
        found = _of_file(report, queries, show_private, columns or {})
    elif (folder / QUERIES).is_file():
        found = {row["query_id"]: row["text"] for _, row in read_jsonl(folder / QUERIES)}
    elif show_private:
        raise BadOption("--show-private: name the file of the queries too, with --queries FILE")
    else:
        notes.append(
            "the queries are private and not kept here; to see their text give "
            "--queries FILE --show-private"
        )
    library = None
    try:
        library = _library(root, str(report.get("index", {}).get("corpus", "")))
    except (BadIndex, BadOption) as error:
        notes.append(f"no text of golds: {error}")
    return Texts(found, library, tuple(notes))


def _of_file(
    report: Mapping[str, Any], queries: Path, show_private: bool, columns: Mapping[str, str]
) -> dict[str, str]:
    from eval.queries.cases import read_cases

    if report.get("query_set", {}).get("private", True) and not show_private:
        raise BadOption(
            f"{queries}: these queries are private; add --show-private to print their text"
        )
    if not queries.is_file():
        raise BadOption(f"{queries}: no such file; check the path")
    made_from = report.get("inputs", {}).get("queries", {}).get("sha256")
    if sha256_file(queries) != made_from:
        raise BadOption(f"{queries}: not the file that was evaluated; give the same one")
    if is_jsonl(queries):
        return {query.query_id: query.text for query in read_query_set(queries).queries}
    return {case.case_id: case.text for case in read_cases(queries, columns)[1]}


def _library(root: Path, corpus: str) -> Library:
    from manuals.library.editions import load_library
    from retrievers.search.corpora import open_indexes

    (index,) = open_indexes(root, corpus)
    return load_library(index.path / "manuals")
