"""Links: what points where, the table of an index, and searches that follow it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexers.building.build import build
from indexers.building.pointers.general import Pointer, pointers_of
from indexers.folder.link_table import KINDS
from indexers.folder.opened import open_folder
from manuals.library.editions import Library, open_manuals
from manuals.model.sections import Manual
from retrievers.ranking.links import WEIGHTS
from retrievers.search.index import Index, open_index
from retrievers.search.settings import Filter, SearchSettings
from tam.errors import BadIndex
from tam.settings import BuildSettings

YEAR = 2025


@pytest.fixture(scope="module")
def library(sample_manuals: Path) -> Library:
    return open_manuals(sample_manuals)


@pytest.fixture(scope="module")
def icd(sample_icd_index: Path) -> Index:
    return open_index(sample_icd_index)


@pytest.fixture(scope="module")
def legal(sample_legal_index: Path) -> Index:
    return open_index(sample_legal_index)


def of_year(library: Library, source: str, year: int) -> list[Pointer]:
    def others(wanted: str) -> Manual | None:
        return library.manual(wanted, year) if year in library.years(wanted) else None

    return list(pointers_of(library.manual(source, year), others))


def targets(found: list[Pointer], kind: str) -> Mapping[str, set[str]]:
    """Pointing key -> keys it leads to, of one kind."""
    by_key: dict[str, set[str]] = {}
    for pointer in found:
        if pointer.kind == kind:
            by_key.setdefault(pointer.section.key, set()).update(t.key for t in pointer.targets)
    return by_key


def test_index_entries_lead_to_their_codes(library: Library) -> None:
    tabular = library.manual("tabular", YEAR)
    found = targets(of_year(library, "index", YEAR), "index_entry_to_code")
    entries = {
        entry.key: {ref.target for ref in entry.refs if ref.kind in ("code", "manifestation")}
        for entry in library.manual("index", YEAR).sections
    }
    for key, codes in entries.items():
        listed = {code for code in codes if code in tabular.by_key}
        # A code with a seventh character leads to its stem.
        assert listed <= found.get(key, set())
    assert found["Abscess > liver"] == {"K75.0"}


def test_see_leads_to_the_entry_and_to_its_code(library: Library) -> None:
    found = targets(of_year(library, "index", YEAR), "see")
    assert "Hypertension, hypertensive" in found["Blood pressure, high"]
    codes = {
        key
        for key in found["Blood pressure, high"]
        if key in library.manual("tabular", YEAR).by_key
    }
    assert codes == {"I10"}


def test_notes_and_guidelines_lead_to_codes(library: Library) -> None:
    tabular = of_year(library, "tabular", YEAR)
    assert "R65.2" in targets(tabular, "use_additional_code")["A41"]
    assert "E11" in targets(tabular, "excludes")["E10"]
    assert "I11.0" in targets(tabular, "code_first")["I50"]
    guidelines = of_year(library, "guidelines", YEAR)
    assert targets(guidelines, "guideline_to_code")
    assert all(pointer.words for pointer in guidelines)


def test_statutes_lead_to_guidelines_by_appendix_a(library: Library) -> None:
    found = targets(of_year(library, "title18", 2024), "appendix_a")
    assert "§2K2.1" in found["18 U.S.C. § 922"]
    cross = targets(of_year(library, "title18", 2024), "cross_reference")
    assert "18 U.S.C. § 922(g)" in cross["18 U.S.C. § 924(e)(1)"]


def test_editors_notes_point_nowhere(library: Library) -> None:
    found = of_year(library, "title18", 2024)
    assert not [each for each in found if " Notes" in each.section.key]


@pytest.mark.parametrize("corpus", ["icd", "legal"])
def test_the_table_joins_chunks_of_one_year(corpus: str, icd: Index, legal: Index) -> None:
    stored = (icd if corpus == "icd" else legal).stored
    table, chunks = stored.links, stored.chunks
    assert len(table) > 50
    assert np.all(np.diff(table.from_rows) >= 0)
    for number in range(len(table)):
        link = table.link(number)
        row = int(table.from_rows[number])
        held = table.targets.values[table.targets.starts[number] : table.targets.starts[number + 1]]
        assert link.from_key in chunks.keys(row) or link.kind == "appendix_a"
        assert link.to_year == chunks.edition(row).year
        assert len(held)
        for target in held.tolist():
            edition = chunks.edition(target)
            assert (edition.source, edition.year) == (link.to_source, link.to_year)


def test_every_kind_has_a_weight() -> None:
    assert set(WEIGHTS) == set(KINDS)


def test_a_search_of_the_tabular_list_asks_the_index_where_to_look(icd: Index) -> None:
    """The words stand in the Index alone; the filter holds for what comes back."""
    options = {"year": YEAR, "source": "tabular", "retriever": "bm25"}
    assert icd.search("dropsy", 3, **options) == []  # type: ignore[arg-type]
    hits = icd.search("dropsy", 3, links="on", **options)  # type: ignore[arg-type]
    assert hits[0].citation == "I50.9"  # the code that the Index gives
    assert hits[0].found_by == "link"
    assert hits[0].link is not None
    assert hits[0].link.from_section == "Dropsy"
    assert hits[0].link.kind == "see"
    assert hits[0].link.from_chunk.startswith(f"index/{YEAR}/")
    assert hits[0].legs["links"].rank == 1
    assert {(hit.source, hit.year) for hit in hits} == {("tabular", YEAR)}
    assert hits[0].to_json()["link"]["from_section"] == "Dropsy"


def test_of_a_main_term_the_entry_that_is_asked_for_points(icd: Index) -> None:
    found = {}
    for query, entry, code in (
        (
            "chronic kidney disease from diabetes",
            "Disease, diseased > kidney > chronic > from diabetes",
            "E11.22",
        ),
        (
            "lung disease, chronic, obstructive, with infection",
            "Disease, diseased > lung > chronic obstructive > with infection",
            "J44.0",
        ),
    ):
        hits = icd.search(query, 5, year=YEAR, source="tabular", links="on", retriever="bm25")
        first = min((hit for hit in hits if hit.link), key=lambda hit: hit.legs["links"].rank)
        assert first.link is not None
        assert (first.link.from_section, first.citation) == (entry, code)
        found[query] = first
    # Both entries stand in one chunk.
    assert len({hit.link.from_chunk for hit in found.values() if hit.link}) == 1


QUERIES = [
    "abscess of the liver",
    "blood pressure, high",
    "aspirin poisoning",
    "sepsis with organ failure",
    "possession of a firearm by a felon",
    "18 U.S.C. § 922(g)",
    "conspiracy",
]
FILTERS = st.builds(
    Filter,
    year=st.sampled_from([None, 2024]),
    source=st.sampled_from([None, "tabular", ("tabular", "guidelines"), "index"]),
    under=st.sampled_from([None, "Chapter 4"]),
).filter(lambda wanted: wanted.under is None or wanted.source != ("index",))


@settings(max_examples=40)
@given(
    query=st.sampled_from(QUERIES),
    wanted=FILTERS,
    k=st.integers(1, 40),
    mode=st.sampled_from(["whole", "windows"]),
    retriever=st.sampled_from(["bm25", "hybrid"]),
)
def test_links_never_break_a_filter(
    icd: Index, query: str, wanted: Filter, k: int, mode: str, retriever: str
) -> None:
    rules = SearchSettings(retriever=retriever, query_mode=mode, passage_words=8)
    on = replace(rules, links="on")
    everything = icd.search_many(
        [query], 1000, filters=wanted, settings=replace(rules, retriever="hybrid")
    )
    allowed = {hit.chunk_id for hit in everything[0]}
    hits = icd.search_many([query], k, filters=wanted, settings=on)[0]
    assert {hit.chunk_id for hit in hits} <= allowed
    assert len({hit.chunk_id for hit in hits}) == len(hits)
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    for hit in hits:
        assert (hit.found_by == "link") <= (hit.link is not None)
        assert (hit.link is not None) == ("links" in hit.legs)
    # The same again, and as the beginning of a longer list.
    longer = icd.search_many([query], k + 7, filters=wanted, settings=on)[0]
    assert longer[:k] == hits
    # Off changes nothing.
    plain = icd.search_many([query], k, filters=wanted, settings=rules)[0]
    assert all(hit.link is None and hit.found_by != "link" for hit in plain)
    assert (
        plain == icd.search_many([query], k, filters=wanted, settings=replace(on, links="off"))[0]
    )


def test_pointers_are_of_the_years_searched(legal: Index) -> None:
    for year in (2023, 2024):
        hits = legal.search("firearms", 10, year=year, source="ussg", links="on")
        for hit in hits:
            if hit.link is not None:
                assert hit.link.from_chunk.split("/")[1] == str(year)


def test_batches_equal_single_searches(icd: Index) -> None:
    filters = [Filter(year=YEAR), Filter(source="tabular"), Filter(), Filter(year=2024)]
    rules = SearchSettings(links="on")
    together = icd.search_many(QUERIES[:4], 8, filters=filters, settings=rules)
    for query, wanted, hits in zip(QUERIES, filters, together, strict=False):
        assert icd.search_many([query], 8, filters=wanted, settings=rules)[0] == hits


def test_an_index_without_links_says_so(icd: Index, tmp_path: Path) -> None:
    stored = open_folder(icd.path)
    files = {name: digest for name, digest in stored.manifest.files.items() if "links" not in name}
    stored.manifest = replace(stored.manifest, files=files)
    with pytest.raises(BadIndex, match="without a link table"):
        Index(stored).search("abscess", links="on")
    assert Index(stored).search("abscess")


def test_links_of_preset_sections(library: Library, tmp_path: Path) -> None:
    small = BuildSettings(preset="sections", encoder=None)
    results = build(library, tmp_path, small, ("icd",))
    index = open_index(results[0].path)
    hits = index.search("dropsy", 3, year=YEAR, source="tabular", retriever="bm25", links="on")
    assert "I50.9" in hits[0].section_keys
    assert hits[0].found_by == "link"
    again = build(library, tmp_path / "again", small, ("icd",))
    assert again[0].manifest.files["links.parquet"] == results[0].manifest.files["links.parquet"]


@pytest.mark.real
def test_the_real_index_leads_to_the_real_codes(real_library: Library) -> None:
    found = of_year(real_library, "index", 2025)
    assert sum(pointer.kind == "index_entry_to_code" for pointer in found) == 62_721
    see = {pointer.section.key for pointer in found if pointer.kind == "see"}
    written = {
        entry.key
        for entry in real_library.manual("index", 2025).sections
        if any(ref.kind == "see" for ref in entry.refs)
    }
    # The rest send to a table as a whole, or name no entry.
    assert len(see & written) / len(written) > 0.97
