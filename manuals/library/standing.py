"""What is known of a section's force: the edition's dates, and the amendments around it.

An edition says until when it is current or from when on it applies, not since when each paragraph
holds. The rest is in its notes on amendments, and in the next edition: its notes, and whether the
section reads otherwise there. Where neither says anything, nothing is said.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from textwrap import shorten
from typing import Any, Protocol

from manuals.model.amendments import Amendment
from manuals.model.sections import Edition, Manual, Section
from manuals.model.source import SOURCES
from manuals.model.units import is_apparatus, unit_key
from manuals.model.years import in_force, in_words

#: editions are of a year; so far back amendments are new where the edition before is not here
YEAR = timedelta(days=365)
#: characters of a note on a law's effect that a line quotes
EFFECT = 240


class Editions(Protocol):
    """What is asked of a library."""

    @property
    def editions(self) -> tuple[Edition, ...]: ...

    def manual(self, source: str, year: int) -> Manual: ...


@dataclass(frozen=True, slots=True)
class Standing:
    """A section's standing, on ``day`` if one was asked for.

    ``in_force`` is what is known of the edition (``current through 2022-01-03``). ``made`` are the
    amendments in the text that came after ``since``, the date of the edition before, of
    ``year_before`` (or a year before this one's). The others need a day: ``later`` are the amendments that the next edition
    here, of ``next_year``, names and this one does not; ``differs`` says that the section reads
    otherwise there.
    """

    in_force: str
    day: date | None = None
    since: date | None = None
    year_before: int | None = None
    made: tuple[Amendment, ...] = ()
    later: tuple[Amendment, ...] = ()
    next_year: int | None = None
    differs: bool = False

    @property
    def outdated(self) -> bool:
        """The text is older than a law that was there on the day."""
        return self.day is not None and any(each.day <= self.day for each in self.later)

    def lines(self) -> list[str]:
        """The amendments in words, for people."""
        older = (
            f"; before that day see the edition of {self.year_before}" if self.year_before else ""
        )
        lines = [f"{each}{older}{_effect(each)}" for each in self.made]
        for each in self.later:
            place = f"see the edition of {self.next_year}{_effect(each)}"
            if self.day is not None and each.day <= self.day:
                lines.append(f"older than the law of {in_words(self.day)}: {each}; {place}")
            else:
                lines.append(f"later {each}; {place}")
        if self.differs and not self.later:
            lines.append(f"reads otherwise in the edition of {self.next_year}; no law is named")
        return lines

    def to_json(self) -> dict[str, Any]:
        """The record as JSON values, with its lines."""
        return {
            "in_force": self.in_force,
            "as_of": self.day.isoformat() if self.day else None,
            "since": self.since.isoformat() if self.since else None,
            "year_before": self.year_before,
            "made": [each.to_json() for each in self.made],
            "later": [each.to_json() for each in self.later],
            "next_year": self.next_year,
            "differs": self.differs,
            "outdated": self.outdated,
            "lines": self.lines(),
        }


def _effect(each: Amendment) -> str:
    return f" ({shorten(each.effect, EFFECT, placeholder=' …')})" if each.effect else ""


def standing(library: Editions, manual: Manual, section: Section, day: date | None) -> Standing:
    """What is known of a section's force in an edition, and on a day."""
    edition = manual.edition
    words = in_force(edition)
    unit = _unit(manual, section.key)
    if unit is None:
        return Standing(words, day)
    before, after = _neighbours(library, edition)
    since = before.effective_from if before else edition.effective_from - YEAR
    year_before = before.year if before else None
    own = named(manual, unit)
    place = section.key.removeprefix(unit.key)
    made = tuple(each for each in own if each.day > since and each.touches(place))
    if day is None or after is None:
        return Standing(words, day, since, year_before, made)
    following = library.manual(after.source, after.year)
    if not reads_otherwise(manual, section, following):
        return Standing(words, day, since, year_before, made, (), after.year)
    later = amendments_between(manual, following, section.key)
    return Standing(words, day, since, year_before, made, later, after.year, True)


def named(manual: Manual, unit: Section) -> tuple[Amendment, ...]:
    """The amendments that an edition's notes name for a whole section."""
    reading = SOURCES[manual.source].amendments
    return tuple(reading(manual, unit)) if reading else ()


def amendments_between(older: Manual, newer: Manual, key: str) -> tuple[Amendment, ...]:
    """The amendments of a section that the newer of two editions names and the older does not.

    Those that the notes place in the subdivision; where its words changed and they place none
    there (a paragraph that lost its *and*), all of the section's.
    """
    unit = _unit(newer, key)
    if unit is None:
        return ()
    had = _unit(older, key)
    known = {each.law for each in named(older, had)} if had else set()
    place = key.removeprefix(unit.key)
    new = tuple(each for each in named(newer, unit) if each.law not in known)
    return tuple(each for each in new if each.touches(place)) or new


def reads_otherwise(manual: Manual, section: Section, following: Manual) -> bool:
    """Whether a section's words, without the editor's notes, are not the same in another edition."""
    other = following.by_key.get(section.key)
    return other is None or _words(manual, section) != _words(following, other)


def _words(manual: Manual, section: Section) -> list[str]:
    start, end = section.span
    parts = []
    for child in manual.children(section):
        if is_apparatus(manual.source, child.key):
            parts.append(manual.text[start : child.span[0]])
            start = child.span[1]
    parts.append(manual.text[start:end])
    return " ".join(parts).split()


def _unit(manual: Manual, key: str) -> Section | None:
    """The whole section that a key is in or of; none for chapters and an editor's notes."""
    source = SOURCES[manual.source]
    if source.amendments is None or is_apparatus(manual.source, key):
        return None
    unit = unit_key(manual.source, key)
    if source.unit is None or not source.unit.match(unit):
        return None
    return manual.by_key.get(unit)


def _neighbours(library: Editions, edition: Edition) -> tuple[Edition | None, Edition | None]:
    """The editions of the same source before and after this one."""
    others = sorted(
        (each for each in library.editions if each.source == edition.source),
        key=lambda each: each.effective_from,
    )
    before = [each for each in others if each.effective_from < edition.effective_from]
    after = [each for each in others if each.effective_from > edition.effective_from]
    return (before[-1] if before else None), (after[0] if after else None)
