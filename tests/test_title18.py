"""Title 18: the annual form (sample), the GPO form, and the real editions."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from make_sample_title18 import html_of
from small_files import title18, usc_section

from manuals.library.discover import discover
from manuals.model.keys import parse_reference
from manuals.model.sections import Manual
from manuals.uscode.body import SUBDIVISIONS, Statute
from manuals.uscode.enumeration import Placement, heading_after, lead, ordinals, roman
from manuals.uscode.title18 import parse_title18
from manuals.uscode.tree import Tree
from tam.errors import UnrecognisedFile

GPO = Path(__file__).with_name("gpo_form.html")
USC = "18 U.S.C. § "


@cache
def parsed(folder: Path, year: int) -> Manual:
    """The Title 18 edition of one year below a folder."""
    for edition in discover(folder).editions:
        if (edition.source, edition.year) == ("title18", year):
            return parse_title18([folder / file.path for file in edition.files], edition)
    raise LookupError(f"no title18/{year} in {folder}")


@pytest.fixture(scope="module")
def sample(sample_manuals: Path) -> Manual:
    return parsed(sample_manuals, 2024)


@pytest.fixture(scope="module")
def gpo(tmp_path_factory: pytest.TempPathFactory) -> Manual:
    folder = tmp_path_factory.mktemp("gpo")
    shutil.copy(GPO, folder / "title18-partIII.html")
    return parsed(folder, 2023)


def names(manual: Manual, key: str) -> list[str]:
    return [child.key.removeprefix(key) for child in manual.children(manual.get(key))]


def check_tree(manual: Manual) -> None:
    """Spans are slices, nest, ascend, and begin at a heading; keys are unique."""
    assert len(manual.by_key) == len(manual.sections)
    for section in manual.sections:
        start, end = section.span
        text = manual.text[start:end]
        assert text and text == text.strip(), section.key
        children = manual.children(section)
        for child in children:
            assert start <= child.span[0] < child.span[1] <= end, child.key
        for before, after in pairwise(children):
            assert before.span[1] <= after.span[0], after.key
        for above in manual.ancestors(section):
            assert above.heading in section.path
        if section.kind in SUBDIVISIONS:
            name = re.sub(r"#\d+$", "", section.key).rpartition("(")[2]
            assert re.match(rf"\[?\({re.escape(name)}", text.replace("–", "-")), section.key


# -- enumerators


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("(a) In General.—Whoever", ["a"]),
        ("(c)(1)(A) Except", ["c", "1", "A"]),
        ("(i) Venue.—(1) A prosecution", ["i", "1"]),
        ("(b) Parts; and More of Them.—(A) one", ["b", "A"]),
        ("(8) [2] Source.—The term", ["8"]),
        ("[(31) Repealed.", ["31"]),
        ("(a) Whoever does (1) this or (2) that", ["a"]),
        ("shall be fined (see (a))", []),
        ("(the term) is", []),
        ("(xxxviii) the last", ["xxxviii"]),
    ],
)
def test_enumerators_that_a_paragraph_begins_with(text: str, names: list[str]) -> None:
    found = lead(text)
    assert [name for name, _ in found] == names
    assert all(text[offset:].startswith(f"({name})") for name, offset in found)


def test_headings_of_subdivisions() -> None:
    assert heading_after("(a) In General.—Whoever", 0) == "In General"
    assert heading_after("(a)(1) In general .—Whoever", 3) == "In general"
    assert heading_after("(a) Whoever breaks it", 0) == ""


def test_roman_numerals_count() -> None:
    assert [roman(number) for number in (1, 4, 9, 14, 38, 40, 50, 68)] == [
        "i", "iv", "ix", "xiv", "xxxviii", "xl", "l", "lxviii",
    ]  # fmt: skip
    assert ordinals("l") == {"lower": 12.0, "roman": 50.0}


@pytest.mark.parametrize(
    ("sequence", "depths"),
    [
        # A subsection (i) after (h), told by what follows it.
        (["g", "h", "i", "j"], [0, 0, 0, 0]),
        (["a", "1", "A", "i", "ii", "B", "2", "b"], [0, 1, 2, 3, 3, 2, 1, 0]),
        (["a", "1", "A", "i", "I", "II", "ii", "b"], [0, 1, 2, 3, 4, 4, 3, 0]),
        # (h)(1)(A) with clauses, then subsection (i) with paragraphs, one of them with clauses.
        (
            ["h", "1", "A", "i", "ii", "2", "i", "1", "A", "i", "ii", "j"],
            [0, 1, 2, 3, 3, 1, 0, 1, 2, 3, 3, 0],
        ),
        (["1", "A", "B", "2"], [0, 1, 1, 0]),
        (["a", "c", "d"], [0, 0, 0]),
        (["a", "1", "2", "2A", "3"], [0, 1, 1, 1, 1]),
        (["A", "i", "I", "aa", "bb", "AA", "BB", "II"], [0, 1, 2, 3, 3, 4, 4, 2]),
    ],
)
def test_levels_follow_the_sequence(sequence: list[str], depths: list[int]) -> None:
    placement = Placement()
    found = [
        placement.place(name, ahead=sequence[place + 1 :]) for place, name in enumerate(sequence)
    ]
    assert found == depths


# -- the sample in the annual form


def test_sample_tree(sample: Manual) -> None:
    check_tree(sample)
    assert sample.meta["currentthrough"] == "20250106"
    assert [root.key for root in sample.roots] == [
        "18 U.S.C. Part I",
        "18 U.S.C. Part II",
        "18 U.S.C. Part III",
        "18 U.S.C. Part V",
    ]
    assert names(sample, USC + "922") == [
        "(a)", "(d)", "(g)", "(h)", "(i)", "(j)", "(k)", "(v)", "(x)",
        " Source Credit", " Footnotes", " Notes",
    ]  # fmt: skip
    section = sample.get(USC + "922(x)(2)(A)(ii)(II)")
    assert section.kind == "subclause"
    assert section.path[-1] == USC + "922(x)(2)(A)(ii)"
    assert section.path[:3] == (
        "18 U.S.C. Part I CRIMES",
        "18 U.S.C. Chapter 44 FIREARMS",
        "18 U.S.C. § 922 Unlawful acts",
    )


def test_website_furniture_is_left_out(sample: Manual) -> None:
    assert "help page" not in sample.text
    assert sample.text.startswith("TITLE 18—CRIMES AND CRIMINAL PROCEDURE\n\nPART I—CRIMES")


def test_white_space_and_entities_are_plain(sample: Manual, gpo: Manual) -> None:
    for manual in (sample, gpo):
        assert not re.search(r"[\u00a0\u2009\t\r]|&\w+;|  ", manual.text)
    assert "the means allow." in gpo.text


def test_subchapters_stand_below_their_chapter(sample: Manual) -> None:
    section = sample.get(USC + "3571")
    assert section.parent == "18 U.S.C. Chapter 227, Subchapter C"
    assert sample.get(section.parent).parent == "18 U.S.C. Chapter 227"


@pytest.mark.parametrize(
    ("key", "kind", "citation", "title"),
    [
        (USC + "1", "repealed", USC + "1", "Repealed. Pub. L. 98–473"),
        (USC + "438", "repealed", "18 U.S.C. §§ 438, 439", "Repealed. Pub. L. 106–568"),
        (USC + "221", "renumbered", "18 U.S.C. §§ 221, 222", "Renumbered §§216, 217"),
        (USC + "2282A", "section", USC + "2282A", "Devices in waters that endanger ships"),
        (USC + "2332b", "section", USC + "2332b", "Acts of terrorism"),
    ],
)
def test_heads(sample: Manual, key: str, kind: str, citation: str, title: str) -> None:
    section = sample.get(key)
    assert (section.kind, section.citation) == (kind, citation)
    assert section.title.startswith(title)
    assert not section.title.endswith("]")


def test_notes_are_apart_from_the_statute(sample: Manual) -> None:
    section = sample.get(USC + "922")
    law = [child for child in sample.children(section) if child.kind in SUBDIVISIONS]
    assert all("Pub. L. 103–322 added" not in sample.subtree_text(child) for child in law)
    assert names(sample, USC + "922 Notes") == [
        " > References in Text",
        " > Amendments",
        " > Effective Date of 1994 Amendment",
        " > Transfer of Functions",
        " > Transfer of Functions#2",
    ]
    note = sample.get(USC + "922 Notes > Amendments")
    assert (note.kind, note.title, note.citation) == ("note", "Amendments", USC + "922 note")
    assert sample.own_text(sample.get(USC + "922 Notes")).split("\n\n")[0] == "Editorial Notes"
    assert sample.get(USC + "922 Source Credit").kind == "note"


def test_older_notes_outside_the_fields_are_notes(sample: Manual) -> None:
    assert names(sample, USC + "371") == [" Source Credit", " Notes"]
    note = sample.get(USC + "371 Notes > Historical and Revision Notes")
    assert "one sentence" in sample.subtree_text(note)


def test_footnotes_do_not_stick_to_words_and_stay_with_their_section(sample: Manual) -> None:
    assert "a juvenile[1] unless" in sample.subtree_text(sample.get(USC + "922(x)(1)"))
    assert sample.own_text(sample.get(USC + "922 Footnotes")).startswith("1 So in original.")
    assert sample.get(USC + "2282A Footnotes").kind == "footnotes"


@pytest.mark.parametrize(
    ("words", "apart"),
    [
        ("1 See References in Text note below.", True),
        ("2 See 1994 and 1996 Amendment notes below.", True),
        ("1 Section catchline editorially supplied.", True),
        ("1 So in original. Probably two words.", True),
        ("10 See that this is done.", False),
    ],
)
def test_footnotes_at_the_end_of_the_notes_are_the_sections(
    tmp_path: Path, gpo: Manual, words: str, apart: bool
) -> None:
    """The annual form prints them as paragraphs of the last note."""
    section = usc_section("32", "Noise", "<p class='statutory-body'>None may hum.</p>")
    notes = (
        "<!-- field-start:notes --><h4 class='note-head'>Amendments</h4>"
        f"<p class='note-body'>Nothing.</p><p class='note-body'>{words}</p>"
        "<!-- field-end:notes -->"
    )
    page = tmp_path / "t.htm"
    page.write_bytes(title18(2024, "20250106", section + notes))
    manual = parse_title18([page], gpo.edition)
    note = manual.own_text(manual.get(USC + "32 Notes > Amendments"))
    assert (words in note) is not apart
    assert (USC + "32 Footnotes" in manual.by_key) is apart


def test_words_after_a_list_stand_with_its_sentence(sample: Manual) -> None:
    for key, words in (
        ("922(g)", "to ship, receive or keep"),
        ("1956(a)(1)", "shall be fined not more than $500,000"),
        ("921(a)(2)", "That term does not cover"),
        ("1344", "shall be fined not more than $1,000,000"),
    ):
        assert words in sample.own_text(sample.get(USC + key)), key


def test_tables_keep_their_cells(sample: Manual) -> None:
    text = sample.own_text(sample.get(USC + "1162(a)"))
    assert "Alaska | All Indian country within the State\nOregon | All but" in text


def test_two_versions_under_one_number(sample: Manual) -> None:
    first, second = sample.get(USC + "4051"), sample.get(USC + "4051#2")
    assert (first.version, second.version) == (1, 2)
    assert "as near to them" in sample.subtree_text(first)
    assert "how far prisoners" in sample.subtree_text(second)
    assert names(sample, USC + "4051#2") == [
        USC + "4051(a)#2",
        USC + "4051(b)#2",
        USC + "4051 Notes#2",
    ]


def test_years_differ_as_the_code_did(sample_manuals: Path, sample: Manual) -> None:
    older = parsed(sample_manuals, 2023)
    assert USC + "201(f)" in older.by_key
    assert USC + "201(f)" not in sample.by_key
    assert USC + "1352" not in older.by_key
    assert USC + "1352(c)" in sample.by_key


def test_sample_is_as_its_maker_writes_it(sample_manuals: Path) -> None:
    for year in (2023, 2024):
        path = sample_manuals / "title18" / str(year) / f"{year}usc18.htm"
        assert path.read_text(encoding="utf-8") == html_of(year)


# -- the GPO form


def test_gpo_form(gpo: Manual) -> None:
    check_tree(gpo)
    assert gpo.text.startswith("PART III—PRISONS AND PRISONERS\n\nChap. Sec.\n303. Bureau 4042")
    assert names(gpo, USC + "4042") == ["(a)", "(b)", " Source Credit", " Notes", " Footnotes"]
    assert gpo.get(USC + "4042(a)").title == "In General"
    assert gpo.get(USC + "4042(b)(1)").parent == USC + "4042(b)"
    text = gpo.own_text(gpo.get(USC + "4042(a)"))
    assert "sentenced[1] to its care" in text
    assert text.endswith("as the means allow.")


def test_gpo_notes(gpo: Manual) -> None:
    assert names(gpo, "18 U.S.C. Chapter 303") == [" Notes", USC + "4042", USC + "4084"]
    assert names(gpo, USC + "4042 Notes") == [
        " > Historical and Revision Notes",
        " > Amendments",
    ]
    older = gpo.subtree_text(gpo.get(USC + "4042 Notes > Historical and Revision Notes"))
    assert "Derivation | U.S. Code\n | 5 U.S.C. 341f." in older
    assert "SECTION 1. SHORT TITLE." in gpo.subtree_text(gpo.get(USC + "4042 Notes > Amendments"))
    repealed = gpo.get(USC + "4084")
    assert (repealed.kind, repealed.citation) == ("repealed", "18 U.S.C. §§ 4084, 4085")
    assert "copies of commitments" in gpo.own_text(repealed)


def test_files_of_one_edition_follow_each_other(tmp_path: Path, gpo: Manual) -> None:
    text = GPO.read_text(encoding="utf-8")
    first, second = tmp_path / "III.html", tmp_path / "V.html"
    first.write_text(text, encoding="utf-8")
    second.write_text(
        text.replace("PART III", "PART V")
        .replace("303", "601")
        .replace("4042", "6002")
        .replace("4084", "6006"),
        encoding="utf-8",
    )
    manual = parse_title18([first, second], replace(gpo.edition, files=gpo.edition.files * 2))
    check_tree(manual)
    assert manual.file_starts[0] == 0
    assert manual.text[manual.file_starts[1] :].startswith("PART V")
    assert manual.get(USC + "6002").span[0] > manual.file_starts[1]


def test_front_matter_of_the_title_is_a_section_of_its_own(tmp_path: Path, gpo: Manual) -> None:
    head = '<h1 class="usc-title-head">TITLE 18&mdash;CRIMES</h1>'
    page = tmp_path / "front.htm"
    page.write_text(
        html_of(2024).replace(
            '<h1 class="usc-title-head"><strong>TITLE 18&mdash;CRIMES AND CRIMINAL PROCEDURE'
            "</strong></h1>",
            f'{head}<p class="note-body">This title was enacted at once.</p>'
            '<h4 class="note-head">Legislative Construction</h4><p class="note-body">Nothing.</p>',
        ),
        encoding="utf-8",
    )
    manual = parse_title18([page], gpo.edition)
    check_tree(manual)
    assert manual.roots[0].key == "18 U.S.C."
    assert manual.roots[1].key == "18 U.S.C. Part I"
    assert names(manual, "18 U.S.C.") == [" Notes"]
    assert names(manual, "18 U.S.C. Notes") == [" > Legislative Construction"]
    assert {section.key for section in manual.sections} == {
        parse_reference(section.key).full_key for section in manual.sections
    }


def test_a_page_of_another_kind_is_refused(tmp_path: Path, gpo: Manual) -> None:
    page = tmp_path / "page.html"
    page.write_text("<html><body><p>Not found</p></body></html>")
    with pytest.raises(UnrecognisedFile, match=r"page\.html.*give the OLRC annual HTML"):
        parse_title18([page], gpo.edition)


# -- the real editions


@pytest.fixture(scope="module")
def real(real_manuals: Path) -> dict[int, Manual]:
    return {year: parsed(real_manuals / "title18" / str(year), year) for year in range(2021, 2026)}


@pytest.mark.real
def test_real_counts(real: dict[int, Manual]) -> None:
    for year, heads in zip(range(2021, 2026), (1387, 1395, 1395, 1396, 1396), strict=True):
        manual = real[year]
        units = [
            section
            for section in manual.sections
            if section.kind in ("section", "repealed", "renumbered", "transferred", "omitted")
        ]
        assert len(units) == heads
        assert sum(section.kind == "repealed" for section in units) == 75
        assert sum(section.kind == "part" for section in manual.sections) == 5
        assert sum(section.kind == "chapter" for section in manual.sections) == 141
        assert sum(section.kind == "subchapter" for section in manual.sections) == 8


@pytest.mark.real
def test_real_trees(real: dict[int, Manual]) -> None:
    for manual in real.values():
        check_tree(manual)


@pytest.mark.real
def test_real_keys_read_as_themselves(real: dict[int, Manual]) -> None:
    for section in real[2025].sections:
        reference = parse_reference(section.key)
        assert (reference.full_key, reference.sources) == (section.key, ("title18",))


@pytest.mark.real
def test_real_enumerators_count_without_gaps(real: dict[int, Manual]) -> None:
    """Siblings count up from the first; the exceptions are gaps in the code itself."""
    odd = []
    for section in real[2024].sections:
        below = [c for c in real[2024].children(section) if c.kind in SUBDIVISIONS]
        found = [ordinals(re.findall(r"\(([^()]+)\)", child.key)[-1]) for child in below]
        forms = set.intersection(*(set(each) for each in found)) if found else set()
        if found and not any(
            found[0][form] == 1 and all(0 < b[form] - a[form] < 2 for a, b in pairwise(found))
            for form in forms
        ):
            odd.append(section.key)
    # (w) of 922 is repealed with (v); (j) of 2257A and (7) of 2283(c) are not printed.
    assert odd == [USC + "922", USC + "2257A", USC + "2283(c)"]


@pytest.mark.real
def test_real_differences_between_years(real: dict[int, Manual]) -> None:
    for year, manual in real.items():
        keys = manual.by_key
        assert (USC + "924(a)(8)" in keys) == (year >= 2022)
        for number in ("932", "933", "250", "925B", "934", "4051"):
            assert (USC + number in keys) == (year >= 2022), (number, year)
        assert (USC + "201(f)" in keys) == (year == 2023)
        assert (USC + "1352" in keys) == (year >= 2024)
    eight = real[2022].subtree_text(real[2022].get(USC + "924(a)(8)"))
    assert "(d) or (g)" in eight
    assert "15 years" in eight
    two = real[2021].subtree_text(real[2021].get(USC + "924(a)(2)"))
    assert "(g)" in two
    assert "10 years" in two


@pytest.mark.real
def test_real_gpo_edition(real_manuals: Path) -> None:
    manual = parsed(real_manuals / "title18" / "2023-gpo", 2023)
    check_tree(manual)
    assert len(manual.file_starts) == 2
    units = [section for section in manual.sections if section.kind in ("section", "repealed")]
    assert len(units) == 82
    assert manual.file_at(manual.get(USC + "6002").span[0]).path.endswith("partV.html")
    assert manual.own_text(manual.get(USC + "4048 Footnotes")).startswith("[1] See References")


@pytest.mark.real
def test_both_forms_give_the_same_statute(real: dict[int, Manual], real_manuals: Path) -> None:
    """The GPO's file and the annual file of 2023 agree on keys and words of the law."""
    other = parsed(real_manuals / "title18" / "2023-gpo", 2023)
    units = [section for section in other.sections if section.kind in SUBDIVISIONS]
    assert len(units) == 578
    for section in units:
        words = [
            re.sub(r"\W+", "", manual.subtree_text(manual.get(section.key))).lower()
            for manual in (other, real[2023])
        ]
        assert words[0] == words[1], section.key
    # The annual form has no tables of contents, and so no footnotes of chapters.
    feet = [
        {
            section.key
            for section in manual.sections
            if section.kind == "footnotes" and section.parent in other.by_key and "§" in section.key
        }
        for manual in (other, real[2023])
    ]
    assert feet[0] == feet[1]
    assert feet[0]


