"""Code lookups: seventh characters, placeholders, validity, inherited notes, two editions."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from icd_files import edition, real

from manuals.icd10cm.code_view import all_codes, is_leaf, look_up_code, with_seventh
from manuals.icd10cm.codes import undotted
from manuals.icd10cm.tabular import parse_tabular
from manuals.library.discover import discover
from manuals.library.editions import parse_edition
from manuals.model.sections import Manual
from tam.errors import BadReference, UnknownKey


@pytest.fixture(scope="module")
def editions(sample_manuals: Path) -> dict[int, Manual]:
    found = [one for one in discover(sample_manuals).editions if one.source == "tabular"]
    return {one.year: parse_edition(one, sample_manuals) for one in found}


@pytest.fixture(scope="module")
def tabular(editions: dict[int, Manual]) -> Manual:
    return editions[2025]


@pytest.mark.parametrize(
    ("typed", "code", "stem", "seventh", "valid"),
    [
        ("E11.22", "E11.22", "E11.22", "", True),
        ("e1122", "E11.22", "E11.22", "", True),
        ("I10", "I10", "I10", "", True),  # a category that is itself a code
        ("c61", "C61", "C61", "", True),
        ("E11", "E11", "E11", "", False),  # codes stand below
        ("S72.001", "S72.001", "S72.001", "", False),  # the seventh character is missing
        ("s72001a", "S72.001A", "S72.001", "A", True),
        ("S72.21XA", "S72.21XA", "S72.21", "A", True),  # defined three levels above
        ("S72.21X", "S72.21X", "S72.21", "", False),
        ("T07.XXXA", "T07.XXXA", "T07", "A", True),
        ("t07xxxd", "T07.XXXD", "T07", "D", True),
        ("T40.2X5A", "T40.2X5A", "T40.2X5", "A", True),
        ("O32.1XX3", "O32.1XX3", "O32.1", "3", True),
        ("E11.3212", "E11.3212", "E11.321", "2", True),
        ("H54.0X33", "H54.0X33", "H54.0X33", "", True),  # listed with all seven characters
        ("S12.8XXA", "S12.8XXA", "S12.8", "A", True),
        ("S72.471A", "S72.471A", "S72.471", "A", True),
        ("S06.1X7A", "S06.1X7A", "S06.1X7", "A", True),
        ("S06.1X9S", "S06.1X9S", "S06.1X9", "S", True),
    ],
)
def test_found(
    tabular: Manual, typed: str, code: str, stem: str, seventh: str, valid: bool
) -> None:
    view = look_up_code(tabular, typed)
    assert (view.code, view.section.key, view.seventh, view.valid) == (code, stem, seventh, valid)
    assert bool(view.meaning) == bool(seventh)


@pytest.mark.parametrize(
    ("typed", "nearest"),
    [
        ("S72.001Z", "S72.001A"),  # no such seventh character
        ("S72.21A", "S72.21XA"),  # the seventh character in the sixth place
        ("T07A", "T07.XXXA"),
        ("T07.XXA", "T07.XXXA"),
        ("E11.9A", "E11.9"),
        ("E11.22XA", "E11.22"),
        ("S72.2XXA", "S72.21"),  # codes stand below the stem
        ("S12.8XXB", "S12.8XXA"),  # its own definition replaces the category's
        ("S72.471B", "S72.471A"),
        ("S06.1X7D", "S06.1X7A"),  # a note takes these out
        ("S06.1X8S", "S06.1X8A"),
    ],
)
def test_not_found(tabular: Manual, typed: str, nearest: str) -> None:
    with pytest.raises(UnknownKey, match="2025") as raised:
        look_up_code(tabular, typed)
    assert raised.value.nearest[0] == nearest


@pytest.mark.parametrize("typed", ["", "E1", "Chapter 4", "E08-E13", "diabetes", "S72.001AA"])
def test_not_a_code(tabular: Manual, typed: str) -> None:
    with pytest.raises(BadReference):
        look_up_code(tabular, typed)


def test_unknown_category(tabular: Manual) -> None:
    with pytest.raises(UnknownKey, match="no category Q99"):
        look_up_code(tabular, "Q99.9")


def test_notes_come_from_all_above(tabular: Manual) -> None:
    view = look_up_code(tabular, "V43.52XA")
    places = [note.section.key for note in view.notes]
    assert places == ["Chapter 20", "V00-V99", "V00-V99", "V43"]
    view = look_up_code(tabular, "E11.22")
    assert ("Chapter 4", "excludes1") in [(n.section.key, n.note.kind) for n in view.notes]
    assert view.notes[-1].section.key == "E11.22"
    assert [parent.key for parent in view.parents][-1] == "E11.2"


def test_seventh_characters_of_a_category(tabular: Manual) -> None:
    view = look_up_code(tabular, "S72")
    assert view.sevenths_from == "S72"
    assert len(view.sevenths) == 16
    assert view.complete == ()  # codes stand below: nothing to append to
    assert [child.key for child in view.children][:2] == ["S72.0", "S72.1"]
    assert look_up_code(tabular, "S12.8").complete == ("S12.8XXA", "S12.8XXD", "S12.8XXS")


def test_title_with_its_seventh_character(tabular: Manual) -> None:
    view = look_up_code(tabular, "S72.001A")
    assert view.title == f"{view.section.title}, first treatment, closed break"


def test_answer_depends_on_the_year(editions: dict[int, Manual]) -> None:
    assert look_up_code(editions[2024], "E66.8").valid
    assert not look_up_code(editions[2025], "E66.8").valid
    assert look_up_code(editions[2025], "E66.813").valid
    with pytest.raises(UnknownKey, match="tabular/2024"):
        look_up_code(editions[2024], "E66.813")
    with pytest.raises(UnknownKey):
        look_up_code(editions[2024], "E16.A1")


@pytest.mark.parametrize("year", [2024, 2025])
def test_all_codes_are_valid_and_listed_once(editions: dict[int, Manual], year: int) -> None:
    manual = editions[year]
    codes = list(all_codes(manual))
    assert len(codes) == len(set(codes))
    views = [look_up_code(manual, undotted(code).lower()) for code in codes]
    assert [view.code for view in views] == codes
    assert all(view.valid for view in views)
    assert all(len(undotted(view.code)) == 7 for view in views if view.seventh)
    leaves = {s.key for s in manual.sections if is_leaf(manual, s)}
    assert {view.section.key for view in views} == leaves


@given(
    stem=st.from_regex(r"[A-TV-Z][0-9][0-9AB](\.[0-9A-Z]{1,3})?", fullmatch=True),
    character=st.sampled_from("0123459ABDGKPS"),
)
def test_full_codes_have_seven_characters(stem: str, character: str) -> None:
    code = with_seventh(stem, character)
    plain = undotted(code)
    assert len(plain) == 7
    assert plain[6] == character
    assert plain[:6].startswith(undotted(stem))
    assert set(plain[len(undotted(stem)) : 6]) <= {"X"}
    assert code[3] == "."


def parse(tmp_path: Path, diag: str) -> Manual:
    path = tmp_path / "tabular.xml"
    path.write_text(
        f"<ICD10CM.tabular><chapter><name>19</name>{diag}</chapter></ICD10CM.tabular>", "utf-8"
    )
    return parse_tabular([path], edition())


def test_definition_binds_at_every_depth(tmp_path: Path) -> None:
    manual = parse(
        tmp_path,
        "<diag><name>S99</name><sevenChrDef><extension char='A'>x</extension></sevenChrDef>"
        "<diag><name>S99.0</name><diag><name>S99.00</name><diag><name>S99.001</name></diag></diag>"
        "<diag><name>S99.01</name></diag></diag><diag><name>S99.1</name></diag></diag>",
    )
    assert list(all_codes(manual)) == ["S99.001A", "S99.01XA", "S99.1XXA"]


@pytest.mark.real
@pytest.mark.parametrize(("year", "count"), [(2021, 72_621), (2025, 74_260)])
def test_real_number_of_codes(real_manuals: Path, year: int, count: int) -> None:
    """FY2021 had 72,616 codes, and five more from January 2021; FY2025 has 74,260 (CMS)."""
    manual = real(real_manuals, "tabular", year)
    codes = list(all_codes(manual))
    assert len(codes) == len(set(codes)) == count
    for code in codes[::97]:
        assert look_up_code(manual, code).valid
    assert ("F32.A" in codes) == (year == 2025)
