"""BM25: bm25s's score matrix, scored by one sparse product.

A term of the query adds its column of the matrix times its count in the query, so that a whole
case costs one product over its distinct terms. Postings of a term stand in row order, and
``starts[term, block]`` says where each edition's rows begin in them: a filter by edition selects
stretches of postings and leaves out the rest before anything is added up.

Variants and formulas: Kamphuis et al., "Which BM25 do you mean?", ECIR 2020, as in bm25s.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from indexers.folder.damage import load_array
from indexers.legs.tokenise import Tokeniser, TokenOptions
from tam.errors import BadIndex
from tam.progress import progress

if TYPE_CHECKING:
    from rank_bm25 import BM25Okapi

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


# Queries of so few terms are scored by their postings, and leave the rest of them on disk.
_SHORT = 60


@dataclass(frozen=True, slots=True)
class QueryRule:
    """How a query's terms count.

    ``distinct``: a term that the query repeats counts once, not as often. ``local``: its idf is
    that of the editions searched, not of the whole index, in which a word of the Tabular List is
    made common by the Index, the tables and the other years.
    """

    distinct: bool = False
    local: bool = False


PLAIN = QueryRule()


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
            raise BadIndex(f"{folder}: damaged ({error}); build the index again") from error
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
        self, query: str, rows: Sequence[slice] | None = None, rule: QueryRule = PLAIN
    ) -> Floats:
        """The score of each row of the slices, one after the other; of all rows for ``None``.

        A row with no term of the query scores ``floor`` of the same arguments.
        """
        parts = self._parts(rows)
        numbers, counts = self._weighted(query, parts, rule)
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

    def scores_many(
        self, queries: Sequence[str], rows: Sequence[slice] | None = None
    ) -> Iterable[Floats]:
        """``scores`` of each query, one at a time so that memory stays small."""
        for query in queries:
            yield self.scores(query, rows)

    def floor(
        self, query: str, rows: Sequence[slice] | None = None, rule: QueryRule = PLAIN
    ) -> float:
        """The score of a row without any term of the query: 0 but for BM25L and BM25+."""
        if self._constants is None:
            return 0.0
        return float(self._constant(*self._weighted(query, self._parts(rows), rule)))

    def _parts(self, rows: Sequence[slice] | None) -> list[tuple[int, int]]:
        parts = [_bounds(part, len(self)) for part in ([slice(None)] if rows is None else rows)]
        return [(start, stop) for start, stop in parts if start < stop]

    def _weighted(
        self, query: str, parts: Sequence[tuple[int, int]], rule: QueryRule
    ) -> tuple[npt.NDArray[np.int64], Floats]:
        """The query's known terms and what each posting of theirs counts."""
        numbers, counts = self._query(query)
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

    def _query(self, query: str) -> tuple[npt.NDArray[np.int64], Floats]:
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

    def documents(self) -> list[list[str]]:
        """The terms of every row with repeats, in ascending order within a row."""
        from scipy.sparse import csc_array

        counts = load_array(self.folder / "counts.npy")
        indptr = np.append(self._starts[:, 0], len(counts))
        shape = (len(self), len(self.vocabulary))
        by_row = csc_array((counts, np.asarray(self._indices), indptr), shape=shape).tocsr()
        by_row.sort_indices()
        terms = [self.vocabulary[number] for number in np.repeat(by_row.indices, by_row.data)]
        ends = np.concatenate([[0], np.cumsum(by_row.data, dtype=np.int64)])[by_row.indptr]
        return [terms[low:high] for low, high in itertools.pairwise(ends)]

    def _mapped(self, name: str) -> npt.NDArray[Any]:
        # A view without the class ``memmap``, whose slices are slow to make.
        return np.asarray(load_array(self.folder / name, mapped=True))


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

    def scores_many(
        self, queries: Sequence[str], rows: Sequence[slice] | None = None
    ) -> Iterable[Floats]:
        for query in queries:
            yield self.scores(query, rows)


def _idf(held: npt.NDArray[np.int64], rows: int) -> Floats:
    """``ln(1 + (N - df + 0.5) / (df + 0.5))``"""
    weights: Floats = np.log1p((rows - held + 0.5) / (held + 0.5)).astype(np.float32)
    return weights


def _bounds(part: slice, rows: int) -> tuple[int, int]:
    start, stop, step = part.indices(rows)
    if step != 1:
        raise ValueError(f"rows {part}: a slice of rows has no step")
    return start, stop
