"""Chunks of the Guidelines Manual, both presets."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from test_ussg import parsed

from chunkers.model.chunk import Chunk
from chunkers.model.cut import Sizes
from chunkers.model.presets import chunk_manual
from manuals.model.sections import Manual

Cut = Callable[[str], list[Chunk]]


@pytest.fixture(scope="module", params=[2023, 2024])
def manual(request: pytest.FixtureRequest, sample_manuals: Path) -> Manual:
    return parsed(sample_manuals, request.param)


@pytest.fixture(scope="module")
def cut(manual: Manual) -> Cut:
    return cache(lambda preset: chunk_manual(manual, preset))


@pytest.mark.parametrize("preset", ["paper", "sections"])
def test_chunks_are_slices_and_name_what_they_hold(manual: Manual, cut: Cut, preset: str) -> None:
    chunks = cut(preset)
    assert len({chunk.id for chunk in chunks}) == len(chunks)
    for chunk in chunks:
        check_slice(manual, chunk)
        assert chunk.key in chunk.keys
        assert chunk.pages == manual.pages(chunk.span, chunk.view)
        assert set(chunk.keys) <= set(manual.by_key)


def check_slice(manual: Manual, chunk: Chunk) -> None:
    body = chunk.body(manual)
    lead = f"{chunk.context}\n\n" if chunk.context else ""
    assert chunk.text.startswith(lead)
    assert chunk.text[len(lead) :].split() == body.split()
    assert body == body.strip()


def test_sections_lose_nothing(manual: Manual, cut: Cut) -> None:
    """Every key is in a chunk and every word but bare headings is in exactly one."""
    chunks = cut("sections")
    assert {key for chunk in chunks for key in chunk.keys} == set(manual.by_key)
    end = 0
    left = []
    for chunk in chunks:
        assert chunk.span[0] >= end
        left += manual.text[end : chunk.span[0]].split("\n")
        end = chunk.span[1]
    left += manual.text[end:].split("\n")
    bare = [line for line in left if line.strip()]
    assert all(line == line.upper() for line in bare), bare


def test_sections_never_mix_kinds(manual: Manual, cut: Cut) -> None:
    parts = ("statutory-provisions", "background", "historical-note", "table")
    for chunk in cut("sections"):
        kinds = {manual.get(key).kind for key in chunk.keys}
        for kind in parts:
            if kind in kinds and chunk.keys[0] == chunk.key:
                own = {manual.get(key).kind for key in chunk.keys if overlaps(manual, chunk, key)}
                # The line "Commentary" above a subheading belongs to the guideline.
                assert own <= {kind, "guideline", "part"}, chunk.id
                assert chunk.kind == kind


def overlaps(manual: Manual, chunk: Chunk, key: str) -> bool:
    return any(
        start < chunk.span[1] and end > chunk.span[0] and manual.text[start:end].strip()
        for start, end in manual.own_spans(manual.get(key))
    )


def test_sections_keep_headings_in_context(manual: Manual, cut: Cut) -> None:
    chunks = {chunk.id.split("/", 2)[2]: chunk for chunk in cut("sections")}
    notes = next(chunk for chunk in chunks.values() if chunk.key == "§2K2.1 Application Notes")
    heading = manual.get("§2K2.1").heading
    assert f"{heading} — Application Notes" in notes.context
    assert notes.kind == "application-notes"
    assert notes.body(manual).startswith("Application Notes:\n\n1. Definitions.")
    text = chunks["2A2.2"]
    assert text.kind == "guideline"
    assert text.body(manual).startswith("§2A2.2. Aggravated Assault")
    assert "Chapter 2, Part A, Subpart 2 Assault" in text.context
    assert "§2A2.2" not in text.context
    provisions = chunks["2A2.2_Statutory_Provisions"]
    assert provisions.body(manual).startswith("Commentary\n")
    assert chunks["2A2.2_Historical_Note"].kind == "historical-note"


def test_application_notes_stay_whole(manual: Manual, cut: Cut) -> None:
    for chunk in cut("sections"):
        if chunk.kind == "application-notes" and chunk.part is None:
            for key in chunk.keys:
                note = manual.get(key)
                if note.kind == "application-note" and overlaps(manual, chunk, key):
                    assert chunk.span[0] <= note.span[0] <= note.span[1] <= chunk.span[1]


def test_appendix_a_is_packed_by_title(manual: Manual, cut: Cut) -> None:
    rows = [chunk for chunk in cut("sections") if chunk.kind == "appendix-a"]
    for chunk in rows:
        held = [key for key in chunk.keys if " > " in key]
        titles = {key.split(" > ")[1].split(" U.S.C.")[0] for key in held}
        assert len(titles) == 1
        assert f"Appendix A Statutory Index — {titles.pop()} U.S.C." in chunk.context
        for key in held:
            row = manual.get(key)
            assert chunk.span[0] <= row.span[0] <= row.span[1] <= chunk.span[1]
    held_rows = [key for chunk in rows for key in chunk.keys if " > " in key]
    assert len(held_rows) == len(set(held_rows)) == (35 if manual.year == 2024 else 34)


def test_the_sentencing_table_repeats_its_column_heads(cut: Cut) -> None:
    table = [chunk for chunk in cut("sections") if chunk.kind == "table"]
    assert len(table) > 2
    assert all("Offense | I | II | III | IV | V | VI" in chunk.text for chunk in table)


@pytest.mark.parametrize(
    "sizes", [Sizes(64, 96), Sizes(128, 200), Sizes(256, 512), Sizes(400, 400)]
)
def test_bounds_hold_for_other_sizes(sample_manuals: Path, sizes: Sizes) -> None:
    manual = parsed(sample_manuals, 2024)
    chunks = chunk_manual(manual, "sections", sizes)
    assert max(chunk.tokens for chunk in chunks) <= sizes.bound
    assert {key for chunk in chunks for key in chunk.keys} == set(manual.by_key)
    numbered = [chunk.part for chunk in chunks if chunk.part]
    assert all(1 <= number <= of for number, of in numbered)


def test_tam_follows_the_papers_rule(manual: Manual, cut: Cut) -> None:
    """A section sign or a subheading at a line's start opens a chunk, on every page again."""
    expected = papers_rule(manual.raw)
    assert [re.sub(r"\s+", " ", chunk.body(manual)) for chunk in cut("paper")] == expected
    assert all(chunk.view == "raw" for chunk in cut("paper"))


