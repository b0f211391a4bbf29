"""Making the matrix of BM25 scores, with bm25s."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from indexers.legs.tokenise import Tokeniser, TokenOptions
from tam.progress import progress

Floats = npt.NDArray[np.float32]

#: ``delta`` of BM25L and BM25+, as bm25s and the two papers have it
DELTA = {"bm25l": 0.5, "bm25+": 1.0}


def build_bm25(
    texts: Sequence[str],
    blocks: Sequence[int],
    folder: Path,
    options: TokenOptions,
    variant: str = "lucene",
    k1: float = 1.5,
    b: float = 0.75,
    groups: Sequence[int] = (),
) -> int:
    """Write the index of ``texts`` (one for each row) to a folder; returns the number of terms.

    ``blocks`` are the row numbers at which editions begin, with the number of rows at the end.
    ``groups``, of the same form, are the rows of which idf and mean length are taken together; by
    default all. A short entry of the Index else makes every chunk of the Tabular List a long one.
    """
    rows, vocabulary = _term_rows(texts, Tokeniser(options))
    folder.mkdir(parents=True, exist_ok=True)
    make = partial(_matrix, vocabulary=vocabulary, variant=variant, k1=k1, b=b)
    if len(groups) > 2:
        spans = list(itertools.pairwise(groups))
        parts = [make(rows[start:stop]) for start, stop in spans]
        data, indices, indptr = _stacked(parts, [stop - start for start, stop in spans])
        constants = None
    else:
        data, indices, indptr, constants = make(rows)
    _save(folder / "data.npy", data)
    _save(folder / "indices.npy", indices)
    _save(folder / "counts.npy", _counts(rows, indices, indptr))
    _save(folder / "starts.npy", _starts(indices, indptr, np.asarray(blocks)))
    _save(folder / "blocks.npy", np.asarray(blocks, np.int64))
    if constants is not None:
        _save(folder / "constants.npy", constants)
    (folder / "vocabulary.txt").write_bytes("".join(f"{t}\n" for t in vocabulary).encode())
    return len(vocabulary)


class _Matrix(NamedTuple):
    """Scores by term in CSC form; ``constants`` (terms,) are those of rows without the term."""

    data: Floats
    indices: npt.NDArray[np.int32]
    indptr: npt.NDArray[np.int64]
    constants: Floats | None


def _matrix(
    rows: Sequence[npt.NDArray[np.int32]],
    vocabulary: Sequence[str],
    variant: str,
    k1: float,
    b: float,
) -> _Matrix:
    import bm25s

    if not vocabulary:
        none = np.empty(0, np.float32)
        return _Matrix(none, none.astype(np.int32), np.zeros(1, np.int64), None)
    matrix = bm25s.BM25(method=variant, k1=k1, b=b, delta=DELTA.get(variant, 0.5))
    ids = {term: number for number, term in enumerate(vocabulary)}
    matrix.index((rows, ids), create_empty_token=False, show_progress=False)
    scores, constants = matrix.scores, matrix.nonoccurrence_array
    return _Matrix(
        np.asarray(scores["data"], np.float32),
        np.asarray(scores["indices"], np.int32),
        np.asarray(scores["indptr"], np.int64),
        None if constants is None else np.asarray(constants, np.float32),
    )


def _stacked(
    parts: Sequence[_Matrix], sizes: Sequence[int]
) -> tuple[Floats, npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """Matrices of rows one after the other as one."""
    from scipy.sparse import csc_array, vstack

    matrices = [
        csc_array((part.data, part.indices, part.indptr), shape=(size, len(part.indptr) - 1))
        for part, size in zip(parts, sizes, strict=True)
    ]
    whole = vstack(matrices, format="csc")
    whole.sort_indices()
    return (
        np.asarray(whole.data, np.float32),
        np.asarray(whole.indices, np.int32),
        np.asarray(whole.indptr, np.int64),
    )


def _term_rows(
    texts: Sequence[str], tokeniser: Tokeniser
) -> tuple[list[npt.NDArray[np.int32]], list[str]]:
    """The term numbers of each text, and the terms in ascending order."""
    seen: dict[str, int] = {}
    # Most texts of Title 18 stand in every year: each distinct text is tokenised once.
    distinct: dict[str, npt.NDArray[np.int32]] = {}
    for text in progress(texts, "terms", unit="chunks"):
        if text not in distinct:
            numbers = [seen.setdefault(term, len(seen)) for term in tokeniser.terms(text)]
            distinct[text] = np.asarray(numbers, np.int32)
    vocabulary = sorted(seen)
    order = np.empty(len(seen), np.int32)
    order[[seen[term] for term in vocabulary]] = np.arange(len(seen), dtype=np.int32)
    renumbered = {text: order[numbers] for text, numbers in distinct.items()}
    return [renumbered[text] for text in texts], vocabulary


def _counts(
    rows: Sequence[npt.NDArray[np.int32]],
    indices: npt.NDArray[np.int32],
    indptr: npt.NDArray[np.int64],
) -> npt.NDArray[np.uint32]:
    """How often each posting's term stands in its row, in the order of the postings."""
    from scipy.sparse import csc_array

    if not rows:
        return np.empty(0, np.uint32)
    terms = np.concatenate(rows)
    where = np.repeat(np.arange(len(rows), dtype=np.int32), [len(row) for row in rows])
    shape = (len(rows), len(indptr) - 1)
    counts = csc_array((np.ones(len(terms), np.uint32), (where, terms)), shape=shape)
    counts.sort_indices()
    if not np.array_equal(counts.indices, indices):
        raise RuntimeError("bm25s's postings are not in row order")
    data: npt.NDArray[np.uint32] = counts.data.astype(np.uint32)
    return data


def _starts(
    indices: npt.NDArray[np.int32], indptr: npt.NDArray[np.int64], blocks: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """``(terms, blocks + 1)``: where the postings of each block of rows begin for each term."""
    terms, width = len(indptr) - 1, len(blocks) - 1
    term_of = np.repeat(np.arange(terms), np.diff(indptr))
    block_of = np.searchsorted(blocks, indices, side="right") - 1
    sizes = np.bincount(term_of * width + block_of, minlength=terms * width)
    starts = np.empty((terms, width + 1), np.int64)
    starts[:, 0] = indptr[:-1]
    starts[:, 1:] = indptr[:-1, None] + sizes.reshape(terms, width).cumsum(axis=1)
    return starts


def _save(path: Path, array: npt.NDArray[Any]) -> None:
    np.save(path, array, allow_pickle=False)
