"""The Tabular List: sections, notes, text and spans; robustness to unusual files."""

from __future__ import annotations

from pathlib import Path

import pytest
from icd_files import check_spans, edition, real, sample

from manuals.icd10cm.tabular import block_description, parse_tabular
from manuals.model.sections import Manual
from tam.errors import DamagedFile


def parse(tmp_path: Path, body: str) -> Manual:
    path = tmp_path / "tabular.xml"
    path.write_text(f"<ICD10CM.tabular><version>2025</version>{body}</ICD10CM.tabular>", "utf-8")
    return parse_tabular([path], edition())


@pytest.fixture(scope="module")
def tabular(sample_manuals: Path) -> Manual:
    return sample(sample_manuals, "tabular/2025")


def test_sections_of_a_code(tabular: Manual) -> None:
    section = tabular.get("E11.22")
    assert [above.key for above in tabular.ancestors(section)] == [
        "Chapter 4",
        "E08-E13",
        "E11",
        "E11.2",
    ]
    assert section.path[0].startswith("Chapter 4 Endocrine")
    assert section.path[1] == "E08-E13 Diabetes mellitus"
    assert section.kind == "code"
    assert [note.kind for note in section.notes] == ["useAdditionalCode"]
    lines = tabular.own_text(section).split("\n")
    assert lines[0] == f"E11.22 {section.title}"
    assert lines[1] == f" useAdditionalCode: {section.notes[0].text}"


def test_notes_of_a_category_are_not_indented(tabular: Manual) -> None:
    lines = tabular.own_text(tabular.get("E11")).split("\n")
    assert [line.split(":")[0] for line in lines[1:]] == [
        "includes",
        "useAdditionalCode",
        "excludes1",
    ]
    assert " | " in lines[2]


def test_blocks_nest_by_their_ranges(tabular: Manual) -> None:
    section = tabular.get("V43.52")
    blocks = [above.key for above in tabular.ancestors(section) if above.kind == "block"]
    assert blocks == ["V00-X58", "V00-V99", "V40-V49"]
    # a block of one category does not take the category's key
    assert tabular.get("T07").kind == "category"
    assert tabular.get("T07-T07").kind == "block"
    assert block_description(tabular.get("T07-T07")).endswith("(T07)")
    assert block_description(tabular.get("V40-V49")).endswith("(V40-V49)")


def test_unusual_chapter_heading(tabular: Manual) -> None:
    assert tabular.get("U07.1").path[0] == "Chapter 22 Codes for special purposes"


def test_introduction_is_a_tree(tabular: Manual) -> None:
    root = tabular.get("Introduction")
    assert root.kind == "introduction"
    assert [child.title for child in tabular.children(root)] == [
        "How to read the notes",
        "Excludes1",
        "Excludes2",
        "Seventh characters",
    ]
    assert "never coded together" in tabular.own_text(tabular.get("Introduction > Excludes1"))


def test_empty_note_is_no_note(tabular: Manual) -> None:
    section = tabular.get("J44.0")
    assert [note.text for note in section.notes] == ["the infection"]


def test_table_of_visual_impairment_is_in_the_text(tabular: Manual) -> None:
    assert "3: 3/60, 1/60" in tabular.own_text(tabular.get("H54"))


def test_note_among_seventh_characters_is_a_note(tabular: Manual) -> None:
    section = tabular.get("S72")
    assert [character for character, _ in section.seventh] == list("ABCDEFGHJKMNPQRS")
    assert [note.kind for note in section.notes].count("sevenChrDef") == 1


@pytest.mark.parametrize("name", ["tabular/2024", "tabular/2025"])
def test_spans_nest_and_hold_the_heading(sample_manuals: Path, name: str) -> None:
    check_spans(sample(sample_manuals, name))


@pytest.mark.parametrize(
    ("chapter", "key"),
    [
        ("<name>4</name><desc>Glands (E00-E89)</desc>", "Chapter 4"),
        ("<name> 04 </name><desc>Glands</desc>", "Chapter 4"),
        ("<name>Chapter 4</name><desc/>", "Chapter 4"),
        ("<name>IV</name><desc>Glands</desc>", "Chapter IV"),
        ("<name/><desc>Glands</desc>", "Chapter 1"),
        ("<desc>Glands</desc>", "Chapter 1"),
    ],
)
def test_chapter_headings(tmp_path: Path, chapter: str, key: str) -> None:
    body = '<section id="E08-E13"><diag><name>E11</name><desc>Sugar</desc></diag></section>'
    manual = parse(tmp_path, f"<chapter>{chapter}{body}</chapter>")
    assert [above.key for above in manual.ancestors(manual.get("E11"))] == [key, "E08-E13"]


@pytest.mark.parametrize(
    ("section", "key", "title"),
    [
        ('<section id="E08-E13"><desc>Sugar (E08-E13)</desc>', "E08-E13", "Sugar"),
        ("<section><desc>Sugar (E08-E13)</desc>", "E08-E13", "Sugar"),
        ("<section><desc>Sugar</desc>", "E11-E11", "Sugar"),
        ('<section id="E11"><desc>Sugar (E11)</desc>', "E11-E11", "Sugar"),
    ],
)
def test_block_headings(tmp_path: Path, section: str, key: str, title: str) -> None:
    body = f"{section}<diag><name>E11</name><desc>Sugar</desc></diag></section>"
    manual = parse(tmp_path, f"<chapter><name>4</name><desc>Glands</desc>{body}</chapter>")
    assert manual.get(key).title == title
    assert manual.get("E11").parent == key


def test_category_without_block_and_repeated_code(tmp_path: Path) -> None:
    diag = "<diag><name>E11</name><desc>Sugar</desc></diag>"
    manual = parse(tmp_path, f"<chapter><name>4</name>{diag}{diag}</chapter>")
    assert [section.key for section in manual.sections] == ["Chapter 4", "E11", "E11#2"]
    assert manual.get("E11#2").version == 2


def test_truncated_file(tmp_path: Path) -> None:
    path = tmp_path / "tabular.xml"
    path.write_text("<ICD10CM.tabular><version>2025</version><chapter>", "utf-8")
    with pytest.raises(DamagedFile, match=r"tabular\.xml"):
        parse_tabular([path], edition())


@pytest.mark.real
@pytest.mark.parametrize(
    ("year", "diags", "categories"), [(2021, 45_017, 1_911), (2025, 46_498, 1_917)]
)
def test_real_counts(real_manuals: Path, year: int, diags: int, categories: int) -> None:
    manual = real(real_manuals, "tabular", year)
    kinds = [section.kind for section in manual.sections]
    assert kinds.count("chapter") == 22
    assert kinds.count("block") == 296
    assert kinds.count("category") == categories
    assert sum(kinds.count(kind) for kind in ("category", "subcategory", "code")) == diags
    assert not [section.key for section in manual.sections if section.version > 1]
    check_spans(manual)
