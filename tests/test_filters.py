"""Filters act before the top k, exactly, on every leg."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from searchable import legal_chunks, legal_index, make_chunk, make_index, make_section

from retrievers.search.index import Index
from retrievers.search.settings import Filter
from tam.errors import BadOption, BadReference, TamError, UnknownKey, UnknownYear


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return legal_index(tmp_path_factory.mktemp("filters") / "legal")


def found(index: Index, **filters: object) -> set[str]:
    """Ids of all chunks that a filter leaves to the dense leg."""
    hits = index.search("firearm", k=1000, retriever="dense", collapse="off", **filters)  # type: ignore[arg-type]
    return {hit.chunk_id for hit in hits}


YEARS = [
    (2022, {2022}),
    ("2022", {2022}),
    ("2021-2022", {2021, 2022}),
    ("2021 – 2022", {2021, 2022}),
    ((2021, 2022), {2021, 2022}),
    ((2010, 2021), {2021}),
    ([2021, 2023], {2021, 2023}),
    ({2025, 2023}, {2023, 2025}),
    (range(2022, 2024), {2022, 2023}),
    (None, {2021, 2022, 2023, 2025}),
]


@pytest.mark.parametrize(("year", "expected"), YEARS)
def test_years(index: Index, year: object, expected: set[int]) -> None:
    wanted = {chunk.id for chunk in legal_chunks() if chunk.year in expected}
    assert found(index, year=year) == wanted


@pytest.mark.parametrize(
    ("day", "editions"),
    [
        ("2021-06-30", {"title18/2021"}),
        ("2021-12-31", {"title18/2021", "ussg/2021"}),
        (date(2024, 5, 1), {"title18/2023", "ussg/2021"}),
        (datetime(2022, 1, 1, 12), {"title18/2022", "ussg/2021"}),
        ("2026-01-01", {"title18/2023", "ussg/2025"}),
    ],
)
def test_as_of_takes_the_edition_in_force_of_each_source(
    index: Index, day: object, editions: set[str]
) -> None:
    assert {chunk_id.rpartition("/")[0] for chunk_id in found(index, as_of=day)} == editions


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"under": "18 USC chapter 44"}, {"922", "924"}),
        ({"under": "18 U.S.C. § 922(g)"}, {"922"}),
        ({"under": "18 usc 924"}, {"924"}),
        ({"under": "2k2.1"}, {"§2K2.1"}),
        ({"under": "USSG Chapter 2"}, {"§2B1.1", "§2K2.1"}),
        ({"under": "USSG Chapter 3", "year": 2025}, {"§3E1.1"}),
        ({"source": "ussg"}, {"§2B1.1", "§2K2.1", "§3E1.1"}),
        ({"source": ["title18", "ussg"], "year": 2025}, {"§2B1.1", "§2K2.1", "§3E1.1"}),
    ],
)
def test_under_and_source(index: Index, filters: dict[str, object], expected: set[str]) -> None:
    ids = found(index, **filters)
    assert {chunk_id.rpartition("_")[2].rpartition("/")[2] for chunk_id in ids} == expected
    if "year" in filters:
        assert all(f"/{filters['year']}/" in chunk_id for chunk_id in ids)


def test_under_a_range_that_is_no_block(tmp_path: Path) -> None:
    codes = ["E08", "E09", "E10", "E11", "E13"]
    chunks = [make_chunk("tabular", 2025, code, f"kind {code}") for code in codes]
    sections = [make_section("tabular", 2025, "E08-E13")]
    sections += [make_section("tabular", 2025, code, "E08-E13") for code in codes]
    sections += [make_section("tabular", 2025, "E11.2", "E11")]
    icd = make_index(tmp_path / "icd", chunks, sections=sections)
    assert found(icd, under="E09-E11") == {f"tabular/2025/{code}" for code in codes[1:4]}
    assert found(icd, under="E08-E13") == {f"tabular/2025/{code}" for code in codes}
    with pytest.raises(UnknownKey, match="no code from A00 to A09"):
        found(icd, under="A00-A09")


ERRORS: list[tuple[dict[str, object], type[TamError], str]] = [
    ({"year": 1999}, UnknownYear, r"1999.*title18 2021, 2022, 2023; ussg 2021, 2025"),
    ({"year": [2021, 1999]}, UnknownYear, "no edition of 1999"),
    ({"year": "1990-1999"}, UnknownYear, "1990 to 1999"),
    ({"year": 2022, "source": "ussg"}, UnknownYear, "2022.*ussg 2021, 2025"),
    ({"year": "next"}, BadOption, "2021-2023"),
    ({"year": (2023, 2021)}, BadOption, "ends before it begins"),
    ({"year": []}, BadOption, "empty"),
    ({"year": 2021.5}, BadOption, "whole number"),
    ({"year": 2021, "as_of": "2021-01-01"}, BadOption, "not both"),
    ({"as_of": "May 2021"}, BadOption, "2024-03-15"),
    ({"as_of": "1999-01-01"}, UnknownYear, "title18/2021 current through 2021-01-01"),
    ({"as_of": "2021-05-01", "source": "ussg"}, UnknownYear, "2021 .in effect 2021-11-01"),
    ({"source": "tabular"}, BadOption, "not in this index; sources here: title18, ussg"),
    ({"source": "bible"}, BadOption, "not known"),
    ({"under": "18 USC 999"}, UnknownKey, "999"),
    ({"under": "18 USC 924(z)"}, UnknownKey, "nearest section above"),
    ({"under": "2K2.1", "source": "title18"}, UnknownKey, "limited to title18/2021"),
    ({"under": "§§§"}, BadReference, "not a reference"),
    ({"under": " "}, BadOption, "empty"),
]


@pytest.mark.parametrize(("filters", "error", "message"), ERRORS)
def test_errors_say_what_there_is(
    index: Index, filters: dict[str, object], error: type[TamError], message: str
) -> None:
    with pytest.raises(error, match=message) as caught:
        found(index, **filters)
    assert "\n" not in str(caught.value)


def test_equal_filters_are_equal() -> None:
    assert Filter(year=2021) == Filter(year="2021") == Filter(year=[2021, 2021])
    assert Filter(source="ussg") == Filter(source=["ussg", "ussg "])
    assert hash(Filter(as_of="2021-01-01")) == hash(Filter(as_of=date(2021, 1, 1)))
    assert Filter(year=(2021, 2023)) != Filter(year=[2021, 2023])


WORDS = ["gun", "bank", "fraud", "levels", "loss", "robbery", "felon", "notes"]
BODIES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)


@st.composite
def corpora(draw: st.DrawFn) -> dict[tuple[str, int], list[str]]:
    pairs = st.tuples(st.sampled_from(["title18", "ussg"]), st.sampled_from([2021, 2022, 2023]))
    return draw(st.dictionaries(pairs, st.lists(BODIES, min_size=1, max_size=5), min_size=1))


@settings(max_examples=40, deadline=None)
@given(
    corpus=corpora(),
    query=BODIES,
    retriever=st.sampled_from(["bm25", "dense", "rank_bm25"]),
    k=st.integers(1, 40),
    data=st.data(),
)
def test_filtered_results_equal_brute_force(
    tmp_path_factory: pytest.TempPathFactory,
    corpus: dict[tuple[str, int], list[str]],
    query: str,
    retriever: str,
    k: int,
    data: st.DataObject,
) -> None:
    """A filtered search is the unfiltered ranking of everything, with the rest left out."""
    chunks = [
        make_chunk(source, year, f"K{number}", body)
        for (source, year), bodies in corpus.items()
        for number, body in enumerate(bodies)
    ]
    index = make_index(tmp_path_factory.mktemp("brute") / "legal", chunks)
    years = data.draw(st.sets(st.sampled_from(sorted({c.year for c in chunks})), min_size=1))
    sources = data.draw(st.sets(st.sampled_from(sorted({c.source for c in chunks})), min_size=1))
    allowed = {c.id for c in chunks if c.year in years and c.source in sources}
    options = {"retriever": retriever, "references": False, "collapse": "off"}
    everything = index.search(query, k=len(chunks), **options)  # type: ignore[arg-type]
    expected = [(hit.chunk_id, hit.score) for hit in everything if hit.chunk_id in allowed][:k]
    years_of_sources = {c.year for c in chunks if c.source in sources}
    if not years <= years_of_sources:
        with pytest.raises(UnknownYear):
            index.search(query, k=k, year=years, source=sources, **options)  # type: ignore[arg-type]
        return
    hits = index.search(query, k=k, year=years, source=sources, **options)  # type: ignore[arg-type]
    assert [hit.chunk_id for hit in hits] == [chunk_id for chunk_id, _ in expected]
    assert [hit.score for hit in hits] == pytest.approx([score for _, score in expected], rel=1e-5)
    if retriever == "dense":
        assert len(hits) == min(k, len(allowed))


@pytest.mark.parametrize("retriever", ["bm25", "dense", "rank_bm25"])
@pytest.mark.parametrize("under", ["18 USC chapter 44", "18 USC 922(g)", "USSG Chapter 2"])
@pytest.mark.parametrize("k", [1, 3, 100])
def test_under_equals_brute_force(index: Index, retriever: str, under: str, k: int) -> None:
    """A filter that keeps a part of an edition's rows, on every leg."""
    query = "unlawful firearms, penalties for a bank fraud, levels"
    allowed = found(index, under=under)
    assert 0 < len(allowed) < len(index)
    everything = index.search(query, k=len(index), retriever=retriever, collapse="off")
    expected = [(hit.chunk_id, hit.score) for hit in everything if hit.chunk_id in allowed]
    hits = index.search(query, k=k, retriever=retriever, under=under, collapse="off")
    assert [(hit.chunk_id, hit.score) for hit in hits] == expected[:k]
    assert [hit.legs[retriever].rank for hit in hits] == list(range(1, len(hits) + 1))


