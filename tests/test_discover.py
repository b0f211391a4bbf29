"""Discovery: each file told by its content, each fault with a line of its own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from small_files import (
    ERROR_PAGE,
    gpo_part,
    guidelines_pdf,
    index,
    pdf,
    table,
    tabular,
    title18,
    ussg_pdf,
    write,
)

from manuals.library import discover as discover_module
from manuals.library.discover import discover, year_of_folder
from manuals.library.recognise import recognise
from manuals.model.official_file import Recognised
from tam.errors import BadOption, DamagedFile, ManualError, UnrecognisedFile


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (tabular(2025), ("tabular", 2025, "2025")),
        (index(2024), ("index", 2024, "2024")),
        (index(2019, "External Cause of Injuries Index"), ("eindex", 2019, "2019")),
        (table(2025, "Substance"), ("drugs", 2025, "2025")),
        (table(2025, "Neoplasm"), ("neoplasm", 2025, "2025")),
        (guidelines_pdf(2025), ("guidelines", 2025, "FY 2025 -- UPDATED October 1, 2024")),
        (ussg_pdf(2021), ("ussg", 2021, "November 1, 2021")),
        (title18(2023, "20240103"), ("title18", 2023, "currentthrough:20240103")),
        (title18(None, "20251218"), ("title18", 2025, "currentthrough:20251218")),
        # an annual edition without its year: the session of Congress ends in January
        (title18(None, "20240103"), ("title18", 2023, "currentthrough:20240103")),
        (title18(None, "20210113"), ("title18", 2020, "currentthrough:20210113")),
        (b"\xef\xbb\xbf" + tabular(2025), ("tabular", 2025, "2025")),
    ],
)
@pytest.mark.parametrize("name", ["x.dat", "icd10cm_tabular_1999.xml", "GLMFull.pdf", "no-suffix"])
def test_content_decides_whatever_the_name(
    tmp_path: Path, content: bytes, expected: tuple[str, int, str], name: str
) -> None:
    write(tmp_path, {name: content})
    assert recognise(tmp_path / name) == Recognised(*expected)


def test_gpo_part(tmp_path: Path) -> None:
    write(tmp_path, {"a.html": gpo_part("III")})
    assert recognise(tmp_path / "a.html") == Recognised(
        "title18", 2023, "currentthrough:20240103", "III"
    )


PCS = b"<?xml version='1.0'?><ICD10PCS.tabular><version>2025</version></ICD10PCS.tabular>"
USLM = b"<uscDoc xmlns='http://xml.house.gov/schemas/uslm/1.0'><meta/></uscDoc>"


@pytest.mark.parametrize(
    ("name", "content", "error", "words"),
    [
        ("a.xml", b"", DamagedFile, "is empty"),
        ("a.pdf", b"  \n ", DamagedFile, "is empty"),
        ("a.xml", tabular(2025)[:-400], DamagedFile, "not a whole XML file"),
        ("a.pdf", ERROR_PAGE, DamagedFile, "a web page ('404 Not Found') saved as .pdf"),
        ("a.xml", ERROR_PAGE, DamagedFile, "a web page ('404 Not Found') saved as .xml"),
        ("a.html", ERROR_PAGE, UnrecognisedFile, "not Title 18"),
        ("a.pdf", pdf("GUIDELINES MANUAL", password="secret"), DamagedFile, "encrypted"),
        ("a.pdf", pdf("", ""), DamagedFile, "no text"),
        ("a.pdf", ussg_pdf(2021)[:-300], DamagedFile, "cut off"),
        ("a.pdf", b"%PDF-1.7\nnothing\n%%EOF\n", DamagedFile, "cannot be read"),
        ("a.pdf", b"\x00\x01\x02", DamagedFile, "neither XML, HTML nor PDF"),
        ("a.pdf", pdf("Annual report of a bakery"), UnrecognisedFile, "'Annual report of a"),
        (
            "a.pdf",
            pdf("ICD-10-PCS Official Guidelines for Coding and Reporting\nFY 2025"),
            UnrecognisedFile,
            "ICD-10-PCS",
        ),
        ("a.pdf", pdf("ICD-10-CM TABULAR LIST of\nDISEASES"), UnrecognisedFile, "print form"),
        ("a.xml", PCS, UnrecognisedFile, "ICD-10-PCS"),
        ("a.xml", USLM, UnrecognisedFile, "USLM"),
        ("a.xml", b"<rss/>", UnrecognisedFile, "root <rss>"),
        ("a.xml", tabular(2025).replace(b"2025", b"?"), UnrecognisedFile, "gives no year"),
        ("a.xml", table(2025, "Fruit"), UnrecognisedFile, "unknown kind"),
        ("a.htm", title18(2023, "20240103", number="26"), UnrecognisedFile, "Title 26"),
        ("a.htm", title18(2023, "20240103")[:-60], DamagedFile, "cut off"),
        ("a.zip", b"PK\x03\x04rest", UnrecognisedFile, "unpack"),
    ],
)
def test_faults(
    tmp_path: Path, name: str, content: bytes, error: type[ManualError], words: str
) -> None:
    write(tmp_path, {f"sub/{name}": content, "good.xml": index(2025)})
    with pytest.raises(error) as raised:
        recognise(tmp_path / "sub" / name, f"sub/{name}")
    assert words in str(raised.value)
    assert str(raised.value).startswith(f"sub/{name}: ")
    assert "\n" not in str(raised.value)
    # One bad file does not stop the others.
    assert [edition.name for edition in discover(tmp_path).editions] == ["index/2025"]


def test_a_bad_file_stops_strict_discovery(tmp_path: Path) -> None:
    write(tmp_path, {"good.xml": index(2025), "bad.xml": b""})
    assert discover(tmp_path).problems == (
        "bad.xml: the file is empty; fetch it again or leave it out",
    )
    with pytest.raises(DamagedFile, match=r"bad\.xml"):
        discover(tmp_path, strict=True)


def test_other_files_are_passed_over(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "README.md": b"# notes",
            "codes.csv": b"a,b\n1,2\n",
            "tabular.xsd": b"<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'/>",
            "x.png": b"\x89PNG\r\n",
            "i.xml": index(2025),
        },
    )
    found = discover(tmp_path, strict=True)
    assert [edition.name for edition in found.editions] == ["index/2025"]
    assert found.findings == ()


@pytest.mark.parametrize(
    ("name", "year"),
    [
        ("ussg/2016/GLMFull.pdf", 2016),
        ("title18/2023-gpo/a.html", 2023),
        ("2024/FY25/a.xml", 2025),
        ("2024/files/a.xml", 2024),
        ("a/usc2023.htm", None),
        ("v20231/a.htm", None),
        ("a.xml", None),
    ],
)
def test_year_of_folder(name: str, year: int | None) -> None:
    assert year_of_folder(name) == year


def test_folder_of_another_year(tmp_path: Path) -> None:
    write(tmp_path, {"icd10cm/2024/tabular.xml": tabular(2025)})
    found = discover(tmp_path)
    assert [edition.name for edition in found.editions] == ["tabular/2025"]
    assert found.problems == (
        "icd10cm/2024/tabular.xml: the folder says 2024, the content tabular/2025 (2025); "
        "read as 2025: move or replace the file",
    )
    assert found.editions[0].problems == found.problems
    with pytest.raises(ManualError, match="the folder says 2024"):
        discover(tmp_path, strict=True)


def test_one_edition_in_different_bytes(tmp_path: Path) -> None:
    extra = "<diag><name>E11.29</name><desc>Other</desc></diag>"
    write(tmp_path, {"2025/b.xml": tabular(2025), "2025/a.xml": tabular(2025, extra)})
    found = discover(tmp_path)
    assert [file.path for file in found.editions[0].files] == ["2025/a.xml"]
    assert found.problems == (
        "2025/b.xml: tabular/2025 is here a second time in different bytes; 2025/a.xml is read: "
        "remove one of them",
    )
    with pytest.raises(ManualError, match="different bytes"):
        discover(tmp_path, strict=True)


def test_the_file_in_the_right_folder_is_read(tmp_path: Path) -> None:
    extra = "<diag><name>E11.29</name><desc>Other</desc></diag>"
    write(tmp_path, {"2024/a.xml": tabular(2025), "2025/b.xml": tabular(2025, extra)})
    found = discover(tmp_path)
    assert [file.path for file in found.editions[0].files] == ["2025/b.xml"]
    assert len(found.problems) == 2


def test_the_same_bytes_twice_are_only_noted(tmp_path: Path) -> None:
    write(tmp_path, {"a.xml": tabular(2025), "b.xml": tabular(2025)})
    found = discover(tmp_path, strict=True)
    assert len(found.editions) == 1
    assert found.notes == ("b.xml: the same bytes as a.xml",)


def test_the_manual_in_force_under_a_year_without_one(tmp_path: Path) -> None:
    """The benchmark's bundle has a folder for 2022, in which the 2021 manual was in force."""
    same = ussg_pdf(2021)
    write(tmp_path, {"ussg/2021/GLMFull.pdf": same, "ussg/2022/GLMFull.pdf": same})
    found = discover(tmp_path, strict=True)
    assert [edition.name for edition in found.editions] == ["ussg/2021"]
    assert "ussg/2022/GLMFull.pdf: the manual of 2021, which was in force in 2022 too" in (
        found.notes
    )


