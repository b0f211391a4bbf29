"""Two legs over the names of units: by BM25 and by vectors.

A unit is what people cite as a whole: a guideline, a section of the Code, a category. It is called
by its title under the headings above it, by inclusion terms and by the entries of other manuals
that lead to it (``Source.names``). A name is a dozen words where a section is thousands, so lay
words that match it say more than a fragment that matches. Each unit is ranked, by its best name,
at the row of its first chunk.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from indexers.folder.damage import load_array
from indexers.folder.manifest import Manifest
from indexers.legs.bm25.matrix import build_bm25
from indexers.legs.bm25.scores import Bm25
from indexers.legs.dense.leg import VectorLeg
from indexers.legs.dense.rows import DenseRows, write_dense
from indexers.legs.model import (
    Allowed,
    BuildContext,
    Floats,
    Leg,
    OpenedIndex,
    Queries,
    TermRule,
    blocks_of,
)
from indexers.legs.ranking import RankedRows, Rows, top_rows
from indexers.legs.tokenise import TokenOptions
from tam.settings import BuildSettings

#: where each row's names begin
_STARTS = "names.npy"
_LACKING = ("titles", "build it again, or choose another retriever")


class TitleTerms:
    """BM25 over the names, by row: the best name's score, 0 for a row that begins no unit."""

    def __init__(self, folder: Path, options: TokenOptions) -> None:
        self.starts: npt.NDArray[np.int64] = load_array(folder / _STARTS)
        self.bm25 = Bm25(folder, options)

    def scores(self, query: str, rows: Sequence[slice], rule: TermRule) -> Floats:
        parts = [slice(int(self.starts[r.start]), int(self.starts[r.stop])) for r in rows]
        scores = self.bm25.scores(query, parts, rule)
        best: list[Floats] = []
        at = 0
        for part, chunk_rows in zip(parts, rows, strict=True):
            starts = self.starts[chunk_rows.start : chunk_rows.stop + 1] - part.start
            best.append(_best_of(scores[at : at + part.stop - part.start], starts))
            at += part.stop - part.start
        return np.concatenate([np.empty(0, np.float32), *best])


def _best_of(scores: Floats, starts: npt.NDArray[np.int64]) -> Floats:
    """The largest score of each stretch, 0 for an empty one."""
    best = np.zeros(len(starts) - 1, np.float32)
    filled = np.flatnonzero(np.diff(starts))
    if len(filled):
        best[filled] = np.maximum.reduceat(scores, starts[filled])
    return best


class TitleTermsRanker:
    """Units without a term of the query among their names are not ranked."""

    def __init__(self, titles: TitleTerms, places: Rows) -> None:
        self.titles = titles
        self._places = places

    def rank(self, queries: Queries, allowed: Allowed, depth: int) -> Iterator[RankedRows]:
        for query in queries.texts:
            scores = allowed.keep(self.titles.scores(query, allowed.slices, queries.rule))
            matching = np.flatnonzero(scores)
            yield top_rows(allowed.rows[matching], scores[matching], self._places, depth)


class TitleTermsLeg(Leg):
    name = "bm25_titles"
    title = "BM25 over the names of units"
    order = 60
    level = "unit"
    weight = 0.3
    needs = frozenset({"terms"})
    folder = "titles/bm25"
    files = (_STARTS, "starts.npy", "blocks.npy", "data.npy", "indices.npy", "vocabulary.txt")
    build_settings = frozenset({"stemmer", "stopwords"})
    libraries = ("numpy", "bm25s", "PyStemmer")
    uses = ("indexers.building.names", "indexers.legs.bm25")
    lacking = _LACKING

    def wanted(self, settings: BuildSettings) -> bool:
        return True

    def _options(self, settings: BuildSettings) -> TokenOptions:
        return TokenOptions(settings.stemmer, settings.stopwords)

    def build(self, context: BuildContext, folder: Path) -> Mapping[str, Any]:
        names = context.names
        flat = [name.text for of_row in names for name in of_row]
        starts = np.cumsum([0, *map(len, names)]).astype(np.int64)
        begins = starts[np.asarray(blocks_of(context.editions))].tolist()
        terms = build_bm25(flat, begins, folder, self._options(context.settings))
        np.save(folder / _STARTS, starts, allow_pickle=False)
        return {"rows": len(names), "names": len(flat), "terms": terms}

    def open(self, index: OpenedIndex, folder: Path) -> TitleTermsRanker:
        titles = TitleTerms(folder, self._options(index.manifest.settings))
        return TitleTermsRanker(titles, index.chunks.id_ranks)

    def faults(self, ranker: TitleTermsRanker, manifest: Manifest) -> Iterator[str]:
        titles = ranker.titles
        if len(titles.starts) != manifest.chunks + 1 or titles.starts[-1] != len(titles.bm25):
            yield f"{self.name}: names of {len(titles.starts) - 1} rows, not {manifest.chunks}"


class TitleVectorsLeg(VectorLeg):
    name = "dense_titles"
    title = "vectors of the names of units"
    order = 70
    level = "unit"
    folder = "titles/dense"
    build_settings = frozenset()
    uses = ("indexers.building.names", "indexers.legs.dense", "indexers.encoders")
    lacking = _LACKING

    def build(self, context: BuildContext, folder: Path) -> Mapping[str, Any]:
        names = [[name for name in of_row if name.encoded] for of_row in context.names]
        flat = [name.text for of_row in names for name in of_row]
        vectors = context.vectors(flat)
        starts = np.cumsum([0, *map(len, names)]).astype(np.int64)
        # Names are no stretches of a chunk's text: their spans stay empty.
        write_dense(folder, vectors, starts, np.zeros((len(flat), 2), np.int32))
        return {"rows": len(names), "vectors": len(flat), "dim": vectors.shape[1]}

    def open(self, index: OpenedIndex, folder: Path) -> TitleVectorsRanker:
        return TitleVectorsRanker(DenseRows(folder), index.chunks.id_ranks)

    def faults(self, ranker: Any, manifest: Manifest) -> Iterator[str]:
        for fault in super().faults(ranker, manifest):
            # Most rows begin no unit.
            if not fault.endswith("a chunk without a vector"):
                yield fault


class TitleVectorsRanker:
    """Every allowed row that begins a unit is ranked by the nearest of its names."""

    def __init__(self, rows: DenseRows, places: Rows) -> None:
        self.rows = rows
        self._places = places
        self._heads = np.flatnonzero(np.diff(rows.starts))

    def rank(self, queries: Queries, allowed: Allowed, depth: int) -> Iterator[RankedRows]:
        rows = np.intersect1d(allowed.rows, self._heads, assume_unique=True)
        for vector in queries.encode(queries.texts):
            yield top_rows(rows, self.rows.exact_scores(vector, rows), self._places, depth)


TERMS = TitleTermsLeg()
VECTORS = TitleVectorsLeg()
