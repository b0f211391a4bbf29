"""The Guidelines Manual: the sample's tree, furniture, tables and Appendix A; real editions."""

from __future__ import annotations

import bisect
import importlib.util
import re
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import date
from functools import cache
from pathlib import Path

import pytest
from small_files import pdf

from manuals.model.keys import find_references, parse_reference
from manuals.model.sections import Edition, Manual, ManualFile, Section
from manuals.pdf.lines import HYPHEN, Fragment, Hyphens, Line, page_texts, read_lines
from manuals.pdf.paged import PagedText
from manuals.ussg.blocks import blocks
from manuals.ussg.layout import measure, rows
from manuals.ussg.manual import parse_ussg
from manuals.ussg.statute_index import StatuteIndex
from tam.errors import DamagedFile, EditionConflict, UnrecognisedFile

HERE = Path(__file__).resolve().parent


def edition(year: int) -> Edition:
    file = ManualFile(f"ussg/{year}/GLMFull.pdf", "0" * 64, 1)
    title = f"Sentencing Guidelines Manual, {year}"
    return Edition("ussg", year, title, f"November 1, {year}", (file,), date(year, 11, 1), None)


@cache
def parsed(folder: Path, year: int) -> Manual:
    return parse_ussg([folder / "ussg" / str(year) / "GLMFull.pdf"], edition(year))


@pytest.fixture(scope="module", params=[2023, 2024])
def sample(request: pytest.FixtureRequest, sample_manuals: Path) -> Manual:
    return parsed(sample_manuals, request.param)


@pytest.fixture(scope="module")
def latest(sample_manuals: Path) -> Manual:
    return parsed(sample_manuals, 2024)


# -- the sample ---------------------------------------------------------------------------------

GUIDELINES = [
    *("§1A1.1", "§1B1.1", "§1B1.2", "§1B1.3", "§2A2.2", "§2B1.1", "§2B3.1", "§2C1.1", "§2D1.1"),
    *("§2K2.1", "§2K2.4", "§2X1.1", "§3A1.1", "§3B1.1", "§3D1.1", "§3D1.2", "§3D1.4", "§3D1.5"),
    *("§3E1.1", "§4A1.1", "§4B1.1", "§4C1.1", "§5E1.2"),
]


def keys(manual: Manual, kind: str) -> list[str]:
    return [section.key for section in manual.sections if section.kind == kind]


def test_every_guideline_and_no_cross_reference_is_a_section(sample: Manual) -> None:
    """A line of the sample begins ``§3E1.1. Acceptance of ...``; its bold face decides."""
    expected = [key for key in GUIDELINES if sample.year == 2024 or key != "§4C1.1"]
    assert keys(sample, "guideline") == expected
    wrapped = re.compile(r"^§3E1\.1\. Acceptance of that kind", re.MULTILINE)
    assert wrapped.search(sample.raw)
    assert not wrapped.search(sample.text)


