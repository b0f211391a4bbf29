"""The link table of an index: which chunk points to which sections, of what kind, in what words.

Made by ``indexers.building.links``, kept in `links.parquet`, one row for each link, ordered by the row of
the pointing chunk:

| column | what |
|---|---|
| `from_row`, `from_key` | the pointing chunk, and the section in it that points |
| `kind` | number of a kind in ``KINDS`` |
| `to_source`, `to_year`, `to_key` | the section it leads to |
| `to_rows` | the chunks that hold that section |
| `terms` | the pointer's words as numbers of the BM25 vocabulary, distinct and ascending |
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from indexers.folder.damage import unreadable
from indexers.folder.manifest import EditionRows
from tam.errors import BadIndex

#: the table's file in an index folder
LINKS = "links.parquet"
#: every kind of link, in the order of their numbers in the table
KINDS = (
    "index_entry_to_code",
    "table_cell_to_code",
    "see",
    "see_also",
    "code_first",
    "use_additional_code",
    "code_also",
    "excludes",
    "guideline_to_code",
    "appendix_a",
    "cross_reference",
)

#: of the table's metadata: the key of the BM25 part whose terms it numbers
TERMS_KEY = b"terms"

Ints = npt.NDArray[np.int64]


class Link(NamedTuple):
    """One row: the pointing section, the kind, and the section it leads to."""

    from_key: str
    kind: str
    to_source: str
    to_year: int
    to_key: str


class Ragged(NamedTuple):
    """Lists of numbers one after the other: list ``n`` is ``values[starts[n]:starts[n + 1]]``."""

    starts: Ints
    values: Ints


class LinkTable:
    """The links of an index, read when first used."""

    def __init__(self, path: Path, idf: npt.NDArray[np.float32], rows: int, key: str) -> None:
        self.path = path
        self._key = key
        #: (terms,): how rare each term of the vocabulary is
        self.idf = idf
        self._rows = rows

    def __len__(self) -> int:
        return len(self.kinds)

    @cached_property
    def kinds(self) -> npt.NDArray[np.int8]:
        """(links,): numbers of ``pointers.KINDS``."""
        return np.asarray(self._column("kind"), np.int8)

    @cached_property
    def starts(self) -> Ints:
        """(rows + 1): where the links of each pointing row begin."""
        from_rows = np.asarray(self._column("from_row"), np.int64)
        return np.searchsorted(from_rows, np.arange(self._rows + 1))

    @cached_property
    def from_rows(self) -> Ints:
        """(links,): the pointing rows, ascending."""
        return np.asarray(self._column("from_row"), np.int64)

    def edition_pairs(self, editions: Sequence[EditionRows]) -> frozenset[tuple[str, str]]:
        """The names of each two editions of which the first has links into the second."""
        # Every link has a row that holds its target, and all of these are of one edition.
        ends = np.array([edition.stop for edition in editions], np.int64)
        places = np.stack([self.from_rows, self.targets.values[self.targets.starts[:-1]]])
        pairs = np.unique(np.searchsorted(ends, places, side="right"), axis=1)
        names = [edition.name for edition in editions]
        return frozenset((names[first], names[second]) for first, second in pairs.T.tolist())

    @cached_property
    def targets(self) -> Ragged:
        """The rows that hold the section which each link leads to."""
        return self._ragged("to_rows")

    @cached_property
    def terms(self) -> Ragged:
        """The distinct terms of each link's words, as numbers of the vocabulary."""
        return self._ragged("terms")

    @cached_property
    def lengths(self) -> npt.NDArray[np.float64]:
        """(links,): Euclidean length of each link's words as a vector of their idf."""
        squares = np.append(self.idf[self.terms.values].astype(np.float64) ** 2, 0.0)
        sums = np.add.reduceat(squares, self.terms.starts[:-1]) if len(self) else squares[:0]
        return np.sqrt(np.where(np.diff(self.terms.starts) > 0, sums, 0.0))

    def link(self, number: int) -> Link:
        """One link with its keys."""
        row = {name: self._column(name)[number].as_py() for name in Link._fields if name != "kind"}
        return Link(kind=KINDS[int(self.kinds[number])], **row)

    def of_kinds(self, kinds: frozenset[str]) -> Iterator[tuple[int, Link]]:
        """The links of some kinds, each with the row that points."""
        numbers = [number for number, kind in enumerate(KINDS) if kind in kinds]
        chosen = np.flatnonzero(np.isin(self.kinds, numbers))
        table = self._table.take(chosen).to_pylist()
        for row, number in zip(table, self.kinds[chosen].tolist(), strict=True):
            fields = {name: row[name] for name in Link._fields if name != "kind"}
            yield row["from_row"], Link(kind=KINDS[number], **fields)

    @cached_property
    def _table(self) -> Any:
        from pyarrow import ArrowInvalid, parquet

        try:
            table = parquet.read_table(self.path, memory_map=True)
        except (OSError, ArrowInvalid) as error:
            raise unreadable(self.path, error) from error
        if (table.schema.metadata or {}).get(TERMS_KEY, b"").decode() != self._key:
            raise BadIndex(f"{self.path}: of another index; build the index again")
        return table

    def _column(self, name: str) -> Any:
        return self._table.column(name)

    def _ragged(self, name: str) -> Ragged:
        column = self._column(name).combine_chunks()
        starts = np.asarray(column.offsets, np.int64)
        values = np.asarray(column.flatten(), np.int64)
        return Ragged(starts - starts[0], values)
