"""BM25 scores against bm25s and rank_bm25; filters that act before anything is added up."""

from __future__ import annotations

import math
from pathlib import Path

import bm25s
import numpy as np
import pytest
from factories import body
from hypothesis import given, settings
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi, BM25Plus

from indexers.legs.bm25.matrix import DELTA, build_bm25
from indexers.legs.bm25.reference import RankBm25
from indexers.legs.bm25.scores import Bm25
from indexers.legs.tokenise import Tokeniser, TokenOptions
from tam.errors import BadIndex
from tam.settings import BM25_VARIANTS

TEXTS = [body(seed, 10 + seed % 40) for seed in range(60)] + ["", "922(g)(1) of 922"]
TEXTS.append(TEXTS[3])
BLOCKS = [0, 10, 10, 35, len(TEXTS)]
QUERIES = [
    "lantern",
    "lantern lantern meadow",
    "unknown words only here",
    "",
    body(500, 400),
    "922(g)(1)",
]
PLAIN = TokenOptions(stopwords="none")


def made(folder: Path, variant: str = "lucene", k1: float = 1.5, b: float = 0.75) -> Bm25:
    build_bm25(TEXTS, BLOCKS, folder, PLAIN, variant, k1, b)
    return Bm25(folder, PLAIN)


@pytest.fixture(scope="module")
def lucene(tmp_path_factory: pytest.TempPathFactory) -> Bm25:
    return made(tmp_path_factory.mktemp("bm25"))


@pytest.mark.parametrize("variant", BM25_VARIANTS)
@pytest.mark.parametrize(("k1", "b"), [(1.5, 0.75), (0.9, 0.4)])
def test_scores_are_those_of_bm25s(tmp_path: Path, variant: str, k1: float, b: float) -> None:
    ours = made(tmp_path, variant, k1, b)
    theirs = bm25s.BM25(method=variant, k1=k1, b=b, delta=DELTA.get(variant, 0.5))
    tokeniser = Tokeniser(PLAIN)
    theirs.index([tokeniser.terms(text) for text in TEXTS], show_progress=False)
    for query in QUERIES:
        # bm25s counts a repeated term of the query as often as it is given.
        terms = [term for term in tokeniser.terms(query) if term in theirs.vocab_dict]
        expected = theirs.get_scores(terms) if terms else np.zeros(len(TEXTS))
        np.testing.assert_allclose(ours.scores(query), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("query", QUERIES)
def test_top_ten_is_that_of_bm25s_retrieve(lucene: Bm25, query: str) -> None:
    tokeniser = Tokeniser(PLAIN)
    theirs = bm25s.BM25(method="lucene")
    theirs.index([tokeniser.terms(text) for text in TEXTS], show_progress=False)
    terms = [term for term in tokeniser.terms(query) if term in theirs.vocab_dict]
    if not terms:
        assert not lucene.scores(query).any()
        return
    _, scores = theirs.retrieve([terms], k=10, show_progress=False)
    np.testing.assert_allclose(np.sort(lucene.scores(query))[::-1][:10], scores[0], rtol=1e-5)


def test_rank_bm25_back_end_is_rank_bm25(lucene: Bm25) -> None:
    tokeniser = Tokeniser(PLAIN)
    theirs = BM25Okapi([tokeniser.terms(text) for text in TEXTS], k1=1.5, b=0.75)
    ours = RankBm25(lucene)
    for query in QUERIES:
        expected = theirs.get_scores(tokeniser.terms(query))
        np.testing.assert_allclose(ours.scores(query), expected, rtol=1e-5, atol=1e-6)
        part = [slice(5, 9), slice(20, 21)]
        rows = [*range(5, 9), 20]
        np.testing.assert_allclose(ours.scores(query, part), expected[rows], rtol=1e-5, atol=1e-6)


def test_same_idf_gives_the_scores_of_rank_bm25(tmp_path: Path) -> None:
    """Where the idf formulas agree, so do the scores: Okapi's idf is Robertson's where it is
    positive, and BM25+'s is that of bm25s. (rank_bm25's BM25L has a factor tf of its own.)"""
    tokeniser = Tokeniser(PLAIN)
    corpus = [tokeniser.terms(text) for text in TEXTS]
    okapi = BM25Okapi(corpus, k1=1.5, b=0.75)
    assert okapi.idf["922"] > 0
    robertson = made(tmp_path / "robertson", "robertson")
    # bm25s's Robertson form leaves out the constant factor k1 + 1.
    np.testing.assert_allclose(
        robertson.scores("922") * 2.5, okapi.get_scores(["922"]), rtol=1e-4, atol=1e-6
    )
    plus = BM25Plus(corpus, k1=1.5, b=0.75, delta=DELTA["bm25+"])
    query = "lantern lantern meadow 922"
    terms = tokeniser.terms(query)
    np.testing.assert_allclose(
        made(tmp_path / "plus", "bm25+").scores(query), plus.get_scores(terms), rtol=1e-4
    )


@given(
    slices=st.lists(
        st.tuples(st.integers(0, len(TEXTS)), st.integers(0, len(TEXTS))).map(
            lambda pair: slice(*sorted(pair))
        ),
        max_size=4,
    ),
    query=st.sampled_from(QUERIES),
)
@settings(max_examples=80, deadline=None)
def test_slices_are_slices_of_all_scores(lucene: Bm25, slices: list[slice], query: str) -> None:
    whole = lucene.scores(query)
    expected = [whole[part] for part in slices]
    found = lucene.scores(query, slices)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, np.concatenate([*expected, whole[:0]]))


def test_slices_with_constants(tmp_path: Path) -> None:
    plus = made(tmp_path, "bm25+")
    query = "lantern 922(g)(1)"
    np.testing.assert_array_equal(plus.scores(query, [slice(10, 35)]), plus.scores(query)[10:35])
    assert math.isclose(plus.floor(query), plus.scores(query)[60], rel_tol=1e-6)


def test_scores_of_a_slice(lucene: Bm25) -> None:
    for query in QUERIES:
        scores = lucene.scores(query, [slice(3, 40)])
        np.testing.assert_array_equal(scores, lucene.scores(query)[3:40])


def test_equal_texts_get_equal_scores(lucene: Bm25) -> None:
    scores = lucene.scores(body(500, 400))
    assert scores[3] == scores[-1]


def test_documents_are_the_terms_of_the_texts(lucene: Bm25) -> None:
    tokeniser = Tokeniser(PLAIN)
    assert lucene.documents() == [sorted(tokeniser.terms(text)) for text in TEXTS]


def test_the_same_bytes_again(tmp_path: Path) -> None:
    for name in ("one", "two"):
        made(tmp_path / name, "bm25+")
    files = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert "constants.npy" in files
    for name in files:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_no_terms_at_all(tmp_path: Path) -> None:
    build_bm25(["...", ""], [0, 2], tmp_path, PLAIN)
    assert Bm25(tmp_path, PLAIN).scores("anything").tolist() == [0.0, 0.0]


@pytest.mark.parametrize("name", ["data.npy", "starts.npy", "vocabulary.txt"])
def test_a_missing_or_damaged_file(tmp_path: Path, name: str) -> None:
    made(tmp_path)
    path = tmp_path / name
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(BadIndex, match="damaged"):
        Bm25(tmp_path, PLAIN)
    path.unlink()
    with pytest.raises(BadIndex, match="build the index again"):
        Bm25(tmp_path, PLAIN)