@pytest.mark.parametrize(
    ("key", "title", "parent"),
    [
        ("USSG Chapter 2", "Offense Conduct", None),
        ("USSG Chapter 2, Part K", "Offenses Involving Public Safety", "USSG Chapter 2"),
        ("USSG Chapter 2, Part K, Subpart 2", "Firearms", "USSG Chapter 2, Part K"),
        (
            "§2B1.1",
            "Larceny, Embezzlement, and Other Forms of Theft; Offenses Involving Stolen Property; "
            "Property Damage or Destruction; Fraud and Deceit",
            "USSG Chapter 2, Part B, Subpart 1",
        ),
        ("§2B1.1(b)(1)", "", "§2B1.1(b)"),
        ("§2B1.1(b)(1)(H)", "", "§2B1.1(b)(1)"),
        ("§2K2.1(b)(4)", "", "§2K2.1(b)"),
        ("§1B1.3(a)(1)(A)", "", "§1B1.3(a)(1)"),
        ("§2D1.1(c)(2)", "", "§2D1.1(c)"),
        ("§2K2.1 Statutory Provisions", "Statutory Provisions", "§2K2.1"),
        ("§2K2.1 Application Notes", "Application Notes", "§2K2.1"),
        ("§2K2.1 Application Note 3", "Serial Number", "§2K2.1 Application Notes"),
        ("§1B1.1 Application Note 2", "", "§1B1.1 Application Notes"),
        ("§2D1.1 Background", "Background", "§2D1.1"),
        ("§2D1.1 Historical Note", "Historical Note", "§2D1.1"),
        ("§3D1.5 Commentary", "Commentary", "§3D1.5"),
        ("USSG Chapter 2 Introductory Commentary", "Introductory Commentary", "USSG Chapter 2"),
        (
            "USSG Chapter 3, Part D Concluding Commentary",
            "Concluding Commentary",
            "USSG Chapter 3, Part D",
        ),
        ("USSG Chapter 5, Part A Sentencing Table", "Sentencing Table", "USSG Chapter 5, Part A"),
        (
            "USSG Chapter 5, Part A Application Note 2",
            "",
            "USSG Chapter 5, Part A Application Notes",
        ),
        ("§§2B1.2-2B1.3", "[Deleted]", "USSG Chapter 2, Part B, Subpart 1"),
        ("§§5H1.1-5H1.12", "[Deleted]", "USSG Chapter 5, Part H"),
        ("Appendix A", "Statutory Index", None),
        ("Appendix A > 18 U.S.C. § 924(c)", "", "Appendix A"),
    ],
)
def test_sections(latest: Manual, key: str, title: str, parent: str | None) -> None:
    section = latest.get(key)
    assert (section.title, section.parent) == (title, parent)
    assert len(section.path) == section.level == len(latest.ancestors(section))


@pytest.mark.parametrize(
    ("key", "begins", "ends"),
    [
        ("§2K2.1", "§2K2.1. Unlawful Receipt, Possession, or", "November 1, 2023 (amendment 940)."),
        ("§2K2.1(b)(4)", "(4) If (A) a firearm was stolen", "increase by 4 levels."),
        ("§2K2.1 Application Note 3", "3. Serial Number.—Subsection (b)(4)(B)", "does not help."),
        ("§2K2.1 Historical Note", "Effective November 1, 1989.", "(amendment 940)."),
        ("§2A2.2(b)", "(b) Specific Offense", "together end at 10 levels."),
        ("§2B1.1 Application Note 2", "2. Loss Under Subsection (b)(1).—", "is taken off."),
        ("§1A1.1", "§1A1.1. Commission’s Authority", "1989 (amendment 901)."),
        ("USSG Chapter 2, Part Y", "PART Y", "[NOT USED]"),
    ],
)
def test_text_of_sections(latest: Manual, key: str, begins: str, ends: str) -> None:
    text = latest.subtree_text(latest.get(key))
    assert text.startswith(begins)
    assert text.endswith(ends)


def test_known_difference_of_the_years(sample_manuals: Path) -> None:
    before, after = parsed(sample_manuals, 2023), parsed(sample_manuals, 2024)
    assert "§4C1.1" not in before.by_key
    assert "§4C1.1" in after.by_key
    assert "Add 2 points" in before.own_text(before.get("§4A1.1(d)"))
    assert "Add 1 point if" in after.own_text(after.get("§4A1.1(d)"))
    assert "§3E1.1 Application Note 3" not in before.by_key


def test_tables_are_readable_rows(latest: Manual) -> None:
    loss = latest.subtree_text(latest.get("§2B1.1(b)(1)")).split("\n")
    assert "LOSS (APPLY THE GREATEST) | INCREASE IN LEVEL" in loss
    assert loss[-9:-7] == ["(A) $6,500 or less | no increase", "(B) More than $6,500 | add 2"]
    sentencing = latest.subtree_text(latest.get("USSG Chapter 5, Part A Sentencing Table"))
    found = [line.split(" | ") for line in sentencing.split("\n")]
    levels = [cells[-7] for cells in found if len(cells) >= 7 and cells[-7].isdigit()]
    assert levels == [str(level) for level in range(1, 44)]
    assert ["29", "87–108"] in [cells[:2] for cells in found]
    quantity = latest.subtree_text(latest.get("§2D1.1(c)(1)")).split("\n")
    assert quantity == [
        "(1) • 90 KG or more of Heroin; | Level 38",
        "• 450 KG or more of Cocaine;",
        "• 90,000 KG or more of Converted Drug Weight.",
    ]
    units = latest.own_text(latest.get("§3D1.4"))
    assert "\n2 | add 2 levels\n2 1/2 – 3 | add 3 levels\n" in units


