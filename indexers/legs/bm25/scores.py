"""BM25: bm25s's score matrix, scored by one sparse product.

A term of the query adds its column of the matrix times its count in the query, so that a whole
case costs one product over its distinct terms. Postings of a term stand in row order, and
``starts[term, block]`` says where each edition's rows begin in them: a filter by edition selects
stretches of postings and leaves out the rest before anything is added up.

Variants and formulas: Kamphuis et al., "Which BM25 do you mean?", ECIR 2020, as in bm25s.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from indexers.folder.damage import load_array, unreadable
from indexers.legs.model import PLAIN, TermRule
from indexers.legs.tokenise import Tokeniser, TokenOptions
from tam.errors import BadIndex

Floats = npt.NDArray[np.float32]


# Queries of so few terms are scored by their postings, and leave the rest of them on disk.
_SHORT = 60


class Bm25:
    """A built BM25 index. Arrays are mapped from the folder and read when first used."""

    def __init__(self, folder: Path, options: TokenOptions) -> None:
        self.folder = folder
        self.tokeniser = Tokeniser(options)
        try:
            # Small and wanted by every query, while the postings stay on disk until used.
            self._starts = load_array(folder / "starts.npy")
            self._blocks = load_array(folder / "blocks.npy")
            self._data = self._mapped("data.npy")
            self._indices = self._mapped("indices.npy")
            vocabulary = (folder / "vocabulary.txt").read_bytes().decode("utf-8")
        except (OSError, ValueError) as error:
            raise unreadable(folder, error) from error
        self.vocabulary = vocabulary.split("\n")[:-1]
        self._numbers = {term: number for number, term in enumerate(self.vocabulary)}
        if (
            self._starts.ndim != 2
            or self._starts.shape[1] != len(self._blocks)
            or len(self._numbers) != len(self._starts)
            or len(self._data) != len(self._indices)
            or (self._starts[:, 0] < 0).any()
            or (self._starts[:, -1] > len(self._data)).any()
            or (np.diff(self._blocks) < 0).any()
            or self._blocks[0] != 0
        ):
            raise self._disagree()

    def __len__(self) -> int:
        """Number of rows."""
        return int(self._blocks[-1])

    def scores(
        self, query: str, rows: Sequence[slice] | None = None, rule: TermRule = PLAIN
    ) -> Floats:
        """The score of each row of the slices, one after the other; of all rows for ``None``.

        A row with no term of the query scores ``floor`` of the same arguments.
        """
        return self.weighted_scores(*self._weighted(query, self._parts(rows), rule), rows)

    def weighted_scores(
        self,
        numbers: npt.NDArray[np.int64],
        counts: Floats,
        rows: Sequence[slice] | None = None,
    ) -> Floats:
        """``scores`` of a query that is given by its terms as ascending numbers of the vocabulary
        and what each of them counts."""
        parts = self._parts(rows)
        scores = np.zeros(sum(stop - start for start, stop in parts), np.float32)
        if not len(numbers):
            return scores
        find = self._by_rows if self._is_long(numbers, parts) else self._by_terms
        at = 0
        for start, stop in parts:
            scores[at : at + stop - start] = find(numbers, counts, start, stop)
            at += stop - start
        constant = self._constant(numbers, counts)
        return np.add(scores, constant, dtype=np.float32)

    def floor(
        self, query: str, rows: Sequence[slice] | None = None, rule: TermRule = PLAIN
    ) -> float:
        """The score of a row without any term of the query: 0 but for BM25L and BM25+."""
        if self._constants is None:
            return 0.0
        return self.weighted_floor(*self._weighted(query, self._parts(rows), rule))

    def weighted_floor(self, numbers: npt.NDArray[np.int64], counts: Floats) -> float:
        """``floor`` of a query that is given as for ``weighted_scores``."""
        return float(self._constant(numbers, counts))

    def _parts(self, rows: Sequence[slice] | None) -> list[tuple[int, int]]:
        parts = [_bounds(part, len(self)) for part in ([slice(None)] if rows is None else rows)]
        return [(start, stop) for start, stop in parts if start < stop]

    def _weighted(
        self, query: str, parts: Sequence[tuple[int, int]], rule: TermRule
    ) -> tuple[npt.NDArray[np.int64], Floats]:
        """The query's known terms and what each posting of theirs counts."""
        numbers, counts = self.query_terms(query)
        if rule.distinct:
            counts = np.ones_like(counts)
        if rule.local and len(numbers):
            counts = counts * self._local_idf(numbers, parts) / self.idf[numbers]
        return numbers, counts

    def _local_idf(
        self, numbers: npt.NDArray[np.int64], parts: Sequence[tuple[int, int]]
    ) -> Floats:
        """``idf`` over the blocks that hold the parts, as if there were no other rows."""
        held = np.zeros(len(numbers), np.int64)
        size = 0
        for first, last in dict.fromkeys(map(self._blocks_of, parts)):
            held += self._starts[numbers, last] - self._starts[numbers, first]
            size += int(self._blocks[last] - self._blocks[first])
        return _idf(held, size)

    def numbers(self, text: str) -> list[int]:
        """The distinct known terms of a text as numbers of the vocabulary, ascending."""
        terms = set(self.tokeniser.terms(text))
        return sorted(self._numbers[term] for term in terms if term in self._numbers)

    @cached_property
    def idf(self) -> Floats:
        """(terms,): ``ln(1 + (N - df + 0.5) / (df + 0.5))``, Lucene's, whatever the variant."""
        return _idf(self._starts[:, -1] - self._starts[:, 0], len(self))

    def document_frequency(self, term: str) -> int:
        """In how many rows a term stands."""
        number = self._numbers.get(term)
        return 0 if number is None else int(self._starts[number, -1] - self._starts[number, 0])

    def query_terms(self, query: str) -> tuple[npt.NDArray[np.int64], Floats]:
        """The known distinct terms in ascending order, and their counts in the query."""
        found = sorted(
            (self._numbers[term], count)
            for term, count in self.tokeniser.counts(query).items()
            if term in self._numbers
        )
        numbers = np.asarray([number for number, _ in found], np.int64)
        return numbers, np.asarray([count for _, count in found], np.float32)

    def _is_long(self, numbers: npt.NDArray[np.int64], parts: Sequence[tuple[int, int]]) -> bool:
        """Whether the query touches so much of the postings that it is faster to go through the
        rows, whose stretch needs no gathering: a case holds most of the common terms. Both ways
        add up a row's terms in one order."""
        touched = every = 0
        for first, last in map(self._blocks_of, parts):
            touched += int((self._starts[numbers, last] - self._starts[numbers, first]).sum())
            every += int(self._block_sizes[first:last].sum())
        return len(numbers) > _SHORT and 2 * touched > every

    def _blocks_of(self, part: tuple[int, int]) -> tuple[int, int]:
        """The blocks ``[first, last)`` that cover a span of rows, most often exactly."""
        first = int(np.searchsorted(self._blocks, part[0], side="right")) - 1
        return first, int(np.searchsorted(self._blocks, part[1], side="left"))

    def _by_terms(
        self, numbers: npt.NDArray[np.int64], counts: Floats, start: int, stop: int
    ) -> Floats:
        """Scores of the rows ``[start, stop)`` from the postings of the query's terms."""
        from scipy.sparse import csc_array

        first, last = self._blocks_of((start, stop))
        base, end = int(self._blocks[first]), int(self._blocks[last])
        begins, ends = self._starts[numbers, first], self._starts[numbers, last]
        indptr = np.zeros(len(counts) + 1, np.int32)
        np.cumsum(ends - begins, out=indptr[1:])
        pairs = list(zip(begins.tolist(), ends.tolist(), strict=True))
        data = np.concatenate([self._data[low:high] for low, high in pairs])
        indices = np.concatenate([self._indices[low:high] for low, high in pairs])
        indices -= base
        self._check_places(indices, end - base)
        matrix = csc_array((data, indices, indptr), shape=(end - base, len(counts)))
        scores: Floats = (matrix @ counts)[start - base : stop - base]
        return scores

    def _by_rows(
        self, numbers: npt.NDArray[np.int64], counts: Floats, start: int, stop: int
    ) -> Floats:
        """Scores of the rows ``[start, stop)`` from all their postings."""
        from scipy.sparse import csr_array

        rows = self._rows
        weights = np.zeros(len(self.vocabulary), np.float32)
        weights[numbers] = counts
        low, high = rows.indptr[start], rows.indptr[stop]
        part = csr_array(
            (rows.data[low:high], rows.indices[low:high], rows.indptr[start : stop + 1] - low),
            shape=(stop - start, len(weights)),
        )
        return np.asarray(part @ weights, np.float32)

    @cached_property
    def _rows(self) -> Any:
        """The matrix by rows, terms ascending within a row; made for the first long query."""
        from scipy.sparse import csc_array

        indptr = np.append(self._starts[:, 0], len(self._data)).astype(np.int32)
        shape = (len(self), len(self.vocabulary))
        self._check_places(self._indices, len(self))
        return csc_array((self._data, self._indices, indptr), shape=shape).tocsr()

    def _check_places(self, indices: npt.NDArray[Any], rows: int) -> None:
        """scipy trusts the row numbers: one out of bounds is read and written outside the array."""
        if len(indices) and (int(indices.min()) < 0 or int(indices.max()) >= rows):
            raise self._disagree()

    def _disagree(self) -> BadIndex:
        return BadIndex(f"{self.folder}: damaged (its files disagree); build the index again")

    @cached_property
    def _block_sizes(self) -> npt.NDArray[np.int64]:
        """Postings of each block of rows."""
        sizes: npt.NDArray[np.int64] = np.diff(self._starts, axis=1).sum(axis=0)
        return sizes

    def _constant(self, numbers: npt.NDArray[np.int64], counts: Floats) -> np.float32:
        if self._constants is None:
            return np.float32(0)
        return np.float32(self._constants[numbers] @ counts)

    @cached_property
    def _constants(self) -> Floats | None:
        path = self.folder / "constants.npy"
        return load_array(path) if path.exists() else None

    @cached_property
    def counts(self) -> Any:
        """(rows, terms) in CSR form: how often each term stands in each row."""
        from scipy.sparse import csc_array

        counts = load_array(self.folder / "counts.npy")
        indptr = np.append(self._starts[:, 0], len(counts))
        shape = (len(self), len(self.vocabulary))
        by_row = csc_array((counts, np.asarray(self._indices), indptr), shape=shape).tocsr()
        by_row.sort_indices()
        return by_row

    def documents(self) -> list[list[str]]:
        """The terms of every row with repeats, in ascending order within a row."""
        by_row = self.counts
        terms = [self.vocabulary[number] for number in np.repeat(by_row.indices, by_row.data)]
        ends = np.concatenate([[0], np.cumsum(by_row.data, dtype=np.int64)])[by_row.indptr]
        return [terms[low:high] for low, high in itertools.pairwise(ends)]

    def _mapped(self, name: str) -> npt.NDArray[Any]:
        # A view without the class ``memmap``, whose slices are slow to make.
        return np.asarray(load_array(self.folder / name, mapped=True))


def _idf(held: npt.NDArray[np.int64], rows: int) -> Floats:
    """``ln(1 + (N - df + 0.5) / (df + 0.5))``"""
    weights: Floats = np.log1p((rows - held + 0.5) / (held + 0.5)).astype(np.float32)
    return weights


def _bounds(part: slice, rows: int) -> tuple[int, int]:
    start, stop, step = part.indices(rows)
    if step != 1:
        raise ValueError(f"rows {part}: a slice of rows has no step")
    return start, stop
