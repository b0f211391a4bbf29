"""Clinical text stays on this machine, and no secret or case text gets where it can be read."""

from __future__ import annotations

import gzip
import json
import os
import socket
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from llm_server import Reply, Request, in_turn, serving
from scripted_runs import GOOD, icd_start, play

from eval.domains.model import DOMAINS
from eval.systems.model.failures import CallFailed, failure_of
from eval.systems.model.privacy import TRACING, endpoint, guard, is_local, kept_private
from eval.systems.running.folder import RunFolder
from eval.systems.running.launch import run_request
from eval.systems.running.request import RunRequest
from eval.systems.scoring.commands import score_command
from tam.errors import RunError

#: words that stand in every case of these tests and nowhere else
CANARY = "Zebrafinch"


@pytest.fixture
def asked(tmp_path: Path, sample_icd_index: Path) -> RunRequest:
    made = icd_start(tmp_path, sample_icd_index)
    made.cases.write_text(made.cases.read_text().replace("Case number", f"{CANARY} Case number"))
    return made


ADDRESSES = [
    ("http://127.0.0.1:8000/v1", True),
    ("http://127.8.9.10/v1", True),
    ("http://[::1]:8000/v1", True),
    ("http://localhost:11434/v1", True),
    ("http://10.1.2.3/v1", True),
    ("http://172.16.0.1/v1", True),
    ("http://172.32.0.1/v1", False),
    ("https://192.168.1.5/v1", True),
    ("http://169.254.1.1/v1", True),
    ("http://[fd00::1]/v1", True),
    ("http://[fe80::1]/v1", True),
    ("http://[::ffff:10.0.0.1]/v1", True),
    ("http://[::ffff:1.1.1.1]/v1", False),
    ("http://[2606:4700::1111]/v1", False),
    ("https://1.1.1.1/v1", False),
    ("http://100.64.0.1/v1", False),
    ("http://192.0.2.1/v1", False),
    ("http://0.0.0.0/v1", False),
    ("http://no-such-host.invalid/v1", False),
    (None, False),
    ("", False),
]


@pytest.mark.parametrize(("url", "local"), ADDRESSES)
def test_which_addresses_are_local(url: str | None, local: bool) -> None:
    assert is_local(url) is local


def test_a_name_is_local_only_when_all_its_addresses_are(monkeypatch: pytest.MonkeyPatch) -> None:
    def resolve(*addresses: str) -> None:
        answers = [(0, 0, 0, "", (address, 0)) for address in addresses]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *a, **k: answers)

    resolve("10.0.0.1", "192.168.0.1")
    assert is_local("http://llm.hospital/v1")
    resolve("10.0.0.1", "8.8.8.8")
    assert not is_local("http://llm.hospital/v1")


ODD = [
    "http://127.0.0.1@example.com/v1",
    "http://user:secret@127.0.0.1/v1",
    "http://example.com\\@127.0.0.1/v1",
    "ftp://127.0.0.1/v1",
    "127.0.0.1:8000",
    "http://127.0.0.1/v1?x=http://example.com",
    "http://127.0.0.1 /v1",
]


@pytest.mark.parametrize("url", ODD)
def test_an_odd_address_is_refused_and_not_repeated(asked: RunRequest, url: str) -> None:
    with pytest.raises(RunError, match="not a plain HTTP address") as caught:
        run_request(replace(asked, base_url=url))
    assert "secret" not in str(caught.value)
    assert not asked.out.exists()


def test_clinical_text_stays_local(asked: RunRequest) -> None:
    for base_url in (None, "https://1.1.1.1/v1", "http://[::ffff:1.1.1.1]/v1"):
        with pytest.raises(RunError, match=r"protected health information.*--allow-remote-phi"):
            run_request(replace(asked, base_url=base_url))
    for model in ("anthropic:claude", "google_genai:gemini", "azure_openai:gpt-5", "gpt-5"):
        with pytest.raises(RunError, match="openai:MODEL"):
            run_request(replace(asked, model=model, base_url="http://127.0.0.1:9/v1"))
    assert not asked.out.exists()
    guard(DOMAINS["icd"], "openai:gpt-5", None, True)
    guard(DOMAINS["legal"], "openai:gpt-5", None, False)