@pytest.mark.parametrize(
    ("statute", "refs"),
    [
        ("7 U.S.C. § 2156", [("§2X1.1", "felony provisions only")]),
        ("8 U.S.C. § 1375a(d)(5)(B)(iii)", [("§2B1.1", "")]),
        ("15 U.S.C. § 1281", [("§2B1.1", "for offenses committed before July 5, 1994")]),
        (
            "18 U.S.C. § 371",
            [
                ("§2B1.1", ""),
                ("§2C1.1", "if the plot was to hinder a lawful function of government"),
                ("§2K2.1", "if the plot was to break 18 U.S.C. § 924(c)"),
                ("§2X1.1", ""),
            ],
        ),
        (
            "18 U.S.C. § 844(h)",
            [("§2K2.4", ""), ("§2X1.1", "for offenses committed before November 18, 1988")],
        ),
        ("18 U.S.C. § 922(a)–(p)", [("§2K2.1", "")]),
        ("18 U.S.C. § 924(e)", [("§2K2.1", "see also 4B1.1")]),
        ("18 U.S.C. § 2113(d)", [("§2A2.2", ""), ("§2B3.1", ""), ("§2K2.1", "")]),
    ],
)
def test_rows_of_appendix_a(latest: Manual, statute: str, refs: list[tuple[str, str]]) -> None:
    row = latest.get(f"Appendix A > {statute}")
    assert [(ref.target, ref.condition) for ref in row.refs] == refs
    assert row.citation == f"Appendix A > {statute}"


def test_appendix_a_holds_what_the_sample_text_lists(latest: Manual) -> None:
    text = (HERE / "sample_ussg.txt").read_text(encoding="utf-8")
    listed = re.findall(r"^(?:\{2024\})?(\d+ U\.S\.C\.[^|(]*(?:\(\w+\)\S*)*)", text, re.MULTILINE)
    found = [key.removeprefix("Appendix A > ") for key in keys(latest, "statute")]
    assert found == [statute.strip() for statute in listed]
    assert len(found) == 35


@pytest.mark.parametrize(
    ("cited", "target"),
    [
        ("18 U.S.C. § 922(g)(1)", "§2K2.1"),
        ("18 USC 924(c)", "§2K2.4"),
        ("18 U.S.C. § 2113(a)", "§2B3.1"),
        ("21 U.S.C. § 841(b)(2)", "§2D1.1"),
        ("26 U.S.C. § 5861(d)", "§2K2.1"),
    ],
)
def test_statutes_lead_to_guidelines(latest: Manual, cited: str, target: str) -> None:
    reference = parse_reference(cited)
    found = StatuteIndex(latest).rows(reference.key, reference.subdivisions)
    assert [ref.target for row in found.rows for ref in row.refs] == [target]


def test_no_furniture_in_the_text(sample: Manual) -> None:
    check_furniture(sample)
    assert f"Guidelines Manual (November 1, {sample.year}) ║ 5" in sample.raw
    assert "\nHistorical\n" in sample.raw
    assert "Statutory Index ...." not in sample.text


def test_the_text_file_comes_back(sample: Manual) -> None:
    """Every word of the sample's source, in order, stands in the parsed text."""
    maker = load("make_sample_pdfs")
    source: list[str] = []
    for line in maker.lines_of(sample.year):
        if line.startswith(("@end", "=levels", "~intro", "~commentary\n", "~rule")):
            continue
        # Statutes and guidelines stand in another order: column by column.
        if re.match(r"\d+ U\.S\.C\.", line) or line.startswith(("=table", "=index")):
            continue
        source += re.findall(r"\w+", re.sub(r"^[=~@#]\S* ?|\*\*|¦", "", line.strip()))
    text = iter(re.findall(r"\w+", sample.text))
    missing = [word for word in source if not any(word == other for other in text)]
    assert missing == []


