"""Sections that a query names come first, within bounds."""

from __future__ import annotations

from pathlib import Path

import pytest
from searchable import legal_index, make_chunk, make_index

from retrievers.ranking.references import LEAD, LONG_QUERY, place_references, references_in
from retrievers.search.index import Index


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return legal_index(tmp_path_factory.mktemp("references") / "legal")


@pytest.mark.parametrize(
    ("query", "keys"),
    [
        ("robbery under 18 U.S.C. § 924 and bank fraud, 2B1.1", ["18 U.S.C. § 924", "§2B1.1"]),
        ("18 USC 922(g)(1)", ["18 U.S.C. § 922(g)(1)"]),
        ("922(g)", ["18 U.S.C. § 922(g)"]),
        ("18 USC chapter 44", ["18 U.S.C. Chapter 44"]),
        ("s72.002a", ["S72.002A"]),
        ("Abscess > brain", ["Abscess > brain"]),
        ("abscess", []),
        ("felon with a gun", []),
        ("Cal. Penal Code § 211 robbery prior conviction", []),
        ("Section 8 housing", []),
        ("section 922(g)(1) of title 18", ["18 U.S.C. § 922(g)(1)"]),
        ("18 U.S.C. § 922(g) et seq.", ["18 U.S.C. § 922(g)"]),
        ("21 U.S.C. § 841(a)(1); id. § 846", ["21 U.S.C. § 841(a)(1)", "21 U.S.C. § 846"]),
        ("§2K2.1, §2K2.1 and §2K2.1", ["§2K2.1"]),
        ("§", []),
    ],
)
def test_references_in(query: str, keys: list[str]) -> None:
    assert [reference.full_key for reference in references_in(query)] == keys


def test_named_section_first_in_the_years_of_the_filter(index: Index) -> None:
    query = "acceptance of responsibility after a violation of 18 U.S.C. § 1344"
    hits = index.search(query, k=6, year=2022)
    assert (hits[0].citation, hits[0].year) == ("18 U.S.C. § 1344", 2022)
    assert [hit.found_by for hit in hits] == ["reference", "search", "search", "search"]
    without = index.search(query, k=6, year=2022, references=False)
    assert {hit.found_by for hit in without} == {"search"}
    assert {hit.chunk_id for hit in without} == {hit.chunk_id for hit in hits}


@pytest.mark.parametrize(
    "law", ["Cal. Penal Code § 1344", "8 CFR § 1344", "Title 21, Section 1344"]
)
def test_a_section_of_another_law_does_not_lead(index: Index, law: str) -> None:
    hits = index.search(f"{law} bank fraud prior conviction", k=6, year=2022)
    assert {hit.found_by for hit in hits} == {"search"}


def test_newest_edition_first_without_a_year(index: Index) -> None:
    hits = index.search("18 USC 1344", k=3, collapse="off")
    assert [(hit.citation, hit.year) for hit in hits] == [
        ("18 U.S.C. § 1344", year) for year in (2023, 2022, 2021)
    ]


def test_nothing_outside_the_filter(index: Index) -> None:
    hits = index.search("18 U.S.C. § 1344 bank fraud", k=50, source="ussg", year=2025)
    assert {hit.source for hit in hits} == {"ussg"}
    assert {hit.found_by for hit in hits} == {"search"}
    under = index.search("18 U.S.C. § 1344 bank fraud", k=50, under="18 USC chapter 44")
    assert "18 U.S.C. § 1344" not in {hit.citation for hit in under}


def test_the_chunk_that_holds_the_subsection(tmp_path: Path) -> None:
    chunks = [
        make_chunk("title18", 2022, key, "firearm", slug=slug, keys=keys)
        for key, slug, keys in [
            ("18 U.S.C. § 924", "924-1", ["18 U.S.C. § 924", "18 U.S.C. § 924(a)"]),
            ("18 U.S.C. § 924", "924-2", ["18 U.S.C. § 924", "18 U.S.C. § 924(c)"]),
            ("18 U.S.C. § 9241", "9241", ["18 U.S.C. § 9241"]),
        ]
    ]
    index = make_index(tmp_path / "legal", chunks)

    def named(query: str) -> list[str]:
        hits = index.search(query, k=3)
        return [hit.chunk_id[-5:] for hit in hits if hit.found_by == "reference"]

    assert named("18 USC 924(c)(1)") == ["924-2"]
    assert named("18 USC 924(z)") == ["924-1", "924-2"]
    assert named("18 USC 924") == ["924-1", "924-2"]
    assert named("18 USC 92") == []