def papers_rule(raw: str) -> list[str]:
    """The rule of CORPUS_FACTS, written anew: blocks of lines between openings and resets."""
    opening = re.compile(r"§\s*\d")
    subheading = re.compile(
        r"(Commentary|Application Notes?|Background|Introductory Commentary|Historical Note"
        r"|Statutory Provisions)$"
    )
    blocks: list[list[str] | None] = [None]
    inside = False
    for line in raw.split("\n"):
        if re.match(r"(CHAPTER|PART) ", line):
            blocks.append(None)
            inside = False
        elif opening.match(line) or (inside and subheading.match(line)):
            blocks.append([line])
            inside = inside or bool(opening.match(line))
        elif blocks[-1] is not None:
            blocks[-1].append(line)
    found = [block for block in blocks if block and any(line.strip() for line in block[1:])]
    return [re.sub(r"\s+", " ", " ".join(block)).strip() for block in found]


def test_tam_context_says_where_a_chunk_stands(manual: Manual, cut: Cut) -> None:
    commentary = next(
        chunk for chunk in cut("paper") if "/Commentary" in chunk.id and "§2A2.2" in chunk.keys
    )
    lines = commentary.context.split("\n")
    assert lines[0] == f"Document: {manual.edition.title}"
    assert lines[1:3] == ["Chapter: CHAPTER TWO", "Part: PART A ― OFFENSES AGAINST THE PERSON"]
    assert lines[3].startswith("Section: §2A2.2")


def test_chunks_are_the_same_again(manual: Manual, cut: Cut) -> None:
    for preset in ("paper", "sections"):
        assert chunk_manual(manual, preset) == cut(preset)


@pytest.mark.real
@pytest.mark.parametrize(("year", "least", "most"), [(2025, 1255, 1275), (2016, 1370, 1395)])
def test_counts_of_the_paper(real_manuals: Path, year: int, least: int, most: int) -> None:
    manual = parsed(real_manuals, year)
    chunks = chunk_manual(manual, "paper")
    print(f"{year}: {len(chunks)} chunks")
    assert least <= len(chunks) <= most
    for chunk in chunks:
        check_slice(manual, chunk)


@pytest.mark.real
@pytest.mark.parametrize("year", [2016, 2025])
def test_real_sections(real_manuals: Path, year: int) -> None:
    manual = parsed(real_manuals, year)
    chunks = chunk_manual(manual, "sections")
    assert max(chunk.tokens for chunk in chunks) <= 512
    assert {key for chunk in chunks for key in chunk.keys} == set(manual.by_key)
    covered = sum(chunk.span[1] - chunk.span[0] for chunk in chunks)
    print(f"{year}: {len(chunks)} chunks hold {covered / len(manual.text):.4f} of the text")
    assert covered > 0.98 * len(manual.text)
    for chunk in chunks:
        check_slice(manual, chunk)