def load(name: str):  # type: ignore[no-untyped-def]
    spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def test_the_sample_pdfs_are_what_their_script_writes(tmp_path: Path, sample_manuals: Path) -> None:
    pytest.importorskip("matplotlib")
    load("make_sample_pdfs").main(tmp_path)
    for year in (2023, 2024):
        name = f"{year}/GLMFull.pdf"
        assert (tmp_path / name).read_bytes() == (sample_manuals / "ussg" / name).read_bytes()


def test_spans_and_maps(sample: Manual) -> None:
    check_spans(sample)
    check_map(sample)


def test_parsing_again_gives_the_same(sample: Manual, sample_manuals: Path) -> None:
    path = sample_manuals / "ussg" / str(sample.year) / "GLMFull.pdf"
    again = parse_ussg([path], sample.edition)
    assert (again.text, again.raw, again.sections) == (sample.text, sample.raw, sample.sections)


def test_keys_read_as_references(sample: Manual) -> None:
    """A key of a guideline, note or row is what a person types for it."""
    for section in sample.sections:
        note = section.kind == "application-note" and section.key.startswith("§")
        if note or section.kind in ("guideline", "subsection", "chapter", "part"):
            assert section.key in parse_reference(section.key).candidates, section.key


def test_meta_gives_the_printed_page(sample: Manual) -> None:
    assert sample.meta["printed_page_offset"] == "4"


def test_files_that_are_no_manual(tmp_path: Path, sample_manuals: Path) -> None:
    path = sample_manuals / "ussg" / "2024" / "GLMFull.pdf"
    with pytest.raises(EditionConflict, match="2 files"):
        parse_ussg([path, path], edition(2024))
    other = tmp_path / "GLMFull.pdf"
    other.write_bytes(pdf("A letter.\nIt holds no chapter and no guideline."))
    with pytest.raises(UnrecognisedFile, match=r"GLMFull\.pdf: no chapter"):
        parse_ussg([other], edition(2024))
    other.write_bytes(path.read_bytes()[:-2000])
    with pytest.raises(DamagedFile, match="truncated"):
        parse_ussg([other], edition(2024))


# -- what holds for every edition -----------------------------------------------------------------


def check_furniture(manual: Manual) -> None:
    for section in manual.sections:
        own = manual.own_text(section)
        assert "║" not in own, section.key
        assert "Guidelines Manual (November" not in own, section.key
        assert not re.search(r"^(§\d[A-Z]\d\.\d+|Ch\. \d.*|Historical( Note)?|Note)$", own, re.M)
        assert HYPHEN not in own
        assert not re.search(r"\b(Historical|Note) (Effective|Amended)\b", own), section.key
        assert "....." not in own, section.key


def check_spans(manual: Manual) -> None:
    assert len(manual.by_key) == len(manual.sections)
    starts = [section.span[0] for section in manual.sections]
    assert starts == sorted(starts)
    for section in manual.sections:
        start, end = section.span
        assert 0 <= start < end <= len(manual.text), section.key
        assert not manual.text[start].isspace()
        assert not manual.text[end - 1].isspace()
        assert section.pages == manual.pages(section.span), section.key
        last = start
        for child in manual.children(section):
            assert last <= child.span[0] <= child.span[1] <= end, child.key
            last = child.span[1]


def check_map(manual: Manual) -> None:
    assert len(manual.page_starts) == len(manual.raw_page_starts)
    assert list(manual.page_starts) == sorted(manual.page_starts)
    assert list(manual.raw_page_starts) == sorted(manual.raw_page_starts)
    covered = 0
    raw_end = text_end = 0
    for raw_start, text_start, length in manual.raw_map:
        assert raw_start >= raw_end
        assert text_start >= text_end
        raw_end, text_end = raw_start + length, text_start + length
        assert manual.raw[raw_start:raw_end] == manual.text[text_start:text_end]
        covered += length
        # The page by raw and the page by text are the same.
        page = bisect.bisect_right(manual.raw_page_starts, raw_start)
        assert bisect.bisect_right(manual.page_starts, text_start) >= page
    outside = len(re.sub(r"[\s|-]", "", manual.text)) - len(
        re.sub(r"[\s|-]", "", "".join(manual.text[t : t + n] for _, t, n in manual.raw_map))
    )
    assert outside == 0