# -- items within a paragraph


@pytest.mark.parametrize(
    ("paragraphs", "keys"),
    [
        # a list that the lead begins goes on within the paragraph, to its end
        (["(a)(1) is late, or (2) sings; and"], ["(a)", "(a)(1)", "(a)(2)"]),
        (
            ["(a) Whoever—", "(1)(A) sings, (B) hums, and (C) whistles,", "(2) is late;"],
            ["(a)", "(a)(1)", "(a)(1)(A)", "(a)(1)(B)", "(a)(1)(C)", "(a)(2)"],
        ),
        (["(a)(1)(A)(i)(I) a song; or (II) a dance."], ["(a)", "(a)(1)", "(a)(1)(A)",
            "(a)(1)(A)(i)", "(a)(1)(A)(i)(I)", "(a)(1)(A)(i)(II)"]),
        # cross-references, and lists that go on in the next paragraph or further down
        (["(a)(1) as paragraph (1) or (2) says"], ["(a)", "(a)(1)"]),
        (["(a)(1) under subsections (a), (b), and (2)"], ["(a)", "(a)(1)"]),
        (["(a)(1) one, and (2) is meant", "(2) two"], ["(a)", "(a)(1)", "(a)(2)"]),
        (["(a)(1) one, or (2) two—", "(A) three"], ["(a)", "(a)(1)", "(a)(1)(A)"]),
        (["(a) one, or (2) two"], ["(a)"]),
    ],
)  # fmt: skip
def test_items_within_a_paragraph(paragraphs: list[str], keys: list[str]) -> None:
    tree = Tree()
    tree.begin("§ 9", "section", "§ 9", "", tree.write("§ 9. Songs"))
    Statute(tree, paragraphs).write()
    tree.close(0)
    assert [draft.key.removeprefix("§ 9") for draft in tree.drafts[1:]] == keys
    text = "".join(tree.pieces)
    for draft in tree.drafts[1:]:
        name = draft.key.rpartition("(")[2]
        assert text[draft.start :].startswith(f"({name}")
        assert draft.end > draft.start and not text[draft.start : draft.end][-1].isspace()


