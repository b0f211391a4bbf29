"""The names of units, each at the row of the unit's first chunk.

A unit is named by its own manual and by others (``Source.names``): an entry of the Alphabetic
Index names the category of its code, in the edition of its own year.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from indexers.folder.manifest import EditionRows
from indexers.folder.table import ChunkTable
from manuals.apply.names import UnitName, lay_names, unit_of
from manuals.library.editions import Library
from manuals.model.sections import Manual
from manuals.model.source import SOURCES


def names_by_row(
    library: Library, table: ChunkTable, editions: Sequence[EditionRows]
) -> list[list[UnitName]]:
    """For each row the names of the unit that it begins, in document order; none for others."""
    found: list[dict[UnitName, None]] = [{} for _ in range(len(table))]
    heads = {(edition.source, edition.year): unit_heads(table, edition) for edition in editions}
    for edition in editions:
        year = edition.year

        def other(source: str, year: int = year) -> Manual | None:
            return library.manual(source, year) if (source, year) in heads else None

        manual = library.manual(edition.source, year)
        for name in SOURCES[edition.source].names(manual, other):
            row = heads.get((name.source, year), {}).get(unit_of(name.source, name.key))
            if row is not None and name.text.strip():
                found[row][name] = None
        for name in lay_names(manual):
            row = heads[name.source, year].get(unit_of(name.source, name.key))
            # What has no name of its own in this edition is not there (deleted, reserved).
            if row is not None and found[row]:
                found[row][name] = None
    return [list(names) for names in found]


def unit_heads(table: ChunkTable, edition: EditionRows) -> Mapping[str, int]:
    """The units of an edition, each with the row of its first chunk."""
    heads: dict[str, int] = {}
    for row, key in enumerate(table.named[edition.start : edition.stop], start=edition.start):
        heads.setdefault(unit_of(edition.source, key), row)
    return heads