def test_paged_text_joins_words_in_both_texts() -> None:
    paged = PagedText(Hyphens(["mass-marketing, mass-marketing"]))
    paged.page()
    paged.furniture("§2B1.1")
    assert paged.line(f"a mass{HYPHEN}", "\n\n") == 0
    assert paged.line("marketing fraud amend", " ") == 7
    paged.line(f"No{HYPHEN}", "\n\n")
    paged.page()
    paged.furniture("2 ║ foot")
    paged.line("vember 1", " ")
    fields = paged.fields()
    assert fields["text"] == "a mass-marketing fraud amend\n\nNovember 1"
    assert fields["raw"] == "§2B1.1\na mass-marketing fraud amend\nNo-\n2 ║ foot\nvember 1"
    assert fields["page_starts"] == (0, 32)
    assert fields["raw_page_starts"] == (0, fields["raw"].index("2 ║"))


def printed(text: str, size: float, bold: bool, y: float, x1: float = 480.0) -> Line:
    font = "Heads-Bold" if bold else "Body"
    part = Fragment(text, font, size, bold, False, 130.0, x1)
    return Line(text, 1, 130.0, x1, y - size, y, size, font, bold, False, (part,))


def test_a_part_begins_close_below_another() -> None:
    """PART I, not used, stands right above PART J; a long head goes on in its second line."""
    lines = [
        printed("running head", 14.0, True, 50.0),
        printed("PART I ― [NOT USED]", 13.0, True, 100.0),
        printed("PART J ― OFFENSES INVOLVING A VERY LONG NAME AND", 13.0, True, 118.0),
        printed("THE SECOND LINE OF IT", 13.0, True, 134.0, 300.0),
        *(
            printed("Text of the size that is most common here.", 11.5, False, y)
            for y in (160, 174)
        ),
    ]
    found = [row for row in rows(lines) if row.role != "furniture"]
    heads = [b for b in blocks(found, measure(lines), Hyphens([])) if b.kind == "part"]
    assert [block.groups for block in heads] == [
        ("I", "[NOT USED]"),
        ("J", "OFFENSES INVOLVING A VERY LONG NAME AND THE SECOND LINE OF IT"),
    ]


# -- real editions --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def real_2025(real_manuals: Path) -> Iterator[Manual]:
    yield parsed(real_manuals, 2025)


@pytest.fixture(scope="module")
def real_2016(real_manuals: Path) -> Iterator[Manual]:
    yield parsed(real_manuals, 2016)


@pytest.mark.real
def test_guidelines_of_2025(real_2025: Manual) -> None:
    """302 heads; sixteen more name a range of deleted sections (§§2B1.2 – 2B1.3)."""
    assert len(keys(real_2025, "guideline")) == 302
    assert len(keys(real_2025, "deleted")) == 16
    assert "§4C1.1" in real_2025.by_key
    assert not [key for key in real_2025.by_key if key.startswith(("§5H1", "§5K2"))]


@pytest.mark.real
def test_guidelines_of_2016(real_2016: Manual) -> None:
    """370 heads begin with a section sign; that of 2G1.3 is printed without one."""
    heads = keys(real_2016, "guideline")
    assert len(heads) == 371
    assert "2G1.3." in real_2016.own_text(real_2016.get("§2G1.3"))[:8]
    assert "§4C1.1" not in real_2016.by_key
    assert "§5H1.1" in real_2016.by_key


