"""Law on a day: the edition that holds, the amendments around it, and where they are said."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest
from click.testing import CliRunner

from indexers.building.build import build
from manuals.library.diff import diff_sections, render_diff
from manuals.library.editions import Library
from manuals.library.standing import Standing
from manuals.model.amendments import Amendment
from manuals.model.sections import Edition, Manual, ManualFile, Section
from manuals.model.source import SOURCES
from manuals.model.years import dated, edition_in_force, in_force
from manuals.ussg.lookup import amendments as guideline_amendments
from retrievers.search.index import Index, open_index
from retrievers.serving.service import Service
from tam.cli import main
from tam.errors import BadOption, UnknownKey, UnknownYear
from tam.settings import BuildSettings

UNIT = "18 U.S.C. § 77"
LAW, DAY = "Pub. L. 117–159", date(2022, 6, 25)
BEFORE = "Pub. L. 98–1, §2, Oct. 12, 1984, 98 Stat. 1"
CREDIT_2021 = f"(Added Pub. L. 90–1, §1, June 19, 1968, 82 Stat. 1; amended {BEFORE}.)"
CREDIT_2022 = f"{CREDIT_2021[:-2]}; {LAW}, div. A, §7, June 25, 2022, 136 Stat. 1; Pub. L. 117–103, §3, Mar. 15, 2022, 136 Stat. 9.)"
NOTE = f"""Amendments

2022—Subsec. (a)(2). {LAW}, §7(1), struck out "lamp" after "any".

{LAW}, §7(2), inserted "red" before "lantern".

Subsecs. (b)(1), (2), (c). Pub. L. 117–103 substituted "oil" for "gas".

1984—Pub. L. 98–1 amended section generally. Prior to amendment, text read as follows:

"(a) Whoever hangs Pub. L. 99–9 lanterns."
"""
EFFECT = f"""Effective Date of 2022 Amendment

Amendment by Pub. L. 117–103 not effective until Oct. 1, 2022, see section 4.

