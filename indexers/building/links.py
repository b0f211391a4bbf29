"""Building the link table of an index.

One row for each pointer that leads to a chunk of the index, in `links.parquet`, ordered by the row
of the pointing chunk. Links stay in the year of the edition that points; where the other manual
has no edition of that year, they lead into its edition in force when the pointing one began.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from indexers.building.pointers.general import Pointer, Target, pointers_of
from indexers.folder.link_table import KINDS, LINKS, TERMS_KEY, Link
from indexers.folder.table import ChunkTable
from indexers.legs.bm25.scores import Bm25
from manuals.library.editions import Library, load_library
from manuals.model.sections import Edition, Manual
from manuals.model.years import edition_in_force
from tam.errors import UnknownYear
from tam.files import replacing


@dataclass(frozen=True, slots=True)
class _Row:
    """One row to be written. ``to_rows`` hold the target, ``terms`` are its words' numbers in the
    vocabulary of the index's BM25, distinct and ascending."""

    from_row: int
    kind: int
    link: Link
    to_rows: tuple[int, ...]
    terms: tuple[int, ...]


def build_links(folder: Path, table: ChunkTable, bm25: Bm25, key: str) -> int:
    """Write the link table of an index folder that has all else; returns the number of links.

    ``key`` is that of the BM25 part, whose terms the table numbers.
    """
    library = load_library(folder / "manuals")
    rows: list[_Row] = []
    for edition in table.editions:
        rows.extend(_Edition(library, table, bm25, edition.source, edition.year).rows())
    rows.sort(key=lambda row: row.from_row)
    _write(rows, folder / LINKS, key)
    return len(rows)


class _Edition:
    """The links out of one edition."""

    def __init__(
        self, library: Library, table: ChunkTable, bm25: Bm25, source: str, year: int
    ) -> None:
        self._library = library
        self._table = table
        self._bm25 = bm25
        self._manual = library.manual(source, year)
        self._years: dict[str, int | None] = {}
        self._rows_of: dict[Target, tuple[int, ...]] = {}
        self._terms: dict[str, tuple[int, ...]] = {}

    def rows(self) -> Iterator[_Row]:
        numbers = {kind: number for number, kind in enumerate(KINDS)}
        for pointer in pointers_of(self._manual, self._other):
            held = self._pointing(pointer)
            for target in pointer.targets:
                to_rows = self._held(target)
                for row in held:
                    if to_rows and to_rows != (row,):
                        year = self._year(target.source) or 0
                        link = Link(
                            pointer.section.key, pointer.kind, target.source, year, target.key
                        )
                        terms = self._numbers(pointer.words)
                        yield _Row(row, numbers[pointer.kind], link, to_rows, terms)

    def _pointing(self, pointer: Pointer) -> tuple[int, ...]:
        """The chunks that hold the place of a pointer."""
        source, year = self._manual.source, self._manual.year
        if pointer.whole:
            return self._held(Target(source, pointer.section.key), whole=True)
        rows = self._table.rows_by_key(source, year).get(pointer.section.key, ())
        spans = self._table.text_spans
        there = [row for row in rows if spans[row, 0] <= pointer.offset < spans[row, 1]]
        return tuple(there or rows[:1])

    def _held(self, target: Target, whole: bool = False) -> tuple[int, ...]:
        """The chunks that hold a section or, when none does or the whole is wanted, what is
        below it."""
        found = self._rows_of.get(target)
        if found is None or whole:
            year = self._year(target.source)
            if year is None:
                return ()
            by_key = self._table.rows_by_key(target.source, year)
            rows = dict.fromkeys(by_key.get(target.key, ()))
            if whole or not rows:
                manual = self._library.manual(target.source, year)
                section = manual.by_key[target.key]
                for below in manual.subtree(section):
                    rows.update(dict.fromkeys(by_key.get(below.key, ())))
            found = tuple(sorted(rows))
            if not whole:
                self._rows_of[target] = found
        return found

    def _numbers(self, words: str) -> tuple[int, ...]:
        found = self._terms.get(words)
        if found is None:
            found = self._terms[words] = tuple(self._bm25.numbers(words))
        return found

    def _other(self, source: str) -> Manual | None:
        year = self._year(source)
        return None if year is None else self._library.manual(source, year)

    def _year(self, source: str) -> int | None:
        """The edition of a manual that this edition's pointers mean."""
        if source == self._manual.source:
            return self._manual.year
        if source not in self._years:
            self._years[source] = self._find_year(source)
        return self._years[source]

    def _find_year(self, source: str) -> int | None:
        own = self._manual.edition
        # Of the manuals that were read, only those that have chunks here.
        editions = [
            edition
            for edition in self._library.editions
            if edition.source == source and self._has_rows(edition)
        ]
        if any(edition.year == own.year for edition in editions):
            return own.year
        try:
            return edition_in_force(editions, source, own.effective_from).year
        except UnknownYear:
            return None

    def _has_rows(self, edition: Edition) -> bool:
        return any(
            (rows.source, rows.year) == (edition.source, edition.year)
            for rows in self._table.editions
        )


def _write(rows: Sequence[_Row], path: Path, key: str) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    text, numbers = pa.dictionary(pa.int32(), pa.string()), pa.list_(pa.int32())
    columns = {
        "from_row": pa.array([row.from_row for row in rows], pa.int32()),
        "kind": pa.array([row.kind for row in rows], pa.int8()),
        "to_rows": pa.array([row.to_rows for row in rows], numbers),
        "terms": pa.array([row.terms for row in rows], numbers),
        "from_key": pa.array([row.link.from_key for row in rows], text),
        "to_source": pa.array([row.link.to_source for row in rows], text),
        "to_year": pa.array([row.link.to_year for row in rows], pa.int16()),
        "to_key": pa.array([row.link.to_key for row in rows], text),
    }
    with replacing(path) as part:
        table = pa.table(columns, metadata={TERMS_KEY: key.encode()})
        parquet.write_table(table, part, compression="zstd")