@pytest.mark.real
def test_appendix_a_of_2025(real_2025: Manual) -> None:
    """1,234 rows; one statute stands twice (26 U.S.C. § 7212(a), once with a condition)."""
    rows_ = [section for section in real_2025.sections if section.kind == "statute"]
    assert len(rows_) == 1234
    assert [row.key for row in rows_ if row.version > 1] == ["Appendix A > 26 U.S.C. § 7212(a)#2"]
    assert all(row.refs for row in rows_)
    assert all(ref.target in real_2025.by_key for row in rows_ for ref in row.refs)


@pytest.mark.real
def test_appendix_a_of_2016(real_2016: Manual) -> None:
    rows_ = [section for section in real_2016.sections if section.kind == "statute"]
    assert len(rows_) == 1212
    assert all(row.refs for row in rows_)


@pytest.mark.real
@pytest.mark.parametrize(
    ("cited", "targets"),
    [
        ("18 U.S.C. § 922(g)", ["§2K2.1"]),
        ("18 U.S.C. § 922(g)(1)", ["§2K2.1"]),
        ("18 U.S.C. § 924(c)", ["§2K2.4"]),
        ("18 U.S.C. § 371", ["§2A1.5", "§2C1.1", "§2K2.1", "§2T1.9", "§2X1.1"]),
        ("18 U.S.C. § 844(h)", ["§2K2.4", "§2K1.4"]),
        ("18 U.S.C. § 1343", ["§2B1.1", "§2C1.1"]),
        ("18 U.S.C. § 932", ["§2K2.1"]),
        ("18 U.S.C. § 1956", ["§2S1.1"]),
        ("21 U.S.C. § 841(a)", ["§2D1.1"]),
        ("21 U.S.C. § 841(b)(1)", ["§2D1.1"]),
        ("8 U.S.C. § 1326", ["§2L1.2"]),
        ("26 U.S.C. § 5861(d)", ["§2K2.1"]),
        ("7 U.S.C. § 2156", ["§2E3.1"]),
        ("49 U.S.C. § 60123(b)", ["§2B1.1", "§2K1.4", "§2M2.1", "§2M2.3"]),
        ("8 U.S.C. § 1375a(d)(5)(B)(iii)", ["§2B1.1"]),
    ],
)
def test_spot_checks_of_appendix_a(real_2025: Manual, cited: str, targets: list[str]) -> None:
    reference = parse_reference(cited)
    found = StatuteIndex(real_2025).rows(reference.key, reference.subdivisions)
    assert [ref.target for row in found.rows for ref in row.refs] == targets


@pytest.mark.real
def test_conditions_of_section_371(real_2025: Manual) -> None:
    row = real_2025.get("Appendix A > 18 U.S.C. § 371")
    conditions = {ref.target: ref.condition for ref in row.refs}
    assert conditions["§2C1.1"].startswith("if conspiracy to defraud")
    assert conditions["§2K2.1"].endswith("18 U.S.C. § 924(c)")
    assert conditions["§2A1.5"] == conditions["§2X1.1"] == ""


@pytest.mark.real
@pytest.mark.parametrize("year", [2016, 2025])
def test_guidelines_stand_in_the_part_of_their_number(real_manuals: Path, year: int) -> None:
    """2J1.1 in Part J of Chapter 2, and in Subpart 1 where the part has subparts."""
    manual = parsed(real_manuals, year)
    for key in (*keys(manual, "guideline"), *keys(manual, "deleted")):
        chapter, part, subpart = re.findall(r"(\d)([A-Z])(\d+)\.", key)[0]
        place = f"USSG Chapter {chapter}, Part {part}"
        deeper = f"{place}, Subpart {subpart}"
        assert manual.get(key).parent == (deeper if deeper in manual.by_key else place)


@pytest.mark.real
@pytest.mark.parametrize("year", [2016, 2025])
def test_real_editions_hold_together(real_manuals: Path, year: int) -> None:
    manual = parsed(real_manuals, year)
    check_spans(manual)
    check_map(manual)
    check_furniture(without_index(manual))
    assert manual.meta["printed_page_offset"] == "8"


def without_index(manual: Manual) -> Manual:
    kept: list[Section] = [s for s in manual.sections if s.kind != "back-matter"]
    return Manual(manual.edition, manual.text, tuple(kept))


