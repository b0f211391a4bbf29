"""Dense rows: one vector for each window, in the order of the chunks, in a FAISS flat file.

A chunk scores by its best window (MaxP: Dai and Callan, SIGIR 2019). Rows stand in the order of
source, year, chunk and window, so that a filter is a few slices: each is one matrix product over
FAISS's own storage, exact and without a copy.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from indexers.folder.damage import load_array
from tam.errors import BadIndex

Floats = npt.NDArray[np.float32]

# Bounds the scores held at once: queries x windows x 4 bytes.
_CELLS = 16_000_000


def write_dense(
    folder: Path,
    vectors: Floats,
    starts: npt.NDArray[np.int64],
    spans: npt.NDArray[np.int32],
) -> None:
    """Write the dense part of an index.

    ``vectors`` (windows, dim) are L2-normalised; ``starts`` (chunks + 1) says where each chunk's
    windows begin; ``spans`` (windows, 2) are the windows' character offsets in the chunk's text.
    """
    import faiss

    folder.mkdir(parents=True, exist_ok=True)
    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(np.ascontiguousarray(vectors, np.float32))
    # Written by Python, whose error for a full disk says so.
    (folder / "vectors.faiss").write_bytes(faiss.serialize_index(index).data)
    np.save(folder / "starts.npy", starts.astype(np.int64), allow_pickle=False)
    np.save(folder / "spans.npy", spans.astype(np.int32), allow_pickle=False)


class _Layout(NamedTuple):
    """The windows of some slices of chunks, side by side.

    ``parts`` are their rows in the file, ``starts`` where each chunk's begin among them.
    """

    parts: list[tuple[int, int]]
    windows: int
    starts: npt.NDArray[np.int64]


class DenseRows:
    """The opened dense part. Raises ``BadIndex`` when a file is missing or they disagree."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.starts: npt.NDArray[np.int64] = load_array(folder / "starts.npy")
        self.spans: npt.NDArray[np.int32] = load_array(folder / "spans.npy")
        windows = self.starts[-1] if len(self.starts) else -1
        if windows != len(self.spans) or self.starts[0] != 0 or (np.diff(self.starts) < 0).any():
            raise BadIndex(f"{folder}: damaged (its row tables disagree); build the index again")
        self._layout = lru_cache(maxsize=32)(self._layout_of)

    def __len__(self) -> int:
        """Number of chunks."""
        return len(self.starts) - 1

    @cached_property
    def faiss(self) -> Any:
        """The FAISS index (``IndexFlatIP``) of all windows."""
        import faiss

        path = self.folder / "vectors.faiss"
        try:
            index = faiss.read_index(str(path))
        except RuntimeError as error:
            reason = "missing" if not path.exists() else "damaged"
            raise BadIndex(f"{path}: {reason}; build the index again") from error
        if index.ntotal != len(self.spans):
            raise BadIndex(
                f"{path}: {index.ntotal} vectors for {len(self.spans)} windows; "
                f"build the index again"
            )
        return index

    @cached_property
    def vectors(self) -> Floats:
        """(windows, dim): a view of FAISS's storage, not a copy."""
        import faiss

        index = self.faiss
        flat = faiss.rev_swig_ptr(index.get_xb(), index.ntotal * index.d)
        view: Floats = flat.reshape(index.ntotal, index.d)
        view.flags.writeable = False
        return view

    def scores(self, queries: Floats, rows: Sequence[slice] | None = None) -> Floats:
        """(queries, chunks): each chunk's best inner product over its windows.

        ``queries`` is (q, dim), L2-normalised. The columns are the chunks of the slices, one
        slice after the other; all chunks for ``None``. A matrix product gives equal vectors
        scores that differ by 1e-7, by where they stand and how many queries go together; for
        scores that tie exactly see ``exact_scores``.
        """
        if queries.ndim != 2 or queries.shape[1] != self.vectors.shape[1]:
            raise BadIndex(
                f"query vectors of shape {queries.shape} for an index of dimension "
                f"{self.vectors.shape[1]}; use the encoder that built it"
            )
        bounds = tuple(self._bounds(part) for part in ([slice(None)] if rows is None else rows))
        layout = self._layout(bounds)
        step = max(1, _CELLS // max(layout.windows, 1))
        blocks = [
            self._block(queries[first : first + step], layout)
            for first in range(0, len(queries), step)
        ]
        if len(blocks) == 1:
            return blocks[0]
        return np.concatenate([np.empty((0, len(layout.starts)), np.float32), *blocks])

    def _block(self, queries: Floats, layout: _Layout) -> Floats:
        """(queries, chunks): best windows, with all windows' scores in memory at once."""
        products = np.empty((len(queries), layout.windows), np.float32)
        at = 0
        for low, high in layout.parts:
            np.matmul(queries, self.vectors[low:high].T, out=products[:, at : at + high - low])
            at += high - low
        if layout.windows > len(layout.starts):
            products = np.maximum.reduceat(products, layout.starts, axis=1)
        return products

    def exact_scores(self, query: Floats, rows: npt.NDArray[np.int64]) -> Floats:
        """(n,): the best windows of n chunks, none without a window, for one query vector (dim,).

        Equal vectors score alike, whatever stands beside them: each product is summed by itself
        in float64, in one order.
        """
        starts = self.starts[rows]
        counts = self.starts[rows + 1] - starts
        ends = np.cumsum(counts)
        windows = np.repeat(starts - ends + counts, counts) + np.arange(counts.sum())
        vectors = self.vectors[windows].astype(np.float64)
        # Row by row, as BLAS does not: it takes several rows at once, and the last ones otherwise.
        products = np.einsum("ij,j->i", vectors, query.astype(np.float64))
        best = np.maximum.reduceat(products, ends - counts) if len(rows) else products
        return best.astype(np.float32)

    def best_window(self, query: Floats, row: int) -> tuple[int, int]:
        """The span, in the chunk's text, of its window nearest to one query vector (dim,)."""
        low, high = int(self.starts[row]), int(self.starts[row + 1])
        best = low + int(np.argmax(self.vectors[low:high] @ query))
        start, end = self.spans[best]
        return int(start), int(end)

    def _bounds(self, part: slice) -> tuple[int, int]:
        start, stop, step = part.indices(len(self))
        if step != 1:
            raise ValueError(f"rows {part}: a slice of rows has no step")
        return start, max(start, stop)

    def _layout_of(self, bounds: tuple[tuple[int, int], ...]) -> _Layout:
        parts = [(int(self.starts[start]), int(self.starts[stop])) for start, stop in bounds]
        begins = np.cumsum([0, *(high - low for low, high in parts)])
        starts = [
            self.starts[start:stop] - low + begin
            for (start, stop), (low, _), begin in zip(bounds, parts, begins[:-1], strict=True)
        ]
        return _Layout(
            parts=parts,
            windows=int(begins[-1]),
            starts=np.concatenate([np.empty(0, np.int64), *starts]),
        )
