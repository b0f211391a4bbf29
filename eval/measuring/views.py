"""Rankings of an index's rows laid against golds, in both views.

``chunks``: each position is a chunk as retrieved.

``sections``: chunks collapse to sections in rank order, before any cut:

- a chunk that covers golds of the query which no chunk above it covers stands for these golds, one
  position each, in the order of the golds;
- a chunk that covers only golds which are there already adds nothing;
- a chunk that covers no gold stands for its section (``manuals.model.units.unit_key``: the whole section of
  Title 18, the whole guideline, else the section that it is named by), the first time.

The tokens of a position are those of the chunk that brought it, counted once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from eval.golds.coverage import Coverage
from eval.golds.gold import Gold
from eval.measuring.judged import Floats, Ints, JudgedRun


@dataclass(frozen=True)
class RankedQuery:
    """A query with golds that the index holds: its rows, best first, with their scores."""

    query_id: str
    golds: tuple[Gold, ...]
    rows: Sequence[int] | NDArray[np.int64]
    scores: Sequence[float] | Floats


@dataclass(frozen=True, eq=False)
class View:
    """All queries in one view. ``ids`` [N] are the places in ``table`` of what stands at the
    positions of all queries, one query after the other; ``flat_scores`` [N] the scores."""

    judged: JudgedRun
    golds: tuple[Gold, ...]
    ids: Ints
    table: Sequence[str]
    flat_scores: Floats

    @cached_property
    def names(self) -> tuple[tuple[str, ...], ...]:
        """For each query the ids at its positions: chunk ids or section ids."""
        ids = self.ids.tolist()
        return tuple(tuple(self.table[at] for at in ids[part]) for part in self._parts)

    @cached_property
    def scores(self) -> tuple[tuple[float, ...], ...]:
        """For each query the scores of the chunks that brought them."""
        scores = self.flat_scores.tolist()
        return tuple(tuple(scores[part]) for part in self._parts)

    @property
    def _parts(self) -> list[slice]:
        ends = np.cumsum(self.judged.lengths)
        starts = ends - self.judged.lengths
        return list(map(slice, starts.tolist(), ends.tolist()))


class _Flat(NamedTuple):
    """All queries' results one after the other: ``query``, ``row`` and ``score`` [N], and the
    pairs [P] of ``result`` (place in these) and ``gold`` that it covers, in this order."""

    query: Ints
    row: Ints
    score: Floats
    golds: tuple[Gold, ...]
    gold_query: Ints
    result: Ints
    gold: Ints


def _flat(coverage: Coverage, queries: Sequence[RankedQuery]) -> _Flat:
    lengths = [len(each.rows) for each in queries]
    none: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
    row = np.concatenate(none + [np.asarray(each.rows, np.int64) for each in queries])
    score = np.concatenate([np.empty(0), *(np.asarray(each.scores, float) for each in queries)])
    golds = tuple(gold for each in queries for gold in each.golds)
    pairs: list[tuple[int, int]] = []
    start = number = 0
    for each, length in zip(queries, lengths, strict=True):
        rows = row[start : start + length].tolist()
        place = dict(zip(rows, range(start, start + length), strict=True))
        for gold in each.golds:
            pairs.extend((place[held], number) for held in coverage.rows(gold) if held in place)
            number += 1
        start += length
    pairs.sort()
    return _Flat(
        np.repeat(np.arange(len(queries)), lengths),
        row,
        score,
        golds,
        np.repeat(np.arange(len(queries)), [len(each.golds) for each in queries]),
        np.array([result for result, _ in pairs], np.int64),
        np.array([gold for _, gold in pairs], np.int64),
    )


def _positions(query: Ints, count: int) -> tuple[Ints, Ints]:
    """Of results in the order of ``count`` queries: the position of each, from 1, and the number
    of results of each query."""
    lengths = np.bincount(query, minlength=count)
    starts = np.cumsum(lengths) - lengths
    return np.arange(len(query)) - starts[query] + 1, lengths


def _spread(values: Ints, query: Ints, position: Ints, count: int) -> Ints:
    """[N] values to [Q, D], 0 where a query has no result."""
    table = np.zeros((count, int(position.max(initial=0))), np.int64)
    table[query, position - 1] = values
    return table


def chunks_view(coverage: Coverage, queries: Sequence[RankedQuery], shares: bool = True) -> View:
    """The queries in the view ``chunks``. Without ``shares`` the measure ``share`` is not to be
    had, and the golds' texts need not be read."""
    flat = _flat(coverage, queries)
    chunks = coverage.stored.chunks
    position, lengths = _positions(flat.query, len(queries))
    by_gold = np.argsort(flat.gold, kind="stable")
    result, gold = flat.result[by_gold], flat.gold[by_gold]
    judged = JudgedRun(
        view="chunks",
        queries=tuple(each.query_id for each in queries),
        gold_query=flat.gold_query,
        grade=np.array([each.grade for each in flat.golds], np.float64),
        pair_gold=gold,
        pair_position=position[result],
        tokens=_spread(chunks.tokens[flat.row], flat.query, position, len(queries)),
        lengths=lengths,
        share=_shares(coverage, flat.golds, gold, flat.row[result]) if shares else None,
    )
    return View(judged, flat.golds, flat.row, chunks.ids, flat.score)