@pytest.mark.real
@pytest.mark.parametrize(
    ("year", "key", "notes"),
    [
        (2025, "§2B1.1", 20),
        (2025, "§2K2.1", 13),
        (2025, "§2D1.1", None),
        (2025, "§3E1.1", None),
        (2016, "§2K2.1", None),
        (2016, "§2L1.2", None),
    ],
)
def test_application_notes_are_counted_through(
    real_manuals: Path, year: int, key: str, notes: int | None
) -> None:
    manual = parsed(real_manuals, year)
    found = manual.children(manual.get(f"{key} Application Notes"))
    numbers = [int(note.key.rsplit(" ", 1)[1]) for note in found]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) >= 4
    assert notes is None or len(numbers) == notes


@pytest.mark.real
@pytest.mark.parametrize(
    ("year", "old", "new"),
    [(2025, "marihuana equivalents", "converted drug weight"), (2016, "x", "marihuana")],
)
def test_words_that_tell_the_editions_apart(
    real_manuals: Path, year: int, old: str, new: str
) -> None:
    text = parsed(real_manuals, year).text.lower()
    assert new in text
    assert year == 2016 or old not in text


@pytest.mark.real
@pytest.mark.parametrize("year", [2016, 2025])
def test_every_word_of_the_pages_is_in_the_text(real_manuals: Path, year: int) -> None:
    """Page for page against PDFium's plain text, without furniture and margin labels.

    What is left over are words with a hyphen of their own (``one-half``), which PDFium joins.
    """
    path = real_manuals / "ussg" / str(year) / "GLMFull.pdf"
    manual = parsed(real_manuals, year)
    aside: dict[int, Counter[str]] = {}
    for row in rows(read_lines(path)):
        if row.role in ("furniture", "label"):
            aside.setdefault(row.line.page, Counter()).update(words(row.text))
    total = missing = 0
    for page, plain in enumerate(page_texts(path), start=1):
        there = Counter(words(plain)) - aside.get(page, Counter())
        start = manual.page_starts[page - 1]
        end = (*manual.page_starts, len(manual.text))[page]
        total += sum(there.values())
        missing += sum((there - Counter(words(manual.text[start:end]))).values())
    print(f"{year}: {total} words, {missing} not found, coverage {1 - missing / total:.5f}")
    assert total > 220_000
    assert missing < 0.0002 * total


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.replace(HYPHEN, ""))


@pytest.mark.real
@pytest.mark.parametrize("year", [2016, 2025])
def test_subsections_are_counted_through(real_manuals: Path, year: int) -> None:
    """No subsection is missed: (a), (b), (c) ... everywhere but where the manual itself departs."""
    manual = parsed(real_manuals, year)
    broken = set()
    for section in manual.sections:
        below = [child for child in manual.children(section) if child.kind == "subsection"]
        names = [re.findall(r"\((\w+)\)", child.key)[-1] for child in below]
        orders = [int(name) if name.isdigit() else ord(name.lower()) - 96 for name in names]
        if orders != list(range(1, len(orders) + 1)):
            broken.add(section.key)
    # Notes to a table count anew; the drug table (c) is printed after (e); in the revocation
    # tables (1) stands inside a row.
    allowed = {"§2B1.1(b)(1)", "§2D1.1", "§2D1.1(c)", "§2D1.11(e)", "§7C1.5", "§7B1.4(a)"}
    assert broken <= allowed


@pytest.mark.real
@pytest.mark.parametrize(
    ("cited", "inside"),
    [
        ("50 U.S.C. §§ 1701-06", "50 U.S.C. § 1705"),
        ("15 U.S.C. §§ 78dd-78l", "15 U.S.C. § 78dd-1"),
    ],
)
def test_a_cited_range_takes_the_rows_between_its_ends(
    real_2025: Manual, cited: str, inside: str
) -> None:
    rows = StatuteIndex(real_2025).rows_of(find_references(cited)[0]).rows
    assert f"Appendix A > {inside}" in [row.key for row in rows]
