"""Small runs against a scripted model, shared by the tests of end-to-end runs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from llm_server import Reply, Request, Script, serving

from eval.systems.running.folder import RunFolder
from eval.systems.running.launch import run_request
from eval.systems.running.request import RunRequest
from eval.systems.running.runner import RunSummary
from retrievers.search.settings import SearchSettings

CASES = (
    ("Type 2 diabetes with diabetic kidney disease, seen for follow-up.", ["E1122"]),
    ("Lobar pneumonia, treated with antibiotics.", ["J181"]),
    ("High blood pressure and type 2 diabetes.", ["I10", "E119"]),
)
ANSWER = {
    "codes": [{"code": "E11.22", "confidence": 0.9, "rationale": "r", "evidence": "e"}],
    "sections": ["E11.22"],
}
GOOD = Reply(json.dumps(ANSWER) + "\nGUIDELINE REVIEW: NO")
BM25 = SearchSettings(retriever="bm25")


def write_cases(path: Path, count: int = 3) -> Path:
    """Cases with a text of their own each, so that a request tells which case it is of."""
    lines = ["hadm_id,note_id,input_text,output_icd_codes,year"]
    for number in range(1, count + 1):
        text, codes = CASES[(number - 1) % len(CASES)]
        listed = json.dumps(codes).replace('"', '""')
        lines.append(f'{number},n{number},"Case number {number}. {text}","{listed}",2025')
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def icd_start(folder: Path, index: Path, count: int = 3) -> RunRequest:
    """What a run over a few ICD cases is asked for; the endpoint comes with ``play``."""
    return RunRequest(
        system="single-pass",
        domain="icd",
        cases=write_cases(folder / "cases.csv", count),
        out=folder / "run",
        index_dir=index,
        search=BM25,
        model="openai:scripted",
        timeout=10,
        retries=2,
    )


Records = list[dict[str, Any]]


def play(asked: RunRequest, script: Script) -> tuple[RunSummary, list[Request], Records]:
    """Run against a server that plays the script; the requests that it got, and the records."""
    with serving(script) as server:
        ended = run_request(replace(asked, base_url=server.url))
    return ended, server.requests, list(RunFolder(asked.out).records().values())


def case_number(request: Request) -> int:
    """Which case a request is about."""
    text = json.dumps(request["messages"])
    return int(text.split("Case number ")[1].split(".")[0])


def tools_of(request: Request) -> set[str]:
    """Names of the tools that a request offers."""
    return {tool["function"]["name"] for tool in request.get("tools", ())}


def has_tool_result(request: Request) -> bool:
    """Whether the model has called a tool in this conversation already."""
    return any(message["role"] == "tool" for message in request["messages"])
