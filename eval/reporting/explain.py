"""For one query of an evaluation: each gold, what found it at which rank, or why nothing did.

Reads ``golds.jsonl`` of an evaluation's folder.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from eval.measuring.diagnosis import Diagnosis, Place
from eval.queries.trec import read_jsonl
from eval.reporting.report import GOLDS
from eval.reporting.texts import Texts
from tam.errors import BadCases, BadOption


def read_diagnoses(folder: Path, query_id: str) -> list[Diagnosis]:
    """The golds of one query. Raises ``BadOption`` when the evaluation has no such query."""
    found: list[Diagnosis] = []
    ids: dict[str, None] = {}
    for diagnosis in all_diagnoses(folder):
        ids[diagnosis.gold.query_id] = None
        if diagnosis.gold.query_id == query_id:
            found.append(diagnosis)
    if not found:
        some = ", ".join(list(ids)[:3])
        raise BadOption(
            f"{folder}: no golds of query {query_id!r}; it has {len(ids):,} queries, such as {some}"
        )
    return found


def all_diagnoses(folder: Path) -> Iterator[Diagnosis]:
    """All golds of an evaluation. Raises ``BadCases``."""
    path = folder / GOLDS
    if not path.is_file():
        raise BadCases(f"{folder}: no evaluation here; make one with  tam eval --out {folder}")
    for line, row in read_jsonl(path):
        try:
            yield Diagnosis.from_json(row)
        except ValueError as error:
            raise BadCases(f"{path}:{line}: not written by tam eval; make it again") from error


def explain_lines(found: Sequence[Diagnosis], k: int, texts: Texts | None = None) -> Iterator[str]:
    """The golds as text, what is in the top k sections first."""
    texts = texts or Texts()
    query_id = found[0].gold.query_id
    top = [each for each in found if each.found and each.rank <= k]
    yield f"{query_id}: {len(top)} of {len(found)} golds in the top {k}"
    if texts.query(query_id):
        yield f"    {texts.query(query_id)}"
    yield from texts.notes
    for each in sorted(found, key=lambda each: (each.found is None, each.rank, each.gold.key)):
        gold = each.gold
        note = f" ({gold.note})" if gold.note else ""
        yield ""
        yield f"{gold.section}  grade {gold.grade}, {gold.origin}{note}"
        if texts.gold(gold):
            yield f"    {texts.gold(gold)}"
        yield from (f"    {line}" for line in _what(each, k))


def _what(each: Diagnosis, k: int) -> Iterator[str]:
    nearest = f"best-ranked of {each.gold.source}: {_place(each.nearest)}" if each.nearest else ""
    if each.found is None:
        yield f"missed: {each.reason} ({each.detail})"
        if each.other_year:
            yield f"in another year: {_place(each.other_year)}"
        if nearest:
            yield nearest
        return
    state = "found" if each.rank <= k else f"missed: below k = {k}"
    section = f"section rank {each.section_rank}, " if each.section_rank else ""
    yield f"{state}: {section}{_place(each.found)}"
    if each.rank > k and nearest:
        yield nearest


def _place(place: Place) -> str:
    legs = ", ".join(f"{leg} {rank}" for leg, rank in place.legs.items())
    by = "" if place.found_by == "search" else f" by {place.found_by}"
    return f"chunk {place.chunk_id} at rank {place.rank}{by} (legs: {legs or 'none'})"
