"""Both presets on the guidelines: the paper's rule, and sections within their sizes."""

from __future__ import annotations

import hashlib
import re
from datetime import date
from itertools import pairwise
from pathlib import Path

import pytest

from chunkers.icd10cm.paper_guidelines import pieces
from chunkers.model.chunk import Chunk
from chunkers.model.cut import Sizes
from chunkers.model.presets import chunk_manual
from manuals.icd10cm.guidelines import FRONT, parse_guidelines
from manuals.model.sections import Edition, Manual, ManualFile, Section


def parse(folder: Path, year: int) -> Manual:
    path = next((folder / "icd10cm" / str(year)).glob("*uidelines*.pdf"))
    file = ManualFile(path.relative_to(folder).as_posix(), "0" * 64, 1)
    return parse_guidelines(
        [path],
        Edition(
            "guidelines", year, f"ICD-10-CM Official Guidelines, FY {year}", str(year), (file,),
            date(year - 1, 10, 1), date(year, 9, 30),
        ),
    )  # fmt: skip


@pytest.fixture(scope="module")
def sample(sample_manuals: Path) -> Manual:
    return parse(sample_manuals, 2025)


def check_chunks(manual: Manual, chunks: list[Chunk]) -> None:
    """What holds for every chunk of any preset."""
    assert len({chunk.id for chunk in chunks}) == len(chunks)
    for chunk in chunks:
        body = chunk.body(manual)
        assert body == body.strip() and body
        assert chunk.text.startswith(chunk.context + "\n\n")
        assert re.sub(r"\s+", "", chunk.text[len(chunk.context) :]) == re.sub(r"\s+", "", body)
        assert hashlib.sha256(chunk.text.encode()).hexdigest() == chunk.sha256
        assert chunk.pages is not None and chunk.pages[0] <= chunk.pages[1]
        assert chunk.key in chunk.keys
        assert all(key in manual.by_key for key in chunk.keys)


def check_sections(manual: Manual, chunks: list[Chunk], sizes: Sizes) -> None:
    """Chunks follow each other, cover the whole text, and none crosses a section's border."""
    assert manual.text[: chunks[0].span[0]].strip() == ""
    assert manual.text[chunks[-1].span[1] :].strip() == ""
    for before, after in pairwise(chunks):
        assert before.span[1] <= after.span[0]
        assert manual.text[before.span[1] : after.span[0]].strip() == ""
    for chunk in chunks:
        assert chunk.tokens <= sizes.bound
        section = manual.get(chunk.key)
        above = {ancestor.key for ancestor in manual.ancestors(section)}
        below = {inner.key for inner in manual.subtree(section)}
        assert set(chunk.keys) <= above | below
        for key in set(chunk.keys) & above:
            # Of a section above there is the heading only.
            own = manual.own_text(manual.get(key))
            assert "\n" not in own
            assert own in chunk.text
        first = chunk.part is None or chunk.part[0] == 1
        heading = manual.text[section.span[0] : section.span[1]].split("\n")[0]
        if sizes.bound > 200:
            assert (heading if first else section.heading) in chunk.text


def test_paper_rule_on_the_sample(sample: Manual) -> None:
    chunks = chunk_manual(sample, "paper")
    check_chunks(sample, chunks)
    body = [chunk for chunk in chunks if chunk.kind != "contents"]
    lines = [line.strip() for line in sample.raw.split("\n")]
    body_start = lines.index("Page 3 of 15")
    border = re.compile(r"[a-z]\. |\d+\. Chapter \d+:|Section I+V?\.(?![A-Z])")
    opened = [
        line
        for line, below in pairwise(lines[body_start:])
        if re.match(r"[a-z]\. ", line) and not border.match(below)
    ]
    # Every lettered line with text below it opens a chunk, also one in running text.
    assert [chunk.text.split("\n\n", 1)[1].split("\n")[0] for chunk in body] == opened
    ids = [chunk.id for chunk in body]
    assert "guidelines/2025/I.C.9.a" in ids
    assert "guidelines/2025/I.C.19.b.1/c" in ids
    # Nothing outside of lettered lines: no Sections II to IV.
    assert not any(chunk.key.startswith(("II", "IV")) for chunk in body)


def test_paper_rule_reads_headings(sample: Manual) -> None:
    by_id = {chunk.id: chunk for chunk in chunk_manual(sample, "paper")}
    chunk = by_id["guidelines/2025/I.C.9.a"]
    # The rule goes by lines: what a heading continues on its next line is not in it.
    assert chunk.context.split("\n") == [
        "Document: ICD-10-CM Official Guidelines, FY 2025",
        "Section: Section I. Conventions, rules for all chapters and rules of the",
        "Chapter: 9. Chapter 9: Diseases of the circulatory system (I00-I99)",
    ]
    assert chunk.title == "Hypertension"
    assert chunk.keys == (
        "I.C.9.a", "I.C.9.a.1", "I.C.9.a.2", "I.C.9.a.3", "I.C.9.a.4",
    )  # fmt: skip
    # Page feet are in, as in the paper.
    assert "Page 8 of 15" in chunk.text
    assert by_id["guidelines/2025/I.A.4.a"].context.count("\n") == 1