def test_the_environments_endpoint_is_the_one_that_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:8000/v1")
    assert endpoint(None) == "http://127.0.0.1:8000/v1"
    assert endpoint("https://1.1.1.1/v1") == "https://1.1.1.1/v1"
    monkeypatch.setenv("OPENAI_API_BASE", "https://1.1.1.1/v1")
    assert endpoint(None) == "https://1.1.1.1/v1"


def test_no_proxy_sees_what_is_meant_for_a_local_endpoint(
    asked: RunRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(in_turn(GOOD)) as proxy:
        address = proxy.url.removesuffix("/v1")
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "OPENAI_PROXY"):
            monkeypatch.setenv(name, address)
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        ended, requests, _ = play(replace(asked, limit=1), in_turn(GOOD))
        assert (ended.failed, len(requests), len(proxy.requests)) == (0, 1, 0)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_no_redirect_carries_a_case_on(asked: RunRequest, status: int) -> None:
    with (
        serving(in_turn(GOOD)) as other,
        serving(
            in_turn(Reply(status=status, headers={"Location": f"{other.url}/chat/completions"}))
        ) as server,
    ):
        with pytest.raises(RunError, match="redirects"):
            run_request(replace(asked, base_url=server.url))
        assert (len(server.requests), len(other.requests)) == (1, 0)


