"""A text that stands in several years is found once; the section named is pointed at."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from searchable import legal_index, make_chunk, make_index, make_section

from chunkers.model.chunk import JOINT
from retrievers.ranking.named_span import named_span
from retrievers.search.index import Index

QUERIES = ("robbery with a firearm", "bank fraud", "levels", "18 USC 924", "money laundering 1956")


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return legal_index(tmp_path_factory.mktemp("collapse") / "legal")


@given(
    query=st.sampled_from(QUERIES),
    k=st.integers(1, 30),
    year=st.sampled_from([None, 2021, "2021-2022", [2021, 2023]]),
    retriever=st.sampled_from(["bm25", "dense", "hybrid"]),
)
@settings(max_examples=60, deadline=None)
def test_each_text_once_from_the_newest_year(
    index: Index, query: str, k: int, year: object, retriever: str
) -> None:
    """As the list of all years, brought together by hand."""
    options = {"year": year, "retriever": retriever, "references": False}
    every = index.search(query, 100, collapse="off", **options)  # type: ignore[arg-type]
    found = index.search(query, k, **options)  # type: ignore[arg-type]
    years: dict[tuple[str, str], list[int]] = {}
    for hit in every:
        years.setdefault((hit.source, hit.text), []).append(hit.year)
    expected = [(text, max(own), tuple(sorted(own)[:-1])) for (_, text), own in years.items()]
    assert [(hit.text, hit.year, hit.same_text) for hit in found] == expected[:k]
    scores = [hit.score for hit in found]
    assert scores == sorted(scores, reverse=True)


def test_nothing_happens_within_one_year(index: Index) -> None:
    for query in QUERIES:
        options = {"year": 2021, "k": 20}
        apart = index.search(query, collapse="off", **options)  # type: ignore[arg-type]
        assert index.search(query, collapse="years", **options) == apart  # type: ignore[arg-type]


def test_each_wording_keeps_a_place(tmp_path: Path) -> None:
    texts = {
        2021: "prison for one year",
        2022: "prison for two years",
        2023: "prison for two years",
    }
    chunks = [make_chunk("title18", year, "18 U.S.C. § 1", text) for year, text in texts.items()]
    # The same words under another key are another section, even in one year.
    chunks.append(make_chunk("title18", 2023, "18 U.S.C. § 2", "prison for two years"))
    index = make_index(tmp_path / "legal", chunks)
    found = index.search("prison", 10, retriever="bm25", collapse="years")
    assert {(hit.citation[-1], hit.year, hit.same_text) for hit in found} == {
        ("1", 2021, ()),
        ("1", 2023, (2022,)),
        ("2", 2023, ()),
    }


def test_k_texts_though_most_rows_repeat(tmp_path: Path) -> None:
    """Legs are read deeper, so that the copies take no places."""
    chunks = [
        make_chunk("title18", year, f"18 U.S.C. § {number}", f"robbery {number}")
        for year in (2021, 2022, 2023)
        for number in range(1, 301)
    ]
    index = make_index(tmp_path / "legal", chunks)
    found = index.search("robbery", 300, retriever="bm25", collapse="years")
    assert len({hit.citation for hit in found}) == len(found) == 300


def test_parts_of_a_section_named_are_not_crowded_out_by_years(tmp_path: Path) -> None:
    keys = ["18 U.S.C. § 924"]
    chunks = [
        make_chunk("title18", year, keys[0], f"part {part}", slug=f"924/{part}", keys=keys)
        for year in (2021, 2022, 2023, 2024)
        for part in (1, 2, 3)
    ]
    index = make_index(tmp_path / "legal", chunks)
    found = index.search("18 USC 924", 3, collapse="years")
    assert [hit.chunk_id for hit in found] == [f"title18/2024/924/{part}" for part in (1, 2, 3)]
    assert {hit.same_text for hit in found} == {(2021, 2022, 2023)}
    assert {hit.found_by for hit in found} == {"reference"}


def test_a_title_names_a_section_that_was_cut(tmp_path: Path) -> None:
    """Preset ``sections``: the parts have one title and keys of their own."""
    keys = ("18 U.S.C. § 1203", "18 U.S.C. § 1203(b)", "18 U.S.C. § 1203(b)(2)")
    chunks = [make_chunk("title18", 2025, key, "hostage", title="Hostage taking") for key in keys]
    chunks.append(make_chunk("title18", 2025, "18 U.S.C. § 1", "hostage taking hostage taking"))
    index = make_index(tmp_path / "legal", chunks)
    found = index.search("hostage taking", 4)
    assert [hit.citation for hit in found[:3]] == list(keys)
    assert {hit.named.key for hit in found[:3] if hit.named} == {"18 U.S.C. § 1203"}
    assert [hit.named for hit in found[3:]] == [None]


MANUAL = "§924. Penalties\n(a) Whoever lies\nabout a lamp.\n(b) Whoever sells it (a) twice.\nNotes\nAn editor's word.\n"


def test_the_stretch_that_holds_the_section_named(tmp_path: Path) -> None:
    statute = "18 U.S.C. § 924"
    ends = [MANUAL.index("(b)"), MANUAL.index("Notes")]
    sections = [
        make_section("title18", 2025, statute, span=(0, len(MANUAL))),
        make_section("title18", 2025, f"{statute}(a)", statute, (16, ends[0])),
        make_section("title18", 2025, f"{statute}(b)", statute, (ends[0], ends[1])),
        make_section("title18", 2025, f"{statute} Notes", statute, (ends[1], len(MANUAL))),
    ]
    chunk = make_chunk("title18", 2025, statute, MANUAL)
    manual = replace(
        make_index(tmp_path / "legal", [chunk], sections=sections).library.manual("title18", 2025),
        text=MANUAL,
    )
    # As a page would have it: other white space, a head in the middle.
    text = "18 U.S.C. § 924" + JOINT + MANUAL.replace("\n", " \n  ").replace("lies", "lies\nPAGE 7")
    printed = replace(chunk, text=text)

    def held(key: str) -> str | None:
        span = named_span(printed, manual, key)
        return None if span is None else " ".join(text[slice(*span)].split())

    assert held(f"{statute}(b)") == "(b) Whoever sells it (a) twice."
    assert (held(f"{statute}(a)") or "").startswith("(a) Whoever lies PAGE 7")
    assert (held(statute) or "").startswith("§924. Penalties (a)")
    assert "editor" not in (held(statute) or "")
    assert held("18 U.S.C. § 925") is None
    assert named_span(replace(printed, text_span=(0, 16)), manual, f"{statute}(b)") is None
