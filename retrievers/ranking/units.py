"""Units: what the parts of a section say together, and what other sections say of it.

A search by units gives one hit for a guideline, a section of the Code or a category:

1. Each leg's scores are standardised over the rows of each source (z-scores; Renda and Straccia,
   SAC 2003), and a row adds up its legs', times their weights.
2. A unit scores by its best row and ``SECOND`` of its next one: two passages that answer are more
   than one (between MaxP and SumP of Dai and Callan, SIGIR 2019).
3. What legs of level ``unit`` (names) say of it is added.
4. Units that the manuals tie together lend each other ``EVIDENCE`` of what they score: a row of
   Appendix A says that a statute and a guideline are about one offense.

The shares were chosen on the development questions; docs/retrieval.md has the tables.
"""

from __future__ import annotations

import bisect
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from indexers.folder.manifest import EditionRows
from indexers.folder.opened import StoredIndex
from indexers.legs.model import Allowed
from indexers.legs.ranking import RankedRows, Rows, top_rows
from manuals.apply.names import unit_of
from manuals.model.source import SOURCES
from manuals.model.units import is_apparatus

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: share of a unit's second-best row that is added to its best
SECOND = 0.3
#: share of the best tied unit's score that is added
EVIDENCE = 0.5


class UnitRows(NamedTuple):
    """Rows by unit.

    ``rows`` (n,) ascending; ``unit`` (n,) each row's unit; ``keys``, ``source`` and ``edition``
    (units,) say whose they are, as places among the index's sources and editions; ``ties`` (t, 2)
    are pairs of units that lend each other evidence.
    """

    rows: Rows
    unit: Ints
    keys: tuple[str, ...]
    source: Ints
    edition: Ints
    ties: Ints

    @property
    def size(self) -> int:
        return len(self.keys)

    @property
    def row_source(self) -> Ints:
        return self.source[self.unit]


class UnitScores(NamedTuple):
    """Scores for one query: ``units`` (units,) and ``rows`` (n,)."""

    units: Floats
    rows: Floats


class UnitTable:
    """The units of an index. Those of an edition are told when first asked for."""

    def __init__(self, stored: StoredIndex) -> None:
        self._stored = stored
        self._of_edition = lru_cache(maxsize=None)(self._read)
        self.rows_of = lru_cache(maxsize=64)(self._rows_of)

    def _read(self, number: int) -> tuple[tuple[str, ...], Ints]:
        """Keys of an edition's units, in order, and the unit of each of its rows."""
        edition = self._stored.manifest.editions[number]
        numbers: dict[str, int] = {}
        named = self._stored.chunks.named[edition.start : edition.stop]
        unit = [numbers.setdefault(_unit(edition, key), len(numbers)) for key in named]
        return tuple(numbers), np.asarray(unit, np.int64)

    def _rows_of(self, allowed: Allowed) -> UnitRows:
        """The units of the allowed rows."""
        editions = self._stored.manifest.editions
        keys: list[str] = []
        unit = np.full(len(self._stored), -1, np.int64)
        source: list[int] = []
        edition_of: list[int] = []
        names = list(dict.fromkeys(edition.source for edition in editions))
        places: dict[int, tuple[int, Mapping[str, int]]] = {}
        for edition in allowed.editions:
            own, of_row = self._of_edition(editions.index(edition))
            unit[edition.start : edition.stop] = of_row + len(keys)
            place = editions.index(edition)
            places[place] = (len(keys), {key: number for number, key in enumerate(own)})
            source.extend([names.index(edition.source)] * len(own))
            edition_of.extend([place] * len(own))
            keys.extend(own)
        return UnitRows(
            allowed.rows,
            unit[allowed.rows],
            tuple(keys),
            np.asarray(source, np.int64),
            np.asarray(edition_of, np.int64),
            self._ties(places),
        )

    def _ties(self, places: Mapping[int, tuple[int, Mapping[str, int]]]) -> Ints:
        """Pairs of units of one year that a link of a tying kind joins."""
        kinds = frozenset(kind for source in SOURCES.values() for kind in source.ties)
        if not kinds or not self._stored.has_links:
            return np.empty((0, 2), np.int64)
        editions = self._stored.manifest.editions
        number_of = {(edition.source, edition.year): n for n, edition in enumerate(editions)}
        pairs: set[tuple[int, int]] = set()
        for row, link in self._stored.links.of_kinds(kinds):
            start = self._edition_of(row)
            ends = []
            for number, key in (
                (start, link.from_key),
                (number_of.get((link.to_source, link.to_year), -1), link.to_key),
            ):
                first, own = places.get(number, (0, {}))
                if number >= 0:
                    unit = own.get(unit_of(editions[number].source, key))
                    if unit is not None:
                        ends.append(first + unit)
            if len(ends) == 2 and ends[0] != ends[1]:
                pairs.add((ends[0], ends[1]))
        return np.asarray(sorted(pairs), np.int64).reshape(-1, 2)

    def _edition_of(self, row: int) -> int:
        stops = [edition.stop for edition in self._stored.manifest.editions]
        return bisect.bisect_right(stops, row)


def _unit(edition: EditionRows, key: str) -> str:
    # Notes tell of the law and are not the law: they stand for themselves.
    return key if is_apparatus(edition.source, key) else unit_of(edition.source, key)


