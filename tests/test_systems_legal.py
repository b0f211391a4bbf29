"""The legal domain end to end: the paper's sentencing example, and the small cases."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from llm_server import Reply, Request, serving

from eval.domains.legal.from_hits import base_offense_level
from eval.systems.running.folder import RunFolder
from eval.systems.running.launch import run_request
from eval.systems.running.request import RunRequest
from eval.systems.scoring.score_table import table
from eval.systems.scoring.scored import score_run
from retrievers.search.settings import SearchSettings

FACTS = (
    "Convicted of bank fraud, 18 U.S.C. § 1344, and of a drug conspiracy, 21 U.S.C. § 846. "
    "The fraud count comes to level 30, the drug count to level 29. Pleaded guilty early."
)
#: what the scripted model opens, and what it must find there for its next step
PATH: list[tuple[str, dict[str, str], str]] = [
    ("search_appendix_a", {"statute": "18 U.S.C. § 1344"}, "§2B1.1"),
    ("open_guideline", {"guideline": "§2B1.1"}, "Base Offense Level"),
    ("open_guideline", {"guideline": "§2D1.1"}, "Base Offense Level"),
    ("open_guideline", {"guideline": "§3D1.4"}, "2 | add 2 levels"),
    ("open_guideline", {"guideline": "§3E1.1"}, "decrease"),
]


def answer(level: int | None) -> str:
    return json.dumps(
        {
            "offense_level": level,
            "criminal_history_category": None,
            "guideline_range_months": None,
            "confidence": 0.8,
            "rationale": "30 and 29 group to 32; less 3 for acceptance",
            "sections": ["§2B1.1", "§2D1.1", "§3D1.4", "§3E1.1", "18 U.S.C. § 1344"],
        }
    )


def sentencing(request: Request) -> Reply:
    """Walks ``PATH`` and adds up only what the tools showed."""
    results = [m["content"] for m in request["messages"] if m["role"] == "tool"]
    if len(results) < len(PATH):
        name, arguments, _ = PATH[len(results)]
        return Reply(tool_calls=[(name, arguments)])
    if not all(words in text for (_, _, words), text in zip(PATH, results, strict=True)):
        return Reply(answer(None))
    units = 2  # the group that is one level below the highest counts one unit: 1 to 4 levels
    added = 2 if f"{units} | add 2 levels" in results[3] else 0
    return Reply(answer(30 + added - 3))


@pytest.fixture
def asked(tmp_path: Path, sample_legal_index: Path) -> RunRequest:
    cases = tmp_path / "cases.csv"
    cases.write_text(f'docket_id,input,output\n9,"{FACTS}",29\n8,"A theft of mail.",6\n')
    years = tmp_path / "years.csv"
    years.write_text("docket_id,sentencing_year\n9,2024\n8,2024\n")
    return RunRequest(
        system="react",
        domain="legal",
        cases=cases,
        years=years,
        out=tmp_path / "run",
        index_dir=sample_legal_index,
        search=SearchSettings(retriever="bm25"),
        model="openai:scripted",
        timeout=10,
    )


def play(asked: RunRequest, script: Any) -> dict[str, dict[str, Any]]:
    with serving(script) as server:
        run_request(replace(asked, base_url=server.url))
    return RunFolder(asked.out).records()


def test_the_sentencing_example_comes_to_29(asked: RunRequest) -> None:
    records = play(replace(asked, limit=1), sentencing)
    record = records["9"]
    assert (record["status"], record["prediction"], record["reference"]) == ("ok", 29, 29)
    assert record["answer"]["criminal_history_category"] is None
    shown = [name for look in record["looks"] for name in look["sections"]]
    for key in ("§2B1.1", "§2D1.1", "§3D1.4", "§3E1.1"):
        assert f"ussg/2024/{key}" in shown
    scored = score_run(asked.out)
    assert scored.groups[0].value("exact") == 1.0
    assert scored.stages["correct"] == 1


@pytest.mark.parametrize(
    "system", ["single-pass", "agentic", "react", "harness", "oracle-sections"]
)
def test_each_system_runs(asked: RunRequest, system: str) -> None:
    def script(request: Request) -> Reply:
        names = [tool["function"]["name"] for tool in request.get("tools", ())]
        if not any(m["role"] == "tool" for m in request["messages"]):
            if "open_guideline" in names:
                return Reply(tool_calls=[("open_guideline", {"guideline": "2B1.1"})])
            if "search_legal_manuals" in names:
                return Reply(tool_calls=[("search_legal_manuals", {"query": "bank fraud"})])
        return Reply(answer(7))

    records = play(replace(asked, system=system), script)
    assert [r["prediction"] for r in records.values()] == [7, 7]
    text = table(score_run(asked.out))
    assert "MAE" in text and "paper, harness" in text and "nothing in 35" in text


SEEN = [
    ("18 U.S.C. § 924(a)(1)", "18 U.S.C. § 924", True),
    ("18 U.S.C. § 924", "18 U.S.C. § 924(a)(1)", True),
    ("18 U.S.C. § 924(a)(1)", "18 U.S.C. § 924(c)", False),
    ("18 U.S.C. § 924", "18 U.S.C. § 924 Notes", False),
]


@pytest.mark.parametrize(("opened", "gold", "seen"), SEEN)
def test_a_gold_is_seen_with_a_part_of_it_as_in_tam_eval(
    asked: RunRequest, tmp_path: Path, opened: str, gold: str, seen: bool
) -> None:
    golds = tmp_path / "golds.jsonl"
    golds.write_text(json.dumps({"case_id": "9", "year": 2024, "gold_sections": [gold]}) + "\n")

    def script(request: Request) -> Reply:
        if any(m["role"] == "tool" for m in request["messages"]):
            return Reply(answer(7))
        return Reply(tool_calls=[("open_statute_section", {"citation": opened})])

    records = play(replace(asked, limit=1, gold=golds, origins=("given",)), script)
    assert records["9"]["looks"][0]["golds"] == ([f"title18/2024/{gold}"] if seen else [])


def test_an_unsupported_level_is_an_answer_without_a_prediction(asked: RunRequest) -> None:
    records = play(replace(asked, limit=1), lambda request: Reply(answer(None)))
    assert (records["9"]["status"], records["9"]["prediction"]) == ("ok", None)
    scored = score_run(asked.out)
    assert (scored.groups[0].missing, scored.groups[0].value("exact")) == (1, 0.0)
    assert scored.stages["no prediction"] == 1


def test_retrieval_only_takes_the_base_level_of_the_top_guideline(asked: RunRequest) -> None:
    run_request(replace(asked, system="retrieval-only", model=None))
    predictions = [r["prediction"] for r in RunFolder(asked.out).records().values()]
    assert all(p is None or 1 <= p <= 43 for p in predictions)
    assert any(p is not None for p in predictions)
    for record in RunFolder(asked.out).records().values():
        assert bool(record["cited"]) == (record["prediction"] is not None)


def test_retrieval_only_without_guidelines_of_the_year_ends_no_run(
    asked: RunRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eval.systems.tools.editions.choose_editions", lambda *_: {"title18": 2024})
    assert run_request(replace(asked, system="retrieval-only", model=None)).done == 2
    for record in RunFolder(asked.out).records().values():
        assert (record["status"], record["prediction"]) == ("unparsed", None)
        assert record["detail"] == "no edition of ussg for the case's year"


BASES = [
    ("(a) Base Offense Level: 24\n\n(b) Specific Offense Characteristic", 24),
    ("(a) Base Offense Level:\n\n(1) 7, if so; or\n\n(2) 6, otherwise.\n\n(b) Specific", 6),
    ("(a) Base Offense Level (Apply the Greatest):\n(1) 43, if; or\n(2) 38, if.\n(b) (1) 9", 38),
    ("(a) Base Offense Level: the level of the table", None),
    ("No level at all", None),
]


@pytest.mark.parametrize(("text", "level"), BASES)
def test_base_offense_level(text: str, level: int | None) -> None:
    assert base_offense_level(text) == level


@pytest.mark.real
def test_real_cases_in_all_systems(
    real_cases: Path, real_legal_index: Path, tmp_path: Path
) -> None:
    def script(request: Request) -> Reply:
        names = [tool["function"]["name"] for tool in request.get("tools", ())]
        if "open_guideline" in names and not any(m["role"] == "tool" for m in request["messages"]):
            return Reply(tool_calls=[("open_guideline", {"guideline": "3E1.1"})])
        return Reply(answer(15))

    for system in ("single-pass", "agentic", "react", "harness", "oracle-sections"):
        asked = RunRequest(
            system=system,
            domain="legal",
            cases=real_cases / "legal_cases.csv",
            years=real_cases / "legal_years.csv",
            gold=real_cases / "legal_gold.jsonl",
            out=tmp_path / system,
            index_dir=real_legal_index,
            search=SearchSettings(retriever="bm25"),
            year_policy="nearest",
            model="openai:scripted",
        )
        records = play(asked, script)
        assert len(records) == 6
        assert records["9000001"]["prediction"] == 15
        scored = score_run(asked.out)
        assert scored.groups[0].value("exact") == pytest.approx(1 / 6)
        if system == "oracle-sections":
            assert scored.retrieval is not None and scored.retrieval.recall == 1.0