def _shares(coverage: Coverage, golds: Sequence[Gold], gold: Ints, rows: Ints) -> Floats:
    """[P] of pairs in the order of the golds: the share of the gold's text that its rows down to
    this one cover together."""
    shares: list[float] = []
    held: dict[int, list[int]] = {}
    for number, row in zip(gold.tolist(), rows.tolist(), strict=True):
        held.setdefault(number, []).append(row)
    for number, own in held.items():
        shares.extend(coverage.shares(golds[number], own))
    return np.array(shares, np.float64)


def sections_view(coverage: Coverage, queries: Sequence[RankedQuery]) -> View:
    """The queries in the view ``sections``."""
    flat = _flat(coverage, queries)
    table, place = list(coverage.unit_names), dict(coverage.unit_places)
    gold_ids = np.array([_place(table, place, gold.section) for gold in flat.golds], np.int64)
    # What may stand at a position: the golds of each covering chunk, the unit of each other.
    plain = np.ones(len(flat.row), np.bool_)
    plain[flat.result] = False
    others = np.flatnonzero(plain)
    result = np.concatenate([others, flat.result])
    gold = np.concatenate([np.full(len(others), -1, np.int64), flat.gold])
    name = np.concatenate([coverage.unit_ids[flat.row[others]], gold_ids[flat.gold]])
    order = np.lexsort((gold, result))
    result, gold, name = result[order], gold[order], name[order]
    _, first = np.unique(flat.query[result] * len(table) + name, return_index=True)
    first.sort()
    result, gold, name = result[first], gold[first], name[first]
    query = flat.query[result]
    position, lengths = _positions(query, len(queries))
    new = np.ones(len(result), np.bool_)
    new[1:] = result[1:] != result[:-1]
    tokens = np.where(new, coverage.stored.chunks.tokens[flat.row[result]], 0)
    found = gold >= 0
    judged = JudgedRun(
        view="sections",
        queries=tuple(each.query_id for each in queries),
        gold_query=flat.gold_query,
        grade=np.array([each.grade for each in flat.golds], np.float64),
        pair_gold=gold[found],
        pair_position=position[found],
        tokens=_spread(tokens, query, position, len(queries)),
        lengths=lengths,
    )
    return View(judged, flat.golds, name, table, flat.score[result])


def _place(table: list[str], place: dict[str, int], name: str) -> int:
    """The place of a name in a table, to which it is added when it is new."""
    if name not in place:
        place[name] = len(table)
        table.append(name)
    return place[name]
