"""What became of each gold: where it was found and by which leg, or why it was not.

Reasons for a gold that no chunk retrieved covers, of which the first that holds counts:

- ``not indexed``: the index has no such edition or section, or no chunk of it;
- ``other year``: the gold's edition was not searched, or the section was found in another year's;
- ``no shared term``: no chunk of it has a word of the query (by the index's own tokenizer);
- ``too deep``: it shares words, but ranks below all that was retrieved.

``below k`` is said of a gold that was found, but not in the top k asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from eval.golds.coverage import MISSING, Coverage
from eval.golds.gold import Gold
from eval.measuring.judged import ViewName
from eval.measuring.plan import EvaluationPlan
from eval.measuring.views import View
from manuals.model.section_id import edition_name
from retrievers.search.index import Index, Ranking
from tam.records import from_json, to_json

Reason = Literal["", "not indexed", "other year", "no shared term", "too deep"]


@dataclass(frozen=True, slots=True)
class Place:
    """A retrieved chunk: its id, rank from 1, its rank in each leg that ranked it, and whether a
    search, a reference or a link brought it."""

    chunk_id: str
    rank: int
    legs: Mapping[str, int] = field(default_factory=dict)
    found_by: str = "search"


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What became of one gold.

    ``found`` is the first chunk that covers it and ``section_rank`` its rank among sections (0
    when not found). ``nearest`` is the best-ranked chunk of its source, where that does not cover
    it. For one that was not found ``other_year`` is the first chunk that holds the same key in
    another year.
    """

    gold: Gold
    reason: Reason = ""
    detail: str = ""
    found: Place | None = None
    section_rank: int = 0
    nearest: Place | None = None
    other_year: Place | None = None

    @property
    def rank(self) -> int:
        """Its rank among sections, else that of the chunk that covers it; 0 when not found."""
        return self.section_rank or (self.found.rank if self.found else 0)

    def to_json(self) -> dict[str, Any]:
        """The gold's fields and the rest in one object, for ``golds.jsonl``. No text."""
        row = to_json(self)
        return {**row.pop("gold"), **row}

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Diagnosis:
        """What ``to_json`` gave. Raises ``ValueError``."""
        return from_json(cls, {"gold": row, **row})


def diagnose(
    index: Index,
    coverage: Coverage,
    plan: EvaluationPlan,
    rankings: Sequence[Ranking],
    views: Mapping[ViewName, View],
) -> Iterator[Diagnosis]:
    """The diagnoses of a plan's golds in the order of its queries, those that are missing last."""
    section_ranks = _section_ranks(views)
    searched = [set(each.editions or ()) for each in plan.filters]
    for query, ranking, editions in zip(plan.queries, rankings, searched, strict=True):
        rows = ranking.rows.tolist()
        place = {row: rank for rank, row in enumerate(rows, 1)}
        lost: list[Gold] = []
        for gold in plan.golds[query.query_id]:
            held = [row for row in coverage.rows(gold) if row in place]
            if held:
                row = min(held, key=place.__getitem__)
                nearest = _nearest(index, ranking, gold.source)
                found = _place(index, ranking, row, place[row])
                yield Diagnosis(
                    gold,
                    found=found,
                    section_rank=section_ranks.get((query.query_id, gold.section), 0),
                    nearest=None if nearest == found else nearest,
                )
            else:
                lost.append(gold)
        if lost:
            yield from _lost(index, coverage, query.text, lost, ranking, editions)
    for gold, status in plan.missing:
        yield Diagnosis(gold, "not indexed", MISSING[status])


def _section_ranks(views: Mapping[ViewName, View]) -> dict[tuple[str, str], int]:
    view = views.get("sections")
    if view is None:
        return {}
    first = view.judged.first.tolist()
    return {
        (gold.query_id, gold.section): rank for gold, rank in zip(view.golds, first, strict=True)
    }


def _place(index: Index, ranking: Ranking, row: int, rank: int) -> Place:
    legs: dict[str, int] = {}
    for name, lists in ranking.legs.items():
        for each in lists:
            at = np.flatnonzero(each.rows == row)
            if len(at):
                legs[name] = min(legs.get(name, int(at[0]) + 1), int(at[0]) + 1)
    return Place(index.stored.chunks.ids[row], rank, legs, ranking.found_by(row))


def _nearest(index: Index, ranking: Ranking, source: str) -> Place | None:
    """The best-ranked chunk of a source."""
    chunks = index.stored.chunks
    code = chunks.sources.index(source)
    at = np.flatnonzero(chunks.source_codes[ranking.rows] == code)
    if not len(at):
        return None
    return _place(index, ranking, int(ranking.rows[at[0]]), int(at[0]) + 1)


def _lost(
    index: Index,
    coverage: Coverage,
    text: str,
    golds: Sequence[Gold],
    ranking: Ranking,
    searched: set[str],
) -> Iterator[Diagnosis]:
    chunks = index.stored.chunks
    rows = ranking.rows.tolist()
    sources = [chunks.sources[code] for code in chunks.source_codes[ranking.rows].tolist()]
    shared: set[int] | None = None
    for gold in golds:
        nearest = _nearest(index, ranking, gold.source)
        other = next(
            (
                (rank, row)
                for rank, row in enumerate(rows, 1)
                if sources[rank - 1] == gold.source
                and int(chunks.years[row]) != gold.year
                and gold.key in chunks.keys(row)
            ),
            None,
        )
        other_year = _place(index, ranking, other[1], other[0]) if other else None
        reason: Reason
        if searched and edition_name(gold.source, gold.year) not in searched:
            reason, detail = (
                "other year",
                f"the search was limited to {', '.join(sorted(searched))}",
            )
        elif other is not None:
            reason, detail = "other year", f"found in {int(chunks.years[other[1]])}"
        else:
            if shared is None:
                shared = _sharing(index, coverage, text, golds)
            if shared.isdisjoint(coverage.rows(gold)):
                reason, detail = "no shared term", "no chunk of it has a word of the query"
            else:
                reason, detail = "too deep", f"below the {len(rows)} chunks retrieved"
        yield Diagnosis(gold, reason, detail, nearest=nearest, other_year=other_year)


def _sharing(index: Index, coverage: Coverage, text: str, golds: Sequence[Gold]) -> set[int]:
    """Of the golds' rows those that share a term with the query."""
    bm25 = index.stored.bm25
    floor = np.float32(bm25.floor(text))
    sharing: set[int] = set()
    for source, year in sorted({(gold.source, gold.year) for gold in golds}):
        slices = index.stored.chunks.rows(source, year)
        scores = bm25.scores(text, slices)
        own = np.concatenate([np.arange(part.start, part.stop) for part in slices])
        sharing.update(own[scores != floor].tolist())
    return sharing
