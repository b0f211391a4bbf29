"""The systems end to end over HTTP, against scripted models on loopback, on the sample manuals."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from llm_server import Reply, Request, in_turn, last_user, serving

from eval.systems.folder import RunFolder
from eval.systems.scoring_command import score_command, score_run
from eval.systems.starting import Start, StartEnded, start
from tam.errors import RunError

CASES = (
    ("1", "Type 2 diabetes with diabetic kidney disease, seen for follow-up.", ["E1122"]),
    ("2", "Lobar pneumonia, treated with antibiotics.", ["J181"]),
    ("3", "High blood pressure and type 2 diabetes.", ["I10", "E119"]),
)
ANSWER = {
    "codes": [{"code": "E11.22", "confidence": 0.9, "rationale": "r", "evidence": "e"}],
    "sections": ["E11.22"],
}
GOOD = Reply(json.dumps(ANSWER) + "\nGUIDELINE REVIEW: NO")


def write_cases(path: Path, count: int = 3) -> Path:
    rows = [CASES[number % 3] for number in range(count)]
    lines = ["hadm_id,note_id,input_text,output_icd_codes,year"]
    for number, (_, text, codes) in enumerate(rows, start=1):
        listed = json.dumps(codes).replace('"', '""')
        lines.append(f'{number},n{number},"{text}","{listed}",2025')
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def asked(tmp_path: Path, sample_icd_index: Path) -> Start:
    return Start(
        system="single-pass",
        domain="icd",
        cases=write_cases(tmp_path / "cases.csv"),
        out=tmp_path / "run",
        index_dir=sample_icd_index,
        retriever="bm25",
        model="openai:scripted",
        timeout=10,
        retries=2,
    )


def play(asked: Start, script: Any) -> tuple[StartEnded, list[Request], list[dict[str, Any]]]:
    with serving(script) as server:
        ended = start(replace(asked, base_url=server.url))
    return ended, server.requests, list(RunFolder(asked.out).records().values())


def tools_of(request: Request) -> set[str]:
    return {tool["function"]["name"] for tool in request.get("tools", ())}


def browsing(request: Request) -> Reply:
    """A model that opens a code, makes mistakes, and answers."""
    asked_already = sum(message["role"] == "tool" for message in request["messages"])
    tools = tools_of(request)
    if asked_already == 0 and "open_tabular_code" in tools:
        return Reply(tool_calls=[("open_tabular_code", {"code": "e1122"})])
    if asked_already == 0 and "list_index_terms" in tools:
        return Reply(tool_calls=[("list_index_terms", {"prefix": "Dia"})])
    if asked_already == 0 and "search_icd_manuals" in tools:
        return Reply(tool_calls=[("search_icd_manuals", {"query": "diabetes kidney", "count": 99})])
    return GOOD


@pytest.mark.parametrize(
    "system", ["single-pass", "agentic", "react", "harness", "oracle-sections"]
)
@pytest.mark.parametrize("streaming", [False, True], ids=["whole", "stream"])
def test_each_system_answers_over_http(asked: Start, system: str, streaming: bool) -> None:
    ended, requests, records = play(replace(asked, system=system, streaming=streaming), browsing)
    assert (ended.done, ended.failed, ended.left, ended.stopped) == (3, 0, 0, "")
    assert [record["prediction"] for record in records] == [["E11.22"]] * 3
    assert all(bool(request.get("stream")) == streaming for request in requests)
    for record in records:
        assert record["usage"]["calls"] * 100 == record["usage"]["input"]
        steps = RunFolder(asked.out).transcript(record)
        assert steps and all(step["kind"] for step in steps)
    looks = [look["tool"] for look in records[0]["looks"]]
    expected = {
        "single-pass": ["retrieve"],
        "agentic": ["search_icd_manuals"],
        "react": ["open_tabular_code"],
        "harness": ["list_index_terms", "open_tabular_code", "open_tabular_code"],
        "oracle-sections": ["gold_sections"],
    }
    assert looks == expected[system]


def test_react_has_the_eight_browsing_tools_and_agentic_the_two_of_retrieval(asked: Start) -> None:
    _, requests, _ = play(replace(asked, system="react", limit=1), browsing)
    assert len(tools_of(requests[0])) == 8
    _, requests, _ = play(replace(asked, system="agentic", out=asked.out / "2", limit=1), browsing)
    assert tools_of(requests[0]) == {"search_icd_manuals", "search_icd_whole_case"}


def test_harness_runs_the_review_only_when_a_worker_asks(asked: Start) -> None:
    def worker(request: Request) -> Reply:
        return Reply(json.dumps(ANSWER) + f"\nGUIDELINE REVIEW: {said}")

    for said, calls in (("NO", 3), ("YES", 4)):
        out = asked.out / said
        _, requests, _ = play(replace(asked, system="harness", out=out, limit=1), worker)
        assert len(requests) == calls


def test_workers_see_reports_and_not_conversations(asked: Start) -> None:
    _, requests, _ = play(replace(asked, system="harness", limit=1), browsing)
    last = requests[-1]
    assert "Report: index-lookup" in last_user(requests[-2]) + json.dumps(last)
    first_tool_result = next(m for r in requests for m in r["messages"] if m["role"] == "tool")
    assert all(
        first_tool_result["content"] not in str(m["content"])
        for m in last["messages"]
        if m["role"] != "tool"
    )


def test_a_prompt_holds_the_case_and_the_retrieved_sections(asked: Start) -> None:
    _, requests, records = play(replace(asked, limit=1), in_turn(GOOD))
    prompt = last_user(requests[0])
    assert CASES[0][1] in prompt
    assert "(key: " not in prompt and "key: E11" in prompt
    assert any(name.startswith("tabular/2025/E11") for name in records[0]["looks"][0]["sections"])
    assert requests[0]["response_format"]["type"] == "json_schema"


FAULTS = [
    ("refusal", Reply(refusal="I cannot help with this."), "refusal"),
    ("filter in the answer", Reply("", finish="content_filter"), "content_filter"),
    (
        "filter as an error",
        Reply(status=400, error_code="content_filter"),
        "content_filter",
    ),
    ("cut off", Reply('{"codes": [', finish="length"), "length"),
    ("no JSON at all", Reply("I think it is diabetes."), "unparsed"),
    ("wrong form", Reply('{"codes": [{"code": "DIABETES", "confidence": 1}]}'), "unparsed"),
    ("server error", Reply(status=500), "server_error"),
    ("rate limit that stays", Reply(status=429, retry_after=0.01), "rate_limited"),
    ("body that is no JSON", Reply(raw=b"<html>oops"), "bad_response"),
    ("JSON of another kind", Reply(raw=b'{"hello": 1}'), "bad_response"),
]


@pytest.mark.parametrize(("name", "reply", "status"), FAULTS, ids=[row[0] for row in FAULTS])
def test_each_fault_is_a_status_of_its_own(
    asked: Start, name: str, reply: Reply, status: str
) -> None:
    ended, _, records = play(replace(asked, limit=1, retries=1), in_turn(reply))
    assert (ended.done, ended.failed) == (1, 1)
    assert records[0]["status"] == status
    assert records[0]["prediction"] is None
    assert records[0]["detail"]


def test_time_out_is_a_status(asked: Start) -> None:
    slow = Reply(json.dumps(ANSWER), delay=1.5)
    ended, _, records = play(replace(asked, limit=1, retries=0, timeout=0.3), in_turn(slow))
    assert (ended.failed, records[0]["status"]) == (1, "timeout")


def test_a_closed_port_is_a_status(asked: Start) -> None:
    ended = start(replace(asked, base_url="http://127.0.0.1:9/v1", limit=1, retries=0))
    assert ended.failed == 1
    assert RunFolder(asked.out).records()["1"]["status"] == "connection"


def test_retry_after_is_honoured_and_paid_once(asked: Start) -> None:
    replies = in_turn(Reply(status=429, retry_after=1), GOOD)
    begun = time.monotonic()
    _, requests, records = play(replace(asked, limit=1), replies)
    assert time.monotonic() - begun >= 1.0
    assert len(requests) == 2
    assert records[0]["paid"] == {"input": 100, "output": 10, "cached_input": 0, "calls": 1}


def test_a_repair_round_mends_an_answer(asked: Start) -> None:
    bad = Reply('{"codes": [{"code": "E11.22", "confidence": 7}]}')
    _, requests, records = play(replace(asked, limit=1), in_turn(bad, GOOD))
    assert records[0]["status"] == "ok"
    assert "codes.0.confidence" in last_user(requests[1])
    _, requests, records = play(
        replace(asked, limit=1, repairs=1, out=asked.out / "2"), in_turn(bad, bad, GOOD)
    )
    assert (len(requests), records[0]["status"]) == (2, "unparsed")


def test_malformed_arguments_and_unknown_tools_are_answered(asked: Start) -> None:
    replies = in_turn(
        Reply(tool_calls=[("open_tabular_code", "{not json"), ("open_magic", {})]),
        Reply(tool_calls=[("open_tabular_code", {"kode": "E11"})]),
        GOOD,
    )
    _, requests, records = play(replace(asked, system="react", limit=1), replies)
    told = [m["content"] for m in requests[-1]["messages"] if m["role"] == "tool"]
    assert len(told) == 3 and all(text.startswith("Error: ") for text in told)
    assert records[0]["status"] == "ok"


def test_rounds_are_bounded(asked: Start) -> None:
    def endless(request: Request) -> Reply:
        if not request.get("tools"):
            return GOOD
        return Reply(tool_calls=[("open_tabular_code", {"code": "I10"})])

    _, requests, records = play(replace(asked, system="react", rounds=4, limit=1), endless)
    assert records[0]["tool_calls"] == 4
    assert records[0]["status"] == "ok"
    assert len(requests) == 5


def test_a_finished_run_asks_nothing_again(asked: Start) -> None:
    play(asked, in_turn(GOOD))
    before = (asked.out / "cases.jsonl").read_bytes()
    ended, requests, _ = play(asked, in_turn(GOOD))
    assert (ended.done, requests) == (3, [])
    assert (asked.out / "cases.jsonl").read_bytes() == before


def test_retry_failed_runs_only_failures(asked: Start) -> None:
    play(asked, in_turn(GOOD, Reply(refusal="no"), GOOD))
    ended, requests, records = play(replace(asked, retry_failed=True), in_turn(GOOD))
    assert (ended.done, ended.failed, len(requests)) == (3, 0, 1)
    assert [record["status"] for record in records] == ["ok"] * 3


def test_other_settings_are_refused(asked: Start) -> None:
    play(asked, in_turn(GOOD))
    with pytest.raises(RunError, match="hits = 8, not 9"):
        play(replace(asked, hits=9), in_turn(GOOD))
    play(replace(asked, concurrency=2), in_turn(GOOD))  # how fast is not what


def test_budget_stops_cleanly_and_goes_on(asked: Start, tmp_path: Path) -> None:
    ended, requests, _ = play(replace(asked, max_tokens=200), in_turn(GOOD))
    assert (ended.done, ended.left, len(requests)) == (2, 1, 2)
    assert "budget" in ended.stopped
    ended, requests, _ = play(asked, in_turn(GOOD))
    assert (ended.done, ended.left, len(requests)) == (3, 0, 1)
    with pytest.raises(RunError, match="--prices"):
        play(replace(asked, max_cost=1.0, out=asked.out / "2"), in_turn(GOOD))
    prices = tmp_path / "prices.json"
    prices.write_text('{"openai:scripted": {"input": 1000, "output": 1000}}')
    ended, _, records = play(
        replace(asked, max_cost=0.2, prices=prices, out=asked.out / "3"), in_turn(GOOD)
    )
    assert (ended.done, ended.left) == (2, 1)
    assert records[0]["cost"] == pytest.approx(0.11)


def test_cache_makes_a_rerun_free(asked: Start, tmp_path: Path) -> None:
    cached = replace(asked, cache=tmp_path / "cache")
    play(cached, in_turn(GOOD))
    ended, requests, records = play(replace(cached, out=asked.out / "2"), in_turn(GOOD))
    assert (ended.done, ended.failed, requests) == (3, 0, [])
    assert all(record["paid"]["calls"] == 0 for record in records)
    assert all(record["usage"]["calls"] == 1 for record in records)


def test_concurrent_cases_are_each_run_once(asked: Start, tmp_path: Path) -> None:
    many = replace(asked, cases=write_cases(tmp_path / "many.csv", 24), concurrency=6)
    ended, requests, records = play(many, in_turn(GOOD))
    assert (ended.done, len(requests), len(records)) == (24, 24, 24)
    assert len((asked.out / "cases.jsonl").read_text().splitlines()) == 24


def test_rate_limit_spaces_calls(asked: Start) -> None:
    begun = time.monotonic()
    play(replace(asked, requests_per_minute=240, concurrency=3), in_turn(GOOD))
    assert time.monotonic() - begun >= 0.4


def test_a_partial_line_is_cut_off(asked: Start) -> None:
    play(asked, in_turn(GOOD))
    file = asked.out / "cases.jsonl"
    whole = file.read_bytes()
    last = whole.rstrip(b"\n").rfind(b"\n") + 1
    file.write_bytes(whole[: last + 40])
    ended, requests, records = play(asked, in_turn(GOOD))
    assert (ended.done, len(requests), len(records)) == (3, 1, 3)
    for record in records:
        assert RunFolder(asked.out).transcript(record)


KILLED = """
import sys
from pathlib import Path
from eval.systems.starting import Start, start
start(Start(system="react", domain="icd", cases=Path(sys.argv[1]), out=Path(sys.argv[2]),
            index_dir=Path(sys.argv[3]), model="openai:scripted", base_url=sys.argv[4],
            retriever="bm25", timeout=10))
