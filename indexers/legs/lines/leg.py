"""Two legs over the lines of chunks: by character n-grams and by vectors.

A chunk of the paper's preset holds a whole category, up to 12,000 characters; a query is about one
line of it. So each line (``Source.lines``) is a passage of its own, and a chunk scores by its best
one (MaxP: Dai and Callan, SIGIR 2019). Character n-grams (McNamee and Mayfield, Information
Retrieval 7, 2004) tie ``galactosuria`` to ``galactose``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from indexers.folder.damage import load_array
from indexers.folder.manifest import Manifest
from indexers.legs.bm25.matrix import build_bm25
from indexers.legs.bm25.scores import Bm25
from indexers.legs.dense.leg import DenseRanker, VectorLeg
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

#: length of the character n-grams
GRAMS = 4
#: lines are of one length, more or less: terms repeat by chance
K1, B = 0.9, 0.4
GRAM_OPTIONS = TokenOptions(stemmer="none", grams=GRAMS)

#: where each chunk's lines begin
_STARTS = "lines.npy"


class LineNgrams:
    """BM25 over the n-grams of each line, by chunk."""

    def __init__(self, folder: Path) -> None:
        self.starts: npt.NDArray[np.int64] = load_array(folder / _STARTS)
        self._folder = folder

    @cached_property
    def bm25(self) -> Bm25:
        return Bm25(self._folder, GRAM_OPTIONS)

    def scores(self, query: str, rows: Sequence[slice], rule: TermRule) -> Floats:
        """The best line's score of each chunk of the slices, one slice after the other."""
        parts = [slice(int(self.starts[r.start]), int(self.starts[r.stop])) for r in rows]
        scores = self.bm25.scores(query, parts, rule)
        begins: list[npt.NDArray[np.int64]] = []
        at = 0
        for part, chunk_rows in zip(parts, rows, strict=True):
            begins.append(self.starts[chunk_rows] - part.start + at)
            at += part.stop - part.start
        if not at:
            return scores
        best: Floats = np.maximum.reduceat(scores, np.concatenate(begins))
        return best


class LineNgramsRanker:
    """Rows without an n-gram of the query are not ranked. One that the query repeats counts
    once: words share many of them by chance."""

    def __init__(self, lines: LineNgrams, places: Rows) -> None:
        self.lines = lines
        self._places = places

    def rank(self, queries: Queries, allowed: Allowed, depth: int) -> Iterator[RankedRows]:
        rule = replace(queries.rule, distinct=True)
        for query in queries.texts:
            scores = allowed.keep(self.lines.scores(query, allowed.slices, rule))
            matching = np.flatnonzero(scores)
            yield top_rows(allowed.rows[matching], scores[matching], self._places, depth)


_LACKING = ("lines", "choose another, or build with  --lines")


class LineNgramsLeg(Leg):
    name = "bm25_lines_ngrams"
    title = "BM25 over the character n-grams of each chunk's best line"
    order = 40
    aliases = ("grams",)
    needs = frozenset({"terms"})
    folder = "lines/ngrams"
    files = (_STARTS, "starts.npy", "blocks.npy", "data.npy", "indices.npy", "vocabulary.txt")
    build_settings = frozenset({"lines"})
    libraries = ("numpy", "bm25s")
    uses = ("indexers.building.lines", "indexers.legs.bm25")
    lacking = _LACKING

    def wanted(self, settings: BuildSettings) -> bool:
        return settings.lines

    def build(self, context: BuildContext, folder: Path) -> Mapping[str, Any]:
        starts = _starts(context)
        flat = [line for of_chunk in context.lines for line in of_chunk]
        begins = starts[np.asarray(blocks_of(context.editions))].tolist()
        build_bm25(flat, begins, folder, GRAM_OPTIONS, k1=K1, b=B)
        np.save(folder / _STARTS, starts, allow_pickle=False)
        return {"rows": len(context.lines), "lines": len(flat)}

    def open(self, index: OpenedIndex, folder: Path) -> LineNgramsRanker:
        return LineNgramsRanker(LineNgrams(folder), index.chunks.id_ranks)

    def faults(self, ranker: LineNgramsRanker, manifest: Manifest) -> Iterator[str]:
        lines = ranker.lines
        if len(lines.starts) != manifest.chunks + 1 or lines.starts[-1] != len(lines.bm25):
            yield f"{self.name}: lines of {len(lines.starts) - 1} chunks, not {manifest.chunks}"


class LineVectorsLeg(VectorLeg):
    name = "dense_lines"
    title = "vectors of the chunks' lines"
    order = 50
    aliases = ("lines",)
    folder = "lines/dense"
    build_settings = frozenset({"lines"})
    uses = ("indexers.building.lines", "indexers.legs.dense", "indexers.encoders")
    lacking = _LACKING

    def wanted(self, settings: BuildSettings) -> bool:
        return settings.lines and settings.encoder is not None

    def build(self, context: BuildContext, folder: Path) -> Mapping[str, Any]:
        flat = [line for of_chunk in context.lines for line in of_chunk]
        vectors = context.vectors(flat)
        # Lines are no stretches of a chunk's text: their spans stay empty.
        write_dense(folder, vectors, _starts(context), np.zeros((len(flat), 2), np.int32))
        return {"rows": len(context.lines), "vectors": len(flat), "dim": vectors.shape[1]}

    def open(self, index: OpenedIndex, folder: Path) -> DenseRanker:
        return DenseRanker(DenseRows(folder), index.chunks.id_ranks, spans=False)


def _starts(context: BuildContext) -> npt.NDArray[np.int64]:
    return np.cumsum([0, *map(len, context.lines)]).astype(np.int64)


NGRAMS = LineNgramsLeg()
VECTORS = LineVectorsLeg()
