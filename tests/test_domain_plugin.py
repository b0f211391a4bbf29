"""A domain and a system from outside the packages: found by entry points, run, scored, private."""

from __future__ import annotations

import importlib
import json
import os
import stat
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from llm_server import Reply, Request, in_turn, last_user
from scripted_runs import play

from eval.domains.model import DOMAINS, Domain, example_query
from eval.queries.case_files import Columns
from eval.systems.running.folder import RunFolder
from eval.systems.running.launch import run_request
from eval.systems.running.request import RunRequest
from eval.systems.scoring.commands import score_command
from eval.systems.scoring.scored import score_run
from eval.systems.system import SYSTEMS
from indexers.building.build import build
from manuals.library.editions import open_manuals
from manuals.model.source import SOURCES
from retrievers.search.settings import SearchSettings
from tam.cli import main
from tam.errors import BadOption, RunError
from tam.plugins import Registry
from tam.settings import BuildSettings

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
#: distribution -> its entry points, as its ``pyproject.toml`` names them
POINTS = {
    "house_rules": "[tam.sources]\nhouse = house_rules:SOURCE\n",
    "house_rules_domain": "[tam.domains]\nhouse = house_rules_domain:DOMAIN\n",
    "constant_system": "[tam.systems]\nconstant = constant_system:SYSTEM\n",
}
REGISTRIES: tuple[Registry[object], ...] = (SOURCES, DOMAINS, SYSTEMS)  # type: ignore[assignment]


def forget() -> None:
    """Registered objects are read anew."""
    importlib.invalidate_caches()
    for registry in REGISTRIES:
        registry._loaded = None


