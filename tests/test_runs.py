"""Runs that survive: faults, kills, budgets, caches, several cases at a time."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from llm_server import Reply, Request, in_turn, last_user, serving
from scripted_runs import (
    ANSWER,
    GOOD,
    Records,
    case_number,
    has_tool_result,
    icd_start,
    play,
    write_cases,
)

import tam.records
from eval.systems.model import rate_limit
from eval.systems.model.budget import Price, Usage, read_prices
from eval.systems.model.rate_limit import RateLimiter, Stopped, retry_after
from eval.systems.running.folder import RunFolder
from eval.systems.running.launch import run_request
from eval.systems.running.request import RunRequest
from eval.systems.running.runner import Progress
from eval.systems.scoring.scored import score_run
from tam.cli import main
from tam.errors import RunError, TamError
from tam.records import append, cut_partial_line, whole_lines


@pytest.fixture
def asked(tmp_path: Path, sample_icd_index: Path) -> RunRequest:
    return icd_start(tmp_path, sample_icd_index)


@pytest.fixture(autouse=True)
def quick_back_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limit, "FIRST_WAIT", 0.01)


# -- faults

FAULTS = [
    ("refusal", Reply(refusal="I cannot help with this."), "refusal", 1),
    ("filter in the answer", Reply("", finish="content_filter"), "content_filter", 1),
    ("filter as an error", Reply(status=400, error_code="content_filter"), "content_filter", 0),
    ("cut off", Reply('{"codes": [', finish="length"), "length", 1),
    ("no JSON at all", Reply("I think it is diabetes."), "unparsed", 1),
    ("wrong form", Reply('{"codes": [{"code": "DIABETES", "confidence": 1}]}'), "unparsed", 1),
    ("empty", Reply(""), "unparsed", 1),
    ("bad request", Reply(status=400), "bad_request", 0),
    ("server error", Reply(status=500), "server_error", 0),
    (
        "rate limit that stays",
        Reply(status=429, headers={"Retry-After": "0.01"}),
        "rate_limited",
        0,
    ),
    ("body that is no JSON", Reply(raw=b"<html>oops"), "bad_response", 0),
    ("JSON of another kind", Reply(raw=b'{"hello": 1}'), "bad_response", 0),
    ("a stream that breaks off", Reply(GOOD.text, broken="cut"), "connection", 0),
    ("an error in a stream", Reply(GOOD.text, broken="error"), "server_error", 0),
]


BOTH = [(*row, streaming) for row in FAULTS for streaming in (False, True)]
BOTH = [row for row in BOTH if row[-1] or not row[1].broken]


@pytest.mark.parametrize(
    ("name", "reply", "status", "paid", "streaming"),
    BOTH,
    ids=[f"{row[0]}, {'stream' if row[-1] else 'whole'}" for row in BOTH],
)
def test_each_fault_is_a_status_of_its_own(
    asked: RunRequest, name: str, reply: Reply, status: str, paid: int, streaming: bool
) -> None:
    some = replace(asked, limit=1, retries=1, repairs=0, streaming=streaming)
    ended, _, records = play(some, in_turn(reply))
    assert (ended.done, ended.failed) == (1, 1)
    assert records[0]["status"] == status
    assert records[0]["prediction"] is None
    assert records[0]["detail"]
    # An answer that cannot be used was paid for all the same.
    assert records[0]["paid"]["calls"] == paid
    assert records[0]["paid"]["input"] == 100 * paid


@pytest.mark.parametrize("system", ["react", "harness", "agentic"])
def test_a_fault_in_the_middle_of_an_agent_is_a_status_too(asked: RunRequest, system: str) -> None:
    def script(request: Request) -> Reply:
        return Reply("", finish="content_filter") if has_tool_result(request) else looking(request)

    ended, _, records = play(replace(asked, system=system, limit=1), script)
    assert (ended.failed, records[0]["status"]) == (1, "content_filter")
    assert records[0]["paid"]["calls"] == 2
    assert records[0]["looks"]


def looking(request: Request) -> Reply:
    """A call of the first tool that a request offers."""
    name = request["tools"][0]["function"]["name"]
    for offered in (t["function"]["name"] for t in request["tools"]):
        if offered in ("open_tabular_code", "list_index_terms", "search_icd_manuals"):
            name = offered
    arguments = {"list_index_terms": {"prefix": "D"}, "search_icd_manuals": {"query": "diabetes"}}
    return Reply(tool_calls=[(name, arguments.get(name, {"code": "I10"}))])


def test_time_out_is_a_status(asked: RunRequest) -> None:
    slow = Reply(json.dumps(ANSWER), delay=1.0)
    ended, _, records = play(replace(asked, limit=1, retries=0, timeout=0.2), in_turn(slow))
    assert (ended.failed, records[0]["status"]) == (1, "timeout")


def test_a_closed_port_is_a_status(asked: RunRequest) -> None:
    ended = run_request(replace(asked, base_url="http://127.0.0.1:9/v1", limit=1, retries=1))
    assert ended.failed == 1
    record = RunFolder(asked.out).records()["1"]
    assert (record["status"], record["retries"]) == ("connection", 1)


def test_a_fault_of_ours_ends_one_case_only(
    asked: RunRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    from eval.systems.solvers import single_pass

    def broken(state: Any, messages: Any) -> Any:
        if "Case number 2." in state.case.text:
            raise KeyError(state.case.text)
        return whole(state, messages)

    whole = single_pass.ask
    monkeypatch.setattr(single_pass, "ask", broken)
    ended, _, records = play(asked, in_turn(GOOD))
    assert (ended.done, ended.failed) == (3, 1)
    assert [record["status"] for record in records] == ["ok", "fault", "ok"]
    assert records[1]["detail"].startswith("KeyError in test_runs.py")


REFUSALS = [
    (Reply(status=401), "refuses the call"),
    (Reply(status=404), "refuses the call"),
    (Reply(status=429, error_code="insufficient_quota"), "quota is used up"),
]


@pytest.mark.parametrize(("reply", "message"), REFUSALS)
def test_what_would_fail_for_every_case_ends_the_run(
    asked: RunRequest, reply: Reply, message: str
) -> None:
    with serving(in_turn(reply)) as server:
        with pytest.raises(RunError, match=message):
            run_request(replace(asked, base_url=server.url))
        assert len(server.requests) == 1
    assert RunFolder(asked.out).records() == {}
    # Nothing was asked yet: the next start may correct the name.
    ended, _, _ = play(replace(asked, model="openai:other"), in_turn(GOOD))
    assert ended.done == 3


# -- retries


def test_retry_after_is_honoured_and_paid_once(asked: RunRequest) -> None:
    replies = in_turn(
        Reply(status=429, headers={"Retry-After": "0.5"}),
        Reply(status=503),
        Reply(status=500),
        GOOD,
    )
    begun = time.monotonic()
    _, requests, records = play(replace(asked, limit=1, retries=3), replies)
    assert time.monotonic() - begun >= 0.5
    assert len(requests) == 4
    assert records[0]["paid"] == {"input": 100, "output": 10, "cached_input": 0, "calls": 1}
    assert records[0]["retries"] == 3


NOW = datetime(2025, 1, 1, 12, 0, 0, tzinfo=UTC)
ASKED = [
    ({"retry-after": "2"}, 2.0),
    ({"retry-after": "0.25"}, 0.25),
    ({"retry-after-ms": "1500"}, 1.5),
    ({"retry-after": format_datetime(NOW + timedelta(seconds=90), usegmt=True)}, 90.0),
    ({"retry-after": "Wed, 01 Jan 2025 12:01:00 GMT"}, 60.0),
    ({"retry-after": "Wed, 01 Jan 2025 11:00:00 GMT"}, 0.0),
    ({"retry-after": "-5"}, 0.0),
    ({"retry-after": "soon"}, None),
    ({}, None),
]


@pytest.mark.parametrize(("headers", "seconds"), ASKED)
def test_what_a_server_asks_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, NOW) == seconds


def test_a_longer_wait_than_is_sensible_is_a_status(asked: RunRequest) -> None:
    reply = Reply(status=429, headers={"Retry-After": "86400"})
    _, requests, records = play(replace(asked, limit=1, retries=5), in_turn(reply))
    assert (len(requests), records[0]["status"]) == (1, "rate_limited")


def test_one_retry_after_holds_all_cases_back(asked: RunRequest) -> None:
    times: list[float] = []

    def script(request: Request) -> Reply:
        times.append(time.monotonic())
        if len(times) == 1:
            return Reply(status=429, headers={"Retry-After": "0.6"})
        return GOOD

    play(replace(asked, concurrency=1), script)
    assert times[1] - times[0] >= 0.6
    limiter = RateLimiter()
    limiter.hold(0.3)
    begun = time.monotonic()
    for thread in [threading.Thread(target=limiter.wait) for _ in range(3)]:
        thread.start()
        thread.join()
    assert time.monotonic() - begun >= 0.3


def test_waiting_ends_when_the_run_is_stopped() -> None:
    limiter = RateLimiter()
    threading.Timer(0.05, limiter.stop).start()
    begun = time.monotonic()
    with pytest.raises(Stopped):
        limiter.sleep(30)
    assert time.monotonic() - begun < 10


def test_rate_limit_spaces_calls(asked: RunRequest) -> None:
    times: list[float] = []

    def script(request: Request) -> Reply:
        times.append(time.monotonic())
        return GOOD

    play(replace(asked, requests_per_minute=300, concurrency=3), script)
    assert times[2] - times[0] >= 0.35


# -- resume


def test_a_finished_run_asks_nothing_again(asked: RunRequest) -> None:
    play(asked, in_turn(GOOD))
    before = (asked.out / "cases.jsonl").read_bytes()
    ended, requests, _ = play(asked, in_turn(GOOD))
    assert (ended.done, requests) == (3, [])
    assert (asked.out / "cases.jsonl").read_bytes() == before


def test_retry_failed_runs_only_failures(asked: RunRequest) -> None:
    play(asked, in_turn(GOOD, Reply(refusal="no"), GOOD))
    ended, requests, _ = play(asked, in_turn(GOOD))
    assert (ended.failed, requests) == (1, [])
    ended, requests, records = play(replace(asked, retry_failed=True), in_turn(GOOD))
    assert (ended.done, ended.failed, len(requests)) == (3, 0, 1)
    assert [record["status"] for record in records] == ["ok"] * 3
    assert len((asked.out / "cases.jsonl").read_text().splitlines()) == 4
    assert ended.usage.calls == 4, "what the failure cost counts"
    for record in records:
        assert RunFolder(asked.out).transcript(record)


DIFFERENT: list[tuple[dict[str, Any], str]] = [
    ({"hits": 9}, "hits = 8, not 9"),
    ({"model": "openai:other"}, "model"),
    ({"system": "react"}, "system"),
    ({"seed": 3}, "seed"),
    ({"limit": 2}, "jobs|limit"),
]


@pytest.mark.parametrize(("change", "message"), DIFFERENT)
def test_other_settings_are_refused(
    asked: RunRequest, change: dict[str, Any], message: str
) -> None:
    play(asked, in_turn(GOOD))
    with pytest.raises(RunError, match=message):
        play(replace(asked, **change), in_turn(GOOD))
    ended, requests, _ = play(replace(asked, concurrency=2, timeout=3), in_turn(GOOD))
    assert (ended.done, requests) == (3, []), "how fast is not what"


def test_another_index_prompt_or_case_file_is_refused(
    asked: RunRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    play(asked, in_turn(GOOD))
    config = json.loads((asked.out / "config.json").read_text())
    for name in ("index", "index_inputs", "cases_sha256", "prompts"):
        other = {**config, name: "0" * 64}
        (asked.out / "config.json").write_text(json.dumps(other))
        with pytest.raises(RunError, match=f"started with {name} = "):
            play(asked, in_turn(GOOD))
    (asked.out / "config.json").unlink()
    with pytest.raises(RunError, match=r"no config\.json"):
        play(asked, in_turn(GOOD))


def test_a_config_names_what_the_run_is_known_by(asked: RunRequest) -> None:
    play(replace(asked, seed=7), in_turn(GOOD))
    config = json.loads((asked.out / "config.json").read_text())
    assert {"system", "model", "prompts", "index", "seed", "tool_version"} <= set(config)
    assert (config["seed"], config["endpoint"], config["jobs"]) == (7, "local", 3)
    assert all(len(digest) == 64 for digest in config["prompts"].values())
    text = json.dumps(config)
    assert str(asked.out.parent) not in text and "127.0.0.1" not in text


def test_a_partial_line_is_cut_off(asked: RunRequest) -> None:
    play(asked, in_turn(GOOD))
    file = asked.out / "cases.jsonl"
    whole = file.read_bytes()
    last = whole.rstrip(b"\n").rfind(b"\n") + 1
    file.write_bytes(whole[: last + 40])
    assert len(score_run(asked.out).records) == 2
    assert len(file.read_bytes()) == last + 40, "scoring must not touch what a run may be writing"
    ended, requests, records = play(asked, in_turn(GOOD))
    assert (ended.done, len(requests), len(records)) == (3, 1, 3)
    for record in records:
        assert RunFolder(asked.out).transcript(record)


def test_a_damaged_line_is_named(asked: RunRequest) -> None:
    play(asked, in_turn(GOOD))
    file = asked.out / "cases.jsonl"
    file.write_text("{}\n" + file.read_text())
    with pytest.raises(RunError, match=r"cases.jsonl:1: not a case's record"):
        play(asked, in_turn(GOOD))


@pytest.mark.parametrize("system", ["react", "harness"])
def test_a_case_that_was_cut_short_goes_on_from_its_journal(asked: RunRequest, system: str) -> None:
    """Stopped by the budget after each call, a case still asks and pays for each call once."""

    def script(request: Request) -> Reply:
        return GOOD if has_tool_result(request) or not request.get("tools") else looking(request)

    whole = replace(asked, system=system, limit=1, out=asked.out / "whole")
    _, expected, _ = play(whole, script)
    asked_for: list[Request] = []
    for calls in range(1, len(expected) + 1):
        some = replace(asked, system=system, limit=1, max_tokens=110 * calls)
        ended, requests, records = play(some, script)
        asked_for += requests
        assert ended.usage.total == 110 * calls
    assert len(asked_for) == len(expected)
    assert [r["messages"] for r in asked_for] == [r["messages"] for r in expected]
    assert records[0]["paid"]["calls"] == len(expected)
    assert records[0]["prediction"] == ["E11.22"]


KILLED = """
import sys
from pathlib import Path
from dataclasses import replace
from eval.systems.running.launch import run_request
sys.path.insert(0, sys.argv[5])
from scripted_runs import icd_start
asked = icd_start(Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[1]))
run_request(replace(asked, system="react", base_url=sys.argv[4]))
"""


def test_killed_at_every_tenth_case_nothing_is_lost_or_run_twice(
    asked: RunRequest, tmp_path: Path
) -> None:
    """The server kills the process in the middle of cases 10, 20 and 30 of 35, after the case's
    first call; the next start must replay that call, not pay for it again."""
    count = 35
    running: list[subprocess.Popen[bytes]] = []
    killed: set[int] = set()
    first_calls: Counter[int] = Counter()

    def script(request: Request) -> Reply:
        number = case_number(request)
        if not has_tool_result(request):
            first_calls[number] += 1
            return Reply(tool_calls=[("open_tabular_code", {"code": "I10"})])
        if number % 10 == 0 and number not in killed:
            killed.add(number)
            running[-1].send_signal(signal.SIGKILL)
            return Reply(GOOD.text, delay=0.2)
        return GOOD

    with serving(script) as server:
        for _ in range(5):
            arguments = [str(count), str(tmp_path), str(asked.index_dir), server.url]
            process = subprocess.Popen(
                [sys.executable, "-c", KILLED, *arguments, str(Path(__file__).parent)],
                stderr=subprocess.PIPE,
            )
            running.append(process)
            _, said = process.communicate(timeout=120)
            if process.returncode == 0:
                break
            assert process.returncode == -signal.SIGKILL, said.decode()
    assert killed == {10, 20, 30}
    lines = (asked.out / "cases.jsonl").read_text().splitlines()
    ids = [json.loads(line)["case_id"] for line in lines]
    assert sorted(ids, key=int) == [str(n) for n in range(1, count + 1)]
    assert set(first_calls.values()) == {1}, "a call was paid twice"
    for record in RunFolder(asked.out).records().values():
        assert record["status"] == "ok"
        assert RunFolder(asked.out).transcript(record)
    assert not list((asked.out / "journal").iterdir())


INTERRUPTED = """
import sys
from tam.cli import run
run(sys.argv[1:])
"""


def test_interrupted_by_the_keyboard_a_run_ends_whole(asked: RunRequest) -> None:
    running: list[subprocess.Popen[str]] = []
    first_calls: Counter[int] = Counter()

    def script(request: Request) -> Reply:
        number = case_number(request)
        if has_tool_result(request):
            return GOOD
        first_calls[number] += 1
        if number == 2 and running[-1].poll() is None:
            running[-1].send_signal(signal.SIGINT)
            return Reply(tool_calls=[("open_tabular_code", {"code": "I10"})], delay=0.2)
        return Reply(tool_calls=[("open_tabular_code", {"code": "I10"})])

    with serving(script) as server:
        arguments = ["run", "react", "--domain", "icd", "--cases", str(asked.cases), "--retriever"]
        arguments += ["bm25", "--index", str(asked.index_dir), "--model", "openai:scripted"]
        arguments += ["--base-url", server.url, "--out", str(asked.out)]
        running.append(
            subprocess.Popen(
                [sys.executable, "-c", INTERRUPTED, *arguments],
                stderr=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                text=True,
            )
        )
        _, said = running[0].communicate(timeout=120)
        assert running[0].returncode == 130, said
        assert "tam: interrupted" in said and "Traceback" not in said
        assert list(RunFolder(asked.out).records()) == ["1"]
        again = replace(asked, system="react", base_url=server.url, timeout=300.0)
        assert run_request(again).done == 3
    assert dict(first_calls) == {1: 1, 2: 1, 3: 1}, "the call before the stop was not paid again"


WITHOUT = """
import sys
from pathlib import Path

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("langchain", "langchain_core", "langchain_openai", "langgraph",
                                  "deepagents", "openai", "tenacity", "jinja2", "langsmith"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocked())