def test_codes_with_a_seventh_character_find_their_stem(tmp_path: Path) -> None:
    chunks = [
        make_chunk("tabular", 2025, "S72", "fracture", keys=["S72", "S72.0", "S72.002"]),
        make_chunk("tabular", 2025, "T40", "poisoning", keys=["T40", "T40.2X5"]),
        make_chunk("tabular", 2025, "S02", "skull", keys=["S02", "S02.0"]),
        make_chunk("tabular", 2025, "E11", "diabetes", keys=["E11", "E11.22"]),
    ]
    index = make_index(tmp_path / "icd", chunks)
    for query, citation in [
        ("S72.002A", "S72"),
        ("s72002a", "S72"),
        ("T40.2X5A", "T40"),
        ("S02.0XXB", "S02"),
        ("E11.22", "E11"),
    ]:
        hit = index.search(query, k=1)[0]
        assert (hit.citation, hit.found_by) == (citation, "reference"), query


def test_a_statute_of_another_title_finds_its_row_of_appendix_a(tmp_path: Path) -> None:
    row = "Appendix A > 8 U.S.C. § 1326"
    chunks = [
        make_chunk("ussg", 2025, "§2L1.2", "Unlawfully entering the United States"),
        make_chunk("ussg", 2025, "Appendix A", "8 U.S.C. § 1326 2L1.2", keys=[row]),
    ]
    hits = make_index(tmp_path / "legal", chunks).search("found after removal, 8 USC 1326", k=2)
    assert (hits[0].citation, hits[0].found_by) == ("Appendix A", "reference")


def test_at_most_half_for_a_whole_case(tmp_path: Path) -> None:
    cited = [f"§2B{number}.1" for number in range(1, 41)]
    chunks = [make_chunk("ussg", 2025, key, f"theft {key[3:]}") for key in cited]
    chunks += [make_chunk("ussg", 2025, f"§3E1.{n}", "facts of the case") for n in range(40)]
    index = make_index(tmp_path / "legal", chunks)
    case = "facts of the case: " + ", ".join(f"see {key} of the manual" for key in cited)
    assert len(case.split()) > LONG_QUERY
    everything = index.search(case, k=40)
    for k in (1, 2, 3, 8, 20):
        hits = index.search(case, k=k)
        assert [h.chunk_id for h in hits] == [h.chunk_id for h in everything[:k]]
        assert sum(hit.found_by == "reference" for hit in hits) == (k + 1) // 2
        assert hits[0].citation == "§2B1.1"


@pytest.mark.parametrize(
    ("named", "found", "long", "expected"),
    [
        ([1, 2], [3, 2, 4], False, [1, 2, 3, 4]),
        ([1, 2], [3, 2, 4], True, [1, 3, 2, 4]),
        ([1, 2, 3, 4, 5, 6], [7, 8, 9], False, [1, 2, 3, 4, 7, 5, 8, 6, 9]),
        ([1, 2, 3], [], True, [1, 2, 3]),
        ([], [3, 4], True, [3, 4]),
    ],
)
def test_places(named: list[int], found: list[int], long: bool, expected: list[int]) -> None:
    assert LEAD == 4
    assert place_references(named, found, long) == expected


def test_scores_never_ascend(index: Index) -> None:
    words = "the defendant used a firearm in a robbery of a bank and later took responsibility "
    query = words * 5 + "18 U.S.C. §§ 922, 924, 1344 and 1956, §2B1.1, §2K2.1, §3E1.1"
    for text in (query, "18 USC 922, 924, 1344, 1956, §2B1.1, §2K2.1", "922(g)"):
        for retriever in ("hybrid", "bm25", "dense"):
            hits = index.search(text, k=18, retriever=retriever)
            scores = [hit.score for hit in hits]
            assert scores == sorted(scores, reverse=True)
            assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
            assert len({hit.chunk_id for hit in hits}) == len(hits)
