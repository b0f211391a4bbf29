"""Years and days as people write them, the dates for which editions apply, and how that is said."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date, timedelta

from manuals.model.sections import Edition
from manuals.model.source import SOURCES
from tam.errors import BadOption, UnknownYear

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


def fiscal_year(edition: Edition, siblings: Sequence[Edition] = ()) -> tuple[date, date]:
    """First and last day of an edition's United States federal fiscal year."""
    return date(edition.year - 1, 10, 1), date(edition.year, 9, 30)


def dated(editions: Iterable[Edition]) -> tuple[Edition, ...]:
    """The editions with their dates in force, each seen beside all of its source."""
    editions = tuple(editions)
    found = []
    for edition in editions:
        siblings = [other for other in editions if other.source == edition.source]
        begin, end = SOURCES[edition.source].dates(edition, siblings)
        found.append(replace(edition, effective_from=begin, effective_to=end))
    return tuple(found)


def edition_in_force(editions: Iterable[Edition], source: str, day: date) -> Edition:
    """The edition of ``source`` that applies on ``day``: the one whose dates hold it.

    Raises ``UnknownYear`` when no edition here applies: the day lies before the first, or in the
    time of an edition that is not here.
    """
    own = sorted((e for e in editions if e.source == source), key=lambda e: e.effective_from)
    for edition in own:
        until = edition.effective_to
        if edition.effective_from <= day and (until is None or day <= until):
            return edition
    here = ", ".join(f"{e.year} ({in_force(e)})" for e in own) or "none"
    raise UnknownYear(
        f"no edition of {source} here holds for {day.isoformat()}; editions here: {here}"
    )


def in_force(edition: Edition) -> str:
    """What is known of the days for which an edition holds, in the words of its source.

    ``in force 2024-10-01 to 2025-09-30``; ``in effect from 2025-11-01``; ``current through
    2023-01-03``, of an annual edition that says no more.
    """
    first, last = edition.effective_from.isoformat(), edition.effective_to
    dates = f"{first} to {last.isoformat()}" if last else f"from {first}"
    return SOURCES[edition.source].in_force.format(dates=dates, first=first)


def in_words(day: date) -> str:
    """``June 25, 2022``."""
    return f"{MONTHS[day.month - 1]} {day.day}, {day.year}"


def read_day(day: date | str) -> date:
    """A day that was given as a date or as ``2022-05-01``. Raises ``BadOption``."""
    if isinstance(day, str):
        try:
            return date.fromisoformat(day.strip())
        except ValueError:
            raise BadOption(
                f"as of {day!r}: not a date; write it as 2024-03-15 (year-month-day)"
            ) from None
    # A datetime is a date too, but compares with none.
    return date(day.year, day.month, day.day)


def parse_years(text: str) -> tuple[int, ...]:
    """The years that a text names, ascending: ``2025``, ``2021-2023``, ``2016, 2021-2023``.

    A range has both its ends. Raises ``BadOption``.
    """
    years: set[int] = set()
    for part in text.replace("–", "-").split(","):
        ends = [end.strip() for end in part.split("-")]
        if not (1 <= len(ends) <= 2 and all(len(end) == 4 and end.isdecimal() for end in ends)):
            raise BadOption(f"year {text!r} is not a year or a range; write 2025 or 2021-2023")
        low, high = int(ends[0]), int(ends[-1])
        if low > high:
            raise BadOption(f"years {low}-{high}: the range ends before it begins; turn it round")
        years.update(range(low, high + 1))
    return tuple(sorted(years))


def format_years(years: Iterable[int]) -> str:
    """``(2021, 2022, 2023, 2025)`` -> ``2021-2023, 2025``."""
    runs: list[list[int]] = []
    for year in years:
        if runs and year == runs[-1][-1] + 1:
            runs[-1].append(year)
        else:
            runs.append([year])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