def test_parts_beside_the_whole_are_left_out(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "2023/2023usc18.htm": title18(2023, "20240103"),
            "2023-gpo/iii.html": gpo_part("III"),
        },
    )
    found = discover(tmp_path, strict=True)
    assert [file.path for file in found.editions[0].files] == ["2023/2023usc18.htm"]
    assert found.notes == (
        "2023-gpo/iii.html: Part III of title18/2023, left out because 2023/2023usc18.htm is "
        "the whole",
    )


def test_parts_alone_make_the_edition_in_their_order(tmp_path: Path) -> None:
    write(tmp_path, {"b.html": gpo_part("III"), "a.html": gpo_part("V"), "c.html": gpo_part("I")})
    found = discover(tmp_path)
    assert [file.path for file in found.editions[0].files] == ["c.html", "b.html", "a.html"]
    assert found.editions[0].problems == (
        "title18/2023: only Part I, III, V of Title 18 is here; fetch title18/2023 for all",
    )
    assert found.notes == found.editions[0].problems


def test_all_five_parts_are_complete(tmp_path: Path) -> None:
    write(tmp_path, {f"{part}.html": gpo_part(part) for part in ("I", "II", "III", "IV", "V")})
    assert discover(tmp_path, strict=True).editions[0].problems == ()