from tam.cli import run
run(sys.argv[1:])
"""


def test_without_the_language_model_packages_the_rest_works(asked: RunRequest) -> None:
    run = ["--domain", "icd", "--cases", str(asked.cases), "--retriever", "bm25"]
    run += ["--index", str(asked.index_dir), "--out"]

    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", WITHOUT, *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=120)

    done = call("run", "retrieval-only", *run, str(asked.out))
    assert (done.returncode, "3 done" in done.stdout) == (0, True), done.stderr
    model = ["--model", "openai:x", "--base-url", "http://127.0.0.1:9/v1"]
    done = call("run", "single-pass", *run, str(asked.out / "2"), *model)
    assert done.returncode == 2 and "pip install -e '.[llm]'" in done.stderr
    assert "Traceback" not in done.stderr


# -- budget, price, cache


def test_budget_stops_cleanly_and_goes_on(asked: RunRequest, tmp_path: Path) -> None:
    ended, requests, _ = play(replace(asked, max_tokens=200), in_turn(GOOD))
    assert (ended.done, ended.left, len(requests)) == (2, 1, 2)
    assert ended.stopped == "220 tokens of 200 are used"
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
    assert ended.cost == pytest.approx(0.22)


def test_price_of_cached_input() -> None:
    usage = Usage(input=1_000_000, output=100_000, cached_input=400_000, calls=3)
    assert Price(1.25, 10.0, 0.125).cost(usage) == pytest.approx(0.6 * 1.25 + 0.4 * 0.125 + 1.0)
    assert Price(1.25, 10.0).cost(usage) == pytest.approx(2.25)


PRICES = ["[]", "{", '{"m": {"input": 1}}', '{"m": {"input": "x", "output": 1}}', '{"m": 3}']
PRICES += ['{"m": {"input": -1, "output": 1}}', '{"m": {"input": NaN, "output": 1}}']


@pytest.mark.parametrize("text", PRICES)
def test_a_price_table_of_another_form_is_named(tmp_path: Path, text: str) -> None:
    file = tmp_path / "prices.json"
    file.write_text(text)
    with pytest.raises(RunError, match=r"prices\.json: not a price table"):
        read_prices(file)


def test_a_model_without_a_price_is_named(asked: RunRequest, tmp_path: Path) -> None:
    file = tmp_path / "prices.json"
    file.write_text('{"openai:gpt-5": {"input": 1.25, "output": 10}}')
    with pytest.raises(RunError, match="no price for openai:scripted"):
        play(replace(asked, prices=file), in_turn(GOOD))


def test_cache_makes_a_rerun_free(asked: RunRequest, tmp_path: Path) -> None:
    cached = replace(asked, cache=tmp_path / "cache", max_tokens=10_000)
    with serving(in_turn(GOOD)) as server:
        run_request(replace(cached, base_url=server.url))
        paid = len(server.requests)
        again = replace(cached, base_url=server.url, out=asked.out / "2")
        ended = run_request(again)
        assert (paid, len(server.requests)) == (3, 3)
        assert (ended.done, ended.failed, ended.usage.calls) == (3, 0, 0)
        for record in RunFolder(again.out).records().values():
            assert record["paid"]["calls"] == 0
            assert record["usage"]["calls"] == 1
        for change in ({"temperature": 0.5}, {"seed": 3}, {"max_output_tokens": 99}):
            run_request(replace(again, out=asked.out / str(change), limit=1, **change))
        assert len(server.requests) == 6, "other settings are other requests"
    _, requests, _ = play(replace(cached, out=asked.out / "4", limit=1), in_turn(GOOD))
    assert len(requests) == 1, "another server may have another model under the name"


def test_a_retry_asks_again_in_spite_of_the_cache(asked: RunRequest, tmp_path: Path) -> None:
    cached = replace(asked, cache=tmp_path / "cache", limit=1)
    with serving(in_turn(Reply(refusal="no"), GOOD)) as server:
        assert run_request(replace(cached, base_url=server.url)).failed == 1
        assert run_request(replace(cached, base_url=server.url, retry_failed=True)).failed == 0
        again = run_request(replace(cached, base_url=server.url, out=asked.out / "2"))
        assert (again.failed, len(server.requests)) == (0, 2), "the better answer is kept"


def test_half_characters_in_an_answer_are_no_fault(asked: RunRequest, tmp_path: Path) -> None:
    text = json.dumps({**ANSWER, "sections": ["\ud800 half"]})
    some = replace(asked, limit=1, cache=tmp_path / "cache")
    _, _, records = play(some, in_turn(Reply(text)))
    assert records[0]["status"] == "ok"
    assert RunFolder(asked.out).transcript(records[0])


# -- several at a time


def test_concurrent_cases_are_each_run_once(asked: RunRequest, sample_icd_index: Path) -> None:
    """Each thread looks things up in one index and library, which are not made for threads."""

    def script(request: Request) -> Reply:
        return GOOD if has_tool_result(request) else looking(request)

    write_cases(asked.cases, 24)
    for system in ("agentic", "react"):
        many = replace(asked, system=system, concurrency=8, out=asked.out / system)
        ended, requests, records = play(many, script)
        assert (ended.done, len(requests), len(records)) == (24, 48, 24)
        assert {record["status"] for record in records} == {"ok"}
        assert Counter(map(case_number, requests)) == dict.fromkeys(range(1, 25), 2)
        assert len((many.out / "cases.jsonl").read_text().splitlines()) == 24
        assert all(record["looks"][0]["sections"] for record in records)


def test_an_error_stops_the_other_cases_at_their_next_call(asked: RunRequest) -> None:
    def script(request: Request) -> Reply:
        if case_number(request) == 1:
            return Reply(status=401)
        return Reply(tool_calls=[("open_tabular_code", {"code": "I10"})], delay=0.05)

    with serving(script) as server:
        with pytest.raises(RunError, match="refuses"):
            run_request(replace(asked, system="react", concurrency=3, base_url=server.url))
        assert len(server.requests) < 10


def test_two_processes_are_not_at_one_run(asked: RunRequest) -> None:
    folder = RunFolder(asked.out, private=True)
    with folder.opened(), pytest.raises(RunError, match="another process is at this run"):
        play(asked, in_turn(GOOD))
    ended, _, _ = play(asked, in_turn(GOOD))
    assert ended.done == 3


# -- the disk


def test_a_full_disk_is_one_line_and_loses_nothing(
    asked: RunRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = 0

    def full(handle: int, data: Any) -> int:
        nonlocal written
        written += 1
        if written == 8:
            return os.write(handle, bytes(data)[:10])
        if written > 8:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return whole(handle, data)

    whole = os.write
    monkeypatch.setattr(tam.records, "os", _Os(full))
    with pytest.raises(RunError, match=r"(journal|jsonl|gz).*No space left on device"):
        play(asked, in_turn(GOOD))
    monkeypatch.undo()
    for file in asked.out.rglob("*.jsonl"):
        assert file.read_bytes()[-1:] in (b"\n", b""), "no half line stays"
    ended, _, records = play(asked, in_turn(GOOD))
    assert (ended.done, len(records)) == (3, 3)
    assert ended.usage.calls in (3, 4), "at most the call whose answer found no room"


class _Os:
    """The module ``os`` with another ``write``."""

    def __init__(self, write: Any) -> None:
        self.write = write

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)


def test_a_folder_that_cannot_be_made_is_one_line(asked: RunRequest, tmp_path: Path) -> None:
    blocked = tmp_path / "a file"
    blocked.write_text("x")
    with pytest.raises(RunError, match="a file"):
        play(replace(asked, out=blocked / "run"), in_turn(GOOD))
    with pytest.raises(RunError, match="a file"):
        play(replace(asked, cache=blocked / "cache"), in_turn(GOOD))


def test_appending_and_cutting(tmp_path: Path) -> None:
    file = tmp_path / "lines"
    assert append(file, b"one\n") == 0
    assert append(file, b"two") == 4
    assert whole_lines(file) == ["one"]
    cut_partial_line(file)
    assert file.read_bytes() == b"one\n"
    assert whole_lines(tmp_path / "absent") == []


# -- starting and the command


def test_a_model_is_asked_for_by_name(asked: RunRequest) -> None:
    with pytest.raises(RunError, match="needs --model"):
        run_request(replace(asked, model=None))
    other = replace(asked, model="nonsense", allow_remote_phi=True)
    with pytest.raises(RunError, match="provider:model"):
        run_request(replace(other, base_url="http://127.0.0.1:9/v1"))
    with pytest.raises(RunError, match="is not installed"):
        run_request(replace(other, model="cohere:command"))
    assert not asked.out.exists()


def test_an_index_that_cannot_be_searched_so_is_told_of_before_all_else(asked: RunRequest) -> None:
    dense = replace(asked, search=replace(asked.search, reranker="./no such folder"))
    with pytest.raises(TamError):
        play(dense, in_turn(GOOD))
    assert not asked.out.exists()


def test_cases_without_an_edition_are_told_of(asked: RunRequest) -> None:
    text = asked.cases.read_text().replace(",2025", ",1999", 1)
    asked.cases.write_text(text)
    ended = run_request(replace(asked, system="retrieval-only", model=None))
    assert ended.done == 2
    assert "1 of 3 cases left out (1)" in ended.notes[0]
    assert score_run(asked.out).to_json()["left_out"] == 1


def test_columns_can_have_other_names(asked: RunRequest) -> None:
    asked.cases.write_text(asked.cases.read_text().replace("input_text", "note"))
    run = ["run", "retrieval-only", "--domain", "icd", "--cases", str(asked.cases)]
    run += ["--index", str(asked.index_dir), "--retriever", "bm25", "--out", str(asked.out)]
    code, _, errors = command(*run)
    assert code == 2 and "--column" in errors
    code, said, _ = command(*run, "--column", "text=note")
    assert code == 0 and "3 done" in said


def test_the_progress_line_has_done_failed_cost_and_time_left() -> None:
    progress = Progress(total=10, done=4, failed=1, cost=0.5, tokens=1200, ended_here=2)
    progress.started = time.monotonic() - 60
    assert progress.line() == "4/10 done, 1 failed, 1,200 tokens, $0.50, 3.0 min left"
    assert "left" not in Progress(total=10, done=4).line()


def command(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(main, list(arguments), standalone_mode=False)
    if result.exception is not None:
        return 2, result.stdout, str(result.exception)
    code = result.return_value if isinstance(result.return_value, int) else 0
    return code, result.stdout, result.stderr


def test_the_commands_from_run_to_comparison(asked: RunRequest) -> None:
    with serving(in_turn(GOOD)) as server:
        run = ["run", "single-pass", "--domain", "icd", "--cases", str(asked.cases), "--retriever"]
        run += ["bm25", "--index", str(asked.index_dir), "--model", "openai:scripted"]
        run += ["--base-url", server.url, "--out", str(asked.out)]
        code, said, errors = command(*run, "--max-tokens", "150")
        assert (code, "2 done" in said, "1 left" in said) == (3, True, True)
        assert "stopped by the budget, 220 tokens of 150" in errors
        code, said, _ = command("score", str(asked.out))
        assert code == 0 and "NOT FINISHED: 1 cases" in said
        code, said, _ = command(*run)
        assert code == 0 and "3 done, 0 of them failed, 330 tokens" in said
        code, said, errors = command(*run[:1], "agentic", *run[2:])
        assert code == 2 and "system = " in errors
    code, said, _ = command("score", str(asked.out), "--json")
    assert json.loads(said)["groups"][0]["cases"] == 3
    code, said, _ = command("score", "compare", str(asked.out), str(asked.out))
    assert code == 0 and "paired randomisation test over 3 cases" in said
    code, _, errors = command("score", str(asked.out / "nowhere"))
    assert code == 2 and "no run here" in errors
    code, _, errors = command("score", "compare", str(asked.out))
    assert code == 2 and "two runs" in errors


def test_transcripts_hold_what_was_said(asked: RunRequest) -> None:
    _, requests, records = play(replace(asked, limit=1), in_turn(GOOD))
    steps = RunFolder(asked.out).transcript(records[0])
    assert [step["kind"] for step in steps] == ["tool", "user", "model"]
    assert steps[1]["text"] == last_user(requests[0])
    assert steps[2]["text"] == GOOD.text
    assert (asked.out / "transcripts.gz").read_bytes()[:2] == b"\x1f\x8b"
    (asked.out / "transcripts.gz").write_bytes(b"damaged" * 1000)
    with pytest.raises(RunError, match="scores do not need it"):
        RunFolder(asked.out).transcript(records[0])
    assert score_run(asked.out).groups[0].cases == 1


def test_records_are_complete(asked: RunRequest) -> None:
    _, _, records = play(replace(asked, limit=1), in_turn(GOOD))
    wanted: set[str] = {"prediction", "status", "looks", "tool_calls", "usage", "cost", "seconds"}
    assert wanted <= set(records[0])
    assert records[0]["answer"]["codes"][0]["evidence"] == "e"
    first: Records = records[0]["looks"]
    assert set(first[0]) == {"hop", "tool", "stage", "query", "sections", "golds", "error"}