"""


def test_killed_at_every_tenth_case_nothing_is_lost_or_run_twice(
    asked: Start, tmp_path: Path
) -> None:
    """The server kills the process in the middle of cases 10, 20 and 30 of 35, after the case's
    first call; the next start must replay that call, not pay for it again."""
    count = 35
    cases = write_cases(tmp_path / "many.csv", count)
    rows = cases.read_text().splitlines()
    # every case has a text of its own, so that a request tells which case it is of
    rows[1:] = [row.replace(',"', f',"Case number {n}. ', 1) for n, row in enumerate(rows[1:], 1)]
    cases.write_text("\n".join(rows) + "\n")
    running: list[subprocess.Popen[bytes]] = []
    killed: set[int] = set()
    first_calls: Counter[int] = Counter()

    def script(request: Request) -> Reply:
        number = int(last_user(request).split("Case number ")[1].split(".")[0])
        if not any(message["role"] == "tool" for message in request["messages"]):
            first_calls[number] += 1
            return Reply(tool_calls=[("open_tabular_code", {"code": "I10"})])
        if number % 10 == 0 and number not in killed:
            killed.add(number)
            running[-1].send_signal(signal.SIGKILL)
            return Reply(GOOD.text, delay=0.2)
        return GOOD

    with serving(script) as server:
        for _ in range(5):
            arguments = [str(cases), str(asked.out), str(asked.index_dir), server.url]
            process = subprocess.Popen(
                [sys.executable, "-c", KILLED, *arguments], stderr=subprocess.DEVNULL
            )
            running.append(process)
            if process.wait(timeout=120) == 0:
                break
    assert killed == {10, 20, 30}
    lines = (asked.out / "cases.jsonl").read_text().splitlines()
    ids = [json.loads(line)["case_id"] for line in lines]
    assert sorted(ids, key=int) == [str(n) for n in range(1, count + 1)]
    assert set(first_calls.values()) == {1}, "a call was paid twice"
    for record in RunFolder(asked.out).records().values():
        assert record["status"] == "ok"
        assert RunFolder(asked.out).transcript(record)
    assert not list((asked.out / "journal").iterdir())


def test_clinical_text_stays_local(asked: Start) -> None:
    with pytest.raises(RunError, match="--allow-remote-phi"):
        start(replace(asked, base_url=None))
    with pytest.raises(RunError, match="--allow-remote-phi"):
        start(replace(asked, base_url="https://1.1.1.1/v1"))
    assert not asked.out.exists()


@pytest.mark.skipif(os.name != "posix", reason="file modes")
def test_runs_over_clinical_text_are_private(asked: Start) -> None:
    play(asked, in_turn(GOOD))
    score_command(asked.out, report=False, as_json=False)
    assert stat.S_IMODE(asked.out.stat().st_mode) == 0o700
    for file in asked.out.rglob("*"):
        if file.is_file() and file.name != ".lock":
            assert stat.S_IMODE(file.stat().st_mode) == 0o600, file.name


def test_tracing_services_are_off_for_clinical_text(
    asked: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANGSMITH_TRACING", "true")
    play(replace(asked, limit=1), in_turn(GOOD))
    assert os.environ["LANGSMITH_TRACING"] == "false"


def test_a_run_file_holds_no_secret(asked: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-key")
    play(asked, in_turn(GOOD))
    for file in asked.out.rglob("*"):
        if file.is_file():
            assert b"very-secret" not in file.read_bytes()


def test_retrieval_only_needs_no_model(asked: Start) -> None:
    ended = start(replace(asked, system="retrieval-only", model=None))
    records = RunFolder(asked.out).records()
    assert (ended.done, ended.failed) == (3, 0)
    assert "E11.22" in records["1"]["prediction"]
    scored = score_run(asked.out)
    assert scored.retrieval is not None and 0 < scored.retrieval.recall <= 1


def test_a_model_is_asked_for_by_name(asked: Start) -> None:
    with pytest.raises(RunError, match="needs --model"):
        start(replace(asked, model=None))
    with pytest.raises(RunError, match="provider:model"):
        start(replace(asked, model="nonsense", base_url="http://127.0.0.1:9/v1"))


def test_cases_without_an_edition_are_told_of(asked: Start) -> None:
    text = asked.cases.read_text().replace(",2025", ",1999", 1)
    asked.cases.write_text(text)
    ended = start(replace(asked, system="retrieval-only", model=None))
    assert ended.done == 2
    assert "1 of 3 cases left out (1)" in ended.notes[0]
