"""The package rank_bm25 as a leg, for comparison: seconds a query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from indexers.legs.bm25.scores import Bm25
from indexers.legs.model import Allowed, BuildContext, Leg, OpenedIndex, Queries
from indexers.legs.ranking import RankedRows, Rows, top_rows

if TYPE_CHECKING:
    from rank_bm25 import BM25Okapi

Floats = npt.NDArray[np.float32]


class RankBm25:
    """The reference: rank_bm25's Okapi over the same terms. Slow; made on first use."""

    def __init__(self, bm25: Bm25, k1: float = 1.5, b: float = 0.75) -> None:
        self._bm25 = bm25
        self._k1, self._b = k1, b

    @cached_property
    def model(self) -> BM25Okapi:
        from rank_bm25 import BM25Okapi

        return BM25Okapi(self._bm25.documents(), k1=self._k1, b=self._b)

    def scores(self, query: str, rows: Sequence[slice] | None = None) -> Floats:
        """As ``Bm25.scores``, by rank_bm25's ``get_scores`` or, for slices, its batch scores."""
        terms = self._bm25.tokeniser.terms(query)
        if rows is None:
            return np.asarray(self.model.get_scores(terms), np.float32)
        wanted = [row for part in rows for row in range(*part.indices(len(self._bm25)))]
        if not wanted:
            return np.empty(0, np.float32)
        return np.asarray(self.model.get_batch_scores(terms, wanted), np.float32)


class ReferenceRanker:
    """Okapi's scores; rows of score 0 are left out, as in ``Bm25Ranker``."""

    def __init__(self, reference: RankBm25, places: Rows) -> None:
        self.reference = reference
        self._places = places

    def rank(self, queries: Queries, allowed: Allowed, depth: int) -> Iterator[RankedRows]:
        for query in queries.texts:
            scores = allowed.keep(self.reference.scores(query, allowed.slices))
            matching = np.flatnonzero(scores)
            yield top_rows(allowed.rows[matching], scores[matching], self._places, depth)


class ReferenceLeg(Leg):
    name = "rank_bm25"
    title = "BM25 by the package rank_bm25, a slow reference"
    order = 30
    reads = "bm25"
    lacking = ("terms", "or build it again")

    def build(self, context: BuildContext, folder: Path) -> Mapping[str, Any]:
        raise NotImplementedError("it ranks by the part of bm25")

    def open(self, index: OpenedIndex, folder: Path) -> ReferenceRanker:
        terms: Any = index.ranker(self.reads)
        settings = index.manifest.settings
        reference = RankBm25(terms.bm25, settings.k1, settings.b)
        return ReferenceRanker(reference, index.chunks.id_ranks)


LEG = ReferenceLeg()
