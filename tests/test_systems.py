"""The systems end to end over HTTP, against scripted models on loopback, on the sample manuals."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from llm_server import Reply, Request, in_turn, last_user
from scripted_runs import ANSWER, CASES, GOOD, has_tool_result, icd_start, play, tools_of

from eval.domains.icd.answer import IcdAnswer
from eval.domains.model import DOMAINS
from eval.systems.running.folder import RunFolder
from eval.systems.running.launch import run_request
from eval.systems.running.request import RunRequest
from eval.systems.scoring.scored import score_run
from eval.systems.solvers.answering import read_answer

SYSTEMS = ("single-pass", "agentic", "react", "harness", "oracle-sections")


@pytest.fixture
def asked(tmp_path: Path, sample_icd_index: Path) -> RunRequest:
    return icd_start(tmp_path, sample_icd_index)


def browsing(request: Request) -> Reply:
    """A model that looks once, with whatever tool it has, and answers."""
    tools = tools_of(request)
    if has_tool_result(request) or not tools:
        return GOOD
    if "open_tabular_code" in tools:
        return Reply(tool_calls=[("open_tabular_code", {"code": "e1122"})])
    if "list_index_terms" in tools:
        return Reply(tool_calls=[("list_index_terms", {"prefix": "Dia"})])
    arguments = {"count": 99, "query": "diabetes kidney"}
    return Reply(tool_calls=[("search_icd_manuals", arguments)])


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("streaming", [False, True], ids=["whole", "stream"])
def test_each_system_answers_over_http(asked: RunRequest, system: str, streaming: bool) -> None:
    ended, requests, records = play(replace(asked, system=system, streaming=streaming), browsing)
    assert (ended.done, ended.failed, ended.left, ended.stopped) == (3, 0, 0, "")
    assert [record["prediction"] for record in records] == [["E11.22"]] * 3
    assert all(bool(request.get("stream")) == streaming for request in requests)
    assert sum(record["usage"]["calls"] for record in records) == len(requests)
    for record in records:
        assert record["usage"]["calls"] * 100 == record["usage"]["input"]
        steps = RunFolder(asked.out).transcript(record)
        assert steps and all(step["kind"] for step in steps)
    looks = [(look["hop"], look["tool"], look["query"]) for look in records[0]["looks"]]
    expected = {
        "single-pass": [(1, "retrieve", "(the whole case)")],
        "agentic": [(1, "search_icd_manuals", "diabetes kidney")],
        "react": [(1, "open_tabular_code", "e1122")],
        "harness": [
            (1, "list_index_terms", "Dia"),
            (2, "open_tabular_code", "e1122"),
            (3, "open_tabular_code", "e1122"),
        ],
        "oracle-sections": [(1, "gold_sections", "(the golds)")],
    }
    assert looks == expected[system]
    sections = records[0]["looks"][-1]["sections"]
    assert any(name.startswith("tabular/2025/E11") for name in sections)


def test_react_has_the_eight_browsing_tools_and_agentic_the_two_of_retrieval(
    asked: RunRequest,
) -> None:
    _, requests, _ = play(replace(asked, system="react", limit=1), browsing)
    assert len(tools_of(requests[0])) == 8
    _, requests, _ = play(replace(asked, system="agentic", out=asked.out / "2", limit=1), browsing)
    assert tools_of(requests[0]) == {"search_icd_manuals", "search_icd_whole_case"}


def test_the_whole_case_is_searched_without_writing_it_out_again(asked: RunRequest) -> None:
    def script(request: Request) -> Reply:
        return GOOD if has_tool_result(request) else Reply(tool_calls=[(name, {})])

    name = "search_icd_whole_case"
    _, _, records = play(replace(asked, system="agentic", limit=1), script)
    look = records[0]["looks"][0]
    assert (look["tool"], look["query"], look["error"]) == (name, "(the whole case)", False)
    assert any(section.startswith("tabular/2025/E11") for section in look["sections"])


def test_harness_runs_the_review_only_when_a_worker_asks(asked: RunRequest) -> None:
    def worker(request: Request) -> Reply:
        return Reply(json.dumps(ANSWER) + f"\nGUIDELINE REVIEW: {said}")

    for said, calls in (("NO", 3), ("YES", 4)):
        out = asked.out / said
        _, requests, _ = play(replace(asked, system="harness", out=out, limit=1), worker)
        assert len(requests) == calls


def test_workers_see_reports_and_not_conversations(asked: RunRequest) -> None:
    def worker(request: Request) -> Reply:
        reply = browsing(request)
        return reply if reply.tool_calls else Reply(f"{json.dumps(ANSWER)} (report {len(told)})")

    told: list[str] = []
    _, requests, _ = play(replace(asked, system="harness", limit=1), worker)
    last = requests[-1]
    assert "Report: index-lookup" in last_user(last)
    shown = next(m["content"] for r in requests for m in r["messages"] if m["role"] == "tool")
    others = [m["content"] for m in last["messages"] if m["role"] != "tool"]
    assert len(shown) > 40 and all(shown not in str(text) for text in others)


def test_a_worker_reads_its_skill_and_leaves_no_file_behind(asked: RunRequest) -> None:
    """What agents write stays in memory: it may be clinical text."""
    folder = DOMAINS["icd"].prompts
    assert folder is not None
    before = sorted(folder.rglob("*"))

    def worker(request: Request) -> Reply:
        if not has_tool_result(request) and "list_index_terms" in tools_of(request):
            return Reply(
                tool_calls=[
                    ("read_file", {"file_path": "/skills/icd/index-lookup/SKILL.md"}),
                    ("write_file", {"file_path": "/note.txt", "content": "a note of the case"}),
                ]
            )
        return GOOD

    _, requests, records = play(replace(asked, system="harness", limit=1), worker)
    told = [str(m["content"]) for r in requests for m in r["messages"] if m["role"] == "tool"]
    assert any("Looking a condition up" in text for text in told)
    assert records[0]["status"] == "ok"
    assert sorted(folder.rglob("*")) == before


def test_a_prompt_holds_the_case_and_the_retrieved_sections(asked: RunRequest) -> None:
    _, requests, records = play(replace(asked, limit=1), in_turn(GOOD))
    prompt = last_user(requests[0])
    assert CASES[0][0] in prompt
    assert "key: E11" in prompt
    assert any(name.startswith("tabular/2025/E11") for name in records[0]["looks"][0]["sections"])
    schema = requests[0]["response_format"]["json_schema"]["schema"]
    assert set(schema["properties"]) == {"codes", "sections"}


def test_the_oracle_shows_what_the_codes_inherit(asked: RunRequest) -> None:
    _, requests, records = play(replace(asked, system="oracle-sections", limit=1), in_turn(GOOD))
    assert "(from E11)" in last_user(requests[0])
    assert score_of_golds(asked) == 1.0
    assert "tabular/2025/E11.22" in records[0]["looks"][0]["sections"]


def score_of_golds(asked: RunRequest) -> float:
    found = score_run(asked.out).retrieval
    assert found is not None
    return found.recall


def test_a_repair_round_mends_an_answer(asked: RunRequest) -> None:
    bad = Reply('{"codes": [{"code": "E11.22", "confidence": 7}]}')
    _, requests, records = play(replace(asked, limit=1), in_turn(bad, GOOD))
    assert records[0]["status"] == "ok"
    assert "codes.0.confidence" in last_user(requests[1])
    _, requests, records = play(
        replace(asked, limit=1, repairs=1, out=asked.out / "2"), in_turn(bad, bad, GOOD)
    )
    assert (len(requests), records[0]["status"]) == (2, "unparsed")


READ = [
    ("fenced", '```json\n{"codes": [], "sections": []}\n```', True),
    ("the last one counts", '{"codes": 1} then {"codes": []}', True),
    ("braces in words", "a set {x} and {y}", False),
    ("cut off", '{"codes": [{"code": "E11.22"', False),
    ("nested without end", "[" * 100 + '{"a":' * 100_000, False),
    ("a number of many digits", '{"codes": ' + "9" * 5000 + "}", False),
]


@pytest.mark.parametrize(("name", "text", "fits"), READ, ids=[row[0] for row in READ])
def test_reading_an_answer_out_of_words(name: str, text: str, fits: bool) -> None:
    if fits:
        assert read_answer(text, IcdAnswer).prediction() == []
    else:
        with pytest.raises(ValueError, match=r"JSON|codes"):
            read_answer(text, IcdAnswer)


def test_malformed_arguments_and_unknown_tools_are_answered(asked: RunRequest) -> None:
    replies = in_turn(
        Reply(tool_calls=[("open_tabular_code", "{not json"), ("open_magic", {})]),
        Reply(tool_calls=[("open_tabular_code", {"kode": "E11"})]),
        GOOD,
    )
    _, requests, records = play(replace(asked, system="react", limit=1), replies)
    told = [m["content"] for m in requests[-1]["messages"] if m["role"] == "tool"]
    assert len(told) == 3 and all(text.startswith("Error: ") for text in told)
    assert records[0]["status"] == "ok"


def endless(request: Request) -> Reply:
    """A model that calls tools as long as it has any."""
    tools = tools_of(request)
    if "open_tabular_code" in tools and not _told_to_stop(request):
        return Reply(tool_calls=[("open_tabular_code", {"code": "I10"})])
    return GOOD


def _told_to_stop(request: Request) -> bool:
    return "Answer now" in json.dumps(request["messages"])


BOUNDS: list[tuple[str, dict[str, Any], int]] = [
    ("react", {"rounds": 4}, 4),
    ("harness", {"rounds": 4}, 4),
    ("react", {"case_tokens": 300}, 3),
    ("harness", {"case_tokens": 600}, 5),
]


@pytest.mark.parametrize(("system", "bound", "most"), BOUNDS)
def test_rounds_and_tokens_of_a_case_are_bounded(
    asked: RunRequest, system: str, bound: dict[str, Any], most: int
) -> None:
    _, _, records = play(replace(asked, system=system, limit=1, **bound), endless)
    assert 1 <= records[0]["tool_calls"] <= most
    assert records[0]["status"] == "ok"


def test_retrieval_only_needs_no_model(asked: RunRequest) -> None:
    ended = run_request(replace(asked, system="retrieval-only", model=None))
    records = RunFolder(asked.out).records()
    assert (ended.done, ended.failed) == (3, 0)
    assert "E11.22" in records["1"]["prediction"]
    scored = score_run(asked.out)
    assert scored.retrieval is not None and 0 < scored.retrieval.recall <= 1
