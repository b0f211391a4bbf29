"""The Python API of a search."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from searchable import legal_index, make_chunk, make_index

from retrievers.ranking.legs import LegCache
from retrievers.search.index import Clock, Index, Ranking, open_index
from retrievers.search.settings import Filter, SearchSettings, retriever_names
from tam.errors import BadIndex, BadOption, TamError
from tam.settings import BM25_VARIANTS, BuildSettings

QUERIES = [
    "felon with a firearm whose serial number was ground off",
    "18 U.S.C. § 1344 bank fraud",
    "proceeds of unlawful activity",
    "bank",
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return legal_index(tmp_path_factory.mktemp("search") / "legal")


def test_a_hit_says_where_it_is_from(index: Index) -> None:
    hit = index.search(QUERIES[0], k=1, year=2025)[0]
    assert (hit.rank, hit.chunk_id, hit.citation) == (1, "ussg/2025/§2K2.1", "§2K2.1")
    assert (hit.year, hit.source, hit.pages, hit.kind) == (2025, "ussg", (3, 4), "section")
    assert hit.section_keys == ("§2K2.1",)
    assert hit.path == ("USSG Chapter 2",)
    assert "serial number" in hit.text
    assert list(hit.legs) == ["bm25", "dense"]
    assert hit.legs["bm25"].rank == hit.legs["dense"].rank == 1
    assert hit.legs["dense"].span == (0, len(hit.text))
    assert hit.score == pytest.approx(2 / 61)
    assert json.loads(json.dumps(hit.to_json()))["legs"]["dense"]["span"] == [0, len(hit.text)]


def test_the_best_window_of_a_long_chunk(tmp_path: Path) -> None:
    filler = "harbour lantern orchard pebble " * 150
    long = make_chunk("ussg", 2025, "§2B1.1", f"{filler}embezzlement of a pension {filler}")
    index = make_index(tmp_path / "legal", [long, make_chunk("ussg", 2025, "§3E1.1", "theft")])
    hit = index.search("embezzlement of a pension", k=1, retriever="dense")[0]
    assert hit.citation == "§2B1.1"
    span = hit.legs["dense"].span
    assert span is not None
    assert "embezzlement of a pension" in hit.text[slice(*span)]
    assert span[1] - span[0] < len(hit.text) / 2


def test_equal_texts_are_ordered_by_id_on_every_leg(tmp_path: Path) -> None:
    """Ties at the border of the top k too, where a partial sort takes any of the equal ones."""
    chunks = [
        make_chunk("title18", year, "K", "equal text of a statute", slug=f"{number:02d}")
        for year in (2021, 2022, 2023, 2024)
        for number in (7, 3, 5, 0, 9, 1, 8, 2, 6, 4)
    ]
    index = make_index(tmp_path / "legal", chunks)
    expected = sorted(chunk.id for chunk in chunks)
    # Legs over units rank each unit at its first chunk.
    for retriever in (name for name in retriever_names() if not name.endswith("_titles")):
        for k in (1, 3, 25, 40):
            hits = index.search("statute", k=k, retriever=retriever, collapse="off")
            if retriever == "rank_bm25":
                # Okapi's idf of a term that stands everywhere is not above 0.
                assert len({hit.score for hit in hits}) <= 1
            else:
                assert len(hits) == k
            assert [hit.chunk_id for hit in hits] == expected[: len(hits)]


OPTIONS = st.fixed_dictionaries(
    {
        "retriever": st.sampled_from(sorted(retriever_names())),
        "fusion": st.sampled_from(["rrf", "minmax", "zscore"]),
        "query_mode": st.sampled_from(["whole", "windows"]),
        "passage_words": st.just(8),
        "passage_fusion": st.sampled_from(["max", "rrf"]),
        "references": st.booleans(),
    }
)


@settings(max_examples=40, deadline=None)
@given(
    options=OPTIONS,
    queries=st.lists(st.sampled_from([*QUERIES, " ".join(QUERIES)]), min_size=1, max_size=5),
    years=st.lists(st.sampled_from([None, 2021, "2021-2022"]), min_size=5, max_size=5),
    k=st.integers(1, 25),
)
def test_batches_k_and_caches_change_nothing(
    index: Index, options: dict[str, object], queries: list[str], years: list[object], k: int
) -> None:
    settings = SearchSettings().with_options(options)
    filters = [Filter(year=year) for year in years[: len(queries)]]  # type: ignore[arg-type]
    cache = LegCache()
    first = index.search_many(queries, 25, filters=filters, settings=settings, cache=cache)
    again = index.search_many(queries, k, filters=filters, settings=settings, cache=cache)
    for query, wanted, hits, fewer in zip(queries, filters, first, again, strict=True):
        alone = index.search(
            query,
            k,
            year=wanted.year,
            settings=settings,
        )
        assert fewer == alone
        assert [hit.chunk_id for hit in fewer] == [hit.chunk_id for hit in hits[:k]]
        scores = [hit.score for hit in hits]
        assert scores == sorted(scores, reverse=True)
        assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))


def test_a_cache_serves_other_settings_without_scoring_again(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = LegCache()
    hybrid = index.search_many(QUERIES, cache=cache)
    dense = index.search_many(QUERIES, retriever="dense")
    weighted = index.search_many(QUERIES, fusion="minmax")

    def refuse(*_: object) -> None:
        raise AssertionError("scored again")

    monkeypatch.setattr(type(index.stored.bm25), "scores", refuse)
    monkeypatch.setattr(type(index.stored.ranker("dense").rows), "scores", refuse)
    monkeypatch.setattr(type(index.stored.encoder()), "encode_queries", refuse)
    assert index.search_many(QUERIES, cache=cache) == hybrid
    assert index.search_many(QUERIES, cache=cache, retriever="dense") == dense
    assert index.search_many(QUERIES, cache=cache, fusion="minmax") == weighted
    with pytest.raises(AssertionError, match="scored again"):
        index.search_many(QUERIES, cache=cache, filters=Filter(year=2021))


def test_rankings_have_no_texts_but_all_else(index: Index) -> None:
    clock = Clock()
    rankings = index.rank_rows(QUERIES, 5, clock=clock)
    assert [index.hits(each) for each in rankings] == index.search_many(QUERIES, 5)
    assert isinstance(rankings[0], Ranking)
    assert rankings[0].rows.dtype == np.int64
    assert set(clock) >= {"filter", "bm25", "dense", "encode", "fusion", "references"}


def test_bm25_ranks_only_what_shares_a_term(index: Index) -> None:
    hits = index.search("laundering", k=50, retriever="bm25")
    assert {hit.citation for hit in hits} == {"18 U.S.C. § 1956"}
    assert index.search("zebra", k=50, retriever="bm25") == []
    assert len(index.search("zebra", k=50, collapse="off")) == len(index)


@pytest.mark.parametrize("variant", BM25_VARIANTS)
def test_variants_that_score_every_row_rank_only_matches(tmp_path: Path, variant: str) -> None:
    index = legal_variant(tmp_path, variant)
    hits = index.search("laundering bank", k=50, retriever="bm25")
    assert {hit.citation for hit in hits} == {"18 U.S.C. § 1956", "18 U.S.C. § 1344", "§2B1.1"}


def legal_variant(folder: Path, variant: str) -> Index:
    from searchable import legal_chunks

    return make_index(folder / "legal", legal_chunks(), settings=BuildSettings(variant=variant))


def test_weights_move_the_result(index: Index) -> None:
    dense = [hit.chunk_id for hit in index.search("bank robbery", retriever="dense", k=4)]
    weights = {"bm25": 0.0, "dense": 1.0}
    for fusion in ("minmax", "zscore", "rrf"):
        hits = index.search("bank robbery", k=4, fusion=fusion, weights=weights)
        assert [hit.chunk_id for hit in hits] == dense


def test_windows_find_what_a_passage_names(index: Index) -> None:
    case = "\n".join(
        [
            "- The defendant moved the proceeds of unlawful activity through several accounts.",
            "- A firearm with its serial number ground off lay on the seat of the car.",
            "- He admitted it in time and so accepted responsibility for the offense.",
        ]
    )
    options = {"year": [2023, 2025], "query_mode": "windows"}
    hits = index.search(case, k=3, **options)  # type: ignore[arg-type]
    assert {hit.citation for hit in hits} == {"18 U.S.C. § 1956", "§2K2.1", "§3E1.1"}
    assert all(hit.legs["bm25"].rank == 1 for hit in hits)
    # A chunk that is second for all passages passes those that are first for one.
    hits = index.search(case, k=4, passage_fusion="rrf", **options)  # type: ignore[arg-type]
    assert [hit.citation for hit in hits[:2]] == ["§2K2.1", "18 U.S.C. § 922"]


ERRORS: list[tuple[dict[str, object], type[TamError], str]] = [
    ({"retriever": "splade"}, BadOption, "hybrid, bm25, dense, rank_bm25"),
    ({"fusion": "sum"}, BadOption, "rrf, minmax, zscore"),
    ({"query_mode": "half"}, BadOption, "whole, windows"),
    ({"passage_fusion": "min"}, BadOption, "max, rrf"),
    ({"links": "maybe"}, BadOption, "off, on"),
    ({"weights": {"splade": 1.0}}, BadOption, "bm25, dense"),
    ({"weights": {"bm25": -1.0}}, BadOption, "0 or more"),
    ({"weights": {"bm25": float("nan")}}, BadOption, "0 or more"),
    ({"rrf_k": -1}, BadOption, "from 0"),
    ({"depth": 0}, BadOption, "from 1"),
    ({"speed": "fast"}, BadOption, "search option 'speed'"),
    ({"k": 0}, BadOption, "from 1"),
    ({"k": True}, BadOption, "from 1"),
    ({"query": " \n\t"}, BadOption, "empty"),
    ({"reranker": "/nowhere/model"}, BadOption, "no such model folder"),
]


@pytest.mark.parametrize(("options", "error", "message"), ERRORS)
def test_errors(
    index: Index, options: dict[str, object], error: type[TamError], message: str
) -> None:
    query = options.pop("query", "bank")
    with pytest.raises(error, match=message) as caught:
        index.search(query, **options)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_errors_of_batches(index: Index) -> None:
    with pytest.raises(BadOption, match="query 2 of 2 is empty"):
        index.search_many(["bank", ""])
    with pytest.raises(BadOption, match="1 filters for 2 queries"):
        index.search_many(["bank", "theft"], filters=[Filter()])
    with pytest.raises(BadOption, match="list of queries"):
        index.search_many("bank")
    assert index.search_many([]) == []


def test_an_index_without_vectors(tmp_path: Path) -> None:
    index = legal_index(tmp_path / "legal", dense=False)
    with pytest.raises(BadIndex, match="without vectors"):
        index.search("bank")
    assert index.search("bank", k=1, retriever="bm25")[0].citation in ("18 U.S.C. § 1344", "§2B1.1")


def test_an_index_of_another_encoder(tmp_path: Path) -> None:
    legal_index(tmp_path / "legal")
    manifest = tmp_path / "legal" / "manifest.json"
    record = json.loads(manifest.read_text("utf-8"))
    record["encoder"]["fingerprint"] = "0" * 64
    manifest.write_text(json.dumps(record), "utf-8")
    index = open_index(tmp_path / "legal")
    with pytest.raises(BadIndex, match="fingerprint"):
        index.search("bank")
    assert index.search("bank", retriever="bm25")


def test_no_index(tmp_path: Path) -> None:
    with pytest.raises(BadIndex, match="tam build"):
        open_index(tmp_path / "legal")


def test_chunk_by_id(index: Index) -> None:
    assert index.chunk("ussg/2025/§2K2.1").year == 2025
    with pytest.raises(BadOption, match="no chunk 'ussg/1999/x'"):
        index.chunk("ussg/1999/x")
