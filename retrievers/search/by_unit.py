"""Scores of units for texts, by all legs of the settings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from indexers.folder.opened import StoredIndex
from indexers.legs.model import LEGS, PLAIN, Allowed, Queries
from indexers.legs.ranking import RankedRows
from retrievers.ranking.legs import Vectors
from retrievers.ranking.units import UnitRows, UnitScores, UnitTable, of_rows, of_units, unit_scores
from retrievers.ranking.vocabulary import expanded
from retrievers.search.settings import SearchSettings

#: texts scored together: bounds what is held at once
_BATCH = 64


@dataclass(frozen=True)
class UnitRanker:
    """Ranks the units of an index; ``encode`` gives queries' vectors, from a cache or anew."""

    stored: StoredIndex
    settings: SearchSettings
    table: UnitTable
    encode: Callable[[Sequence[str]], Vectors]

    def units(self, allowed: Allowed) -> UnitRows:
        """The units of the allowed rows."""
        return self.table.rows_of(allowed)

    def scores(
        self, texts: Sequence[str], allowed: Allowed
    ) -> Iterator[tuple[UnitScores, dict[str, RankedRows]]]:
        """For each text the scores of all units, and each leg's list of the allowed rows."""
        units = self.units(allowed)
        asked = list(texts)
        if self.settings.expand:
            sources = dict.fromkeys(edition.source for edition in allowed.editions)
            asked = [expanded(text, sources) for text in asked]
        for first in range(0, len(asked), _BATCH):
            batch = asked[first : first + _BATCH]
            lists = {leg: list(self._rank(leg, batch, allowed)) for leg in self.settings.legs}
            for number in range(len(batch)):
                legs = {leg: found[number] for leg, found in lists.items()}
                yield self._of(legs, units), legs

    def _rank(self, leg: str, texts: Sequence[str], allowed: Allowed) -> Iterator[RankedRows]:
        rule = self.settings.term_rule if "terms" in LEGS[leg].needs else PLAIN
        yield from self.stored.ranker(leg).rank(
            Queries(texts, rule, self.encode), allowed, max(len(allowed), 1)
        )

    def _of(self, legs: dict[str, RankedRows], units: UnitRows) -> UnitScores:
        passages, names = [], []
        for leg, weight in zip(self.settings.legs, self.settings.leg_weights, strict=True):
            if LEGS[leg].level == "unit":
                names.append((weight, of_units(legs[leg], units)))
            else:
                passages.append((weight, of_rows(legs[leg], units)))
        return unit_scores(units, passages, names)
