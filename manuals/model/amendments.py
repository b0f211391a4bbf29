"""The record of an amendment that a manual's own notes name."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any

from manuals.model.years import in_words


@dataclass(frozen=True, slots=True)
class Amendment:
    """A change to a section, as the notes of an edition name it.

    ``law`` is what made it (``Pub. L. 117–159``, ``amendment 819``), ``day`` the day of that law's
    enactment, or of the guideline amendment's effect. ``added``: it made the section. ``places``
    are the subdivisions that the notes name, none for all of the section; ``what`` is the notes'
    text on it, and ``effect`` what they say of when it takes effect, both word for word.
    """

    law: str
    day: date
    added: bool = False
    places: tuple[str, ...] = ()
    what: str = ""
    effect: str = ""

    def touches(self, place: str) -> bool:
        """Whether it changes a subdivision (``(a)(8)``) or something in or around it."""
        if not self.places or not place:
            return True
        return any(_within(place, other) or _within(other, place) for other in self.places)

    def __str__(self) -> str:
        """``added by Pub. L. 117–159, June 25, 2022``."""
        return f"{'added' if self.added else 'amended'} by {self.law}, {in_words(self.day)}"

    def to_json(self) -> dict[str, Any]:
        """The record as JSON values."""
        return {
            "law": self.law,
            "date": self.day.isoformat(),
            "added": self.added,
            "places": list(self.places),
            "what": self.what,
            "effect": self.effect,
        }


def _within(place: str, other: str) -> bool:
    return place.startswith(other)
