"""The legs of a search: each ranks the allowed rows for a query by its own scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from indexers.folder.opened import StoredIndex
from indexers.legs.bm25 import PLAIN, QueryRule
from indexers.legs.dense import DenseRows
from retrievers.ranking.ranks import Ranked, Scores, ranked
from retrievers.search.filters import Allowed
from retrievers.search.settings import Filter
from tam.errors import BadOption

Vectors = npt.NDArray[np.float32]

#: bounds the dense scores held at once: queries x rows
_CELLS = 16_000_000
#: above the noise of a float32 product over unit vectors (1e-7), below any difference that matters
_MARGIN = np.float32(2e-6)


class LegCache:
    """Query vectors and ranked legs, kept for searches that share them.

    Keyed by index, leg, filter and query; a longer list serves any shorter depth, because the
    first places do not change with the depth. One cache serves several indexes.
    """

    def __init__(self) -> None:
        self._legs: dict[tuple[str, str, Filter, str], tuple[int, Ranked]] = {}
        self._vectors: dict[tuple[str, str], Vectors] = {}

    def get(self, index: str, leg: str, wanted: Filter, query: str, depth: int) -> Ranked | None:
        """The kept list, cut to ``depth``; ``None`` when there is none that deep."""
        kept = self._legs.get((index, leg, wanted, query))
        if kept is None or (kept[0] < depth and len(kept[1].rows) >= kept[0]):
            return None
        return kept[1].top(depth)

    def put(
        self, index: str, leg: str, wanted: Filter, query: str, depth: int, found: Ranked
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

    def put_vectors(self, encoder: str, queries: Sequence[str], vectors: Vectors) -> None:
        """Keep vectors that were computed elsewhere. Raises ``BadOption`` when the numbers differ."""
        if len(queries) != len(vectors):
            raise BadOption(
                f"{len(vectors)} query vectors for {len(queries)} queries; give one each"
            )
        for query, vector in zip(queries, vectors, strict=True):
            self._vectors[encoder, query] = np.ascontiguousarray(vector, np.float32)


def bm25_leg(
    index: StoredIndex,
    queries: Sequence[str],
    allowed: Allowed,
    depth: int,
    cache: LegCache,
    rule: QueryRule = PLAIN,
) -> Iterable[Ranked]:
    """BM25; rows that share no term with the query are not ranked."""
    places, rows, slices = index.chunks.id_ranks, allowed.rows, allowed.slices
    for query in queries:
        scores = allowed.keep(index.bm25.scores(query, slices, rule))
        matching = np.flatnonzero(scores != np.float32(index.bm25.floor(query, slices, rule)))
        yield ranked(rows[matching], scores[matching], places, depth)


def grams_leg(
    index: StoredIndex,
    queries: Sequence[str],
    allowed: Allowed,
    depth: int,
    cache: LegCache,
    rule: QueryRule = PLAIN,
) -> Iterable[Ranked]:
    """BM25 over the character n-grams of each row's best line (``indexers.building.lines``).

    An n-gram that the query repeats counts once: words share many of them by chance.
    """
    places, rows = index.chunks.id_ranks, allowed.rows
    rule = replace(rule, distinct=True)
    for query in queries:
        scores = allowed.keep(index.lines.gram_scores(query, allowed.slices, rule))
        matching = np.flatnonzero(scores)
        yield ranked(rows[matching], scores[matching], places, depth)


def rank_bm25_leg(
    index: StoredIndex, queries: Sequence[str], allowed: Allowed, depth: int, cache: LegCache
) -> Iterable[Ranked]:
    """The package rank_bm25 (Okapi), for comparison: seconds a query. Rows of score 0 are left
    out, as in ``bm25_leg``."""
    places, rows = index.chunks.id_ranks, allowed.rows
    for query in queries:
        scores = allowed.keep(index.rank_bm25.scores(query, allowed.slices))
        matching = np.flatnonzero(scores)
        yield ranked(rows[matching], scores[matching], places, depth)


def dense_leg(
    index: StoredIndex, queries: Sequence[str], allowed: Allowed, depth: int, cache: LegCache
) -> Iterable[Ranked]:
    """Inner product with each row's best window; every allowed row with a text is ranked.

    The matrix product would order the same text in several years by chance
    (``DenseRows.scores``). So it only chooses candidates, with a margin at the border, and these
    are scored again one by one.
    """
    for vector, found in _dense(index, index.dense, queries, allowed, depth, cache):
        yield Ranked(found.rows, found.scores, vector)


def lines_leg(
    index: StoredIndex, queries: Sequence[str], allowed: Allowed, depth: int, cache: LegCache
) -> Iterable[Ranked]:
    """As ``dense_leg``, with the vectors of each row's lines (``indexers.building.lines``)."""
    for _, found in _dense(index, index.lines.dense, queries, allowed, depth, cache):
        yield found


def _dense(
    index: StoredIndex,
    dense: DenseRows,
    queries: Sequence[str],
    allowed: Allowed,
    depth: int,
    cache: LegCache,
) -> Iterable[tuple[Vectors, Ranked]]:
    encoder = index.encoder()
    vectors = cache.vectors(encoder.fingerprint, queries, encoder.encode_queries)
    step = max(1, _CELLS // max(len(allowed), 1))
    for first in range(0, len(queries), step):
        batch = vectors[first : first + step]
        scores = allowed.keep(dense.scores(batch, allowed.slices))
        for vector, row_scores in zip(batch, scores, strict=True):
            yield vector, _rescored(index, dense, vector, allowed, row_scores, depth)


def _rescored(
    index: StoredIndex,
    dense: DenseRows,
    vector: Vectors,
    allowed: Allowed,
    scores: Scores,
    depth: int,
) -> Ranked:
    rows = allowed.rows
    if depth < len(rows):
        border = np.partition(scores, len(rows) - depth)[len(rows) - depth]
        rows = rows[scores >= border - _MARGIN]
    # A chunk of white space has no window.
    rows = rows[dense.starts[rows + 1] > dense.starts[rows]]
    return ranked(rows, dense.exact_scores(vector, rows), index.chunks.id_ranks, depth)


Leg = Callable[[StoredIndex, Sequence[str], Allowed, int, LegCache], Iterable[Ranked]]

#: legs that count a query's terms by a rule
TERM_LEGS: Mapping[str, Callable[..., Iterable[Ranked]]] = MappingProxyType(
    {"bm25": bm25_leg, "grams": grams_leg}
)
LEGS: Mapping[str, Leg] = MappingProxyType(
    {**TERM_LEGS, "dense": dense_leg, "rank_bm25": rank_bm25_leg, "lines": lines_leg}
)


def leg_under(name: str, rule: QueryRule) -> tuple[str, Leg]:
    """The leg of a name under a rule, and the name of its lists in a cache."""
    if rule == PLAIN or name not in TERM_LEGS:
        return name, LEGS[name]
    return f"{name} {rule}", partial(TERM_LEGS[name], rule=rule)