def of_rows(found: RankedRows, units: UnitRows) -> Floats:
    """(n,): a leg's scores of rows, standardised by source. Rows that it does not rank share the
    lowest; all zero where it tells no row from another."""
    return _standardised(_spread(found, units), units.row_source)


def of_units(found: RankedRows, units: UnitRows) -> Floats:
    """(units,): the same of a leg that ranks each unit at one of its rows."""
    best = np.full(units.size, -np.inf)
    np.fmax.at(best, units.unit, _spread(found, units))
    best[np.isinf(best)] = np.nan
    return _standardised(best, units.source)


def _spread(found: RankedRows, units: UnitRows) -> Floats:
    scores = np.full(len(units.rows), np.nan)
    scores[np.searchsorted(units.rows, found.rows)] = found.scores
    return scores


def _standardised(scores: Floats, source: Ints) -> Floats:
    missing = np.isnan(scores)
    if missing.all():
        return np.zeros(len(scores))
    # A leg of terms leaves out what shares none with the query: its score is 0.
    scores = np.where(missing, min(0.0, float(np.nanmin(scores))), scores)
    for each in np.unique(source):
        own = source == each
        spread = scores[own].std()
        scores[own] = (scores[own] - scores[own].mean()) / spread if spread > 0 else 0.0
    return scores


def unit_scores(
    units: UnitRows,
    passages: Sequence[tuple[float, Floats]],
    names: Sequence[tuple[float, Floats]],
) -> UnitScores:
    """The scores of all units, standardised by source.

    ``passages`` are the weight and scores (n,) of each leg over rows, ``names`` those (units,) of
    each leg over units.
    """
    rows = sum((weight * scores for weight, scores in passages), np.zeros(len(units.rows)))
    total = _best_two(units, rows)
    for weight, scores in names:
        total = total + weight * scores
    total = _standardised(total, units.source)
    lent = np.zeros(units.size)
    for to, of in (units.ties.T, units.ties.T[::-1]):
        np.maximum.at(lent, to, np.maximum(total[of], 0.0))
    return UnitScores(total + EVIDENCE * lent, rows)


def _best_two(units: UnitRows, rows: Floats) -> Floats:
    order = np.lexsort((-rows, units.unit))
    by_unit = units.unit[order]
    starts = np.flatnonzero(np.diff(by_unit, prepend=-1))
    total = np.full(units.size, rows.min(initial=0.0))
    total[by_unit[starts]] = rows[order][starts]
    several = np.diff(np.append(starts, len(order))) > 1
    second = rows[order][starts[several] + 1]
    total[by_unit[starts[several]]] += SECOND * np.maximum(second, 0.0)
    return total


class UnitRanking(NamedTuple):
    """Units ranked for one query: ``found`` has the best row of each, ``parts`` all rows of each
    by that row, best first, ``legs`` the lists of each leg, one for each passage searched."""

    found: RankedRows
    parts: Mapping[int, tuple[int, ...]]
    legs: Mapping[str, tuple[RankedRows, ...]]


def ranked_units(
    units: UnitRows,
    scored: Sequence[tuple[UnitScores, Mapping[str, RankedRows]]],
    allowed: Allowed,
    left_out: frozenset[int],
    places: Rows,
    depth: int,
) -> UnitRanking:
    """The units with an allowed row that are of no edition of ``left_out``, best first, at most
    ``depth``. A long query's passages (``scored``) each score; the best counts."""
    total = np.max([scores.units for scores, _ in scored], axis=0)
    rows = np.max([scores.rows for scores, _ in scored], axis=0)
    inside = np.isin(units.rows, allowed.rows, assume_unique=True)
    inside &= ~np.isin(units.edition[units.unit], sorted(left_out))
    kept = np.flatnonzero(inside)
    order = kept[np.lexsort((places[units.rows[kept]], -rows[kept], units.unit[kept]))]
    first = np.flatnonzero(np.diff(units.unit[order], prepend=-1))
    heads = order[first]
    found = top_rows(units.rows[heads], total[units.unit[heads]].astype(np.float32), places, depth)
    ends = dict(
        zip(
            units.rows[heads].tolist(),
            zip(first.tolist(), np.append(first[1:], len(order)).tolist(), strict=True),
            strict=True,
        )
    )
    parts = {}
    for row in found.rows.tolist():
        low, high = ends[row]
        parts[row] = tuple(units.rows[order[low:high]].tolist())
    legs = {
        leg: tuple(lists[leg].top(depth) for _, lists in scored)
        for leg in (scored[0][1] if scored else ())
    }
    return UnitRanking(found, parts, legs)


def without_units_of(
    found: RankedRows, parts: Mapping[int, tuple[int, ...]], named: Mapping[int, str]
) -> tuple[RankedRows, Mapping[int, tuple[int, ...]], Mapping[int, str]]:
    """The ranking without the units of the rows that a query names, and of these the first of each
    unit: a unit that is named comes first, once, at the row that holds what is named."""
    if not parts or not named:
        return found, parts, named
    head_of = {row: head for head, own in parts.items() for row in own}
    moved, kept = dict(parts), dict[int, str]()
    gone: set[int] = set()
    for row, key in named.items():
        head = head_of.get(row, row)
        if head in gone:
            continue
        gone.add(head)
        kept[row] = key
        own = moved.pop(head, (row,))
        moved[row] = (row, *(other for other in own if other != row))
    keep = ~np.isin(found.rows, sorted(gone - kept.keys()))
    return found._replace(rows=found.rows[keep], scores=found.scores[keep]), moved, kept