def test_contents_lines_are_of_no_section(sample: Manual) -> None:
    chunks = [chunk for chunk in chunk_manual(sample, "paper") if chunk.kind == "contents"]
    assert chunks
    for chunk in chunks:
        assert chunk.keys == (FRONT,)
        assert chunk.text_span == (0, 0)
        assert chunk.pages in {(2, 2), (3, 3), (2, 3)}
        assert (chunk.citation, chunk.title) == (FRONT, "Table of contents")


@pytest.mark.parametrize(
    ("raw", "titles"),
    [
        ("a. One\ntext\nb. Two\ntext\n", ["One", "Two"]),
        ("a. One\nb. Two\ntext\n", ["Two"]),
        ("text before\nA. Part\n1. Number\na. One\ntext\n", ["One"]),
        ("a. One\n2. Chapter 2: Neoplasms (C00-D49)\ntext\n", []),
        ("a. One\ntext\nSection II. Next\nmore\n", ["One"]),
        ("a. One\nSection I.C.19.g. A cross-reference\n", ["One"]),
        ("a. One......... 7\nb. Two........ 8\n7. Other\n", ["Two"]),
        ("aa. no label\na.no label\n(a) no label\n", []),
    ],
)
def test_paper_rule(raw: str, titles: list[str]) -> None:
    section = Section(FRONT, "guidelines", 2025, "front", 1, FRONT, FRONT, None, (), (0, 1))
    edition = Edition("guidelines", 2025, "G", "2025", (), date(2024, 10, 1), None)
    manual = Manual(edition, "x", (section,), (0,), raw, (0,), ())
    found = list(pieces(manual))
    lines = [raw[piece.span[0] :].split("\n")[0] for piece in found]
    assert [line[3:].split(".")[0] for line in lines] == titles
    assert all(raw[piece.span[0] : piece.span[1]].strip() for piece in found)


@pytest.mark.parametrize("sizes", [Sizes(), Sizes(64, 128), Sizes(96, 96), Sizes(2000, 4000)])
def test_sections_on_the_sample(sample: Manual, sizes: Sizes) -> None:
    chunks = chunk_manual(sample, "sections", sizes)
    check_chunks(sample, chunks)
    if sizes.bound >= 128:
        check_sections(sample, chunks, sizes)
    assert chunks == chunk_manual(sample, "sections", sizes)


def test_sections_by_fit(sample: Manual) -> None:
    """A subtree that fits is one chunk; one that does not is cut along its sections."""
    whole = chunk_manual(sample, "sections", Sizes(4000, 8000))
    assert [chunk.key for chunk in whole] == [root.key for root in sample.roots]
    by_key = {chunk.key: chunk for chunk in chunk_manual(sample, "sections")}
    assert by_key["I.C.9"].keys == (
        "I.C.9", "I.C.9.a", "I.C.9.a.1", "I.C.9.a.2", "I.C.9.a.3", "I.C.9.a.4", "I.C.9.b",
    )  # fmt: skip
    small = {chunk.key: chunk for chunk in chunk_manual(sample, "sections", Sizes(112, 224))}
    # Headings without text begin the first chunk below them.
    assert "I.C.1.a.2" in small["I.C.1.a.2.a"].keys
    assert "2) Choice and order of codes\n\n(a) Admitted" in small["I.C.1.a.2.a"].text
    assert small["I.C.1.a.2.b"].keys == ("I.C.1.a.2.b",)
    assert "Section I.C.1.a.2 Choice and order of codes" in small["I.C.1.a.2.b"].context


def test_a_long_section_is_cut_in_parts(sample: Manual) -> None:
    sizes = Sizes(40, 40)
    parts = [chunk for chunk in chunk_manual(sample, "sections", sizes) if chunk.key == "I.C.4.a.3"]
    assert [chunk.part for chunk in parts] == [(n, len(parts)) for n in range(1, len(parts) + 1)]
    assert len(parts) > 1
    assert parts[1].id == "guidelines/2025/I.C.4.a.3/2"


# ---- the official guidelines of FY 2025 ----


@pytest.fixture(scope="module")
def official(real_manuals: Path) -> Manual:
    return parse(real_manuals, 2025)


@pytest.mark.real
def test_official_paper_rule(official: Manual) -> None:
    """132: 124 lettered paragraphs, and 8 lines of the contents that have a line below them."""
    chunks = chunk_manual(official, "paper")
    check_chunks(official, chunks)
    assert len(chunks) == 132
    assert sum(chunk.kind == "contents" for chunk in chunks) == 8
    by_id = {chunk.id: chunk for chunk in chunks}
    assert by_id["guidelines/2025/I.C.2.e"].keys == (
        "I.C.2.e", "I.C.2.e.1", "I.C.2.e.2", "I.C.2.e.3",
    )  # fmt: skip


@pytest.mark.real
def test_official_sections_preset(official: Manual) -> None:
    chunks = chunk_manual(official, "sections")
    check_chunks(official, chunks)
    check_sections(official, chunks, Sizes())
    assert 440 <= len(chunks) <= 490
    keys = {key for chunk in chunks for key in chunk.keys}
    assert keys == set(official.by_key)
