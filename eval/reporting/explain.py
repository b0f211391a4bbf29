"""For one query of an evaluation: each gold, what found it at which rank, or why nothing did.

Reads ``golds.jsonl`` of an evaluation's folder; needs neither the index nor the query's text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from eval.queries.trec import read_jsonl, section_id
from eval.reporting.report import GOLDS
from tam.errors import BadCases, BadOption


def read_diagnoses(folder: Path, query_id: str) -> list[dict[str, Any]]:
    """The diagnoses of one query. Raises ``BadOption`` when the evaluation has no such query."""
    path = folder / GOLDS
    if not path.is_file():
        raise BadCases(f"{folder}: no evaluation here; make one with  tam eval --out {folder}")
    rows: list[dict[str, Any]] = []
    ids: dict[str, None] = {}
    for _, row in read_jsonl(path):
        ids[str(row.get("query_id"))] = None
        if row.get("query_id") == query_id:
            rows.append(row)
    if not rows:
        some = ", ".join(list(ids)[:3])
        raise BadOption(
            f"{folder}: no golds of query {query_id!r}; it has {len(ids):,} queries, such as {some}"
        )
    return rows


def explain_lines(rows: Sequence[dict[str, Any]], k: int) -> Iterator[str]:
    """The diagnoses as text, what is in the top k sections first."""
    top = [row for row in rows if row["found"] and _rank(row) <= k]
    yield f"{rows[0]['query_id']}: {len(top)} of {len(rows)} golds in the top {k}"
    for row in sorted(rows, key=lambda row: (row["found"] is None, _rank(row), row["key"])):
        yield ""
        note = f" ({row['note']})" if row["note"] else ""
        yield (
            f"{section_id(row['source'], row['year'], row['key'])}  "
            f"grade {row['grade']}, {row['origin']}{note}"
        )
        yield from (f"    {line}" for line in _what(row, k))


def _rank(row: dict[str, Any]) -> int:
    if row["section_rank"]:
        return int(row["section_rank"])
    return int(row["found"]["rank"]) if row["found"] else 0


def _what(row: dict[str, Any], k: int) -> Iterator[str]:
    found = row["found"]
    if found is None:
        yield f"missed: {row['reason']} ({row['detail']})"
        if row["other_year"]:
            yield f"in another year: {_place(row['other_year'])}"
        if row["nearest"]:
            yield f"best-ranked of {row['source']}: {_place(row['nearest'])}"
        return
    state = "found" if _rank(row) <= k else f"missed: below k = {k}"
    section = f"section rank {row['section_rank']}, " if row["section_rank"] else ""
    yield f"{state}: {section}{_place(found)}"
    if _rank(row) > k and row["nearest"]:
        yield f"best-ranked of {row['source']}: {_place(row['nearest'])}"


def _place(place: dict[str, Any]) -> str:
    legs = ", ".join(f"{leg} {rank}" for leg, rank in place["legs"].items())
    by = " by reference" if place["found_by"] == "reference" else ""
    return f"chunk {place['chunk_id']} at rank {place['rank']}{by} (legs: {legs or 'none'})"
