"""Searching a case step by step.

A case is not a query but ten questions, and fragments about drugs or guns would win all places.
So each step of the plan (``Source.plan``) looks in its own part of the manuals:

1. Every statement of the case is a query; ``retrievers.ranking.units`` scores all units for it.
2. A unit scores in a step by its best statement. What the case cites is taken by reference, and
   what the manual maps that to (a row of Appendix A) comes before what is only alike.
3. Each step fills its share of the budget, scaled to it; what is left goes, over all steps, to the
   units that score best.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from indexers.folder.manifest import EditionRows
from indexers.legs.model import Allowed
from manuals.apply.names import unit_of
from manuals.apply.plan import PlanStep, Statement
from manuals.library.editions import Library
from manuals.model.keys import find_references
from manuals.model.source import SOURCES
from retrievers.case.statements import statements
from retrievers.search.by_unit import UnitRanker
from retrievers.search.hits import Hit
from tam.errors import BadReference, UnknownKey, UnknownYear

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: sections of a case when no budget is given, and what the plans' shares are of
SECTIONS = 25
#: what a reference and a mapping add to a unit's score (standard deviations)
REFERRED = 20.0
MAPPED = 4.0
#: statements shown with a section
SHOWN = 3


class CaseStep(NamedTuple):
    """One step of a case: its name, the manual and keys that it looked under, and its hits in
    order, each with the statements that brought it, the best first."""

    name: str
    source: str
    under: tuple[str, ...]
    hits: tuple[Hit, ...]
    statements: tuple[tuple[Statement, ...], ...]


@dataclass(frozen=True, slots=True)
class CaseHits:
    """The sections that a case needs: ``steps`` in the order of the procedure, ``hits`` flat in
    that order. ``notes`` say what could not be looked up."""

    steps: tuple[CaseStep, ...]
    notes: tuple[str, ...] = field(default=())

    @property
    def hits(self) -> tuple[Hit, ...]:
        return tuple(hit for step in self.steps for hit in step.hits)

    @property
    def tokens(self) -> int:
        """Tokens of the passages shown."""
        return sum(hit.tokens for hit in self.hits)

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "steps": [
                {
                    "name": step.name,
                    "source": step.source,
                    "under": list(step.under),
                    "hits": [
                        {**hit.to_json(), "statements": [each.text for each in brought]}
                        for hit, brought in zip(step.hits, step.statements, strict=True)
                    ],
                }
                for step in self.steps
            ],
            "tokens": self.tokens,
            "notes": list(self.notes),
        }


class Chosen(NamedTuple):
    """A unit taken in a step: its number, the row of its best passage, its score in the step, and
    the numbers of the statements that brought it."""

    step: int
    unit: int
    row: int
    score: float
    statements: tuple[int, ...]


class CaseSearch:
    """Scores of one case's statements in one index, from which sections are chosen."""

    def __init__(
        self, ranker: UnitRanker, allowed: Allowed, library: Library, found: Sequence[Statement]
    ) -> None:
        self.statements = found
        self.units = ranker.units(allowed)
        self._editions = {edition.source: edition for edition in allowed.editions}
        self._library = library
        self._places = ranker.stored.chunks.sources
        self._tokens = ranker.stored.chunks.tokens
        self._by_statement = np.zeros((len(found), self.units.size))
        #: for each unit its best row so far, and how well it scores
        self._row = np.zeros(self.units.size, np.int64)
        self._row_score = np.full(self.units.size, -np.inf)
        texts = [statement.text for statement in found]
        for number, (scores, _) in enumerate(ranker.scores(texts, allowed)):
            weight = found[number].weight
            self._by_statement[number] = weight * scores.units
            self._keep_rows(weight * scores.rows)
        self._number = {
            (source, key): number
            for number, (source, key) in enumerate(
                zip(self.units.source.tolist(), self.units.keys, strict=True)
            )
        }

    def _keep_rows(self, rows: Floats) -> None:
        order = np.lexsort((-rows, self.units.unit))
        by_unit = self.units.unit[order]
        first = order[np.flatnonzero(np.diff(by_unit, prepend=-1))]
        unit = self.units.unit[first]
        better = rows[first] > self._row_score[unit]
        self._row[unit[better]] = self.units.rows[first[better]]
        self._row_score[unit[better]] = rows[first[better]]

    def choose(
        self, case: str, steps: Sequence[PlanStep], sections: int, tokens: int | None
    ) -> list[Chosen]:
        """The sections of each step, at most ``sections`` and ``tokens`` of passages in all.

        In the order of the steps, and within one by score.
        """
        lists = [self._candidates(case, number, step) for number, step in enumerate(steps)]
        scale = sections / SECTIONS
        shares = [max(1, round(step.share * scale)) for step in steps]
        taken: dict[int, Chosen] = {}
        spent = 0

        def take(each: Chosen) -> None:
            nonlocal spent
            cost = int(self._tokens[each.row])
            fits = tokens is None or spent + cost <= tokens
            if each.unit not in taken and len(taken) < sections and fits:
                taken[each.unit] = each
                spent += cost

        # The first of every step before the second of any, so that a small budget has them all.
        for place in range(max(shares, default=0)):
            for candidates, share in zip(lists, shares, strict=True):
                if place < share and place < len(candidates):
                    take(candidates[place])
        left = sorted(
            (each for candidates in lists for each in candidates),
            key=lambda each: (-each.score, self.units.keys[each.unit]),
        )
        for each in left:
            take(each)
        return sorted(taken.values(), key=lambda c: (c.step, -c.score, self.units.keys[c.unit]))

    def _candidates(self, case: str, number: int, step: PlanStep) -> list[Chosen]:
        """The units of a step, best first."""
        edition = self._editions.get(step.source)
        if edition is None or not len(self.statements):
            return []
        inside = self._inside(step)
        best = self._by_statement.max(axis=0)
        score = np.where(inside, best, -np.inf)
        if step.statements:
            own = np.asarray(step.statements)
            score = np.where(inside, self._by_statement[own].max(axis=0), -np.inf)
        if step.cited or step.mapped:
            cited, mapped = self._referred(case, step)
            for units, added in ((cited, REFERRED), (mapped, MAPPED)):
                for unit in units:
                    if inside[unit] or added == REFERRED:
                        score[unit] = max(score[unit], best[unit]) + added
        order = np.lexsort((np.arange(len(score)), -score))
        order = order[np.isfinite(score[order])][: 4 * SECTIONS]
        return [
            Chosen(number, unit, int(self._row[unit]), float(score[unit]), self._why(unit))
            for unit in order.tolist()
        ]

    def _why(self, unit: int) -> tuple[int, ...]:
        column = self._by_statement[:, unit]
        return tuple(np.lexsort((np.arange(len(column)), -column))[:SHOWN].tolist())

    def _inside(self, step: PlanStep) -> npt.NDArray[np.bool_]:
        """Which units a step may take."""
        of_source = self.units.source == self._source(step.source)
        if not step.under:
            return np.asarray(of_source, np.bool_)
        edition = self._editions[step.source]
        manual = self._library.manual(step.source, edition.year)
        keys = {
            unit_of(step.source, below.key)
            for key in step.under
            if key in manual.by_key
            for below in manual.subtree(manual.get(key))
        }
        named = np.fromiter((key in keys for key in self.units.keys), bool, self.units.size)
        inside: npt.NDArray[np.bool_] = of_source & named
        return inside

    def _source(self, name: str) -> int:
        return self._places.index(name) if name in self._places else -1

    def _referred(self, case: str, step: PlanStep) -> tuple[list[int], list[int]]:
        """Units of a step's source that the case cites, and those that the source maps what the
        case cites to."""
        cited: dict[int, None] = {}
        mapped: dict[int, None] = {}
        edition = self._editions[step.source]
        for reference in find_references(case, typed=True):
            try:
                found = self._library.look_up(reference, edition.year, step.source)
            except (UnknownKey, UnknownYear, BadReference):
                continue
            own = self._unit(step.source, found.section.key)
            if own is not None and step.cited:
                cited[own] = None
            if step.mapped:
                for section in (found.section, *found.also):
                    mapped.update(dict.fromkeys(self._targets(step.source, section.refs)))
        return list(cited), list(mapped)

    def _targets(self, source: str, refs: Iterable[Any]) -> Iterator[int]:
        for ref in refs:
            unit = self._unit(source, ref.target)
            if unit is not None:
                yield unit

    def _unit(self, source: str, key: str) -> int | None:
        return self._number.get((self._source(source), unit_of(source, key)))


def plan_of(
    editions: Sequence[EditionRows], library: Library, found: Sequence[Statement]
) -> tuple[PlanStep, ...]:
    """The steps for a case: those that the sources of these editions state, in the order of the
    sources; of each source without any, one step over all of it."""
    here = {edition.source: edition for edition in editions}
    planned: list[PlanStep] = []
    for name, edition in here.items():
        plan = SOURCES[name].plan
        if plan is not None:
            planned.extend(plan(library.manual(name, edition.year), found))
    if planned:
        return tuple(step for step in planned if step.source in here)
    share = max(1, SECTIONS // max(len(here), 1))
    return tuple(PlanStep(SOURCES[name].title, name, share) for name in here)


def read_case(case: str, sources: Iterable[str]) -> list[Statement]:
    """The statements of a case, read as the first of these sources that has a way of its own
    reads it."""
    for name in sources:
        reader = SOURCES[name].read_case
        if reader is not None:
            found: list[Statement] = reader(case)
            return found
    return statements(case)
