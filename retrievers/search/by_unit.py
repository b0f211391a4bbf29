"""Scores of units for texts, by all legs of the settings and those over names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
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

    @property
    def legs(self) -> tuple[str, ...]:
        """The legs of the settings, and those over names that the index has. Without a leg of
        vectors none of names is taken that needs them."""
        own = self.settings.legs
        vectors = any("vector" in LEGS[leg].needs for leg in own)
        return tuple(
            name
            for name, leg in LEGS.items()
            if name in own
            or (
                leg.level == "unit"
                and self.stored.has(name)
                and (vectors or "vector" not in leg.needs)
            )
        )

    def units(self, allowed: Allowed) -> UnitRows:
        """The units of the allowed rows."""
        return self.table.rows_of(allowed)

    def scores(
        self, texts: Sequence[str], allowed: Allowed
    ) -> Iterator[tuple[UnitScores, Mapping[str, RankedRows]]]:
        """For each text the scores of all units, and each leg's list of the allowed rows."""
        units = self.units(allowed)
        asked = list(texts)
        if self.settings.expand:
            sources = dict.fromkeys(edition.source for edition in allowed.editions)
            asked = [expanded(text, sources) for text in asked]
        for first in range(0, len(asked), _BATCH):
            batch = asked[first : first + _BATCH]
            lists = {leg: list(self._rank(leg, batch, allowed)) for leg in self.legs}
            for number in range(len(batch)):
                legs = {leg: found[number] for leg, found in lists.items()}
                yield self._of(legs, units), legs

    def _rank(self, leg: str, texts: Sequence[str], allowed: Allowed) -> Iterator[RankedRows]:
        rule = self.settings.term_rule if "terms" in LEGS[leg].needs else PLAIN
        queries = Queries(texts, rule, self.encode)
        yield from self.stored.ranker(leg).rank(queries, allowed, max(len(allowed), 1))

    def _of(self, legs: Mapping[str, RankedRows], units: UnitRows) -> UnitScores:
        passages, names = [], []
        for leg, found in legs.items():
            weight = self.settings.unit_weight(leg)
            if LEGS[leg].level == "unit":
                names.append((weight, of_units(found, units)))
            else:
                passages.append((weight, of_rows(found, units)))
        return unit_scores(units, passages, names)
