"""The chunks of an index by row, their columns read when first asked for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from chunkers.model.chunk import Chunk
from indexers.folder.damage import unreadable
from indexers.folder.manifest import EditionRows
from manuals.model.source import SOURCES
from tam.errors import BadIndex

#: the table's file in an index folder
CHUNKS = "chunks.parquet"


_WORDS = re.compile(r"[^\W_]+")


def title_words(text: str) -> str:
    """The words of a title or query in order, without case and punctuation."""
    return " ".join(_WORDS.findall(text.casefold()))


class ChunkTable:
    """The chunks of an index by row number. Columns are read when first asked for."""

    def __init__(self, path: Path, editions: Sequence[EditionRows]) -> None:
        self.path = path
        self.editions = tuple(editions)
        # One row group's chunks: hits of one search lie close together.
        self._group = lru_cache(maxsize=64)(self._read_group)
        self._by_key: dict[tuple[str, int], Mapping[str, Sequence[int]]] = {}

    def __len__(self) -> int:
        return self.editions[-1].stop if self.editions else 0

    @cached_property
    def ids(self) -> list[str]:
        return self._column("id")

    @cached_property
    def named(self) -> list[str]:
        """The key that each row's chunk is named by."""
        return self._column("key")

    @cached_property
    def rows_by_title(self) -> Mapping[str, Sequence[int]]:
        """``title_words`` of each chunk's title -> its rows, but for the entries of indexes."""
        found: dict[str, list[int]] = {}
        titles = self._table(["title"]).column("title")
        for edition in self.editions:
            if not SOURCES[edition.source].path_keys:
                own = titles.slice(edition.start, edition.chunks).to_pylist()
                for row, title in enumerate(own, edition.start):
                    words = title_words(title)
                    if words:
                        found.setdefault(words, []).append(row)
        return found

    @cached_property
    def same_text(self) -> Mapping[int, tuple[int, ...]]:
        """Each row of a section that stands word for word in several years: the rows with the
        same source, key and text, ascending by year. A row that is not here has no other."""
        found: dict[tuple[str, str, str], list[int]] = {}
        texts = self._column("sha256")
        for edition in self.editions:
            for row in range(edition.start, edition.stop):
                found.setdefault((edition.source, self.named[row], texts[row]), []).append(row)
        return {row: tuple(rows) for rows in found.values() if len(rows) > 1 for row in rows}

    @cached_property
    def tokens(self) -> npt.NDArray[np.int64]:
        """(rows,): word pieces of each row's text."""
        return np.asarray(self._table(["tokens"]).column("tokens"), np.int64)

    @cached_property
    def text_spans(self) -> npt.NDArray[np.int64]:
        """(rows, 2): each chunk's slice of its manual's text."""
        table = self._table(["text_start", "text_end"])
        return np.stack([np.asarray(column, np.int64) for column in table.columns], axis=1)

    @cached_property
    def row_of_id(self) -> Mapping[str, int]:
        return {chunk_id: row for row, chunk_id in enumerate(self.ids)}

    @cached_property
    def id_ranks(self) -> npt.NDArray[np.int64]:
        """The place of each row's id among all ids in ascending order: breaks ties."""
        ranks = np.empty(len(self), np.int64)
        ranks[sorted(range(len(self)), key=self.ids.__getitem__)] = np.arange(len(self))
        return ranks

    @cached_property
    def sources(self) -> tuple[str, ...]:
        """The sources here, in the order of their rows; ``source_codes`` point into it."""
        return tuple(dict.fromkeys(edition.source for edition in self.editions))

    @cached_property
    def source_codes(self) -> npt.NDArray[np.int8]:
        """(rows,): the number of each row's source in ``sources``."""
        codes = [self.sources.index(edition.source) for edition in self.editions]
        return np.repeat(np.asarray(codes, np.int8), [e.chunks for e in self.editions])

    @cached_property
    def years(self) -> npt.NDArray[np.int16]:
        """(rows,): the year of each row's edition."""
        years = np.asarray([edition.year for edition in self.editions], np.int16)
        return np.repeat(years, [edition.chunks for edition in self.editions])

    def rows(
        self,
        source: str | Iterable[str] | None = None,
        year: int | Iterable[int] | None = None,
    ) -> list[slice]:
        """The row slices of the editions of these sources and years, ascending; neighbours are
        joined. ``None`` allows all. Nothing is raised for what is not here."""
        sources = {source} if isinstance(source, str) else source and set(source)
        years = {year} if isinstance(year, int) else year and set(year)
        return self.rows_of(
            edition
            for edition in self.editions
            if (source is None or edition.source in (sources or ()))
            and (year is None or edition.year in (years or ()))
        )

    def rows_of(self, editions: Iterable[EditionRows]) -> list[slice]:
        """The row slices of editions given in the order of ``self.editions``, joined."""
        slices: list[slice] = []
        for edition in editions:
            if slices and slices[-1].stop == edition.start:
                slices[-1] = slice(slices[-1].start, edition.stop)
            elif edition.chunks:
                slices.append(edition.rows)
        return slices

    def edition(self, row: int) -> EditionRows:
        """The edition that holds a row."""
        for edition in self.editions:
            if edition.start <= row < edition.stop:
                return edition
        raise IndexError(f"row {row} of {len(self)}")

    def chunk(self, row: int) -> Chunk:
        """One chunk, whole."""
        if not 0 <= row < len(self):
            raise IndexError(f"row {row} of {len(self)}")
        group = int(np.searchsorted(self._group_starts, row, side="right")) - 1
        return self._group(group)[row - int(self._group_starts[group])]

    def texts(self) -> list[str]:
        """The indexed text of every chunk. Not kept: it is most of the table."""
        return self._read_column("text")

    @cached_property
    def _key_column(self) -> tuple[npt.NDArray[np.int32], Any]:
        """The keys of all rows as one Arrow array, and where each row's begin in it."""
        column = self._table(["keys"]).column("keys").combine_chunks()
        offsets = column.offsets
        # numpy.asarray would do, but pyarrow imports pandas for it.
        array = np.frombuffer(offsets.buffers()[1], np.int32, len(offsets), offsets.offset * 4)
        return array - array[0], column.flatten()

    @cached_property
    def _keys(self) -> tuple[npt.NDArray[np.int32], list[str]]:
        offsets, flat = self._key_column
        return offsets, flat.to_pylist()

    def keys(self, row: int) -> tuple[str, ...]:
        """The keys of all sections that the chunk holds or cuts, in document order."""
        offsets, keys = self._keys
        return tuple(keys[offsets[row] : offsets[row + 1]])

    def rows_by_key(self, source: str, year: int) -> Mapping[str, Sequence[int]]:
        """``rows_of_key`` of one edition alone, by key: no other edition's keys are read."""
        if (source, year) not in self._by_key:
            found: dict[str, list[int]] = {}
            for edition in self.editions:
                if (edition.source, edition.year) == (source, year):
                    offsets, flat = self._key_column
                    ends = offsets[edition.start : edition.stop + 1]
                    keys = flat.slice(int(ends[0]), int(ends[-1] - ends[0])).to_pylist()
                    rows = np.repeat(np.arange(edition.start, edition.stop), np.diff(ends))
                    for key, row in zip(keys, rows.tolist(), strict=True):
                        found.setdefault(key, []).append(row)
            self._by_key[source, year] = found
        return self._by_key[source, year]

    @cached_property
    def rows_of_key(self) -> Mapping[tuple[str, int, str], tuple[int, ...]]:
        """``(source, year, key)`` -> the rows whose chunks hold or cut that section."""
        offsets, keys = self._keys
        found: dict[tuple[str, int, str], list[int]] = {}
        for edition in self.editions:
            for row in range(edition.start, edition.stop):
                for key in keys[offsets[row] : offsets[row + 1]]:
                    found.setdefault((edition.source, edition.year, key), []).append(row)
        return {key: tuple(rows) for key, rows in found.items()}

    @cached_property
    def _file(self) -> Any:
        from pyarrow import ArrowInvalid, parquet

        try:
            file = parquet.ParquetFile(self.path, memory_map=True)
        except (OSError, ArrowInvalid) as error:
            raise unreadable(self.path, error) from error
        if file.metadata.num_rows != len(self):
            raise BadIndex(
                f"{self.path}: {file.metadata.num_rows} chunks, but the manifest says "
                f"{len(self)}; build the index again"
            )
        return file

    @cached_property
    def _group_starts(self) -> npt.NDArray[np.int64]:
        metadata = self._file.metadata
        sizes = [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
        return np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)

    def _read_group(self, group: int) -> list[Chunk]:
        from chunkers.model.store import chunks_of

        return chunks_of(self._file.read_row_group(group))

    def _table(self, columns: list[str]) -> Any:
        return self._file.read(columns=columns)

    def _read_column(self, name: str) -> list[Any]:
        values: list[Any] = self._table([name]).column(name).to_pylist()
        return values

    _column = _read_column
