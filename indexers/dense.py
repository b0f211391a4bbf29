"""Dense rows: one vector for each window, in the order of the chunks, in a FAISS flat file.

A chunk scores by its best window (MaxP: Dai and Callan, SIGIR 2019). Rows stand in the order of
source, year, chunk and window, so that a filter is a few slices: each is one matrix product over
FAISS's own storage, exact and without a copy.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tam.errors import IndexError_

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
    faiss.write_index(index, str(folder / "vectors.faiss"))
    np.save(folder / "starts.npy", starts.astype(np.int64), allow_pickle=False)
    np.save(folder / "spans.npy", spans.astype(np.int32), allow_pickle=False)


class DenseRows:
    """The opened dense part. Raises ``IndexError_`` when a file is missing or they disagree."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            self.starts: npt.NDArray[np.int64] = np.load(folder / "starts.npy", allow_pickle=False)
            self.spans: npt.NDArray[np.int32] = np.load(folder / "spans.npy", allow_pickle=False)
        except (OSError, ValueError) as error:
            raise IndexError_(f"{folder}: damaged ({error}); build the index again") from error
        if len(self.starts) == 0 or self.starts[-1] != len(self.spans):
            raise IndexError_(f"{folder}: damaged (its row tables disagree); build the index again")

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
            raise IndexError_(f"{path}: {reason}; build the index again") from error
        if index.ntotal != len(self.spans):
            raise IndexError_(
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
        slice after the other; all chunks for ``None``.
        """
        if queries.ndim != 2 or queries.shape[1] != self.vectors.shape[1]:
            raise IndexError_(
                f"query vectors of shape {queries.shape} for an index of dimension "
                f"{self.vectors.shape[1]}; use the encoder that built it"
            )
        parts = [self._bounds(part) for part in ([slice(None)] if rows is None else rows)]
        width = sum(stop - start for start, stop in parts)
        result = np.empty((len(queries), width), np.float32)
        at = 0
        for start, stop in parts:
            result[:, at : at + stop - start] = self._span(queries, start, stop)
            at += stop - start
        return result

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

    def _span(self, queries: Floats, start: int, stop: int) -> Floats:
        """Best-window scores of the chunks ``[start, stop)``."""
        low, high = int(self.starts[start]), int(self.starts[stop])
        if low == high:
            return np.zeros((len(queries), stop - start), np.float32)
        window_of_chunk = self.starts[start:stop] - low
        block = self.vectors[low:high]
        single = high - low == stop - start
        result = np.empty((len(queries), stop - start), np.float32)
        step = max(1, _CELLS // (high - low))
        for first in range(0, len(queries), step):
            products = queries[first : first + step] @ block.T
            result[first : first + step] = (
                products if single else np.maximum.reduceat(products, window_of_chunk, axis=1)
            )
        return result
