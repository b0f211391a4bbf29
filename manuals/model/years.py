"""The dates between which an edition applies, and the edition that is in force on a day.

- **ICD-10-CM**, all six sources: a fiscal year, 1 October of the year before to 30 September
  (the guidelines' title page states it). An update within the year (April) has the same year.
- **Sentencing Guidelines**: from the date of the title page (1 November) until the day before the
  next edition took effect. Editions are not annual: ``USSG_EDITIONS`` lists the official ones,
  so that 2016 ends in 2018, and 2021 in 2023, whether or not the next one is in the folder.
- **Title 18**: an edition states the law as of its ``currentthrough`` date and is the best that
  is here for the days since the edition before it was current; the first one for a year.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date, timedelta

from manuals.model.sections import Edition
from tam.errors import UnknownYear

#: editions of the Guidelines Manual since 2001 (ussc.gov, Guidelines Manual Archive)
USSG_EDITIONS = (*range(2001, 2017), 2018, 2021, 2023, 2024, 2025)

DAY = timedelta(days=1)

# not from ``calendar``, whose names change with the locale
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)

_LONG_DATE = re.compile(rf"({'|'.join(MONTHS)})\s+(\d{{1,2}}),\s+(\d{{4}})", re.IGNORECASE)


def long_date(text: str) -> date | None:
    """The first date written as ``November 1, 2025``; ``None`` when there is none."""
    for match in _LONG_DATE.finditer(text):
        month = [name.lower() for name in MONTHS].index(match[1].lower()) + 1
        try:
            return date(int(match[3]), month, int(match[2]))
        except ValueError:
            continue
    return None


def compact_date(text: str) -> date | None:
    """A date written as ``20240103`` at the end of ``text``."""
    match = re.search(r"(\d{4})(\d{2})(\d{2})$", text)
    try:
        return date(*map(int, match.groups())) if match else None
    except ValueError:
        return None


def fiscal_year(year: int) -> tuple[date, date]:
    """First and last day of a United States federal fiscal year."""
    return date(year - 1, 10, 1), date(year, 9, 30)


def dated(editions: Iterable[Edition]) -> tuple[Edition, ...]:
    """The editions with their dates in force, each seen beside the others of its source."""
    editions = tuple(editions)
    return tuple(_dated(edition, editions) for edition in editions)


def _dated(edition: Edition, editions: Sequence[Edition]) -> Edition:
    begin, end = _dates(edition, [other for other in editions if other.source == edition.source])
    return replace(edition, effective_from=begin, effective_to=end)


def _dates(edition: Edition, siblings: Sequence[Edition]) -> tuple[date, date | None]:
    if edition.source == "ussg":
        return _ussg_dates(edition, {other.year for other in siblings})
    if edition.source == "title18":
        return _title18_dates(edition, siblings)
    return fiscal_year(edition.year)


def _ussg_dates(edition: Edition, here: set[int]) -> tuple[date, date | None]:
    begin = long_date(edition.release) or date(edition.year, 11, 1)
    later = [year for year in {*USSG_EDITIONS, *here} if year > edition.year]
    return begin, date(min(later), 11, 1) - DAY if later else None


def _title18_dates(edition: Edition, siblings: Sequence[Edition]) -> tuple[date, date]:
    end = _current_through(edition)
    before = [day for day in map(_current_through, siblings) if day < end]
    # 29 February has no counterpart a year before; 365 days are near enough for a first edition.
    return (max(before) if before else end - timedelta(days=365)) + DAY, end


def _current_through(edition: Edition) -> date:
    return compact_date(edition.release) or date(edition.year, 12, 31)


def edition_in_force(editions: Iterable[Edition], source: str, day: date) -> Edition:
    """The edition of ``source`` that applies on ``day``.

    ICD-10-CM and the Sentencing Guidelines: the edition whose dates hold the day. Title 18: the
    earliest edition that is current through that day or later; after the last one's
    ``currentthrough``, the last. Raises ``UnknownYear`` when no edition here applies: the day
    lies before the first, or in the time of an edition that is not here.
    """
    own = sorted((e for e in editions if e.source == source), key=lambda e: e.effective_from)
    for edition in own:
        until = edition.effective_to
        if edition.effective_from <= day and (until is None or day <= until):
            return edition
    if source == "title18" and own and day > own[-1].effective_from:
        return own[-1]
    here = ", ".join(f"{e.year} ({dates_in_force(e)})" for e in own) or "none"
    raise UnknownYear(
        f"no edition of {source} here was in force on {day.isoformat()}; editions here: {here}"
    )


def dates_in_force(edition: Edition) -> str:
    """``2024-10-01 to 2025-09-30``, or ``from 2025-11-01``."""
    if edition.effective_to is None:
        return f"from {edition.effective_from.isoformat()}"
    return f"{edition.effective_from.isoformat()} to {edition.effective_to.isoformat()}"
