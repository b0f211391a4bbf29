"""Rankings of an index's rows laid against golds, in both views.

``chunks``: each position is a chunk as retrieved.

``sections``: chunks collapse to sections in rank order, before any cut:

- a chunk that covers golds of the query which no chunk above it covers stands for these golds, one
  position each, in the order of the golds;
- a chunk that covers only golds which are there already adds nothing;
- a chunk that covers no gold stands for its section (``coverage.unit_key``: the whole section of
  Title 18, the whole guideline, else the section that it is named by), the first time.

The tokens of a position are those of the chunk that brought it, counted once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eval.coverage import Coverage
from eval.golds import Gold
from eval.judged import Judged, ViewName


@dataclass(frozen=True)
class Ranked:
    """A query with golds that the index holds: its rows, best first, with their scores."""

    query_id: str
    golds: tuple[Gold, ...]
    rows: Sequence[int]
    scores: Sequence[float]


@dataclass(frozen=True)
class View:
    """All queries in one view. ``names`` are for each query the ids at its positions (chunk ids or
    section ids), ``scores`` those of the chunks that brought them."""

    judged: Judged
    golds: tuple[Gold, ...]
    names: tuple[tuple[str, ...], ...]
    scores: tuple[tuple[float, ...], ...]


class _Builder:
    """Collects one view query by query."""

    def __init__(self, view: ViewName) -> None:
        self.view = view
        self.golds: list[Gold] = []
        self.gold_query: list[int] = []
        self.pairs: list[tuple[int, int]] = []
        self.shares: list[float] = []
        self.names: list[tuple[str, ...]] = []
        self.scores: list[tuple[float, ...]] = []
        self.tokens: list[list[int]] = []

    def golds_of(self, each: Ranked) -> int:
        """Take in a query's golds; returns the number of the first."""
        first = len(self.golds)
        self.golds.extend(each.golds)
        self.gold_query.extend([len(self.names)] * len(each.golds))
        return first

    def query(self, names: list[str], scores: list[float], tokens: list[int]) -> None:
        self.names.append(tuple(names))
        self.scores.append(tuple(scores))
        self.tokens.append(tokens)

    def view_of(self, queries: Sequence[Ranked]) -> View:
        depth = max(map(len, self.tokens), default=0)
        tokens = np.zeros((len(self.tokens), depth), dtype=np.int64)
        for at, row in enumerate(self.tokens):
            tokens[at, : len(row)] = row
        judged = Judged(
            view=self.view,
            queries=tuple(each.query_id for each in queries),
            gold_query=np.array(self.gold_query, dtype=np.int64),
            grade=np.array([gold.grade for gold in self.golds], dtype=np.float64),
            pair_gold=np.array([gold for gold, _ in self.pairs], dtype=np.int64),
            pair_position=np.array([place for _, place in self.pairs], dtype=np.int64),
            tokens=tokens,
            lengths=np.array([len(row) for row in self.tokens], dtype=np.int64),
            share=np.array(self.shares) if self.view == "chunks" else None,
        )
        return View(judged, tuple(self.golds), tuple(self.names), tuple(self.scores))


def chunks_view(coverage: Coverage, queries: Sequence[Ranked]) -> View:
    """The queries in the view ``chunks``."""
    builder = _Builder("chunks")
    ids, all_tokens = coverage.stored.chunks.ids, coverage.stored.chunks.tokens
    for each in queries:
        first = builder.golds_of(each)
        place = {row: at for at, row in enumerate(each.rows, 1)}
        for number, gold in enumerate(each.golds, first):
            places = sorted(place[row] for row in coverage.rows(gold) if row in place)
            builder.pairs.extend((number, at) for at in places)
            builder.shares.extend(coverage.shares(gold, [each.rows[at - 1] for at in places]))
        builder.query(
            [ids[row] for row in each.rows],
            list(each.scores),
            [int(all_tokens[row]) for row in each.rows],
        )
    return builder.view_of(queries)


def sections_view(coverage: Coverage, queries: Sequence[Ranked]) -> View:
    """The queries in the view ``sections``."""
    builder = _Builder("sections")
    units, all_tokens = coverage.units, coverage.stored.chunks.tokens
    for each in queries:
        first = builder.golds_of(each)
        covered_by: dict[int, list[int]] = {}
        for number, gold in enumerate(each.golds, first):
            for row in coverage.rows(gold):
                covered_by.setdefault(row, []).append(number)
        names: dict[str, None] = {}
        scores: list[float] = []
        tokens: list[int] = []
        for row, score in zip(each.rows, each.scores, strict=True):
            before = len(names)
            numbers = covered_by.get(row)
            if numbers is None:
                names.setdefault(units[row])
            else:
                for number in numbers:
                    name = builder.golds[number].section
                    if name not in names:
                        names[name] = None
                        builder.pairs.append((number, len(names)))
            added = len(names) - before
            if added:
                scores.extend([score] * added)
                tokens.extend([int(all_tokens[row]), *[0] * (added - 1)])
        builder.query(list(names), scores, tokens)
    return builder.view_of(queries)
