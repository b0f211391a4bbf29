"""Lookups: the right section of the right year, or an error that says where to look."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_files import index, table, tabular, title18, usc_section, write

from manuals.library.choose import VARIABLE, choose_library
from manuals.library.editions import Library, open_manuals
from manuals.library.locate import DATA, HERE, SAMPLE, data_folder
from manuals.library.lookup import nearest_keys
from manuals.library.status import library_status
from manuals.library.store import save_manual
from tam.errors import BadOption, BadReference, ManualError, TamError, UnknownKey, UnknownYear

NEWER = "<diag><name>E11.29</name><desc>Sweet blood, other kidneys</desc></diag>"


NEOPLASM = table(2025, "Neoplasm").replace(
    b"</letter>",
    b"""</letter><letter><title>N</title>
<mainTerm><title>Growth, growing</title><term level="1"><title>brain NEC</title></term></mainTerm>
<mainTerm><title>Lump, hard</title></mainTerm><mainTerm><title>Lump, soft</title></mainTerm>
</letter>""",
)


def statute(letter: str) -> str:
    return (
        "<p class='statutory-body'>(a) None may whistle.</p>\n"
        f"<p class='statutory-body'>({letter}) None may hum.</p>"
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(
        tmp_path_factory.mktemp("manuals"),
        {
            "icd10cm/2024/t.xml": tabular(2024),
            "icd10cm/2025/t.xml": tabular(2025, NEWER),
            "icd10cm/2025/i.xml": index(2025),
            "icd10cm/2025/n.xml": NEOPLASM,
            "title18/2023/t.htm": title18(
                2023, "20240103", usc_section("32", "Noise", statute("b"))
            ),
            "title18/2024/t.htm": title18(
                2024,
                "20250106",
                usc_section("32", "Noise", "<p class='statutory-body'>(a) None may whistle.</p>")
                + usc_section("132", "Echo", "<p class='statutory-body'>None may echo.</p>")
                + usc_section("140, 141", "Repealed. Long ago]", "").replace(
                    "&sect;140", "[&sect;&sect;140"
                ),
            ),
        },
    )


@pytest.fixture(scope="module")
def library(folder: Path) -> Library:
    return open_manuals(folder)


def test_what_a_library_holds(library: Library) -> None:
    assert library.sources == ("tabular", "index", "neoplasm", "title18")
    assert library.years("title18") == (2023, 2024)
    assert library.years("ussg") == ()
    assert library.problems == ()
    assert library.manual("tabular", 2025) is library.manual("tabular", 2025)


@pytest.mark.parametrize(
    ("typed", "year", "key", "found_year"),
    [
        ("E1122", 2024, "E11.22", 2024),
        ("e11.22", None, "E11.22", 2025),
        ("E11.29", None, "E11.29", 2025),
        ("abscess > BRAIN", None, "Abscess > brain", 2025),
        ("18 U.S.C. § 32", 2023, "18 U.S.C. § 32", 2023),
        # the number as a whole: never 132
        ("18 USC 32", None, "18 U.S.C. § 32", 2024),
        ("18 USC 132", None, "18 U.S.C. § 132", 2024),
        ("growth > BRAIN", None, "Growth, growing > brain NEC", 2025),
        # gone from the newest edition: the newest that holds it
        ("18 USC 32(b)", None, "18 U.S.C. § 32(b)", 2023),
    ],
)
def test_look_up(library: Library, typed: str, year: int | None, key: str, found_year: int) -> None:
    found = library.look_up(typed, year=year)
    assert (found.section.key, found.manual.year, found.exact) == (key, found_year, True)
    assert found.latest == (year is None and len(found.other_years) > 0)
    assert found.manual.year not in found.other_years


def test_a_code_brings_all_that_binds_it(library: Library) -> None:
    found = library.look_up("E11.22", year=2025)
    assert found.code is not None
    assert found.code.valid
    assert [(bound.section.key, bound.note.text) for bound in found.code.notes] == [
        ("E11", "sweetness")
    ]


def test_deeper_than_the_tree_goes(library: Library) -> None:
    found = library.look_up("18 USC 32(a)(7)", year=2024)
    assert found.section.key == "18 U.S.C. § 32(a)"
    assert (found.exact, found.asked) == (False, "18 U.S.C. § 32(a)(7)")


@pytest.mark.parametrize("typed", ["18 USC 141", "18 USC 141(a)"])
def test_a_number_under_a_joint_head(library: Library, typed: str) -> None:
    """``[§§140, 141. Repealed.]`` is where 141 stands, and only it."""
    found = library.look_up(typed)
    assert (found.section.key, found.exact) == ("18 U.S.C. § 140", False)
    assert found.section.citation == "18 U.S.C. §§ 140, 141"
    with pytest.raises(UnknownKey):
        library.look_up("18 USC 142")


@pytest.mark.parametrize(
    ("typed", "year", "words", "years"),
    [
        ("E11.29", 2024, "it is in 2025: give one of these years", (2025,)),
        ("18 USC 132", 2023, "it is in 2024: give one of these years", (2024,)),
        ("18 USC 322", None, "is not in any edition here; nearest: 18 U.S.C. § 32", ()),
        ("Abcess", None, "nearest: Abscess", ()),
        ("Abscess > brian", None, "nearest: Abscess > brain", ()),
        ("E11.99", 2025, "tabular/2025 has no code E11.99", ()),
        # any case, and of all the indexes
        ("growht", None, "nearest: Growth, growing", ()),
        # two terms begin so: neither is chosen
        ("lump", None, "nearest: Lump, hard, Lump, soft", ()),
    ],
)
def test_unknown_keys(
    library: Library, typed: str, year: int | None, words: str, years: tuple[int, ...]
) -> None:
    with pytest.raises(UnknownKey) as raised:
        library.look_up(typed, year=year)
    assert words in str(raised.value)
    assert raised.value.years == years
    assert raised.value.nearest
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("typed", "year", "source", "error", "words"),
    [
        ("E11.22", 2019, None, UnknownYear, "editions here: tabular/2024, tabular/2025"),
        ("2K2.1", None, None, UnknownYear, "no edition of ussg is here; editions here: none"),
        ("E11.22", None, "atlas", BadOption, "no source 'atlas'; sources are guidelines, "),
        ("!?", None, None, BadReference, "!?"),
    ],
)
def test_wrong_questions(
    library: Library,
    typed: str,
    year: int | None,
    source: str | None,
    error: type[TamError],
    words: str,
) -> None:
    with pytest.raises(error) as raised:
        library.look_up(typed, year=year, source=source)
    assert words in str(raised.value)


def test_editions_that_are_not_here(library: Library) -> None:
    with pytest.raises(
        UnknownYear, match="no title18 of 2019 is here; years of title18: 2023, 2024"
    ):
        library.manual("title18", 2019)
    with pytest.raises(UnknownYear, match="there is no edition of ussg at all"):
        library.manual("ussg", 2024)
    with pytest.raises(BadOption, match="sources are"):
        library.manual("atlas", 2024)


def test_nearest_keys_are_in_one_order(library: Library) -> None:
    manual = library.manual("title18", 2024)
    assert nearest_keys("18 U.S.C. § 322", manual)[0] == "18 U.S.C. § 32"
    assert nearest_keys("18 U.S.C. § 322", manual, 2) == nearest_keys("18 U.S.C. § 322", manual)[:2]


def test_no_manual_in_a_folder(tmp_path: Path) -> None:
    write(tmp_path, {"a.txt": b"text", "b.xml": b""})
    with pytest.raises(ManualError, match=r"no manual found \(b\.xml: the file is empty"):
        open_manuals(tmp_path)
    with pytest.raises(BadOption, match="no such folder"):
        open_manuals(tmp_path / "none")


def test_status_goes_on_after_a_bad_edition(tmp_path: Path) -> None:
    broken = tabular(2024).replace(b"<name>E11</name>", b"<name></name>")
    write(tmp_path, {"a.xml": tabular(2025), "b.xml": broken})
    rows = {row.edition.name: row for row in library_status(open_manuals(tmp_path))}
    assert rows["tabular/2025"].sections > 0
    assert rows["tabular/2025"].kinds
    assert len(rows) == 2


# ---- which library, when none is named ----


def test_the_order_of_choice(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sample = write(tmp_path / "sample", {"i.xml": index(2020)})
    data, indexes = tmp_path / "data", tmp_path / "indexes"
    monkeypatch.delenv(VARIABLE, raising=False)

    def chosen(given: Path | None = None) -> tuple[str, str]:
        choice = choose_library(given, indexes=indexes, data=data, sample=sample)
        return choice.library.editions[0].name, choice.warning

    name, warning = chosen()
    assert name == "index/2020"
    assert "SAMPLE" in warning
    write(data, {"i.xml": index(2021)})
    assert chosen() == ("index/2021", "")
    parsed = open_manuals(write(tmp_path / "parsed", {"i.xml": index(2022)}))
    save_manual(parsed.manual("index", 2022), indexes / "icd" / "manuals")
    assert chosen() == ("index/2022", "")
    monkeypatch.setenv(VARIABLE, str(write(tmp_path / "named", {"i.xml": index(2023)})))
    assert chosen() == ("index/2023", "")
    assert chosen(folder) == ("tabular/2024", "")
    assert chosen(indexes / "icd" / "manuals") == ("index/2022", "")


def test_an_installed_package_is_not_written_to(tmp_path: Path) -> None:
    assert not data_folder(tmp_path / "site-packages" / "manuals").is_relative_to(tmp_path)


def test_the_sample_lies_beside_the_data() -> None:
    assert SAMPLE.is_dir()
    assert SAMPLE.parent == DATA.parent == HERE
    library = open_manuals(SAMPLE, strict=True)
    assert {source: library.years(source) for source in library.sources} == {
        **dict.fromkeys(
            ("guidelines", "tabular", "index", "eindex", "drugs", "neoplasm"), (2024, 2025)
        ),
        **dict.fromkeys(("title18", "ussg"), (2023, 2024)),
    }


@pytest.mark.real
@pytest.mark.parametrize(
    ("typed", "year", "key"),
    [
        ("18 USC 922(g)(1)", 2025, "18 U.S.C. § 922(g)(1)"),
        ("18 U.S.C. §924(a)(8)", 2022, "18 U.S.C. § 924(a)(8)"),
        ("2k2.1", 2016, "§2K2.1"),
        ("s72002a", 2025, "S72.002"),
        ("I.C.2.e.1", 2025, "I.C.2.e.1"),
        ("USSG Chapter 2, Part J", 2016, "USSG Chapter 2, Part J"),
        ("Appendix A 18 USC 793(b)", 2025, "Appendix A > 18 U.S.C. § 793(a)–(c)"),
        ("diabetes > type 2", 2025, "Diabetes, diabetic > type 2"),
        ("neoplasm > brain", 2025, "Neoplasm, neoplastic > brain NEC"),
    ],
)
def test_real_lookups(real_library: Library, typed: str, year: int, key: str) -> None:
    found = real_library.look_up(typed, year=year)
    assert (found.section.key, found.exact) == (key, True)


@pytest.mark.real
@pytest.mark.parametrize(
    ("typed", "year", "words"),
    [
        ("F32.A", 2021, "it is in 2025"),
        ("4C1.1", 2016, "it is in 2025"),
        ("5H1.1", 2025, "§§5H1.1-5H1.12 [Deleted] stands there"),
        ("5H1.1", 2025, "it is in 2016"),
        ("18 USC 932", 2021, "it is in 2022, 2023, 2024, 2025"),
    ],
)
def test_real_years(real_library: Library, typed: str, year: int, words: str) -> None:
    with pytest.raises(UnknownKey) as raised:
        real_library.look_up(typed, year=year)
    assert words in str(raised.value)


@pytest.mark.real
def test_a_real_section_that_moved(real_library: Library) -> None:
    found = real_library.look_up("18 USC 201(f)")
    assert (found.manual.year, found.latest) == (2023, True)
