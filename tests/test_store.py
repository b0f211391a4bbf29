"""Parsed editions on disk: what is read is what was written, to the byte."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from factories import manual as small_manual
from hypothesis import given, settings
from hypothesis import strategies as st

from manuals.library.editions import load_library
from manuals.library.store import edition_of, edition_record, load_edition, load_manual, save_manual
from manuals.model.sections import Edition, Manual, ManualFile, Note, Ref, Section
from tam.errors import DamagedFile, ManualError

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
spans = st.tuples(st.integers(0, 2**40), st.integers(0, 2**40))


@st.composite
def sections(draw: st.DrawFn) -> tuple[Section, ...]:
    made = []
    for number in range(draw(st.integers(0, 6))):
        made.append(
            Section(
                key=f"{number} {draw(words)}",
                source="ussg",
                year=2024,
                kind=draw(words),
                level=draw(st.integers(0, 9)),
                citation=draw(words),
                title=draw(words),
                parent=draw(st.none() | words),
                path=tuple(draw(st.lists(words, max_size=3))),
                span=draw(spans),
                pages=draw(st.none() | st.tuples(st.integers(1, 999), st.integers(1, 999))),
                notes=tuple(draw(st.lists(st.builds(Note, words, words), max_size=3))),
                refs=tuple(draw(st.lists(st.builds(Ref, words, words, words), max_size=3))),
                seventh=tuple(draw(st.lists(st.tuples(words, words), max_size=3))),
                version=draw(st.integers(1, 3)),
            )
        )
    return tuple(made)


@settings(max_examples=25)
@given(sections(), words, words, st.lists(st.tuples(*[st.integers(0, 2**40)] * 3), max_size=4))
def test_a_manual_comes_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory,
    made: tuple[Section, ...],
    text: str,
    raw: str,
    raw_map: list[tuple[int, int, int]],
) -> None:
    edition = Edition(
        "ussg",
        2024,
        "Manual",
        "November 1, 2024",
        (ManualFile("a/b.pdf", "0" * 64, 7), ManualFile("c.pdf", "1" * 64, 8)),
        date(2024, 11, 1),
        None,
        ("a problem",),
    )
    before = Manual(
        edition=edition,
        text=text,
        sections=made,
        page_starts=(0, 5),
        raw=raw,
        raw_page_starts=(0, 9),
        raw_map=tuple(raw_map) if raw else (),
        file_starts=(0, 3),
        meta={"rows": "3"},
    )
    folder = tmp_path_factory.mktemp("store")
    place = save_manual(before, folder)
    assert place == folder / "ussg-2024"
    after = load_manual(place)
    assert after == before
    assert load_edition(place) == edition
    # equal manuals give equal bytes
    again = save_manual(after, folder / "again")
    assert {f.name: f.read_bytes() for f in place.iterdir()} == {
        f.name: f.read_bytes() for f in again.iterdir()
    }


def test_an_edition_as_json() -> None:
    whole = replace(small_manual("index", 2025, ["a"]).edition, effective_to=None)
    assert edition_of(json.loads(json.dumps(edition_record(whole)))) == whole


def test_a_saved_manual_replaces_the_one_before(tmp_path: Path) -> None:
    save_manual(replace(small_manual("ussg", 2024, ["a"]), raw="furniture"), tmp_path)
    save_manual(small_manual("ussg", 2024, ["b"]), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["ussg-2024"]
    assert load_manual(tmp_path / "ussg-2024") == small_manual("ussg", 2024, ["b"])


def test_a_failed_write_leaves_the_one_before(tmp_path: Path) -> None:
    whole = small_manual("ussg", 2024, ["a"])
    save_manual(whole, tmp_path)
    with pytest.raises(UnicodeEncodeError):
        save_manual(replace(whole, text="\ud800"), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["ussg-2024"]
    assert load_manual(tmp_path / "ussg-2024") == whole


@pytest.mark.parametrize(
    ("file", "content", "words"),
    [
        ("edition.json", None, "not a parsed edition"),
        ("edition.json", b"{", "not a parsed edition"),
        ("edition.json", b'{"format": 99}', "format 99, but this version of tam reads format 2"),
        ("text.txt", None, "damaged"),
        ("text.txt", b"\xff", "damaged"),
        ("sections.parquet", None, "damaged"),
        ("sections.parquet", b"PAR1 no", "damaged"),
    ],
)
def test_damage(tmp_path: Path, file: str, content: bytes | None, words: str) -> None:
    place = save_manual(small_manual("ussg", 2024, ["a"]), tmp_path)
    if content is None:
        (place / file).unlink()
    else:
        (place / file).write_bytes(content)
    with pytest.raises(DamagedFile, match=words) as raised:
        load_manual(place)
    assert "build it again" in str(raised.value)


def test_a_library_of_saved_manuals(tmp_path: Path) -> None:
    for folder, source, year in (
        ("legal", "ussg", 2024),
        ("legal", "title18", 2023),
        ("icd", "index", 2025),
        ("icd", "ussg", 2024),
    ):
        save_manual(small_manual(source, year, [folder]), tmp_path / folder)
    library = load_library(tmp_path / "legal", tmp_path / "icd")
    assert [edition.name for edition in library.editions] == [
        "index/2025",
        "title18/2023",
        "ussg/2024",
    ]
    assert library.manual("ussg", 2024).text.endswith("legal\n\n")  # the first folder counts
    with pytest.raises(ManualError, match="no parsed editions here; build an index first"):
        load_library(tmp_path)
