"""Chunks of Title 18 in both presets."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from test_title18 import USC, parsed

from chunkers.model.chunk import Chunk
from chunkers.model.cut import Sizes
from chunkers.model.layout import LIMIT
from chunkers.model.presets import chunk_manual
from chunkers.uscode.paper import pieces
from manuals.model.sections import Manual
from manuals.model.source import SOURCES
from manuals.uscode.body import SUBDIVISIONS


@pytest.fixture(scope="module")
def sample(sample_manuals: Path) -> Manual:
    return parsed(sample_manuals, 2024)


@pytest.fixture(scope="module")
def tam(sample: Manual) -> list[Chunk]:
    return chunk_manual(sample, "paper")


@pytest.fixture(scope="module")
def cut(sample: Manual) -> list[Chunk]:
    return chunk_manual(sample, "sections")


def by_key(chunks: list[Chunk], key: str) -> list[Chunk]:
    return [chunk for chunk in chunks if chunk.key == key]


def check_bodies(manual: Manual, chunks: list[Chunk]) -> None:
    """Bodies are slices and end the text, ids are unique, spans ascend without overlap."""
    assert len({chunk.id for chunk in chunks}) == len(chunks)
    for chunk in chunks:
        body = manual.text[chunk.span[0] : chunk.span[1]]
        assert chunk.text.endswith(body), chunk.id
        assert body == body.strip()
        assert chunk.text == (f"{chunk.context}\n\n{body}" if chunk.context else body)
        assert set(chunk.keys) <= set(manual.by_key)
        assert str(chunk.year) not in chunk.context
    for before, after in pairwise(chunks):
        assert before.span[1] <= after.span[0], after.id


# -- preset paper


def test_tam_layout(sample: Manual, tam: list[Chunk]) -> None:
    check_bodies(sample, tam)
    (chunk,) = by_key(tam, USC + "371")
    assert chunk.text.split("\n\n")[0].split("\n") == [
        "Document: TITLE 18—CRIMES AND CRIMINAL PROCEDURE",
        "Part: PART I—CRIMES",
        "Chapter: CHAPTER 19—CONSPIRACY",
        "Section: §371. Conspiracy to commit offense or to defraud United States",
    ]


def test_tam_leaves_notes_out_and_keeps_what_precedes_the_first_heading(tam: list[Chunk]) -> None:
    (chunk,) = by_key(tam, USC + "371")
    assert "(June 25, 1948, ch. 645" in chunk.text
    assert "The words about each of several" in chunk.text  # an older note without a heading
    assert "Pub. L. 103–322" not in chunk.text
    (chunk,) = by_key(tam, USC + "922")
    assert "So in original" in chunk.text
    assert "References in Text" not in chunk.text


def test_tam_drops_sections_without_a_body(sample: Manual, tam: list[Chunk]) -> None:
    keys = {chunk.key for chunk in tam}
    dropped = [
        section.key
        for section in sample.sections
        if section.kind in ("section", "repealed", "renumbered") and section.key not in keys
    ]
    assert dropped == [USC + "221", USC + "438", USC + "1952A"]
    assert USC + "1" in keys


def test_tam_packs_long_sections_into_parts(sample: Manual, tam: list[Chunk]) -> None:
    parts = by_key(tam, USC + "1961")
    assert [chunk.part for chunk in parts] == [(1, 2), (2, 2)]
    assert all(len(chunk.text) <= LIMIT for chunk in tam)
    # The next paragraph would not have fitted.
    following = sample.text[parts[1].span[0] :].split("\n\n")[0]
    assert len(parts[0].text) + len("\n\n" + following) > LIMIT
    assert parts[0].text.startswith("Document: ")
    assert parts[1].text.startswith("(")


def test_tam_two_versions_are_two_chunks(tam: list[Chunk]) -> None:
    assert by_key(tam, USC + "4051")[0].text != by_key(tam, USC + "4051#2")[0].text


# -- preset sections


def test_sections_lose_nothing_and_repeat_nothing(sample: Manual, cut: list[Chunk]) -> None:
    check_bodies(sample, cut)
    held = bytearray(len(sample.text))
    for chunk in cut:
        held[chunk.span[0] : chunk.span[1]] = b"\1" * (chunk.span[1] - chunk.span[0])
    missed = "".join(
        character if not held[place] else "\n" for place, character in enumerate(sample.text)
    )
    lines = {line.strip() for line in missed.split("\n") if line.strip()}
    # Headings without text of their own stand in the context of the chunks below.
    heads = {"PART ", "CHAPTER ", "SUBCHAPTER ", "TITLE 18"}
    assert all(any(line.startswith(head) for head in heads) for line in lines), lines
    keys = {key for chunk in cut for key in chunk.keys}
    assert keys == set(sample.by_key)


def test_sections_bounds(sample: Manual) -> None:
    for sizes in (Sizes(64, 128), Sizes(256, 512)):
        chunks = chunk_manual(sample, "sections", sizes)
        check_bodies(sample, chunks)
        assert max(chunk.tokens for chunk in chunks) <= sizes.bound


def test_sections_never_mix_statute_and_notes(sample: Manual, cut: list[Chunk]) -> None:
    apart = ("note", "notes", "footnotes")
    for chunk in cut:
        kinds = {sample.by_key[key].kind in apart for key in chunk.keys}
        assert len(kinds) == 1, chunk.id
        assert (chunk.kind == "note") == kinds.pop()
    assert Counter(chunk.kind for chunk in cut)["repealed"] == 2


def test_sections_stay_within_one_section(sample: Manual, cut: list[Chunk]) -> None:
    for chunk in cut:
        units = {
            next(
                above.key
                for above in (*sample.ancestors(sample.by_key[key]), sample.by_key[key])
                if above.kind not in ("title", "part", "chapter", "subchapter")
            )
            for key in chunk.keys
            if sample.by_key[key].kind not in ("title", "part", "chapter", "subchapter")
        }
        assert len(units) == 1, chunk.id


def test_sections_repeat_the_heading_and_the_openings_above(sample: Manual) -> None:
    chunks = chunk_manual(sample, "sections", Sizes(64, 128))
    (chunk,) = by_key(chunks, USC + "922(x)(2)(B)") or by_key(chunks, USC + "922(x)(2)")
    assert "18 U.S.C. § 922 Unlawful acts" in chunk.context
    nine = next(chunk for chunk in chunks if USC + "922(g)(9)" in chunk.keys)
    assert "(g) It is unlawful for any person—" in nine.text
    assert nine.context.startswith(SOURCES["title18"].title)
    clause = next(chunk for chunk in chunks if USC + "924(c)(1)(B)" in chunk.keys)
    assert "(c)(1)" in clause.text
    for chunk in chunks:
        section = sample.by_key[chunk.key]
        if section.kind in SUBDIVISIONS:
            head = next(each for each in chunk.path if each.startswith(USC))
            assert head in chunk.context or f"§{head[len(USC) :].split(' ')[0]}." in chunk.text


def test_sections_number_the_parts_of_a_long_paragraph(sample: Manual) -> None:
    chunks = chunk_manual(sample, "sections", Sizes(40, 64))
    parts = [chunk for chunk in chunks if chunk.key == USC + "6002"]
    assert [chunk.part for chunk in parts] == [
        (number, len(parts)) for number in range(1, len(parts) + 1)
    ]
    assert len(parts) > 1
    assert all("6002" in chunk.text for chunk in parts)


def test_equal_texts_of_two_years_are_equal_chunks(sample_manuals: Path, cut: list[Chunk]) -> None:
    older = chunk_manual(parsed(sample_manuals, 2023), "sections")
    same = {chunk.sha256 for chunk in older} & {chunk.sha256 for chunk in cut}
    assert len(same) / len(cut) > 0.9


# -- the real editions


@pytest.mark.real
def test_real_counts_are_the_papers(real_manuals: Path) -> None:
    counts = []
    for year in range(2021, 2026):
        manual = parsed(real_manuals / "title18" / str(year), year)
        found = list(pieces(manual))
        counts.append(len(found))
        assert max(len(piece.text) for piece in found) <= LIMIT
        assert all(piece.text.endswith(manual.text[slice(*piece.span)]) for piece in found)
    assert counts == [1358, 1366, 1366, 1367, 1367]
    assert sum(counts) == 6824


@pytest.mark.real
def test_real_part_iii_by_sections(real_manuals: Path) -> None:
    manual = parsed(real_manuals / "title18" / "2023-gpo", 2023)
    chunks = chunk_manual(manual, "sections")
    check_bodies(manual, chunks)
    assert max(chunk.tokens for chunk in chunks) <= Sizes().bound
    assert {key for chunk in chunks for key in chunk.keys} == set(manual.by_key)
