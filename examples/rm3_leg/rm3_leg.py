"""BM25 with RM3 feedback: the query grows by the words of the first chunks that it finds.

The relevance model (Lavrenko and Croft, SIGIR 2001) gives a term w the weight
``sum over the first documents d of score(d) * count(w, d) / length(d)``; RM3 (Abdul-Jaleel et al.,
TREC 2004) keeps the strongest terms, scales them to a sum of 1 and mixes them with the query's own.
The documents are those that the filter allows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from indexers.legs.bm25.leg import Bm25Ranker
from indexers.legs.model import Allowed, BuildContext, Leg, OpenedIndex, Queries
from indexers.legs.ranking import RankedRows, Rows, top_rows


class Rm3Ranker:
    def __init__(self, first: Bm25Ranker, places: Rows, leg: Rm3Leg) -> None:
        self._first, self._places, self._leg = first, places, leg

    def rank(self, queries: Queries, allowed: Allowed, depth: int) -> Iterator[RankedRows]:
        bm25, rows = self._first.bm25, allowed.rows
        for query, found in zip(
            queries.texts, self._first.rank(queries, allowed, self._leg.fb_docs), strict=True
        ):
            weights = self.expanded(query, found)
            numbers = np.flatnonzero(weights)
            counts = weights[numbers].astype(np.float32)
            scores = allowed.keep(bm25.weighted_scores(numbers, counts, allowed.slices))
            matching = np.flatnonzero(scores != np.float32(bm25.weighted_floor(numbers, counts)))
            yield top_rows(rows[matching], scores[matching], self._places, depth)

    def expanded(self, query: str, found: RankedRows) -> np.ndarray[Any, np.dtype[np.float64]]:
        """(terms,): the weights of the mixed query, which add up to 1."""
        bm25, leg = self._first.bm25, self._leg
        numbers, counts = bm25.query_terms(query)
        original = np.zeros(len(bm25.vocabulary))
        if not len(numbers):
            return original
        original[numbers] = counts / counts.sum()
        model = np.zeros_like(original)
        for row, score in zip(found.rows.tolist(), found.scores.tolist(), strict=True):
            document = bm25.counts[[row]]
            model[document.indices] += score * document.data / document.data.sum()
        # The strongest; of equal ones the first of the vocabulary.
        kept = np.argsort(-model, kind="stable")[: leg.fb_terms]
        feedback = np.zeros_like(original)
        feedback[kept] = model[kept]
        if not feedback.sum():
            return original
        return leg.original * original + (1 - leg.original) * feedback / feedback.sum()


class Rm3Leg(Leg):
    """``fb_docs`` documents give ``fb_terms`` terms; the query keeps a weight of ``original``."""

    title = "BM25 with RM3 feedback"
    order = 15
    needs = frozenset({"terms"})
    reads = "bm25"

    def __init__(
        self,
        name: str = "bm25_rm3",
        fb_docs: int = 10,
        fb_terms: int = 10,
        original: float = 0.5,
    ) -> None:
        self.name = name
        self.fb_docs, self.fb_terms, self.original = fb_docs, fb_terms, original

    def build(self, context: BuildContext, folder: Path) -> Mapping[str, Any]:
        raise NotImplementedError("it ranks by the part of bm25")

    def open(self, index: OpenedIndex, folder: Path) -> Rm3Ranker:
        first: Any = index.ranker(self.reads)
        return Rm3Ranker(first, index.chunks.id_ranks, self)


LEG = Rm3Leg()