@pytest.fixture(scope="module", autouse=True)
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The examples as installed distributions: their code and a ``dist-info`` on the path."""
    site = tmp_path_factory.mktemp("site")
    with pytest.MonkeyPatch.context() as patch:
        for name, points in POINTS.items():
            info = site / f"{name}-0.1.0.dist-info"
            info.mkdir()
            (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1.0\n")
            (info / "entry_points.txt").write_text(points)
            patch.syspath_prepend(str(EXAMPLES / name))
        patch.syspath_prepend(str(site))
        forget()
        yield
    forget()
    for name in [name for name in sys.modules if name.split(".")[0] in POINTS]:
        del sys.modules[name]


@pytest.fixture(scope="module")
def house_index(installed: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("indexes")
    library = open_manuals(EXAMPLES / "house_rules" / "editions", strict=True)
    build(library, out, BuildSettings(encoder="hash", preset="sections"), ["house"])
    return out


@pytest.fixture
def request_(house_index: Path, tmp_path: Path) -> RunRequest:
    return RunRequest(
        system="single-pass",
        domain="house",
        cases=EXAMPLES / "house_rules_domain" / "cases.csv",
        out=tmp_path / "run",
        index_dir=house_index,
        search=SearchSettings(retriever="bm25"),
        model="openai:scripted",
        timeout=10,
    )


def test_they_stand_among_the_others() -> None:
    assert list(DOMAINS) == ["icd", "legal", "house"]
    assert list(SYSTEMS)[-1] == "constant" and len(SYSTEMS) == 7
    assert example_query("house") == "how long may a guest stay"
    text = CliRunner().invoke(main, ["tool", "--list"]).output
    house = [row["name"] for row in json.loads(text) if row["domain"] == "house"]
    assert house == ["search_house_manuals", "search_house_whole_case"]


def test_single_pass_runs_and_scores(request_: RunRequest) -> None:
    def script(asked: Request) -> Reply:
        rule = "Rule D.1" if "my brother" in last_user(asked).casefold() else None
        return Reply(json.dumps({"rule": rule, "sections": [rule] if rule else []}))

    ended, requests, records = play(request_, script)
    assert (ended.done, ended.failed, len(requests)) == (5, 0, 5)
    assert "manuals of 2024" in last_user(requests[0]) and "Rule D.1" in last_user(requests[0])
    assert [record["prediction"] for record in records] == ["Rule D.1", None, None, None, None]
    scored = score_run(request_.out)
    whole = scored.groups[0]
    assert (whole.value("exact"), whole.missing) == (pytest.approx(0.2), 4)
    assert scored.retrieval is not None and scored.retrieval.recall > 0.5
    assert scored.stages["correct"] == 1
    text = score_command(request_.out, report=True, as_json=False)
    assert "house, 5 cases" in text and "paper" not in text.split("report:")[0]


def test_agentic_has_the_two_searches(request_: RunRequest) -> None:
    answer = Reply(json.dumps({"rule": "Rule D.1"}))
    some = replace(request_, system="agentic", limit=1)
    look = Reply(tool_calls=[("search_house_manuals", {"query": "guests", "source": "house"})])
    _, _, records = play(some, in_turn(look, answer))
    assert records[0]["looks"][0]["golds"] == ["house/2024/Rule D.1"]


def test_retrieval_only_runs_and_scores(request_: RunRequest) -> None:
    ended = run_request(replace(request_, system="retrieval-only", model=None))
    assert (ended.done, ended.left) == (5, 0)
    scored = score_run(request_.out)
    assert scored.groups[0].value("exact") >= 0.6
    assert scored.stages["correct"] >= 3


@pytest.mark.parametrize(
    ("system", "part"), [("react", "tools"), ("harness", "tools")], ids=["react", "harness"]
)
def test_what_a_domain_lacks_is_named(request_: RunRequest, system: str, part: str) -> None:
    with pytest.raises(RunError, match=f"domain house has no {part}.*choose another system"):
        run_request(replace(request_, system=system, base_url="http://127.0.0.1:9/v1"))


def test_private_by_default(request_: RunRequest) -> None:
    for base_url in (None, "https://1.1.1.1/v1"):
        with pytest.raises(RunError, match=r"--domain house with a remote endpoint.*confidential"):
            run_request(replace(request_, base_url=base_url))
    assert not request_.out.exists()
    old = os.umask(0o022)
    try:
        run_request(replace(request_, system="retrieval-only", model=None))
        score_command(request_.out, report=False, as_json=False)
    finally:
        os.umask(old)
    for name in ("cases.jsonl", "metrics.json", "config.json"):
        assert stat.S_IMODE((request_.out / name).stat().st_mode) == 0o600


def test_an_unknown_domain_or_system_is_an_error(request_: RunRequest) -> None:
    with pytest.raises(
        BadOption, match="domain 'elsewhere' is not known; choose one of icd, legal"
    ):
        run_request(replace(request_, domain="elsewhere"))
    with pytest.raises(BadOption, match="system 'magic' is not known; choose one of single-pass"):
        run_request(replace(request_, system="magic"))
    run_request(replace(request_, system="retrieval-only", model=None))
    file = request_.out / "config.json"
    file.write_text(file.read_text().replace('"domain": "house"', '"domain": "gone"'))
    with pytest.raises(RunError, match="gone cases, a domain that is not known here"):
        RunFolder(request_.out).config()


def test_a_domain_registered_in_the_process_is_private_too() -> None:
    notes = Domain(
        name="notes",
        order=1,
        title="notes",
        corpus="icd",
        columns=Columns("id", "note", "label"),
        read_answer=str,
    )
    assert notes.private and not DOMAINS["legal"].private
    DOMAINS.register(notes)
    try:
        assert next(iter(DOMAINS)) == "notes" and DOMAINS["notes"].sources == DOMAINS["icd"].sources
    finally:
        DOMAINS.unregister("notes")


def test_a_system_of_ones_own_runs_and_scores(sample_legal_index: Path, tmp_path: Path) -> None:
    cases = tmp_path / "legal.csv"
    cases.write_text("docket_id,input,output,year\n1,A theft of mail.,6,2024\n2,A fraud.,9,2024\n")
    out = tmp_path / "run"
    arguments = ["run", "constant", "--domain", "legal", "--cases", str(cases), "--out", str(out)]
    result = CliRunner().invoke(main, [*arguments, "--index", str(sample_legal_index)])
    assert result.exit_code == 0 and "2 done, 0 of them failed" in result.output
    whole = score_run(out).groups[0]
    assert (whole.value("exact"), whole.value("MAE")) == (0.5, 1.5)
