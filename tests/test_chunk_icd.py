"""Chunks of the Tabular List and the index-like files, both presets."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from icd_files import real, sample

from chunkers.model.chunk import JOINT, Chunk
from chunkers.model.cut import Sizes
from chunkers.model.layout import LIMIT, collapse
from chunkers.model.presets import chunk_manual, pieces_for
from manuals.icd10cm.code_view import CODE_KINDS, all_codes, look_up_code
from manuals.model.sections import Manual
from tam.errors import BadOption
from tam.settings import PRESETS

SOURCES = ("tabular", "index", "eindex", "drugs", "neoplasm")
SMALL = Sizes(48, 96)


@pytest.fixture(scope="module")
def manuals(sample_manuals: Path) -> dict[str, Manual]:
    return {source: sample(sample_manuals, f"{source}/2025") for source in SOURCES}


def check_texts(manual: Manual, chunks: list[Chunk]) -> None:
    """The body is the slice, and the text is context, empty line and body."""
    for chunk in chunks:
        body = chunk.body(manual)
        assert body == manual.text[chunk.span[0] : chunk.span[1]]
        assert body.strip()
        assert chunk.text.startswith(chunk.context + JOINT)
        rest = chunk.text[len(chunk.context + JOINT) :]
        assert rest.split() == body.split()
        assert [line.split() for line in rest.split("\n") if line.strip()] == [
            line.split() for line in body.split("\n") if line.strip()
        ]
        assert chunk.text_span == chunk.span
    assert len({chunk.id for chunk in chunks}) == len(chunks)
    for one, two in pairwise(chunks):
        assert one.span[1] <= two.span[0]


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("preset", PRESETS)
def test_text_is_context_and_slice(manuals: dict[str, Manual], source: str, preset: str) -> None:
    check_texts(manuals[source], chunk_manual(manuals[source], preset))


def check_coverage(manual: Manual, chunks: list[Chunk], kinds: frozenset[str]) -> None:
    """Every section of these kinds is held by exactly one chunk, or by the parts of one."""
    held = Counter(key for chunk in chunks for key in chunk.keys if (chunk.part or (1, 1))[0] == 1)
    wanted = [section.key for section in manual.sections if section.kind in kinds]
    assert {key: held[key] for key in wanted if held[key] != 1} == {}


@pytest.mark.parametrize("sizes", [Sizes(), SMALL, Sizes(1024, 2048)])
def test_sections_hold_every_code_once(manuals: dict[str, Manual], sizes: Sizes) -> None:
    tabular = manuals["tabular"]
    chunks = chunk_manual(tabular, "sections", sizes)
    check_coverage(tabular, chunks, CODE_KINDS | {"chapter", "block"})
    # and its line stands in the chunk's body
    lines = {line for chunk in chunks for line in chunk.body(tabular).split("\n")}
    for code in {look_up_code(tabular, code).section for code in all_codes(tabular)}:
        assert code.heading in lines


@pytest.mark.parametrize("source", SOURCES[1:])
@pytest.mark.parametrize("sizes", [Sizes(), SMALL])
def test_sections_hold_every_entry_once(
    manuals: dict[str, Manual], source: str, sizes: Sizes
) -> None:
    manual = manuals[source]
    chunks = chunk_manual(manual, "sections", sizes)
    check_coverage(manual, chunks, frozenset({"main_term", "term"}))


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("sizes", [Sizes(32, 32), SMALL, Sizes(), Sizes(256, 256)])
def test_sections_never_pass_the_bound(
    manuals: dict[str, Manual], source: str, sizes: Sizes
) -> None:
    chunks = chunk_manual(manuals[source], "sections", sizes)
    assert max(chunk.tokens for chunk in chunks) <= sizes.bound


def test_sections_keep_to_the_section(manuals: dict[str, Manual]) -> None:
    """A chunk lies in one category or main term, and its context names all that is above."""
    for source in ("tabular", "index"):
        manual = manuals[source]
        tops = [s for s in manual.sections if s.kind in ("category", "main_term")]
        for chunk in chunk_manual(manual, "sections", SMALL):
            section = manual.get(chunk.key)
            if section.kind in ("chapter", "block", "introduction"):
                continue
            inside = [s for s in tops if s.span[0] <= chunk.span[0] and chunk.span[1] <= s.span[1]]
            assert len(inside) == 1
            if source == "tabular" and chunk.part is None:
                above = [s.key for s in manual.ancestors(section) if s.kind in CODE_KINDS]
                assert all(f"{key} " in chunk.context for key in above[-1:])


def test_notes_of_chapters_blocks_and_categories(manuals: dict[str, Manual]) -> None:
    chunks = {c.key: c for c in reversed(chunk_manual(manuals["tabular"], "sections"))}
    assert "make hormones" in chunks["Chapter 2"].text
    assert "vehicle of the injured" in chunks["V00-V99"].text
    assert "insulin (Z79.4)" in chunks["E11"].text
    # the first chunk below a block without notes carries its key
    assert "E08-E13" in chunks["E10"].keys
    # a short definition of seventh characters is repeated below its category
    inside = chunk_manual(manuals["tabular"], "sections", SMALL)
    opioid = next(c for c in inside if "T40.2X5" in c.keys)
    assert "D later visit" in opioid.text


def test_tabular_context_of_the_paper(manuals: dict[str, Manual]) -> None:
    chunks = {chunk.key: chunk for chunk in chunk_manual(manuals["tabular"], "paper")}
    assert chunks["E11"].context.split("\n") == [
        "Document: ICD-10-CM TABULAR LIST, a sample in our own words",
        "Chapter: Endocrine, nutritional and metabolic diseases (E00-E89)",
        "Section: Diabetes mellitus (E08-E13)",
    ]
    assert chunks["T07"].context.endswith("Section: Injuries of several regions (T07)")
    # over the limit: its children, one level only
    assert "S72" not in chunks
    assert [key for key in chunks if key.startswith("S72")] == [
        *("S72.0", "S72.1", "S72.2", "S72.3", "S72.4", "S72.8", "S72.9")
    ]
    assert chunks["S72.3"].context.endswith("\nCategory: S72 Fracture of femur")
    assert "\n inclusionTerm: " in chunks["I50"].text


def test_index_context_of_the_paper(manuals: dict[str, Manual]) -> None:
    chunks = {chunk.key: chunk for chunk in chunk_manual(manuals["index"], "paper")}
    assert chunks["Abscess"].text.split("\n")[:6] == [
        "Document: ICD-10-CM INDEX TO DISEASES and INJURIES, a sample in our own words",
        "Letter: A",
        "Main term: Abscess (acute) (of soft tissue) (with pus)",
        "",
        "Abscess (acute) (of soft tissue) (with pus) (code=L02.91)",
        "brain (any part) (from the ear) (code=G06.0)",
    ]
    assert "Fracture, traumatic" not in chunks
    assert chunks["Fracture, traumatic > femur, femoral bone"].context.endswith(
        "Main term: Fracture, traumatic (broken bone) (by accident)"
    )
    assert all(len(c.text) <= LIMIT for c in chunks.values())


def test_every_valid_code_is_in_one_chunk_of_the_paper(manuals: dict[str, Manual]) -> None:
    manual = manuals["tabular"]
    stems = {look_up_code(manual, code).section.key for code in all_codes(manual)}
    held = Counter(key for chunk in chunk_manual(manual, "paper") for key in chunk.keys)
    assert all(held[stem] == 1 for stem in stems)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("preset", PRESETS)
def test_same_input_same_chunks(manuals: dict[str, Manual], source: str, preset: str) -> None:
    assert chunk_manual(manuals[source], preset) == chunk_manual(manuals[source], preset)


def test_unknown_preset_and_source() -> None:
    with pytest.raises(BadOption, match="paper, sections"):
        pieces_for("pages", "tabular")
    with pytest.raises(BadOption, match="guidelines"):
        pieces_for("paper", "icd11")
    assert pieces_for("tam", "tabular") is pieces_for("paper", "tabular")


@pytest.mark.parametrize(
    ("text", "collapsed"),
    [
        ("a  b\t c", "a b c"),
        ("a\n\n\n\nb", "a\n\nb"),
        ("a\n\nb\nc", "a\n\nb\nc"),
        ("\n a\u00a0b \n", "a b"),
        ("a\n  b", "a\n b"),
    ],
)
def test_collapse(text: str, collapsed: str) -> None:
    assert collapse(text) == collapsed


@pytest.mark.real
@pytest.mark.parametrize(("year", "count", "split"), [(2021, 2_256, 45), (2025, 2_311, 51)])
def test_real_tabular(real_manuals: Path, year: int, count: int, split: int) -> None:
    manual = real(real_manuals, "tabular", year)
    chunks = chunk_manual(manual, "paper")
    assert len(chunks) == count
    keys = {chunk.key for chunk in chunks}
    categories = [section.key for section in manual.sections if section.kind == "category"]
    assert len([key for key in categories if key not in keys]) == split
    check_texts(manual, chunks)


@pytest.mark.real
def test_real_index(real_manuals: Path) -> None:
    manual = real(real_manuals, "index", 2025)
    chunks = chunk_manual(manual, "paper")
    assert len(chunks) == 15_151
    keys = {chunk.key for chunk in chunks}
    main_terms = [section.key for section in manual.sections if section.kind == "main_term"]
    assert len([key for key in main_terms if key not in keys]) == 34
    check_texts(manual, chunks)


@pytest.mark.real
def test_real_tabular_by_sections(real_manuals: Path) -> None:
    manual = real(real_manuals, "tabular", 2025)
    chunks = chunk_manual(manual, "sections")
    check_texts(manual, chunks)
    check_coverage(manual, chunks, CODE_KINDS | {"chapter", "block"})
    assert max(chunk.tokens for chunk in chunks) <= Sizes().bound


@pytest.mark.real
@pytest.mark.parametrize("source", SOURCES[1:])
def test_real_index_by_sections(real_manuals: Path, source: str) -> None:
    manual = real(real_manuals, source, 2025)
    chunks = chunk_manual(manual, "sections")
    check_texts(manual, chunks)
    check_coverage(manual, chunks, frozenset({"main_term", "term"}))
    assert max(chunk.tokens for chunk in chunks) <= Sizes().bound
