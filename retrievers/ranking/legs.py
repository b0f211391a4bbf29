"""What searches that share queries need not compute twice."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from indexers.legs.ranking import RankedRows
from retrievers.search.settings import Filter

Vectors = npt.NDArray[np.float32]


class LegCache:
    """Query vectors and ranked legs, kept for searches that share them.

    Keyed by index, leg, filter and query; a longer list serves any shorter depth, because the
    first places do not change with the depth. One cache serves several indexes.
    """

    def __init__(self) -> None:
        self._legs: dict[tuple[str, str, Filter, str], tuple[int, RankedRows]] = {}
        self._vectors: dict[tuple[str, str], Vectors] = {}

    def get(
        self, index: str, leg: str, wanted: Filter, query: str, depth: int
    ) -> RankedRows | None:
        """The kept list, cut to ``depth``; ``None`` when there is none that deep."""
        kept = self._legs.get((index, leg, wanted, query))
        if kept is None or (kept[0] < depth and len(kept[1].rows) >= kept[0]):
            return None
        return kept[1].top(depth)

    def put(
        self, index: str, leg: str, wanted: Filter, query: str, depth: int, found: RankedRows
    ) -> None:
        """Keep a list that was ranked to ``depth``."""
        self._legs[index, leg, wanted, query] = (depth, found)

    def drop_legs(self) -> None:
        """Forget the lists, which are most of it, and keep the vectors."""
        self._legs.clear()

    def vectors(
        self, encoder: str, queries: Sequence[str], encode: Callable[[list[str]], Vectors]
    ) -> Vectors:
        """(queries, dim): the queries' vectors; what is not kept is encoded in one batch."""
        missing = [q for q in dict.fromkeys(queries) if (encoder, q) not in self._vectors]
        if missing:
            for query, vector in zip(missing, encode(missing), strict=True):
                self._vectors[encoder, query] = vector
        return np.stack([self._vectors[encoder, query] for query in queries])