@pytest.mark.skipif(os.name != "posix", reason="file modes")
def test_runs_over_clinical_text_are_private(asked: RunRequest, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cache.mkdir(mode=0o755)
    asked.out.mkdir(mode=0o755)
    journals: list[Path] = []

    def script(request: Request) -> Reply:
        if any(message["role"] == "tool" for message in request["messages"]):
            journals.extend(asked.out.rglob("journal/*"))
            for file in journals:
                assert stat.S_IMODE(file.stat().st_mode) == 0o600
            return GOOD
        return Reply(tool_calls=[("open_tabular_code", {"code": "I10"})])

    old = os.umask(0o022)
    try:
        play(replace(asked, system="react", cache=cache), script)
        score_command(asked.out, report=True, as_json=False)
    finally:
        os.umask(old)
    assert journals
    names = {file.name for file in asked.out.iterdir()}
    assert {"config.json", "cases.jsonl", "transcripts.gz", "metrics.json", "report.html"} <= names
    assert stat.S_IMODE(asked.out.stat().st_mode) == 0o700
    assert stat.S_IMODE(cache.stat().st_mode) == 0o700
    for file in [*asked.out.rglob("*"), *cache.rglob("*")]:
        if file.is_file():
            assert stat.S_IMODE(file.stat().st_mode) == 0o600, file.name
    assert any(cache.rglob("*.json"))


def test_runs_over_other_text_are_not(sample_legal_index: Path, tmp_path: Path) -> None:
    cases = tmp_path / "legal.csv"
    cases.write_text("docket_id,input,output,year\n1,A theft of mail.,6,2024\n")
    out = tmp_path / "run"
    old = os.umask(0o022)
    try:
        asked = icd_start(tmp_path, sample_legal_index)
        legal = replace(asked, domain="legal", cases=cases, out=out, system="retrieval-only")
        run_request(replace(legal, model=None))
    finally:
        os.umask(old)
    assert stat.S_IMODE((out / "cases.jsonl").stat().st_mode) == 0o644


@pytest.mark.parametrize("allowed", [False, True])
def test_tracing_services_are_off_for_clinical_text(
    asked: RunRequest, monkeypatch: pytest.MonkeyPatch, allowed: bool
) -> None:
    """Even when the endpoint is allowed: an agreement with it covers no tracing service, and even
    when LangSmith has read its settings before."""
    from langsmith.utils import tracing_is_enabled

    for name in TRACING:
        monkeypatch.setenv(name, "true")
    with serving(in_turn(Reply(status=500))) as service:
        monkeypatch.setenv("LANGSMITH_ENDPOINT", service.url)
        monkeypatch.setenv("LANGSMITH_API_KEY", "key")
        tracing_is_enabled()
        some = replace(asked, system="harness", limit=1, allow_remote_phi=allowed)
        ended, _, _ = play(some, in_turn(GOOD))
        assert ended.done == 1
        assert service.requests == []
    with kept_private(True):
        assert not tracing_is_enabled()
    assert os.environ["LANGSMITH_TRACING"] == "false"


def test_a_run_file_holds_no_secret(asked: RunRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-key")
    play(asked, in_turn(GOOD))
    for file in asked.out.rglob("*"):
        if file.is_file():
            data = file.read_bytes()
            data = gzip.decompress(data) if file.suffix == ".gz" else data
            assert b"very-secret" not in data


def echo(request: Request, **reply: Any) -> Reply:
    """A server that repeats what it was sent in its error."""
    return Reply(error=f"cannot do: {json.dumps(request['messages'])[-400:]}", **reply)


RUN = """
import sys
from dataclasses import replace
from pathlib import Path
sys.path.insert(0, sys.argv[5])
from scripted_runs import icd_start
from tam.cli import run
run(["run", sys.argv[1], "--domain", "icd", "--cases", sys.argv[2], "--out", sys.argv[3],
     "--index", sys.argv[4], "--retriever", "bm25", "--model", "openai:scripted", "--base-url",
     sys.argv[6], "--timeout", "5", "--retries", "1"])
"""


@pytest.mark.parametrize(
    ("system", "status", "code"),
    [
        ("single-pass", 400, 0),
        ("harness", 500, 0),
        ("single-pass", 401, 2),
        ("react", 429, 2),
        ("react", 200, 0),
    ],
)
def test_the_screen_shows_no_word_of_a_case(
    asked: RunRequest, system: str, status: int, code: int
) -> None:
    """A server that echoes, with all logs and warnings on: neither output nor traceback quotes."""

    def script(request: Request) -> Reply:
        if status == 200:
            return Reply(json.dumps({"codes": [{"code": CANARY, "confidence": CANARY}]}))
        quota = "insufficient_quota" if status == 429 else None
        return echo(request, status=status, error_code=quota)

    with serving(script) as server:
        paths = (asked.cases, asked.out, asked.index_dir, Path(__file__).parent)
        done = subprocess.run(
            [sys.executable, "-X", "dev", "-c", RUN, system, *map(str, paths), server.url],
            env={**os.environ, "OPENAI_LOG": "debug", "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert server.requests
    assert done.returncode == code, done.stderr
    assert CANARY not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    if code == 2:
        assert "HTTP status" in done.stderr


def test_details_of_a_stop_are_bounded_and_kept_in_the_record_alone(asked: RunRequest) -> None:
    _, _, records = play(replace(asked, limit=1), lambda request: echo(request, status=400))
    assert records[0]["status"] == "bad_request"
    assert 0 < len(records[0]["detail"]) <= 500
    assert CANARY not in (asked.out / "config.json").read_text()
    assert CANARY not in str(CallFailed("bad_request", CANARY))
    assert CANARY not in repr(RunFolder(asked.out).path)


class _ApiStatusError(Exception):
    status_code = 404


def test_a_refusal_of_the_endpoint_quotes_it_only_where_that_is_harmless() -> None:
    error = _ApiStatusError(f"no model; you sent {CANARY}")
    assert CANARY not in str(failure_of(error, private=True))
    assert CANARY in str(failure_of(error, private=False))