def test_links_hidden_and_huge_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outside = write(tmp_path / "outside", {"t.xml": tabular(2025)})
    folder = write(
        tmp_path / "manuals",
        {"i.xml": index(2025), ".cache/t.xml": tabular(2024), "big.xml": tabular(2023)},
    )
    (folder / "out.xml").symlink_to(outside / "t.xml")
    (folder / "folder").symlink_to(outside)
    (folder / "in.xml").symlink_to("i.xml")
    monkeypatch.setattr(discover_module, "LARGEST", len(index(2025)))
    found = discover(folder, strict=True)
    assert [edition.name for edition in found.editions] == ["index/2025"]
    assert found.problems == ()
    notes = "\n".join(found.notes)
    assert "out.xml: a link that leads out of the folder is not followed" in notes
    assert "folder: a link to a folder is not followed" in notes
    assert "in.xml: the same bytes as i.xml" in notes
    assert "big.xml: larger than" in notes
    assert "hidden files and folders are left out: .cache" in notes


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read every file")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    write(tmp_path, {"a.xml": index(2025), "b.xml": tabular(2025)})
    (tmp_path / "b.xml").chmod(0)
    assert discover(tmp_path).problems == (
        "b.xml: cannot be read (Permission denied); check its permissions",
    )


def test_no_such_folder(tmp_path: Path) -> None:
    with pytest.raises(BadOption, match="no such folder"):
        discover(tmp_path / "absent")


@pytest.mark.real
def test_the_real_folder(real_manuals: Path) -> None:
    found = discover(real_manuals, strict=True)
    years: dict[str, list[int]] = {}
    for edition in found.editions:
        years.setdefault(edition.source, []).append(edition.year)
    assert years == {
        "guidelines": [2025],
        "tabular": [2021, 2025],
        "index": [2025],
        "eindex": [2019, 2025],
        "drugs": [2019, 2025],
        "neoplasm": [2019, 2025],
        "title18": [2021, 2022, 2023, 2024, 2025],
        "ussg": [2016, 2025],
    }
    assert len(found.notes) == 2  # the two GPO parts beside the whole of 2023
