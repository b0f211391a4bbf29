"""The guidelines parser: headings against look-alikes, the contents, furniture, text, refs."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections import Counter
from datetime import date
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reportlab.lib.pagesizes import letter
from reportlab.pdfgen.canvas import Canvas

from manuals.icd10cm.guideline_headings import (
    DETAIL,
    ITEM,
    LETTER,
    NUMBER,
    PART,
    SECTION,
    SUBITEM,
    Label,
    Outline,
    appendix,
    contents,
    labels,
)
from manuals.icd10cm.guidelines import FRONT, parse_guidelines
from manuals.model.sections import Edition, Manual, Ref
from manuals.pdf.flow import Flow, furniture, joint
from manuals.pdf.lines import HYPHEN, Line, page_texts
from tam.errors import DamagedFile, EditionConflict, UnrecognisedFile

HERE = Path(__file__).resolve().parent


def edition(year: int) -> Edition:
    return Edition(
        "guidelines", year, f"ICD-10-CM Official Guidelines, FY {year}", str(year), (),
        date(year - 1, 10, 1), date(year, 9, 30),
    )  # fmt: skip


def pdf_of(folder: Path, year: int) -> Path:
    return next((folder / "icd10cm" / str(year)).glob("*uidelines*.pdf"))


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("sample", HERE / "make_sample_guidelines.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["sample"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def sample(sample_manuals: Path) -> dict[int, Manual]:
    return {
        year: parse_guidelines([pdf_of(sample_manuals, year)], edition(year))
        for year in (2024, 2025)
    }


def check_spans(manual: Manual) -> None:
    """Spans nest, siblings ascend, roots cover the text, headings begin their spans."""
    assert manual.roots[0].span[0] == 0
    assert manual.roots[-1].span[1] == len(manual.text)
    ends = 0
    for root in manual.roots:
        assert root.span[0] == ends
        ends = root.span[1]
    for section in manual.sections:
        ends = section.span[0]
        for child in manual.children(section):
            assert ends <= child.span[0] < child.span[1] <= section.span[1]
            ends = child.span[1]
        assert manual.text[section.span[0]].strip(), section.key
    own = "".join(
        manual.text[start:end]
        for start, end in sorted(
            span for section in manual.sections for span in manual.own_spans(section)
        )
    )
    assert own == manual.text
    for raw_start, text_start, length in manual.raw_map:
        assert (
            manual.raw[raw_start : raw_start + length]
            == manual.text[text_start : text_start + length]
        )


@pytest.mark.parametrize(
    ("text", "readings"),
    [
        ("Section II. Selection", [(SECTION, "II")]),
        ("Section IV.Diagnostic coding", [(SECTION, "IV")]),
        ("Section I.C.19.g.3.a. Transplant", []),
        ("Section I, Conventions", []),
        ("A. Conventions", [(PART, "A")]),
        ("M.Patients", [(PART, "M")]),
        ("I. Admission", [(PART, "I")]),
        ("I.C.1.d.9.", []),
        ("I.C.14. Chronic kidney disease", []),
        ("10. Chapter 10: Lungs", [(NUMBER, "10")]),
        ("10.5 grams", []),
        ("a. Excludes1", [(LETTER, "a")]),
        ("12) Resistant", [(ITEM, "12")]),
        ("(b) Severe", [(SUBITEM, "b")]),
        ("(i) Pneumonia", [(SUBITEM, "i"), (DETAIL, "i")]),
        ("(iv)Interaction", [(DETAIL, "iv")]),
        ("(e.g., cataract)", []),
        ("(ii)", []),
        ("Z59.1, Inadequate housing", []),
    ],
)
def test_labels(text: str, readings: list[tuple[int, str]]) -> None:
    assert [(label.level, label.name) for label in labels(text)] == readings


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("Appendix I", "Appendix I"),
        ("Appendix I………......115", "Appendix I"),
        ("Appendix I lists", None),
        ("See Appendix I", None),
    ],
)
def test_appendix(text: str, key: str | None) -> None:
    assert appendix(text) == key


NAMES = {
    SECTION: ["I", "II", "III", "IV"],
    PART: list("ABCDEFGHIJK"),
    NUMBER: [str(n) for n in range(1, 23)],
    LETTER: list("abcdefghijklmnopqrstuvwxyz"),
    ITEM: [str(n) for n in range(1, 18)],
    SUBITEM: list("abcdefghijklmn"),
    DETAIL: ["i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x"],
}


@given(st.lists(st.integers(1, 3), min_size=7, max_size=7))
def test_outline_accepts_the_next_label_only(widths: list[int]) -> None:
    """Walking a full tree of any widths, each label follows, and a skipped or repeated does not."""
    outline = Outline()
    keys: list[str] = []

    def walk(level: int) -> None:
        for at in range(widths[level - 1]):
            label = Label(level, NAMES[level][at], 0)
            assert outline.follows(label)
            assert not outline.follows(Label(level, NAMES[level][at + 1], 0))
            keys.append(outline.enter(label))
            assert not outline.follows(label)
            if level < DETAIL and at == widths[level - 1] - 1:
                walk(level + 1)

    walk(SECTION)
    assert len(keys) == len(set(keys)) == sum(widths)


def line(text: str, x0: float, x1: float, y: float, page: int = 1, size: float = 12.0) -> Line:
    return Line(text, page, x0, x1, y - size, y, size, "Times", False, False, ())


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (line("a full line of some", 72, 535, 100), line("words that", 72, 200, 114), " "),
        (line("Z59.1, Poverty", 72, 150, 100), line("Z59.5, Homelessness", 72, 200, 114), "\n"),
        (line("the end.", 72, 150, 100), line("A new paragraph", 72, 200, 128), "\n\n"),
        (line(f"is not first{HYPHEN}", 72, 530, 100), line("listed and so", 72, 200, 114), ""),
        (line("the categories Q00-", 72, 535, 100), line("Q99, which", 72, 200, 114), ""),
        (line("receive codes of O98.7-", 72, 535, 100), line("and Z21", 72, 200, 114), " "),
        (line("in the middle of a", 72, 535, 700), line("sentence", 72, 200, 90, 2), " "),
        (line("the end.", 72, 150, 700), line("A new paragraph", 72, 200, 90, 2), "\n\n"),
        (line("such as those whose", 72, 530, 100), line("a. first item", 108, 200, 114), "\n"),
        (line("Z04.9 a line that is full", 72, 538, 100), line("Z13.9 next", 72, 200, 114), "\n"),
    ],
)
def test_joint(first: Line, second: Line, expected: str) -> None:
    assert joint(first, second, 540.0) == expected


def test_contents_entries() -> None:
    """Entries that wrap, leave no room for leaders, or put their number on a line of its own."""
    rows = [
        ("Section I. Conventions and rules", 540, "................ 7"),
        ("A. Conventions.", 540, "................. 7"),
        ("1. Etiology and manifestation (code first, use additional", 400, ""),
        ("code) notes", 540, ".......... 10"),
        ("2. Encounters for chemotherapy and radiation therapy", 540, " .. 34"),
        ("3. Chapter 3: Malformations (Q00-", 500, ""),
        ("Q99)", 540, "........ 73"),
        ("a. Complicating pregnancy, childbirth and the puerperium", 539, " 65"),
        ("4. Chapter 4: Injury and poisoning (S00-T88)", 530, ""),
        ("76", 90, ""),
        ("Reserved for future guideline expansion", 540, "..... 77"),
        ("Section II. Selection", 540, "….. 106"),
        ("Appendix I", 540, "……………115"),
    ]
    lines = [line(text + tail, 72, x1, 100 + 14 * n) for n, (text, x1, tail) in enumerate(rows)]
    assert [tuple(entry) for entry in contents(lines)] == [
        ("I", "Conventions and rules", 7),
        ("I.A", "Conventions", 7),
        ("I.A.1", "Etiology and manifestation (code first, use additional code) notes", 10),
        ("I.A.2", "Encounters for chemotherapy and radiation therapy", 34),
        ("I.A.3", "Chapter 3: Malformations (Q00-Q99)", 73),
        ("I.A.3.a", "Complicating pregnancy, childbirth and the puerperium", 65),
        ("I.A.4", "Chapter 4: Injury and poisoning (S00-T88)", 76),
        ("II", "Selection", 106),
        ("Appendix I", "", 115),
    ]


def test_furniture_is_what_repeats_in_its_size() -> None:
    lines = [line("Official Guidelines", 72, 300, 80, 1, size=16.0)]
    for page in range(1, 7):
        lines += [line(f"text {'x' * page}{n}", 72, 500, 100 + 14 * n, page) for n in range(9)]
        lines += [
            line("Official Guidelines", 72, 300, 760, page),
            line(f"Page {page} of 6", 500, 540, 770, page),
        ]
    dropped = {(lines[n].page, lines[n].text) for n in furniture(lines)}
    assert dropped == {
        (page, text)
        for page in range(1, 7)
        for text in ("Official Guidelines", f"Page {page} of 6")
    }
    assert 0 not in furniture(lines)


def test_flow_maps_raw_to_text() -> None:
    flow = Flow(
        [line(f"first{HYPHEN}", 72, 540, 100), line("listed", 72, 120, 114), line("x", 1, 2, 3, 3)]
    )
    flow.add(0, "")
    flow.add(1, "")
    assert flow.text == "first-listed"
    assert flow.raw == "first-\nlisted\nx\n"
    assert flow.raw_map == [(0, 0, 6), (7, 6, 6)]
    assert flow.raw_page_starts == (0, 14, 14)


def test_sample_has_every_heading_and_no_list_item(
    sample: dict[int, Manual], maker: ModuleType
) -> None:
    """The parser finds exactly the headings that the generator wrote, in order, with titles."""
    for year, manual in sample.items():
        written = []
        for item in maker.text_of(year):
            if item.label:
                written.append(
                    (item.label.strip("().").replace("Section ", "").rstrip(".)"), item.text)
                )
            elif item.kind == "title" and item.text.startswith("Appendix"):
                written.append(("Appendix I", "Sample rules about what was present on admission"))
        found = [
            (s.key if s.kind == "appendix" else s.key.rpartition(".")[2], s.title)
            for s in manual.sections
            if s.key != FRONT
        ]
        assert found == written
        assert manual.edition.problems == ()
        assert manual.meta["contents_missing"] == ""
        assert manual.meta["contents_other_title"] == ""
        assert manual.meta["contents_other_page"] == ""


def test_sample_sections(sample: dict[int, Manual]) -> None:
    manual = sample[2025]
    check_spans(manual)
    first, *_, last = manual.sections
    assert (first.key, first.kind, first.pages) == (FRONT, "front", (1, 1))
    assert (last.key, last.kind) == ("Appendix I", "appendix")
    section = manual.get("I.C.1.c.1.a.ii")
    assert section.citation == "Section I.C.1.c.1.a.ii"
    assert section.path[-1] == "Section I.C.1.c.1.a Sepsis"
    assert [above.key for above in manual.ancestors(section)] == [
        "I", "I.C", "I.C.1", "I.C.1.c", "I.C.1.c.1", "I.C.1.c.1.a",
    ]  # fmt: skip
    # The ninth letter is no roman one.
    assert manual.get("I.C.1.a.2.i").title == "Treated and well"
    assert manual.get("II.I").title == "From observation to the ward"
    # List items, in any of the labels' forms, stay in the text of their section.
    assert "\na. category,\nb. subcategory,\nc. code." in manual.own_text(manual.get("I.B.2"))
    assert "2. read the notes" in manual.own_text(manual.get("I.B.1"))
    # So does a cross-reference that stands at the start of a line.
    assert "Section I.C.15. Pregnancy" in manual.own_text(manual.get("I.C.4.a.3"))
    # Changed text in bold below a heading is text.
    assert manual.get("I.C.4.a.1.a").title == "Before any symptom"
    assert "early stage" in manual.own_text(manual.get("I.C.4.a.1.a"))
    assert manual.get("I.C.2").kind == "chapter"


def test_sample_years_differ(sample: dict[int, Manual]) -> None:
    old, new = sample[2024], sample[2025]
    assert set(new.by_key) - set(old.by_key) == {"I.C.4.a.1.a", "I.C.9.a.4"}
    assert not set(old.by_key) - set(new.by_key)
    key = "I.C.2.c.1"
    assert old.own_text(old.get(key)) != new.own_text(new.get(key))


def test_sample_refs(sample: dict[int, Manual]) -> None:
    manual = sample[2025]
    assert Ref("code", "O98.7-") in manual.get("I.C.1.a.2.g").refs
    assert Ref("code", "E08-E13") in manual.get("I.C.4.a").refs
    assert {Ref("see", "I.C.15"), Ref("code", "Z79.4")} <= set(manual.get("I.C.4.a.3").refs)
    # Only what the section's own text names.
    assert Ref("code", "Z79.4") not in manual.get("I.C.4.a").refs


def test_no_furniture_and_no_contents_in_the_text(sample: dict[int, Manual]) -> None:
    for manual in sample.values():
        assert not re.search(r"Page \d+ of \d+", manual.text)
        assert "....." not in manual.text
        assert "Page 3 of" in manual.raw
        assert "....." in manual.raw
        assert manual.text.count("FY 2") == 1


def test_sample_bytes_are_those_in_the_tree(
    sample_manuals: Path, maker: ModuleType, tmp_path: Path
) -> None:
    maker.main(tmp_path)
    for year in (2024, 2025):
        assert pdf_of(tmp_path, year).read_bytes() == pdf_of(sample_manuals, year).read_bytes()


def write_pdf(path: Path, lines: list[tuple[float, str, float, str]]) -> Path:
    canvas = Canvas(str(path), pagesize=letter, invariant=1)
    y = 740.0
    for x, font, size, text in lines:
        canvas.setFont(font, size)
        canvas.drawString(x, y, text)
        y -= 20
    canvas.showPage()
    canvas.save()
    return path


def test_a_skipped_number_is_kept_and_told(tmp_path: Path) -> None:
    """A heading in larger type whose number does not come next is a section and a problem."""
    lines = [
        (67.0, "Times-Bold", 16.0, "Section I. One"),
        (103.0, "Times-Bold", 14.0, "A. Part"),
        (122.0, "Times-Bold", 13.0, "1. First"),
        *[(156.0, "Times-Roman", 12.0, f"Some text about matter number {n}.") for n in range(9)],
        (122.0, "Times-Bold", 13.0, "3. Third"),
        (156.0, "Times-Roman", 12.0, "More text."),
        (156.0, "Times-Bold", 12.0, "7. bold item of a list"),
    ]
    manual = parse_guidelines([write_pdf(tmp_path / "x.pdf", lines)], edition(2025))
    assert [section.key for section in manual.sections] == ["I", "I.A", "I.A.1", "I.A.3"]
    assert any("I.A.3 is out of sequence" in line for line in manual.edition.problems)
    assert any("no table of contents" in line for line in manual.edition.problems)
    assert "7. bold item" in manual.meta["no_headings"]


def test_a_repeated_number_gets_a_version(tmp_path: Path) -> None:
    lines = [
        (67.0, "Times-Bold", 16.0, "Section I. One"),
        *[(103.0, "Times-Bold", 14.0, "A. Part") for _ in range(2)],
        *[(156.0, "Times-Roman", 12.0, f"Some text about matter number {n}.") for n in range(9)],
        (122.0, "Times-Bold", 13.0, "1. Below the second"),
    ]
    manual = parse_guidelines([write_pdf(tmp_path / "x.pdf", lines)], edition(2025))
    assert [section.key for section in manual.sections] == ["I", "I.A", "I.A#2", "I.A.1"]
    assert manual.get("I.A#2").version == 2
    assert manual.get("I.A.1").parent == "I.A#2"
    check_spans(manual)


@pytest.mark.parametrize(
    ("content", "error", "words"),
    [
        (b"%PDF-1.4 nothing", DamagedFile, "download"),
        (b"<html>error</html>", DamagedFile, "web page"),
    ],
)
def test_damaged(tmp_path: Path, content: bytes, error: type[Exception], words: str) -> None:
    path = tmp_path / "guidelines.pdf"
    path.write_bytes(content)
    with pytest.raises(error, match=words):
        parse_guidelines([path], edition(2025))


def test_another_document_and_too_many_files(tmp_path: Path) -> None:
    lines = [(72.0, "Times-Roman", 12.0, f"Some other text, line {n}.") for n in range(20)]
    path = write_pdf(tmp_path / "other.pdf", lines)
    with pytest.raises(UnrecognisedFile, match="no heading"):
        parse_guidelines([path], edition(2025))
    with pytest.raises(EditionConflict, match="2 files"):
        parse_guidelines([path, path], edition(2025))


# ---- the official guidelines of FY 2025 ----


@pytest.fixture(scope="module")
def official(real_manuals: Path) -> Manual:
    return parse_guidelines([pdf_of(real_manuals, 2025)], edition(2025))


@pytest.mark.real
def test_official_headings(official: Manual) -> None:
    """All 226 entries of the contents, each with its title and page, and 260 headings more.

    The contents stop at the lettered level and leave out I.C.5.d.
    """
    assert official.edition.problems == ()
    meta = official.meta
    assert meta["contents_entries"] == "226"
    assert (meta["contents_missing"], meta["contents_other_title"]) == ("", "")
    assert (meta["contents_other_page"], meta["no_headings"]) == ("", "")
    assert meta["not_in_contents"] == "I.C.5.d"
    levels = Counter(section.level for section in official.sections if section.key != FRONT)
    assert levels == {1: 5, 2: 34, 3: 67, 4: 121, 5: 193, 6: 49, 7: 17}
    assert len(official.sections) == 487
    check_spans(official)


@pytest.mark.real
@pytest.mark.parametrize(
    ("key", "title", "pages", "words"),
    [
        ("I.A.12.a", "Excludes1", (9, 10), ("NOT CODED", "F45.8", "G47.63")),
        ("I.B.19.d", "Use of Z codes", (18, 19), ("Z59.0-", "Z99.12")),
        ("I.C.1.d.1.a.ii", "Urosepsis", (22, 22), ("nonspecific", "queried")),
        ("I.C.1.a.2.i", "HIV managed by antiretroviral medication", (21, 21), ("Z79.899",)),
        ("I.C.4.a.3", "Diabetes mellitus and the use of insulin", (39, 39), ("Z79.84", "Z79.85", "E11-")),
        ("I.C.4.a.1.a", "Presymptomatic Type 1 Diabetes Mellitus", (39, 39), ("E10.A-",)),
        ("I.C.9.a.2", "Hypertensive Chronic Kidney Disease", (49, 49), ("I12", "N18")),
        ("I.C.9.e.6", "Myocardial Infarction with Coronary Microvascular Dysfunction", (54, 54), ("I21.B",)),
        ("I.C.15.n.3", "Outcome of delivery for O80", (67, 67), ("Z37.0",)),
        ("I.C.19.d.1", "Sequencing of burn", (79, 79), ("a. When the reason", "c. When a patient")),
        ("I.C.19.e.5.b.iv", "Interaction of drug(s) and alcohol", (82, 82), ("alcohol",)),
        ("II.K", "Admissions/Encounters for Rehabilitation", (108, 108), ("I69.351", "Z47.1")),
        ("III.B", "Abnormal findings", (109, 109), ("laboratory",)),
        ("IV.Q", "Encounters for routine health screenings", (114, 114), ("screening",)),
        ("Appendix I", "Present on Admission Reporting Guidelines", (115, 120), ("T79.2", "exempt")),
    ],
)  # fmt: skip
def test_official_sections(
    official: Manual, key: str, title: str, pages: tuple[int, int], words: tuple[str, ...]
) -> None:
    section = official.get(key)
    assert section.title.startswith(title)
    assert section.pages == pages
    text = official.subtree_text(section)
    for word in words:
        assert word in text


@pytest.mark.real
def test_official_text_loses_nothing(official: Manual, real_manuals: Path) -> None:
    """Word by word against PDFium's plain text of the pages, contents and feet left out."""
    words: Counter[str] = Counter()
    for number, page in enumerate(page_texts(pdf_of(real_manuals, 2025)), start=1):
        if 2 <= number <= 6:
            continue
        page = page.replace(HYPHEN, "-").replace("-\n", "-")
        for row in page.split("\n"):
            foot = re.sub(r"\s", "", row)
            if number > 1 and re.fullmatch(
                r"ICD-10-CMOfficialGuidelinesforCodingandReporting|FY2025|Page\d+of120", foot
            ):
                continue
            words.update(re.findall(r"\w+", row))
    ours = Counter(re.findall(r"\w+", official.text))
    lost, added = words - ours, ours - words
    share = 1 - lost.total() / words.total()
    print(
        f"\ncoverage {share:.5f} of {words.total()} words; lost {dict(lost)}, added {dict(added)}"
    )
    assert share > 0.9995
    assert added.total() / words.total() < 0.0005
    assert not re.search(r"Page \d+ of \d+|\.{5}|^FY 2025$", official.text, re.MULTILINE)


@pytest.mark.real
def test_official_pages(official: Manual) -> None:
    """A section's first page is where its heading stands in the raw page text."""
    starts = [*official.raw_page_starts, len(official.raw)]
    for section in official.sections[1:]:
        assert section.pages is not None
        page = official.raw[starts[section.pages[0] - 1] : starts[section.pages[0]]]
        first = official.text[section.span[0] : section.span[0] + 25].split("\n")[0]
        assert first in page
