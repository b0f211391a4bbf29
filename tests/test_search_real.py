"""Searches over the real manuals: BM25, two editions, no encoder."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from indexers.building.build import build
from manuals.library.editions import Library, open_manuals
from retrievers.ranking.references import is_long
from retrievers.search.index import Index, open_index
from tam.settings import BuildSettings

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def legal(real_manuals: Path, tmp_path_factory: pytest.TempPathFactory) -> Index:
    everything = open_manuals(real_manuals)
    wanted = {"title18/2025", "ussg/2025"}
    editions = [edition for edition in everything.editions if edition.name in wanted]
    library = Library(editions, lambda edition: everything.manual(edition.source, edition.year))
    out = tmp_path_factory.mktemp("real-search")
    build(library, out, BuildSettings(encoder=None))
    return open_index(out / "legal")


@pytest.mark.parametrize(
    ("query", "filters", "citation"),
    [
        ("felon with a gun whose serial number was ground off", {"source": "ussg"}, "§2K2.1"),
        ("minor participant mitigating role in the offense", {"source": "ussg"}, "§3B1.2"),
        ("18 USC 1028A", {"year": 2025}, "18 U.S.C. § 1028A"),
        ("scheme to defraud a financial institution", {"source": "title18"}, "18 U.S.C. § 1344"),
        ("piracy", {"under": "18 USC chapter 81", "year": 2025}, "18 U.S.C. § 1651"),
    ],
)
def test_finds(legal: Index, query: str, filters: dict[str, object], citation: str) -> None:
    hits = legal.search(query, k=3, retriever="bm25", **filters)  # type: ignore[arg-type]
    assert any(hit.citation.startswith(citation) for hit in hits)


@pytest.mark.parametrize(
    ("under", "citations"),
    [
        ("18 USC chapter 44", ("18 U.S.C. § 921", "18 U.S.C. § 931")),
        ("USSG Chapter 3, Part E", ("§3E1.1", "§3E1.1")),
        ("§2K2.1", ("§2K2.1", "§2K2.1")),
    ],
)
def test_under(legal: Index, under: str, citations: tuple[str, str]) -> None:
    # Words that every such section has, so that BM25 ranks all of it.
    hits = legal.search("the firearm offense section level of", 500, retriever="bm25", under=under)
    assert hits
    every = {key for hit in hits for key in hit.section_keys}
    assert all(any(key.startswith(citation) for key in every) for citation in citations)
    others = legal.search("firearm", 500, retriever="bm25", source="title18", year=2025)
    assert {hit.source for hit in others} == {"title18"}


def test_statutes_that_a_case_cites_are_found(legal: Index, real_cases: Path) -> None:
    """With the case as it is; each cited statute of Title 18 is among the references."""
    golds = {
        record["case_id"]: record["gold_sections"]
        for record in map(json.loads, (real_cases / "legal_gold.jsonl").open(encoding="utf-8"))
    }
    seen = 0
    with (real_cases / "legal_cases.csv").open(encoding="utf-8", newline="") as stream:
        for case in csv.DictReader(stream):
            hits = legal.search(case["input"], k=8, year=2025, retriever="bm25")
            named = {key for h in hits if h.found_by == "reference" for key in h.section_keys}
            cited = [key for key in golds[case["docket_id"]] if key in case["input"]]
            seen += len(cited)
            assert set(cited) <= named
            most = 4 if is_long(case["input"]) else 8
            assert sum(hit.found_by == "reference" for hit in hits) <= most
    assert seen
