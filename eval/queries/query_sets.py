"""Query sets: queries with their golds and what is known of how they were made, as JSONL.

The first line of a file that ``tam queries make`` writes is a head, ``{"query_set": {...}}``; each
further line a query, ``{"query_id", "text", "year", "source", "golds": [...]}``. A file of one's
own needs ``query_id`` (or ``case_id``) and ``text`` only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eval.golds.gold import Gold, gold_of, qrels_of
from eval.queries.trec import read_jsonl, write_jsonl, write_qrels
from manuals.model.source import SOURCES
from tam.errors import BadCases
from tam.records import from_json, to_json

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Query:
    """One query. ``year`` is that of the editions to search; ``source`` limits the search to one
    manual. The text of a case is never written to a report."""

    query_id: str
    text: str = field(repr=False)
    year: int | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True)
class SetInfo:
    """How a query set was made.

    ``repeats_gold_text``: the queries are words of the golds themselves. ``made_from``: the kinds
    of links that the golds were read from (``index_entry_to_code``, ``appendix_a``); with such
    links switched on, a result shows that the mechanism works, not that it helps. ``text_from``:
    what the queries' texts are; an index that adds such texts to its chunks holds the answers.
    ``dropped`` counts what was left out, by reason. ``private``: the queries' texts stay in the
    user's file; those made from the manuals are public, any others only where their domain is.
    """

    name: str
    years: tuple[int, ...] = ()
    seed: int | None = None
    population: int | None = None
    repeats_gold_text: bool = False
    made_from: tuple[str, ...] = ()
    text_from: str = ""
    dropped: Mapping[str, int] = field(default_factory=dict)
    private: bool = True

    def warnings(self, links: bool = False) -> list[str]:
        """What a reader of a table over this set must know."""
        lines = []
        if self.repeats_gold_text:
            lines.append(f"{self.name}: the queries repeat text of their golds ({self.text_from})")
        if links and self.made_from:
            lines.append(
                f"{self.name}: circular with links on: the golds were read from "
                f"{', '.join(self.made_from)}"
            )
        return lines


@dataclass(frozen=True)
class QuerySet:
    """Queries and their golds; ``notes`` are lines about what could not be used."""

    info: SetInfo
    queries: tuple[Query, ...]
    golds: tuple[Gold, ...]
    notes: tuple[str, ...] = ()


def write_query_set(path: Path, query_set: QuerySet) -> Path:
    """Write the queries, and beside them their qrels; returns the path of the qrels."""
    golds: dict[str, list[dict[str, Any]]] = {}
    for gold in query_set.golds:
        row = to_json(gold)
        del row["query_id"]
        golds.setdefault(gold.query_id, []).append(row)
    info = to_json(query_set.info)
    head = {"query_set": {"format": FORMAT, **info, "queries": len(query_set.queries)}}
    rows = (
        {**to_json(query), "golds": golds.get(query.query_id, [])} for query in query_set.queries
    )
    write_jsonl(path, [head, *rows])
    qrels = path.with_suffix(".qrels.trec")
    write_qrels(qrels, qrels_of(query_set.golds))
    return qrels


def read_query_set(path: Path) -> QuerySet:
    """A JSONL file of queries; raises ``BadCases`` naming file and line."""
    info = SetInfo(path.stem)
    queries: list[Query] = []
    golds: list[Gold] = []
    seen: dict[str, int] = {}
    for line, row in read_jsonl(path):
        if "query_set" in row:
            if seen or not isinstance(row["query_set"], dict):
                raise BadCases(f"{path}:{line}: the head of a query set comes first and once")
            info = _info(path, line, row["query_set"])
            continue
        query = _query(path, line, row)
        if query.query_id in seen:
            raise BadCases(
                f"{path}:{line}: query {query.query_id!r} stands in line {seen[query.query_id]} "
                f"already; keep one"
            )
        seen[query.query_id] = line
        queries.append(query)
        own = row.get("golds", [])
        if not isinstance(own, list) or not all(isinstance(gold, dict) for gold in own):
            raise BadCases(f"{path}:{line}: golds is not a list of objects")
        golds.extend(gold_of(path, line, gold, query.query_id) for gold in own)
    if not queries:
        raise BadCases(f"{path}: no queries; give one JSON object on each line")
    return QuerySet(info, tuple(queries), tuple(golds))


def _query(path: Path, line: int, row: dict[str, Any]) -> Query:
    query_id = row.get("query_id", row.get("case_id"))
    if not isinstance(query_id, str) or not query_id:
        raise BadCases(f"{path}:{line}: no query_id; give every query an id, as a text")
    text = row.get("text")
    if not isinstance(text, str) or not text.strip():
        raise BadCases(f"{path}:{line}: text of query {query_id!r} is missing or empty")
    year = row.get("year")
    if year is not None and (isinstance(year, bool) or not isinstance(year, int)):
        raise BadCases(f"{path}:{line}: year is not a whole number; give one such as 2025")
    source = row.get("source")
    if source is not None and (not isinstance(source, str) or source not in SOURCES):
        raise BadCases(f"{path}:{line}: source is none of {', '.join(SOURCES)}")
    return Query(query_id, text, year, source)


def _info(path: Path, line: int, head: dict[str, Any]) -> SetInfo:
    if head.get("format") != FORMAT:
        raise BadCases(
            f"{path}:{line}: a query set of format {head.get('format')!r}, but this version of tam "
            f"reads format {FORMAT}; make it again with  tam queries make"
        )
    try:
        # Sets made from the manuals said nothing of privacy at first.
        return from_json(SetInfo, {"private": not head["text_from"], **head})
    except (KeyError, ValueError) as error:
        raise BadCases(f"{path}:{line}: the head of the query set is damaged") from error
