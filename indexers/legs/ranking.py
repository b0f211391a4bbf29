"""The one total order: score descending, then chunk id ascending.

The same text stands in several years, so exact ties are normal, and a partial sort that looks at
scores alone returns whichever of the equal rows it meets. Here score and place of the id are
packed into one integer; all integers differ, so that any selection by them is exact at the border
of the top k too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float32]
SpanOf = Callable[[int], tuple[int, int]]


class RankedRows(NamedTuple):
    """Rows best first with their scores.

    ``span_of`` says which stretch ``[start, end)`` of a row's text made it rank, where a leg
    scores parts of texts.
    """

    rows: Rows
    scores: Scores
    span_of: SpanOf | None = None

    def top(self, depth: int) -> RankedRows:
        """The first ``depth`` of the list."""
        if depth >= len(self.rows):
            return self
        return RankedRows(self.rows[:depth], self.scores[:depth], self.span_of)


EMPTY = RankedRows(np.empty(0, np.int64), np.empty(0, np.float32))


def order_keys(scores: npt.NDArray[np.float32], places: Rows) -> Rows:
    """Integers that sort ascending as the total order does; distinct when the places are.

    The bits of a float32, read as an integer, ascend with the number once those of negative
    numbers are turned round (IEEE 754). ``scores`` may be (n,) or (queries, n); NaN is not allowed.
    """
    # Adding zero makes -0.0 a 0.0: they compare equal and must tie.
    bits = (scores.astype(np.float32, copy=False) + np.float32(0.0)).view(np.int32)
    ascending = np.where(bits < 0, bits ^ np.int32(0x7FFFFFFF), bits).astype(np.int64)
    return (-ascending << 32) + places


def top_rows(rows: Rows, scores: Scores, places: Rows, depth: int) -> RankedRows:
    """The first ``depth`` of the rows in the total order.

    ``places[row]`` is the place of a row's id among all ids (``ChunkTable.id_ranks``).
    """
    if depth < len(rows):
        # All that ties with the last score stays in, so that ids decide at the border.
        border = np.partition(scores, len(rows) - depth)[len(rows) - depth]
        kept = np.flatnonzero(scores >= border)
        rows, scores = rows[kept], scores[kept]
    chosen = np.argsort(order_keys(scores, places[rows]))[:depth]
    return RankedRows(rows[chosen], scores[chosen])