Amendment by {LAW} applicable to lanterns lit later."""


def manual(year: int, credit: str, parts: dict[str, str], notes: dict[str, str]) -> Manual:
    """A made-up section of Title 18 in one edition, with its credit and notes."""
    edition = Edition(
        "title18", year, "", f"currentthrough:{year + 1}0103", (ManualFile("a.htm", "0" * 64, 1),),
        date(year, 1, 1), None,
    )  # fmt: skip
    text = ""
    sections: list[Section] = []

    def add(key: str, kind: str, parent: str | None, body: str) -> None:
        nonlocal text
        start = len(text)
        text += body + "\n\n"
        sections.append(
            Section(key, "title18", year, kind, 1, key, "", parent, (), (start, len(text)))
        )

    for place, body in parts.items():
        add(f"{UNIT}{place}", "subsection", UNIT, body)
    add(f"{UNIT} Source Credit", "note", UNIT, credit)
    for title, body in notes.items():
        add(f"{UNIT} Notes > {title}", "note", UNIT, body)
    whole = Section(UNIT, "title18", year, "section", 1, UNIT, "", None, (), (0, len(text)))
    return Manual(edition, text, (whole, *sections))


def library() -> Library:
    parts = {"(a)(1)": "(1) Any glass.", "(a)(2)": "(2) Any lamp or lantern.", "(b)": "(b) Gas."}
    old = manual(2021, CREDIT_2021, parts, {})
    changed = {**parts, "(a)(2)": "(2) Any red lantern.", "(b)": "(b) Oil.", "(d)": "(d) New."}
    new = manual(2022, CREDIT_2022, changed, {"Amendments": NOTE, EFFECT.split("\n")[0]: EFFECT})
    manuals = {2021: old, 2022: new}
    return Library(
        dated(each.edition for each in manuals.values()),
        lambda edition: Manual(edition, manuals[edition.year].text, manuals[edition.year].sections),
    )


def test_a_credit_and_its_notes() -> None:
    new = library().manual("title18", 2022)
    reading = SOURCES["title18"].amendments
    assert reading is not None
    added, older, delayed, law = reading(new, new.get(UNIT))
    assert (added.law, added.day, added.added) == ("Pub. L. 90–1", date(1968, 6, 19), True)
    assert (older.law, older.places, older.added) == ("Pub. L. 98–1", (), False)
    # in the order of their days, not of the credit; a paragraph that begins with its law goes on
    assert (delayed.law, delayed.places) == ("Pub. L. 117–103", ("(b)(1)", "(b)(2)", "(c)"))
    assert delayed.effect.startswith("Amendment by Pub. L. 117–103 not effective until")
    assert (law.law, law.day, set(law.places)) == (LAW, DAY, {"(a)(2)"})
    assert 'inserted "red"' in law.what and "lit later" in law.effect


PLACES = [
    ("(a)", True),
    ("(a)(2)", True),
    ("(a)(2)(A)", True),
    ("(a)(1)", False),
    ("(b)", False),
    ("", True),
]


@pytest.mark.parametrize(("place", "expected"), PLACES)
def test_what_an_amendment_touches(place: str, expected: bool) -> None:
    assert Amendment(LAW, DAY, places=("(a)(2)",)).touches(place) is expected
    assert Amendment(LAW, DAY).touches(place)


#: typed, day, laws made and later, outdated, reads otherwise
DAYS = [
    ("18 USC 77(a)(2)", "2022-05-01", [], [LAW], False, True),
    ("18 USC 77(a)(2)", "2022-06-25", [], [LAW], True, True),
    ("18 USC 77(a)(1)", "2022-07-01", [], [], False, False),
    ("18 USC 77(b)", "2022-07-01", [], ["Pub. L. 117–103"], True, True),
    ("18 USC 77(a)(2)", "2023-01-03", [LAW], [], False, False),
    ("18 USC 77(a)(1)", "2023-02-01", [], [], False, False),
]


@pytest.mark.parametrize(("typed", "day", "made", "later", "outdated", "differs"), DAYS)
def test_a_day_between_two_editions(
    typed: str, day: str, made: list[str], later: list[str], outdated: bool, differs: bool
) -> None:
    found = library().look_up(typed, as_of=day)
    standing = found.standing
    assert [each.law for each in standing.made] == made
    assert [each.law for each in standing.later] == later
    assert (standing.outdated, standing.differs) == (outdated, differs)
    assert standing.to_json()["as_of"] == day


def test_what_is_said() -> None:
    def lines(day: str, typed: str = "18 USC 77(b)") -> str:
        return " | ".join(library().look_up(typed, as_of=day).standing.lines())

    law = "amended by Pub. L. 117–103, March 15, 2022; see the edition of 2022"
    assert lines("2022-03-14").startswith(f"later {law}")
    assert lines("2022-03-15").startswith(f"older than the law of March 15, 2022: {law}")
    # a delayed effect is told in the note's own words
    assert "not effective until Oct. 1, 2022" in lines("2022-07-01")
    assert "before that day see the edition of 2021" in lines("2023-01-03")
    assert lines("2022-07-01", "18 USC 77(a)(1)") == ""


def test_nothing_known_nothing_said() -> None:
    only = Edition("tabular", 2025, "", "2025", (), date(2024, 10, 1), date(2025, 9, 30))
    assert Standing(in_force(only)).lines() == []
    with pytest.raises(UnknownYear, match=r"holds for 2022-01-02.*current through 2022-01-03"):
        library().look_up("18 USC 77", as_of="2022-01-02")
    with pytest.raises(BadOption, match="not both"):
        library().look_up("18 USC 77", 2022, as_of="2022-01-02")


def test_a_diff_names_the_laws() -> None:
    both = library()
    old, new = both.manual("title18", 2021), both.manual("title18", 2022)
    for one, two in ((old, new), (new, old)):
        said = render_diff(
            diff_sections(one, one.get(f"{UNIT}(a)(2)"), two, two.get(f"{UNIT}(a)(2)"))
        )
        assert f"amended by {LAW}, June 25, 2022" in said and "117–103" not in said


def test_a_historical_note() -> None:
    key = "§2Z1.1"
    body = (
        "Historical Note\nEffective November 1, 1987. Amended effective January 15, 1988 "
        "(amendment 19); November 1, 1989 (amendments 123\nand 124)."
    )
    edition = Edition("ussg", 2025, "", "", (), date(2025, 11, 1), None)
    whole = Section(key, "ussg", 2025, "guideline", 1, key, "", None, (), (0, len(body)))
    note = Section(
        f"{key} Historical Note",
        "ussg",
        2025,
        "historical-note",
        2,
        "",
        "",
        key,
        (),
        (0, len(body)),
    )
    found = guideline_amendments(Manual(edition, body, (whole, note)), whole)
    assert [(each.law, each.day.isoformat()) for each in found[1:]] == [
        ("amendment 19", "1988-01-15"),  # made under emergency authority
        ("amendments 123 and 124", "1989-11-01"),
    ]
    assert found[0].added


ICD = [
    ("tabular", "2025", "icd10cm-tabular-2025.xml", "2024-10-01 to 2025-09-30"),
    ("tabular", "2025", "April 2024/icd10cm-tabular-2025.xml", "2024-10-01 to 2025-09-30"),
    ("tabular", "2025", "icd10cm-tabular-April-2025.xml", "2025-04-01 to 2025-09-30"),
    ("guidelines", "FY 2025 -- UPDATED October 1, 2024", "g.pdf", "2024-10-01 to 2025-09-30"),
    ("guidelines", "FY 2025 -- UPDATED April 1, 2025", "g.pdf", "2025-04-01 to 2025-09-30"),
    # the addenda of January 2021
    ("guidelines", "FY 2025 - UPDATED January 1, 2025", "g.pdf", "2025-01-01 to 2025-09-30"),
    ("guidelines", "FY 2025", "g.pdf", "2024-10-01 to 2025-09-30"),
]


@pytest.mark.parametrize(("source", "release", "file", "dates"), ICD)
def test_releases_of_icd10cm(source: str, release: str, file: str, dates: str) -> None:
    files = (ManualFile(file, "0" * 64, 1),)
    (only,) = dated([Edition(source, 2025, "", release, files, date(1, 1, 1), None)])
    assert in_force(only) == f"in force {dates}"


@pytest.fixture(scope="module")
def legal(tmp_path_factory: pytest.TempPathFactory) -> Index:
    """An index of the sample of Title 18."""
    out = tmp_path_factory.mktemp("standing")
    from manuals.library.editions import open_manuals

    sample = open_manuals(Path(__file__).parents[1] / "manuals" / "sample")
    some = [edition for edition in sample.editions if edition.source == "title18"]
    title18 = Library(some, lambda edition: sample.manual(edition.source, edition.year))
    build(title18, out, BuildSettings(encoder="hash", preset="sections"), ["legal"])
    return open_index(out / "legal")


def test_every_surface_says_it(legal: Index) -> None:
    query, day = "18 USC 922", "2024-06-01"
    hit = legal.search(query, as_of=day)[0]
    assert hit.year == 2023 and hit.standing is not None
    assert hit.standing.in_force == "current through 2024-01-03"
    record = hit.to_json()["standing"]
    assert json.dumps(record) and record["as_of"] == day
    opened = Service([legal]).open({"ref": query, "as_of": day})
    assert opened["year"] == 2023 and opened["standing"]["as_of"] == day
    found = Service([legal]).search({"q": query, "as_of": day})
    assert found["hits"][0]["standing"] == record
    shown = CliRunner().invoke(
        main, ["open", query, "--as-of", day, "--manuals", "manuals/sample"], catch_exceptions=False
    )
    assert "current through 2024-01-03" in shown.output
    wrong = CliRunner().invoke(main, ["open", query, "--as-of", "May"], catch_exceptions=True)
    assert wrong.exit_code != 0


REAL = [
    # typed, day or year, edition, in its text, laws in the text, later laws, outdated
    ("18 USC 924(a)(2)", "2022-05-01", 2021, "not more than 10 years", [], [LAW], False),
    ("18 USC 924(a)(2)", "2022-07-01", 2021, "not more than 10 years", [], [LAW], True),
    ("18 USC 924(a)(8)", "2023-02-01", 2022, "not more than 15 years", [LAW], [], False),
    ("18 USC 924(c)(1)", "2022-07-01", 2021, "5 years", [], [], False),
    ("18 USC 924(e)", "2023-02-01", 2022, "fifteen years", [], [], False),
    # the credit of § 922 stands after a repealed appendix
    ("18 USC 922(d)(10)", "2023-02-01", 2022, "felony", [LAW], [], False),
    ("18 USC 922(d)(4)", "2022-07-01", 2021, "mental", [], [LAW], True),
    ("18 USC 932", "2023-02-01", 2022, "firearm", [LAW], [], False),
    ("18 USC 201(f)", "2024-01-03", 2023, "foreign official", ["Pub. L. 118–31"],
     ["Pub. L. 118–78"], False),
    ("18 USC 201(f)", "2024-07-30", 2023, "foreign official", ["Pub. L. 118–31"],
     ["Pub. L. 118–78"], True),
    ("18 USC 1352", "2025-01-06", 2024, "foreign official", ["Pub. L. 118–78"], [], False),
]  # fmt: skip


@pytest.mark.real
@pytest.mark.parametrize(("typed", "day", "year", "text", "made", "later", "outdated"), REAL)
def test_real_title18(
    real_library: Library, typed: str, day: str, year: int, text: str, made: list[str],
    later: list[str], outdated: bool,
) -> None:  # fmt: skip
    found = real_library.look_up(typed, as_of=day)
    assert found.manual.year == year and found.exact
    assert text in " ".join(found.manual.subtree_text(found.section).split())
    standing = found.standing
    assert [each.law for each in standing.made] == made
    assert [each.law for each in standing.later] == later
    assert standing.outdated is outdated


@pytest.mark.real
def test_real_law_that_was_not_there_yet(real_library: Library) -> None:
    found = real_library.look_up("18 USC 924(a)(8)", as_of="2022-05-01")
    assert not found.exact and found.section.key == "18 U.S.C. § 924(a)"
    assert found.standing.later[0].law == LAW and found.standing.later[0].day == DAY
    rows = (
        ("18 USC 932", "2022-07-01", "2022: added by Pub. L. 117–159, June 25, 2022"),
        ("18 USC 1352", "2024-07-01", "2024: added by Pub. L. 118–78, July 30, 2024"),
    )
    for typed, day, words in rows:
        with pytest.raises(UnknownKey, match=words):
            real_library.look_up(typed, as_of=day)


@pytest.mark.real
def test_real_delayed_effect(real_library: Library) -> None:
    """The definition of March 2022 held from the next fiscal year on: the note says so."""
    made = real_library.look_up("18 USC 2246", 2022).standing.made
    assert "not effective until Oct. 1 of the first fiscal year" in made[0].effect


@pytest.mark.real
def test_every_changed_section_has_its_law(real_library: Library) -> None:
    """Only corrections by the editors change a section without a law."""
    from manuals.library.standing import amendments_between, reads_otherwise

    nameless = set()
    for year in (2021, 2022, 2023, 2024):
        a, b = real_library.manual("title18", year), real_library.manual("title18", year + 1)
        for section in a.sections:
            changed = section.kind == "section" and reads_otherwise(a, section, b)
            if changed and not amendments_between(a, b, section.key):
                nameless.add((year, section.key))
    assert nameless == {(2022, "18 U.S.C. § 442"), (2024, "18 U.S.C. § 841")}


REAL_DAYS = [
    ("ussg", "2018-10-31", 2016),
    ("ussg", "2025-10-31", None),
    ("ussg", "2025-11-01", 2025),
    ("tabular", "2020-09-30", None),
    ("tabular", "2020-10-01", 2021),
    ("tabular", "2021-04-01", 2021),
    ("tabular", "2024-10-01", 2025),
    ("guidelines", "2025-04-01", 2025),
    ("title18", "2022-01-02", None),
    ("title18", "2022-01-03", 2021),
    ("title18", "2031-01-01", 2025),
]


@pytest.mark.real
@pytest.mark.parametrize(("source", "day", "year"), REAL_DAYS)
def test_real_days(real_library: Library, source: str, day: str, year: int | None) -> None:
    when = date.fromisoformat(day)
    if year is None:
        with pytest.raises(UnknownYear, match=f"{source} here holds for {day}"):
            edition_in_force(real_library.editions, source, when)
    else:
        assert edition_in_force(real_library.editions, source, when).year == year


@pytest.mark.real
def test_real_guidelines(real_library: Library) -> None:
    found = real_library.look_up("§2K2.1", as_of="2025-11-01")
    assert found.standing.in_force == "in effect from 2025-11-01"
    assert found.standing.made[-1].law == "amendments 834 and 836"
