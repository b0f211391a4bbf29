"""The leg ``dense``: inner product with each row's best window."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from indexers.encoders.windows import Window, WindowOptions, windows
from indexers.folder.manifest import Manifest
from indexers.legs.dense.rows import DenseRows, write_dense
from indexers.legs.model import Allowed, BuildContext, Floats, Leg, OpenedIndex, Queries
from indexers.legs.ranking import RankedRows, Rows, Scores, top_rows
from tam.progress import progress
from tam.settings import BuildSettings

#: bounds the scores held at once: queries x rows
_CELLS = 16_000_000
#: above the noise of a float32 product over unit vectors (1e-7), below any difference that matters
_MARGIN = np.float32(2e-6)


class DenseRanker:
    """Every allowed row with a text is ranked by its best vector.

    The matrix product would order the same text in several years by chance
    (``DenseRows.scores``). So it only chooses candidates, with a margin at the border, and these
    are scored again one by one. ``spans``: the vectors stand for stretches of a row's text.
    """

    def __init__(self, rows: DenseRows, places: Rows, spans: bool = True) -> None:
        self.rows = rows
        self._places = places
        self._spans = spans

    def rank(self, queries: Queries, allowed: Allowed, depth: int) -> Iterator[RankedRows]:
        vectors = queries.encode(queries.texts)
        step = max(1, _CELLS // max(len(allowed), 1))
        for first in range(0, len(vectors), step):
            batch = vectors[first : first + step]
            scores = allowed.keep(self.rows.scores(batch, allowed.slices))
            for vector, row_scores in zip(batch, scores, strict=True):
                yield self._rescored(vector, allowed, row_scores, depth)

    def _rescored(self, vector: Floats, allowed: Allowed, scores: Scores, depth: int) -> RankedRows:
        rows, starts = allowed.rows, self.rows.starts
        if depth < len(rows):
            border = np.partition(scores, len(rows) - depth)[len(rows) - depth]
            rows = rows[scores >= border - _MARGIN]
        # A chunk of white space has no window.
        rows = rows[starts[rows + 1] > starts[rows]]
        found = top_rows(rows, self.rows.exact_scores(vector, rows), self._places, depth)
        span_of = partial(self.rows.best_window, vector) if self._spans else None
        return found._replace(span_of=span_of)


class VectorLeg(Leg):
    """A leg of one or several vectors a row, in a ``DenseRows`` folder."""

    needs = frozenset({"vector"})
    files = ("vectors.faiss", "starts.npy", "spans.npy")
    libraries = ("numpy", "faiss-cpu")
    lacking = ("vectors", "use bm25, or build the index with an encoder")

    def wanted(self, settings: BuildSettings) -> bool:
        return settings.encoder is not None

    def faults(self, ranker: DenseRanker, manifest: Manifest) -> Iterator[str]:
        rows, record = ranker.rows, manifest.encoder
        vectors = manifest.parts[self.name].counts.get("vectors")
        if len(rows) != manifest.chunks:
            yield f"{self.name}: {len(rows)} rows for {manifest.chunks} chunks"
            return
        expected = (vectors, record.dim if record else None)
        if rows.vectors.shape != expected:
            yield (
                f"{self.name}: vectors of shape {rows.vectors.shape}, the manifest says {expected}"
            )
        if (np.diff(rows.starts) < 1).any():
            yield f"{self.name}: a chunk without a vector"
        lengths = np.linalg.norm(rows.vectors, axis=1)
        if not np.all((np.abs(lengths - 1) < 1e-3) | (lengths == 0)):
            yield f"{self.name}: vectors that are not of length 1"


class DenseLeg(VectorLeg):
    name = "dense"
    title = "vectors of the chunks' windows"
    order = 20
    folder = "dense"
    build_settings = frozenset({"windows", "overlap"})
    uses = ("indexers.encoders",)

    def build(self, context: BuildContext, folder: Path) -> Mapping[str, Any]:
        with context.stage("windows"):
            cut = list(_windows(context))
        flat = [window for of_chunk in cut for window in of_chunk]
        vectors = context.vectors([window.text for window in flat])
        starts = np.cumsum([0, *map(len, cut)])
        with context.stage("vectors"):
            write_dense(folder, vectors, starts, np.asarray([w.span for w in flat], np.int32))
        by_edition = [int(starts[e.stop] - starts[e.start]) for e in context.editions]
        return {
            "rows": len(cut),
            "vectors": len(flat),
            "dim": vectors.shape[1],
            "windows": by_edition,
        }

    def open(self, index: OpenedIndex, folder: Path) -> DenseRanker:
        return DenseRanker(DenseRows(folder), index.chunks.id_ranks)


def _windows(context: BuildContext) -> Iterator[list[Window]]:
    """The windows of every chunk; each different text is cut once."""
    settings, encoder = context.settings, context.encoder
    if encoder is None:
        raise ValueError("the leg dense is built with an encoder")
    options = WindowOptions(settings.windows, settings.overlap)
    distinct = {(chunk.context, chunk.text): chunk for chunk in context.chunks}
    found = windows(list(distinct.values()), encoder, options)
    cut = progress(found, "windows", len(distinct), "texts")
    of_text = dict(zip(distinct, cut, strict=True))
    for chunk in context.chunks:
        # A blank text never reaches the encoder; its row is a zero vector.
        yield of_text[chunk.context, chunk.text] or [Window("", (0, 0))]


LEG = DenseLeg()