_NEXT = {"a": "b", "1": "2", "A": "B", "i": "ii", "I": "II", "aa": "bb"}


@pytest.mark.real
@pytest.mark.parametrize("folder", ["2021", "2022", "2023", "2024", "2025", "2023-gpo"])
def test_no_second_item_is_hidden(real_manuals: Path, folder: str) -> None:
    """A first item that stands behind another enumerator has the second as its neighbour."""
    manual = parsed(real_manuals / "title18" / folder, int(folder[:4]))
    hidden = []
    for section in manual.sections:
        name = section.key.rpartition("(")[2].rstrip(")")
        begins_within = manual.text[section.span[0] - 1] in ") "
        if section.kind not in SUBDIVISIONS or name not in _NEXT or not begins_within:
            continue
        text = manual.text[slice(*section.span)]
        if re.search(rf"[^)s][,;]?(?: and| or)? \({_NEXT[name]}\) [a-z]", text):
            siblings = [child.key for child in manual.children(manual.get(section.parent or ""))]
            if not any(key.endswith(f"({_NEXT[name]})") for key in siblings):
                hidden.append(section.key)
    assert hidden == []
    if folder != "2023-gpo":
        assert names(manual, f"{USC}175b(d)(2)(G)") == ["(i)", "(ii)"]
        assert names(manual, f"{USC}2511(1)(e)") == ["(i)", "(ii)", "(iii)", "(iv)"]
        assert names(manual, f"{USC}3486(a)(1)(A)(i)") == ["(I)", "(II)"]
