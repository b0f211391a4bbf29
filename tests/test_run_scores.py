"""Scores of runs against tables computed by hand, retrieval beside answers, comparison."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.domains.icd.scores import SCORER as ICD_SCORER
from eval.domains.legal.scores import SCORER as LEGAL_SCORER
from eval.domains.model import DOMAINS
from eval.systems.running.folder import RunFolder
from eval.systems.scoring.commands import compare_command, score_command
from eval.systems.scoring.retrieved import failing_stage, retrieved, stage_counts
from eval.systems.scoring.scored import compare_runs, score_run
from eval.systems.scoring.scores import Group
from tam.errors import RunError
from tam.records import append, json_bytes

# -- by hand: (reference, prediction)
ICD: list[tuple[list[str], list[str] | None]] = [
    (["E11.22", "N18.3"], ["E1122", "n18.3"]),  # exact, whatever the dots and letters
    (["I10"], ["I10", "E11.9"]),  # precision 1/2, recall 1
    (["J18.1", "J96.01", "I10", "E78.5", "Z79.4"], ["I10", "J18.1"]),  # 2/2, 2/5, primary wrong
    (["K59.00"], None),  # missing
    (["R07.9"], []),  # an answer without codes is an answer
]


def icd_records() -> list[dict[str, Any]]:
    return [
        {"case_id": str(n), "reference": reference, "prediction": prediction}
        for n, (reference, prediction) in enumerate(ICD)
    ]


def test_icd_scores_are_those_computed_by_hand() -> None:
    whole, *bins = ICD_SCORER.score(icd_records())
    assert (whole.label, whole.cases, whole.missing) == ("all", 5, 1)
    assert whole.value("exact") == pytest.approx(1 / 5)
    # micro: 2 + 1 + 2 hits; 2 + 2 + 2 predicted; 2 + 1 + 5 + 1 + 1 in the references
    assert whole.value("precision (micro)") == pytest.approx(5 / 6)
    assert whole.value("recall (micro)") == pytest.approx(5 / 10)
    assert whole.value("F1 (micro)") == pytest.approx(2 * 5 / (6 + 10))
    # macro: means over cases
    assert whole.value("precision (macro)") == pytest.approx((1 + 1 / 2 + 1 + 0 + 0) / 5)
    assert whole.value("recall (macro)") == pytest.approx((1 + 1 + 2 / 5 + 0 + 0) / 5)
    f1 = (1 + 2 * (1 / 2) / (3 / 2) + 2 * (2 / 5) / (7 / 5)) / 5
    assert whole.value("F1 (macro)") == pytest.approx(f1)
    assert whole.value("primary") == pytest.approx(2 / 5)
    assert [(g.label, g.cases, g.missing) for g in bins] == [("1-4 codes", 4, 1), ("5-9", 1, 0)]
    assert bins[1].value("recall (micro)") == pytest.approx(2 / 5)


LEGAL: list[tuple[int, int | None]] = [(29, 29), (20, 21), (10, 13), (31, 27), (6, None), (12, 10)]


def legal_records() -> list[dict[str, Any]]:
    return [
        {"case_id": str(n), "reference": reference, "prediction": prediction}
        for n, (reference, prediction) in enumerate(LEGAL)
    ]


def test_legal_scores_are_those_computed_by_hand() -> None:
    whole, *bands = LEGAL_SCORER.score(legal_records())
    assert (whole.cases, whole.missing) == (6, 1)
    assert whole.value("exact") == pytest.approx(1 / 6)
    assert whole.value("within 1") == pytest.approx(2 / 6)
    assert whole.value("within 2") == pytest.approx(3 / 6)
    assert whole.value("within 3") == pytest.approx(4 / 6)
    assert whole.value("MAE") == pytest.approx((0 + 1 + 3 + 4 + 2) / 5)
    labels = [(g.label, g.cases, g.missing) for g in bands]
    assert labels == [("level 1-9", 1, 1), ("10-19", 2, 0), ("20-29", 2, 0), ("30-43", 1, 0)]
    assert math.isnan(bands[0].value("MAE"))
    assert bands[1].value("MAE") == pytest.approx(2.5)


def test_intervals_hold_the_value_and_are_the_same_again() -> None:
    for groups in (ICD_SCORER.score(icd_records()), LEGAL_SCORER.score(legal_records())):
        for group in groups:
            for value in group.values:
                assert math.isnan(value.value) or value.low <= value.value + 1e-9
                assert math.isnan(value.value) or value.value - 1e-9 <= value.high
    assert ICD_SCORER.score(icd_records()) == ICD_SCORER.score(icd_records())


CODES = st.lists(st.sampled_from(["A00", "B01.1", "C22.0", "D50", "E11.9"]), unique=True)


@given(st.lists(st.tuples(CODES.filter(bool), st.none() | CODES), min_size=1, max_size=8))
def test_measures_are_shares_and_exact_is_the_hardest(
    cases: list[tuple[list[str], list[str] | None]],
) -> None:
    records = [{"reference": r, "prediction": p} for r, p in cases]
    whole: Group = ICD_SCORER.score(records)[0]
    for value in whole.values:
        assert -1e-9 <= value.low <= value.high <= 1 + 1e-9
    assert whole.value("exact") <= whole.value("F1 (macro)") + 1e-9
    every = all(p is not None and set(p) == set(r) for r, p in cases)
    assert (whole.value("F1 (micro)") == 1.0) == every


# -- retrieval


def look(hop: int, *sections: str) -> dict[str, Any]:
    """A look that showed golds."""
    return {"hop": hop, "tool": "t", "query": "", "sections": sections, "golds": sections}


def record(
    prediction: Any, golds: list[tuple[str, int]], looks: list[dict[str, Any]], **more: Any
) -> dict[str, Any]:
    listed = [{"id": key, "grade": grade} for key, grade in golds]
    return {"prediction": prediction, "golds": listed, "looks": looks, **more}


A, B, C = ("tabular/2025/E11.22", 3), ("tabular/2025/N18.3", 3), ("index/2025/Diabetes", 2)


def test_recall_by_hop_and_exact_match_given_retrieval() -> None:
    records = [
        record(["E11.22", "N18.3"], [A, B, C], [look(1, A[0]), look(2), look(3, B[0])]),
        record(["E11.22"], [A, B, C], [look(1, B[0]), look(2, A[0], C[0])]),
        record([], [A, B], [look(1)]),
        record([], [], [look(1, A[0])]),
    ]
    exact = [True, False, False, False]
    found = retrieved(records, exact, 3)
    assert found is not None
    assert (found.cases, found.without_golds, found.all_seen) == (3, 1, 2)
    assert found.by_hop == pytest.approx((2 / 6, 3 / 6, 4 / 6))
    assert found.new_at_hop == pytest.approx((2 / 6, 1 / 6, 1 / 6))
    assert found.recall == pytest.approx(4 / 6)
    assert (found.exact_if_all, found.exact_if_not) == (1 / 2, 0.0)
    every = retrieved(records, exact, 1)
    assert every is not None and every.recall == pytest.approx((2 / 3 + 1 + 0) / 3)
    assert retrieved(records[3:], exact[3:], 1) is None


STAGES: list[tuple[str, str, dict[str, Any], bool, str]] = [
    ("right", "icd", record(["E11.22"], [A], []), True, "correct"),
    ("nothing", "icd", record(None, [A], [look(1, A[0])]), False, "no prediction"),
    ("unseen", "icd", record(["I10"], [A], [look(1, B[0])]), False, "gold never retrieved"),
    ("not cited", "icd", record(["I10"], [A], [look(1, A[0])]), False, "retrieved but not cited"),
    (
        "cited in words",
        "icd",
        record(["I10"], [A], [look(1, A[0])], cited=["E1122"]),
        False,
        "cited but wrong answer",
    ),
    (
        "predicted is cited",
        "icd",
        record(["E1122", "I10"], [A], [look(1, A[0])]),
        False,
        "cited but wrong answer",
    ),
    (
        "a seventh character's stem",
        "icd",
        record(["S72.001A"], [("tabular/2025/S72.001", 3)], [look(1, "tabular/2025/S72.001")]),
        False,
        "cited but wrong answer",
    ),
    ("index entries do not count", "icd", record(["I10"], [C], []), False, "wrong, no golds known"),
    (
        "legal, Appendix A's guideline counts",
        "legal",
        record(7, [("ussg/2025/§2B1.1", 2)], [look(1)]),
        False,
        "gold never retrieved",
    ),
    (
        "legal, cited as the model writes it",
        "legal",
        record(7, [("ussg/2025/§2B1.1", 2)], [look(1, "ussg/2025/§2B1.1")], cited=["USSG 2B1.1"]),
        False,
        "cited but wrong answer",
    ),
]


@pytest.mark.parametrize(
    ("name", "domain", "case", "exact", "stage"), STAGES, ids=[row[0] for row in STAGES]
)
def test_the_first_failing_stage(
    name: str, domain: str, case: dict[str, Any], exact: bool, stage: str
) -> None:
    assert failing_stage(case, exact, DOMAINS[domain]) == stage
    assert stage_counts([case], [exact], DOMAINS[domain])[stage] == 1


# -- runs on disk


def write_run(path: Path, domain: str, records: list[dict[str, Any]], **config: Any) -> Path:
    folder = RunFolder(path)
    whole = {"system": "react", "model": "openai:x", "domain": domain, "editions": ["ussg/2025"]}
    with folder.opened():
        folder.prepare({**whole, "jobs": len(records), **config})
        for each in records:
            base = {"status": "ok", "detail": "", "golds": [], "looks": [], "year": 2025}
            base |= {"paid": {"input": 10, "output": 1, "calls": 1}, "cost": 0.5, "cited": []}
            base |= {"tool_calls": 2, "seconds": 1.0, "answer": None}
            folder.add({**base, **each}, [])
    return path


def test_a_score_names_all_that_a_reader_needs(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", "icd", icd_records(), jobs=7, left_out=2)
    text = score_command(run, report=False, as_json=False)
    for words in (
        "NOT FINISHED: 2 cases",
        "2 cases of the file are left out",
        "this run (micro)",
        "this run (macro)",
        "paper, harness",
        "59.9",
        "effort: 5 model calls, 50 tokens in, 5 out, $2.5000; a case: 2.0 tool calls",
        "first failing stage: correct 1, no prediction 1",
        "statuses: ok 5",
    ):
        assert words in text
    metrics = json.loads((run / "metrics.json").read_text())
    assert metrics["groups"][0]["missing"] == 1
    assert metrics["groups"][0]["values"]["exact"]["value"] == pytest.approx(0.2)
    assert (metrics["not_run"], metrics["left_out"], metrics["effort"]["calls"]) == (2, 2, 5)
    printed = score_command(run, report=False, as_json=True)
    assert json.loads(printed) == metrics


def test_comparison_is_paired_over_common_cases(tmp_path: Path) -> None:
    records = legal_records()
    first = write_run(tmp_path / "a", "legal", records)
    better = [{**r, "prediction": r["reference"]} for r in records[:5]]
    second = write_run(tmp_path / "b", "legal", better)
    paired, both = compare_runs(score_run(first), score_run(second))
    rows = {row.name.split(" (")[0]: row for row in paired}
    assert both == 5
    assert (rows["exact"].mean_a, rows["exact"].mean_b) == (0.2, 1.0)
    assert (rows["exact"].wins, rows["exact"].ties, rows["exact"].losses) == (4, 1, 0)
    assert rows["exact"].p == pytest.approx(2 / 2**4)
    assert (rows["MAE"].mean_a, rows["MAE"].mean_b) == (2.0, 0.0)
    text = compare_command(first, second, as_json=False)
    assert "MAE (4 answered by both)" in text and "paired randomisation test over 5 cases" in text
    assert len(json.loads(compare_command(first, second, as_json=True))) == len(paired)


def test_runs_that_cannot_be_compared_or_scored_say_why(tmp_path: Path) -> None:
    legal = write_run(tmp_path / "legal", "legal", legal_records())
    icd = write_run(tmp_path / "icd", "icd", icd_records())
    with pytest.raises(RunError, match="legal cases, icd over icd cases"):
        compare_command(legal, icd, as_json=False)
    others = [{**r, "case_id": "x" + r["case_id"]} for r in legal_records()]
    with pytest.raises(RunError, match="no case in common"):
        compare_command(legal, write_run(tmp_path / "o", "legal", others), as_json=False)
    changed = [{**r, "reference": 1} for r in legal_records()]
    with pytest.raises(RunError, match="different reference answers for case 0"):
        compare_command(legal, write_run(tmp_path / "c", "legal", changed), as_json=False)
    with pytest.raises(RunError, match="no case has ended"):
        score_run(write_run(tmp_path / "none", "legal", []))
    lacking = [{**legal_records()[0], "reference": None}]
    with pytest.raises(RunError, match="no reference answer"):
        score_run(write_run(tmp_path / "l", "legal", lacking))


def test_a_case_that_was_run_again_counts_by_its_last_line(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", "legal", legal_records())
    line = json.loads((run / "cases.jsonl").read_text().splitlines()[4])
    append(run / "cases.jsonl", json_bytes({**line, "prediction": 6}))
    scored = score_run(run)
    assert (scored.groups[0].cases, scored.groups[0].missing) == (6, 0)
