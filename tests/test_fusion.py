"""Fusion against the formulas and against ranx, and the total order at every border."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexers.legs.ranking import RankedRows, order_keys, top_rows
from retrievers.ranking.fusion import FUSIONS, Fused, minmax, rrf, zscore
from retrievers.ranking.passages import best_rank

NAMES = "abcdef"


def run(scores: dict[str, float]) -> RankedRows:
    rows = np.asarray([NAMES.index(name) for name in scores], np.int64)
    return RankedRows(rows, np.asarray(list(scores.values()), np.float32))


def named(fused: Fused) -> dict[str, float]:
    return {NAMES[row]: score for row, score in zip(fused.rows, fused.scores.tolist(), strict=True)}


FIRST = run({"a": 9.0, "b": 7.5, "c": 7.0, "d": 2.0})
SECOND = run({"c": 0.9, "a": 0.8, "e": 0.3, "f": 0.25, "b": 0.1})
SAME_ROWS = run({"d": 0.9, "a": 0.8, "c": 0.3, "b": 0.1})

# Printed by ranx 0.3.21 for these runs: fuse(method="rrf"), and method="wsum" under its norms
# "min-max" and "zmuv". (Its compilation takes a minute, too long for every run of the tests.)
RANX = {
    "rrf, k 60": {
        "a": 0.032522475,
        "c": 0.032266458,
        "b": 0.031513648,
        "e": 0.015873016,
        "d": 0.015625,
        "f": 0.015625,
    },
    "rrf, k 10": {
        "a": 0.174242424,
        "c": 0.167832168,
        "b": 0.15,
        "e": 0.076923077,
        "d": 0.071428571,
        "f": 0.071428571,
    },
    "min-max, 0.3 and 0.7": {
        "c": 0.914285714,
        "a": 0.9125,
        "b": 0.235714286,
        "e": 0.175,
        "f": 0.13125,
        "d": 0.0,
    },
    "min-max, 1 and 1": {
        "a": 1.875,
        "c": 1.714285714,
        "b": 0.785714286,
        "e": 0.25,
        "f": 0.1875,
        "d": 0.0,
    },
    "zmuv, 0.3 and 0.7": {
        "a": 0.874847054,
        "d": 0.285936792,
        "c": -0.399616958,
        "b": -0.761166889,
    },
}


@pytest.mark.parametrize(
    ("name", "fused"),
    [
        ("rrf, k 60", rrf([FIRST, SECOND], [1, 1])),
        ("rrf, k 10", rrf([FIRST, SECOND], [1, 1], 10)),
        ("min-max, 0.3 and 0.7", minmax([FIRST, SECOND], [0.3, 0.7])),
        ("min-max, 1 and 1", minmax([FIRST, SECOND], [1, 1])),
        ("zmuv, 0.3 and 0.7", zscore([FIRST, SAME_ROWS], [0.3, 0.7])),
    ],
)
def test_equals_ranx(name: str, fused: Fused) -> None:
    assert named(fused) == pytest.approx(RANX[name], abs=1e-6)


def test_a_row_that_a_list_lacks_gets_its_lowest_z_score() -> None:
    # Deviations of [2, 1, 0] are 1.2247, 0, -1.2247; row d stands only in the second list.
    fused = named(zscore([run({"a": 2, "b": 1, "c": 0}), run({"d": 1, "a": 0})], [1, 1]))
    low = -(1.5**0.5)
    assert fused == pytest.approx({"a": -low - 1, "b": -1, "c": low - 1, "d": low + 1}, abs=1e-6)


def test_weights_of_rrf() -> None:
    fused = named(rrf([run({"a": 2, "b": 1}), run({"b": 2})], [0.5, 2]))
    assert fused == pytest.approx({"a": 0.5 / 61, "b": 0.5 / 62 + 2 / 61}, rel=1e-6)


def test_best_rank_prefers_the_row_that_more_passages_found() -> None:
    fused = named(best_rank([run({"a": 3, "c": 1}), run({"b": 9, "c": 8}), run({"b": 1})], [1] * 3))
    assert sorted(fused, key=lambda name: -fused[name]) == ["b", "a", "c"]
    assert fused["a"] == pytest.approx(1 / 61 + 1 / 61 / 3000, rel=1e-6)


@pytest.mark.parametrize("name", FUSIONS)
def test_empty_and_constant_lists(name: str) -> None:
    empty = run({})
    assert named(FUSIONS[name]([empty, empty], [1, 1])) == {}
    assert len(FUSIONS[name]([empty, run({"a": 1, "b": 1})], [1, 1]).rows) == 2
    assert len(FUSIONS[name]([], []).rows) == 0


SCORES = st.lists(st.sampled_from([-2.5, -1.0, -0.0, 0.0, 1e-30, 1.0, 1.5, 3e30]), max_size=30)


@given(scores=SCORES, depth=st.integers(1, 40), seed=st.integers(0, 99))
def test_total_order(scores: list[float], depth: int, seed: int) -> None:
    """Score descending, then id ascending, cut at any depth, in any order of the rows."""
    rng = np.random.default_rng(seed)
    places = rng.permutation(len(scores)).astype(np.int64)
    rows = rng.permutation(len(scores)).astype(np.int64)
    values = np.asarray(scores, np.float32)
    expected = sorted(range(len(scores)), key=lambda row: (-values[row], places[row]))
    found = top_rows(rows, values[rows], places, depth)
    assert found.rows.tolist() == expected[:depth]
    assert found.scores.tolist() == [float(values[row]) for row in expected[:depth]]


@given(st.lists(st.floats(width=32, allow_nan=False), min_size=2, max_size=20))
def test_keys_ascend_as_scores_descend(scores: list[float]) -> None:
    values = np.asarray(scores, np.float32)
    keys = order_keys(values, np.arange(len(values)))
    assert len(set(keys.tolist())) == len(values)
    for one in range(len(values)):
        for other in range(len(values)):
            if values[one] > values[other]:
                assert keys[one] < keys[other]


LISTS = st.lists(
    st.dictionaries(st.sampled_from(NAMES), st.integers(-3, 3), max_size=6), min_size=1, max_size=4
)


@given(lists=LISTS, name=st.sampled_from(sorted(FUSIONS)))
def test_fusion_of_lists_in_any_order(lists: list[dict[str, int]], name: str) -> None:
    runs = [
        run({key: float(each[key]) for key in sorted(each, key=lambda key: (-each[key], key))})
        for each in lists
    ]
    weights = [0.5 + number for number in range(len(runs))]
    forth = FUSIONS[name](runs, weights)
    back = FUSIONS[name](runs[::-1], weights[::-1])
    assert forth.rows.tolist() == back.rows.tolist()
    assert forth.scores == pytest.approx(back.scores, abs=1e-6)
