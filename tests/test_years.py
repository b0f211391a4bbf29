"""Dates in force, and the edition that applies on a day."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manuals.model.sections import Edition
from manuals.model.years import (
    compact_date,
    dated,
    edition_in_force,
    fiscal_year,
    in_force,
    long_date,
)
from tam.errors import UnknownYear


def edition(source: str, year: int, release: str = "") -> Edition:
    return Edition(source, year, "", release, (), date(1, 1, 1), None)


def said(name: str, *years: int) -> dict[int, str]:
    releases = {"title18": "currentthrough:{}0103"}
    editions = [edition(name, year, releases.get(name, "").format(year + 1)) for year in years]
    return {e.year: in_force(e) for e in dated(editions)}


@pytest.mark.parametrize(
    ("source", "years", "expected"),
    [
        (
            "tabular",
            (2021, 2025),
            {2021: "in force 2020-10-01 to 2021-09-30", 2025: "in force 2024-10-01 to 2025-09-30"},
        ),
        # the official list decides, whether or not the next edition is here
        ("ussg", (2016,), {2016: "in effect 2016-11-01 to 2018-10-31"}),
        (
            "ussg",
            (2018, 2021),
            {
                2018: "in effect 2018-11-01 to 2021-10-31",
                2021: "in effect 2021-11-01 to 2023-10-31",
            },
        ),
        (
            "ussg",
            (2024, 2025),
            {2024: "in effect 2024-11-01 to 2025-10-31", 2025: "in effect from 2025-11-01"},
        ),
        (
            "ussg",
            (2025, 2026),
            {2025: "in effect 2025-11-01 to 2026-10-31", 2026: "in effect from 2026-11-01"},
        ),
        (
            "title18",
            (2022, 2024),
            {2022: "current through 2023-01-03", 2024: "current through 2025-01-03"},
        ),
    ],
)
def test_dates(source: str, years: tuple[int, ...], expected: dict[int, str]) -> None:
    assert said(source, *years) == expected


def test_the_title_page_gives_the_first_day() -> None:
    (only,) = dated([edition("ussg", 2003, "November 5, 2003")])
    assert in_force(only) == "in effect 2003-11-05 to 2004-10-31"


EDITIONS = dated(
    [
        edition("tabular", 2021),
        edition("tabular", 2025),
        edition("ussg", 2016, "November 1, 2016"),
        edition("ussg", 2021, "November 1, 2021"),
        edition("ussg", 2025, "November 1, 2025"),
        edition("title18", 2021, "currentthrough:20220103"),
        edition("title18", 2022, "currentthrough:20230103"),
        edition("title18", 2024, "currentthrough:20250106"),
    ]
)


@pytest.mark.parametrize(
    ("source", "day", "year"),
    [
        ("tabular", date(2020, 10, 1), 2021),
        ("tabular", date(2021, 9, 30), 2021),
        ("tabular", date(2025, 1, 1), 2025),
        ("ussg", date(2018, 10, 31), 2016),
        ("ussg", date(2023, 10, 31), 2021),
        ("ussg", date(2022, 6, 1), 2021),
        ("ussg", date(2031, 1, 1), 2025),
        # the last that is current: law enacted after the day must not be in it
        ("title18", date(2022, 1, 3), 2021),
        ("title18", date(2022, 1, 4), 2021),
        ("title18", date(2022, 5, 1), 2021),
        ("title18", date(2023, 1, 2), 2021),
        ("title18", date(2023, 1, 3), 2022),
        ("title18", date(2025, 1, 5), 2022),
        ("title18", date(2030, 1, 1), 2024),
    ],
)
def test_edition_in_force(source: str, day: date, year: int) -> None:
    assert edition_in_force(EDITIONS, source, day).year == year


@pytest.mark.parametrize(
    ("source", "day"),
    [
        ("tabular", date(2020, 9, 30)),
        ("tabular", date(2023, 1, 1)),
        ("tabular", date(2025, 10, 1)),
        ("ussg", date(2018, 11, 1)),
        ("ussg", date(2023, 11, 1)),
        ("title18", date(2010, 1, 1)),
        ("title18", date(2022, 1, 2)),
        ("index", date(2025, 1, 1)),
    ],
)
def test_no_edition_in_force(source: str, day: date) -> None:
    with pytest.raises(UnknownYear, match=f"no edition of {source} here holds for {day}"):
        edition_in_force(EDITIONS, source, day)


@given(
    st.sampled_from(["tabular", "ussg", "title18"]),
    st.sets(st.integers(2010, 2027), min_size=1),
    st.dates(date(2005, 1, 1), date(2030, 1, 1)),
)
def test_at_most_one_edition_holds_a_day(source: str, years: set[int], day: date) -> None:
    release = "currentthrough:{}0103" if source == "title18" else ""
    editions = dated(edition(source, year, release.format(year + 1)) for year in years)
    holding = [
        e
        for e in editions
        if e.effective_from <= day and (e.effective_to is None or day <= e.effective_to)
    ]
    assert len(holding) <= 1
    if holding:
        assert edition_in_force(reversed(editions), source, day) == holding[0]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("effective November 1, 2025, and earlier", date(2025, 11, 1)),
        ("UPDATED OCTOBER 1, 2024", date(2024, 10, 1)),
        ("February 30, 2024 or March 2, 2024", date(2024, 3, 2)),
        ("Nov. 2025", None),
    ],
)
def test_long_date(text: str, day: date | None) -> None:
    assert long_date(text) == day


def test_compact_date_and_fiscal_year() -> None:
    assert compact_date("currentthrough:20240103") == date(2024, 1, 3)
    assert compact_date("currentthrough:20241303") is None
    assert compact_date("2025") is None
    assert fiscal_year(edition("tabular", 2025)) == (date(2024, 10, 1), date(2025, 9, 30))
