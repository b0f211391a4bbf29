"""A run's page: self-contained, escaped, and a trace of every case."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from llm_server import Reply, Request
from scripted_runs import case_number, icd_start, play, tools_of

from eval.systems.scoring.commands import score_command

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>&amp;"


class Tags(HTMLParser):
    """Tags, attributes and the nesting of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.links: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links += [str(value) for name, value in attrs if name in ("href", "src", "data")]
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory, sample_icd_index: Path) -> str:
    folder = tmp_path_factory.mktemp("report")
    asked = icd_start(folder, sample_icd_index, 5)
    text = asked.cases.read_text().replace("Case number 2.", f"Case number 2. {HOSTILE}")
    asked.cases.write_text(text)

    def script(request: Request) -> Reply:
        number = case_number(request)
        if number == 5:
            return Reply(refusal=f"No. {HOSTILE}")
        told = [m for m in request["messages"] if m["role"] == "tool"]
        if not told and "open_tabular_code" in tools_of(request):
            calls = [("open_tabular_code", {"code": code}) for code in ("E11.22", HOSTILE)]
            return Reply(f"I look. {HOSTILE}", tool_calls=calls)
        codes = [{"code": "E11.22", "confidence": 1, "rationale": HOSTILE, "evidence": HOSTILE}]
        return Reply(json.dumps({"codes": codes, "sections": [HOSTILE]}))

    play(replace(asked, system="harness"), script)
    score_command(asked.out, report=True, as_json=False)
    page = (asked.out / "report.html").read_text(encoding="utf-8")
    score_command(asked.out, report=True, as_json=False)
    assert (asked.out / "report.html").read_text(encoding="utf-8") == page
    return page


def test_the_page_is_self_contained_and_whole(report: str) -> None:
    tags = Tags()
    tags.feed(report)
    assert tags.open == []
    assert all(link.startswith("#") for link in tags.links)
    assert not tags.names & {"script", "link", "img", "iframe", "object", "embed", "base", "form"}
    assert not any(name.startswith("on") for name in tags.attributes)
    style = report.split("<style>")[1].split("</style>")[0]
    assert not re.search(r"url\(|@import|https?:", style)


def test_text_of_cases_models_and_servers_is_escaped_once(report: str) -> None:
    assert "<script" not in report and "<img" not in report
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in report
    assert "&amp;quot;" not in report and "&amp;lt;" not in report


def test_a_reader_finds_each_case_with_its_steps(report: str) -> None:
    cases = report.split('<h2 id="cases">')[1]
    for number in range(1, 6):
        assert f"<b>{number} (2025)</b>" in cases
    assert cases.count("coding-audit: instructions") == 4
    first = cases.split("<b>2 (2025)</b>")[0]
    order = [
        first.index(words)
        for words in (
            "tabular/2025/E11.22 at look",
            "index-lookup: instructions",
            "index-lookup: to the model",
            "tabular-check: model",
            "look 1: open_tabular_code",
            "coding-audit: model",
        )
    ]
    assert order == sorted(order)
    folded = re.search(r'<summary>[^/]*look 1: open_tabular_code.*?class="gold"', first)
    assert folded is not None, "the gold is marked at the look that showed it"
    assert 'class="missed">error<' in first
    assert "refusal: No." in cases
    assert "guidelines/2025/I.C.4 never shown" in first


def test_the_scores_stand_beside_the_paper(report: str) -> None:
    for words in ("Beside the paper", "paper, harness", "59.9", "missing predictions"):
        assert words in report
    assert "All gold sections were shown in 2 of 5 cases (40.0 %)" in report
    assert "gold never retrieved" in report
