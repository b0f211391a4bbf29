"""A run laid against golds: which result covers which gold, as arrays.

Both views have one form, so that every measure is one function. A result stands at a position
(1, 2, ...) of its query and covers some of the query's golds:

``chunks``
    a position is a chunk, as retrieved. One chunk can cover several golds, several chunks one gold.
``sections``
    a position is a section; every gold stands at one position at most. ``views.sections_view``
    collapses chunks to sections in rank order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from eval.queries.trec import Qrel, RunRow

ViewName = Literal["sections", "chunks"]
VIEWS: tuple[ViewName, ...] = ("sections", "chunks")
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class JudgedRun:
    """Results of Q queries to depth D, judged by G golds.

    ``queries``: ids, each with at least one gold. ``gold_query`` [G]: index of the gold's query;
    ``grade`` [G]: above 0. ``pair_gold`` and ``pair_position`` [P]: gold and position of each
    covering. ``tokens`` [Q, D]: tokens of the chunk at each position (0 where it adds none);
    ``lengths`` [Q]: results of each query, 0 for a query that the run does not hold.
    ``share`` [P] or ``None``: share of the gold's text that the results down to this position
    cover together, from 0 to 1.
    """

    view: ViewName
    queries: tuple[str, ...]
    gold_query: Ints
    grade: Floats
    pair_gold: Ints
    pair_position: Ints
    tokens: Ints
    lengths: Ints
    share: Floats | None = None

    @property
    def depth(self) -> int:
        return int(self.tokens.shape[1])

    @cached_property
    def golds(self) -> Ints:
        """[Q] number of golds of each query."""
        return np.bincount(self.gold_query, minlength=len(self.queries)).astype(np.int64)

    @cached_property
    def first(self) -> Ints:
        """[G] first position that covers the gold, 0 when none does."""
        far = self.depth + 1
        first = np.full(len(self.gold_query), far, dtype=np.int64)
        np.minimum.at(first, self.pair_gold, self.pair_position)
        return np.where(first == far, 0, first)

    def _spread(self, values: Floats) -> Floats:
        """[Q, D] sums of one value for each gold, at the position that covers it first."""
        found = self.first > 0
        out = np.zeros((len(self.queries), self.depth))
        np.add.at(out, (self.gold_query[found], self.first[found] - 1), values[found])
        return out

    @cached_property
    def new(self) -> Floats:
        """[Q, D] golds that the position covers and none before it."""
        return self._spread(np.ones(len(self.gold_query)))

    @cached_property
    def gain(self) -> Floats:
        """[Q, D] their grades, summed."""
        return self._spread(self.grade)

    @cached_property
    def covering(self) -> Bools:
        """[Q, D] whether the position covers any gold, new or not."""
        out = np.zeros((len(self.queries), self.depth), dtype=np.bool_)
        out[self.gold_query[self.pair_gold], self.pair_position - 1] = True
        return out

    def select(self, wanted: Bools) -> JudgedRun:
        """Only the golds where ``wanted`` [G] is true, and the queries that still have one.

        Positions stay as they are: the rest of the results is still in the way.
        """
        kept_queries = np.unique(self.gold_query[wanted])
        new_query = np.full(len(self.queries), -1, dtype=np.int64)
        new_query[kept_queries] = np.arange(len(kept_queries))
        new_gold = np.cumsum(wanted) - 1
        pairs = wanted[self.pair_gold]
        return JudgedRun(
            view=self.view,
            queries=tuple(self.queries[at] for at in kept_queries),
            gold_query=new_query[self.gold_query[wanted]],
            grade=self.grade[wanted],
            pair_gold=new_gold[self.pair_gold[pairs]],
            pair_position=self.pair_position[pairs],
            tokens=self.tokens[kept_queries],
            lengths=self.lengths[kept_queries],
            share=None if self.share is None else self.share[pairs],
        )


def judge(
    run: Iterable[RunRow],
    qrels: Iterable[Qrel],
    view: ViewName = "sections",
    tokens: Mapping[str, int] | None = None,
) -> JudgedRun:
    """Judge a run by qrels over the same ids; ``run`` is in rank order within each query.

    A query that the qrels hold and the run does not counts with no results (ir_measures's rule);
    one without a grade above 0 is left out; one that only the run holds is not looked at.
    """
    results: dict[str, list[str]] = {}
    for row in run:
        results.setdefault(row.query_id, []).append(row.doc_id)
    golds: dict[str, dict[str, int]] = {}
    for qrel in qrels:
        if qrel.grade > 0:
            golds.setdefault(qrel.query_id, {})[qrel.doc_id] = qrel.grade
    queries = sorted(golds)
    depth = max([len(results.get(query, ())) for query in queries], default=0)
    lengths = np.zeros(len(queries), dtype=np.int64)
    token_rows = np.zeros((len(queries), depth), dtype=np.int64)
    gold_query: list[int] = []
    grades: list[float] = []
    pairs: list[tuple[int, int]] = []
    for at, query in enumerate(queries):
        docs = results.get(query, [])
        lengths[at] = len(docs)
        if tokens is not None:
            token_rows[at, : len(docs)] = [tokens.get(doc, 0) for doc in docs]
        position = {doc: place for place, doc in enumerate(docs, 1)}
        for doc, grade in golds[query].items():
            if doc in position:
                pairs.append((len(gold_query), position[doc]))
            gold_query.append(at)
            grades.append(float(grade))
    return JudgedRun(
        view=view,
        queries=tuple(queries),
        gold_query=np.array(gold_query, dtype=np.int64),
        grade=np.array(grades, dtype=np.float64),
        pair_gold=np.array([gold for gold, _ in pairs], dtype=np.int64),
        pair_position=np.array([place for _, place in pairs], dtype=np.int64),
        tokens=token_rows,
        lengths=lengths,
    )


def without_golds(qrels: Sequence[Qrel]) -> list[str]:
    """Queries of the qrels that no grade above 0 belongs to, ascending."""
    judged = {qrel.query_id for qrel in qrels}
    return sorted(judged - {qrel.query_id for qrel in qrels if qrel.grade > 0})
