"""One text that stands in several years, found once.

Most sections do not change from year to year, so that a search over all years would return each
text five times. With ``collapse="years"`` a chunk stands for all chunks of the same source, key
and text: the newest of those that the filter allows takes the place of the best of them, and names
the other years. What changed keeps a place for each wording. Nothing happens within one year.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from indexers.folder.manifest import EditionRows
from indexers.folder.table import ChunkTable
from indexers.legs.model import Allowed
from indexers.legs.ranking import RankedRows


class Collapse:
    """The allowed rows of a filter, by the row that stands for them."""

    def __init__(self, chunks: ChunkTable, allowed: Allowed) -> None:
        self._chunks = chunks
        self._allowed = allowed

    def group(self, row: int) -> tuple[int, ...]:
        """The allowed rows with the text of a row, ascending by year."""
        alike = self._chunks.same_text.get(row, (row,))
        return tuple(each for each in alike if each in self._allowed) if len(alike) > 1 else alike

    def newest(self, row: int) -> int:
        """The row that stands for an allowed row."""
        return self.group(row)[-1]

    def collapsed(self, found: RankedRows) -> RankedRows:
        """The list with each text at the place and with the score of its best row."""
        first: dict[int, int] = {}
        for place, row in enumerate(found.rows.tolist()):
            first.setdefault(self.newest(row), place)
        places = np.fromiter(first.values(), np.int64, len(first))
        rows = np.fromiter(first, np.int64, len(first))
        return RankedRows(rows, found.scores[places], found.span_of)

    def other_years(self, rows: Sequence[int]) -> Mapping[int, tuple[int, ...]]:
        """For each row that stands for others too: their years, ascending."""
        groups = {row: self.group(row)[:-1] for row in rows}
        years = self._chunks.years
        return {row: tuple(years[list(more)].tolist()) for row, more in groups.items() if more}


def most_years(editions: Sequence[EditionRows]) -> int:
    """How many rows of an index can stand for one text: the most editions of one source."""
    return max(Counter(edition.source for edition in editions).values(), default=1)