def test_notes_are_left_out_before_the_top_k(tmp_path: Path) -> None:
    statute = "18 U.S.C. § 1203"
    notes = f"{statute} Notes"
    chunks = [
        make_chunk("title18", 2025, statute, "hostage", keys=[statute, f"{statute}(a)"]),
        make_chunk("title18", 2025, f"{statute} Source Credit", "hostage hostage"),
        make_chunk("title18", 2025, notes, "hostage " * 9, keys=[notes, f"{notes} > Amendments"]),
        # As preset ``paper`` cuts: statute and notes in one chunk.
        make_chunk("title18", 2025, "18 U.S.C. § 1", "hostage", keys=["18 U.S.C. § 1", notes]),
        make_chunk("ussg", 2025, "§2A4.1 Historical Note", "hostage hostage"),
        make_chunk("ussg", 2025, "§2A4.1", "hostage"),
    ]
    index = make_index(tmp_path / "legal", chunks)
    for retriever in ("bm25", "dense", "hybrid"):
        found = index.search("hostage", 1, notes=False, retriever=retriever)
        assert len(found) == 1
        found = index.search("hostage", 50, notes=False, retriever=retriever)
        assert {hit.citation for hit in found} == {statute, "18 U.S.C. § 1", "§2A4.1"}
        assert len(index.search("hostage", 50, retriever=retriever)) == 6
    assert Filter(notes=False).describe() == "no notes"
    only_notes = make_index(tmp_path / "notes", [chunks[2]])
    with pytest.raises(BadOption, match="nothing but notes"):
        only_notes.search("hostage", notes=False)
