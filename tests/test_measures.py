"""Measures: worked cases, ir_measures's and ranx's numbers, invariants."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_runs import KS, random_case

from eval.measuring.judged import JudgedRun, judge, without_golds
from eval.measuring.measures import MEASURES, Score, parse_score, standard_scores
from eval.queries.trec import Qrel, RunRow, ordered
from tam.errors import BadOption

# Query a: golds d1 (grade 2), d4, and d9, which is not retrieved. Query b: d2. Query c: not in
# the run. Query n: judged, without a gold.
RUN = ordered(
    [RunRow("a", f"d{place}", place, 10.0 - place) for place in range(1, 7)]
    + [RunRow("b", f"d{place}", place, 10.0 - place) for place in (3, 1, 2)]
    + [RunRow("n", "d1", 1, 1.0), RunRow("unjudged", "d1", 1, 1.0)]
)
QRELS = [
    Qrel("a", "d1", 2),
    Qrel("a", "d4", 1),
    Qrel("a", "d9", 1),
    Qrel("b", "d2", 1),
    Qrel("c", "d1", 1),
    Qrel("n", "d1", 0),
]


def values(judged: JudgedRun, name: str) -> list[float]:
    return [float(value) for value in parse_score(name, judged.view).values(judged)]


IDEAL_A = 2 + 1 / math.log2(3) + 1 / math.log2(4)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("recall@1", [1 / 3, 0, 0]),
        ("recall@4", [2 / 3, 1, 0]),
        ("recall@100", [2 / 3, 1, 0]),
        ("hit@1", [1, 0, 0]),
        ("hit@2", [1, 1, 0]),
        ("all@4", [0, 1, 0]),
        ("mrr", [1, 1 / 2, 0]),
        ("mrr@1", [1, 0, 0]),
        ("precision@4", [2 / 4, 1 / 4, 0]),
        ("precision@8", [2 / 8, 1 / 8, 0]),
        ("ndcg@4", [(2 + 1 / math.log2(5)) / IDEAL_A, 1 / math.log2(3), 0]),
        ("ndcg", [(2 + 1 / math.log2(5)) / IDEAL_A, 1 / math.log2(3), 0]),
    ],
)
def test_worked_case(name: str, expected: list[float]) -> None:
    judged = judge(RUN, QRELS)
    assert judged.queries == ("a", "b", "c")
    assert values(judged, name) == pytest.approx(expected, abs=1e-15)


def test_queries_without_golds_are_named_and_missing_ones_count_zero() -> None:
    assert without_golds(QRELS) == ["n"]
    assert np.mean(values(judge(RUN, QRELS), "recall@8")) == pytest.approx((2 / 3 + 1 + 0) / 3)
    nothing = judge([], QRELS)
    assert values(nothing, "recall@8") == [0, 0, 0]
    assert values(nothing, "ndcg") == [0, 0, 0]


def test_a_result_with_the_id_of_its_query_stays() -> None:
    judged = judge([RunRow("same", "same", 1, 1.0)], [Qrel("same", "same", 1)])
    assert values(judged, "recall@1") == [1.0]


def chunks(tokens: list[int], covers: list[tuple[int, int]], grades: list[float]) -> JudgedRun:
    """One query in the view of chunks; ``covers`` are pairs of gold and position."""
    return JudgedRun(
        view="chunks",
        queries=("q",),
        gold_query=np.zeros(len(grades), dtype=np.int64),
        grade=np.array(grades),
        pair_gold=np.array([gold for gold, _ in covers], dtype=np.int64),
        pair_position=np.array([place for _, place in covers], dtype=np.int64),
        tokens=np.array([tokens], dtype=np.int64),
        lengths=np.array([len(tokens)], dtype=np.int64),
    )


def test_one_chunk_with_several_golds_and_several_chunks_of_one_gold() -> None:
    # Position 1 covers nothing, 2 golds 0 and 1, 3 gold 0 again; gold 2 is covered by none.
    judged = chunks([100, 200, 300], [(0, 2), (1, 2), (0, 3)], [2.0, 1.0, 1.0])
    assert values(judged, "recall@1") == [0]
    assert values(judged, "recall@2") == [2 / 3]
    assert values(judged, "recall@3") == [2 / 3]  # a gold counts once
    assert values(judged, "precision@3") == [2 / 3]
    assert values(judged, "tokens@2") == [300]
    assert values(judged, "ndcg@3") == pytest.approx([3 / math.log2(3) / IDEAL_A])


def test_ndcg_never_passes_one() -> None:
    assert values(chunks([9], [(0, 1), (1, 1)], [1.0, 1.0]), "ndcg@1") == [1.0]


@pytest.mark.parametrize(
    ("budget", "expected"), [(99, 0), (100, 0), (299, 0), (300, 1 / 2), (599, 1 / 2), (600, 1)]
)
def test_budget_takes_whole_chunks_from_the_top(budget: int, expected: float) -> None:
    judged = chunks([100, 200, 300], [(0, 2), (1, 3)], [1.0, 1.0])
    assert values(judged, f"budget_recall@{budget}") == [expected]


def test_share_is_the_best_down_to_k_and_zero_for_what_is_not_found() -> None:
    plain = chunks([1, 1, 1], [(0, 1), (0, 3)], [1.0, 1.0])
    with pytest.raises(BadOption, match="manuals"):
        values(plain, "share@1")
    fields = {name: getattr(plain, name) for name in JudgedRun.__dataclass_fields__}
    judged = JudgedRun(**{**fields, "share": np.array([0.25, 0.75])})
    assert values(judged, "share@2") == [0.125]
    assert values(judged, "share@3") == [0.375]


def test_a_selection_keeps_the_positions() -> None:
    judged = judge(RUN, QRELS)
    part = judged.select(judged.grade == 1)
    assert part.queries == ("a", "b", "c")
    assert values(part, "recall@3") == [0, 1, 0]
    assert values(part, "recall@4") == [1 / 2, 1, 0]
    assert values(part, "mrr") == [1 / 4, 1 / 2, 0]
    only = judged.select(judged.gold_query == 1)
    assert only.queries == ("b",)
    assert values(only, "mrr") == [1 / 2]
    none = judged.select(judged.grade > 5)
    assert values(none, "recall@3") == []


def test_equal_to_ir_measures_to_the_last_digit() -> None:
    ir_measures = pytest.importorskip("ir_measures")
    run, qrels = random_case(3, 60, 40)
    names = {"recall": "R", "hit": "Success", "precision": "P", "ndcg": "nDCG"}
    theirs = {f"{ours}@{k}": f"{name}@{k}" for ours, name in names.items() for k in KS}
    theirs |= {"mrr": "RR", "ndcg": "nDCG"}
    measures = {name: ir_measures.parse_measure(text) for name, text in theirs.items()}
    reference = {
        (str(metric.measure), metric.query_id): metric.value
        for metric in ir_measures.iter_calc(
            list(measures.values()),
            [ir_measures.Qrel(row.query_id, row.doc_id, row.grade) for row in qrels],
            [ir_measures.ScoredDoc(row.query_id, row.doc_id, row.score) for row in run],
        )
    }
    judged = judge(run, qrels)
    assert len(judged.queries) == 60
    assert 0 < sum(judged.lengths == 0) < 60
    for name, measure in measures.items():
        ours = values(judged, name)
        expected = [reference[str(measure), query] for query in judged.queries]
        assert ours == expected, name


@given(st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_invariants(seed: int) -> None:
    judged = judge(*random_case(seed, 8, 12))
    for name in ("recall", "hit", "all"):
        series = np.array([values(judged, f"{name}@{k}") for k in range(1, 14)])
        assert np.all(np.diff(series, axis=0) >= 0)
        assert np.all((series >= 0) & (series <= 1))
    recall, hit, complete = (np.array(values(judged, f"{n}@5")) for n in ("recall", "hit", "all"))
    assert np.all(complete <= recall)
    assert np.all(recall <= hit)
    assert np.all(np.array(values(judged, "mrr@5")) <= hit)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("recall@8", "sections.recall@8"),
        ("chunks.recall@8", "chunks.recall@8"),
        ("mrr", "sections.mrr"),
        ("mrr@10", "sections.mrr@10"),
        ("budget_recall@4000", "chunks.budget_recall@4000"),
    ],
)
def test_names(text: str, name: str) -> None:
    assert str(parse_score(text)) == name
    assert parse_score(name) == parse_score(text)


@pytest.mark.parametrize(
    "text",
    ["recal@8", "recall", "recall@0", "recall@-1", "recall@x", "sections.share@8", "a.b.c", ""],
)
def test_bad_names(text: str) -> None:
    with pytest.raises(BadOption):
        parse_score(text)


def test_columns() -> None:
    scores = standard_scores([8, 1], [4000], ["sections", "chunks"])
    names = [str(score) for score in scores]
    assert len(set(names)) == len(names)
    assert {"sections.recall@1", "sections.recall@8", "chunks.budget_recall@4000"} <= set(names)
    assert all(isinstance(score, Score) for score in scores)
    with pytest.raises(BadOption):
        standard_scores([0], [])
    with pytest.raises(BadOption):
        standard_scores([], [])


def test_every_measure_says_what_it_is() -> None:
    for name, measure in MEASURES.items():
        assert measure.name == name
        assert len(measure.sentence.split()) > 4 and measure.sentence[0].isupper(), name
        assert measure.sentence.endswith("."), name
        # An author, a title and a year, or the tool whose definition it is.
        assert re.search(r"\b(19|20)\d\d\b|trec_eval|ours|this project", measure.citation), name
