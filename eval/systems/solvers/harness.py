"""Staged workers, each a LangChain deep agent with its own context and skills.

A worker sees the case and the short reports of those before it, never their conversations. The
domain says which stages there are, and with which of its browsing tools.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from deepagents import create_deep_agent
from deepagents.backends import StateBackend
from deepagents.backends.utils import create_file_data
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.errors import GraphRecursionError

from eval.domains.model import Stage
from eval.systems.solvers.agents import bound_tool, run_config
from eval.systems.solvers.answering import settle, text_of
from eval.systems.solvers.case_state import CaseOutcome, CaseState
from eval.systems.solvers.prompting import render, skill_files
from eval.systems.tools.registry import tools_of

#: characters of a worker's report that the next ones see
REPORT_CHARACTERS = 6000


def solve(state: CaseState) -> CaseOutcome:
    """Run the stages in order; the last one answers."""
    *workers, last_worker = state.domain.harness
    on_demand = {stage.asks_for for stage in workers if stage.asks_for}
    asked: set[str] = set()
    reports: list[dict[str, str]] = []
    for stage in workers:
        state.stage = stage.name
        if stage.name in on_demand - asked:
            state.say("note", "not needed, says the report before")
            continue
        report = text_of(_run(state, stage, reports)[-1]).strip() or "(no report)"
        reports.append({"stage": stage.name, "text": report[:REPORT_CHARACTERS]})
        if stage.asks_for and _asks(stage, report):
            asked.add(stage.asks_for)
    state.stage = last_worker.name
    messages = _run(state, last_worker, reports, final=True)
    return settle(state, messages[:-1], messages[-1])


def _question(stage: Stage) -> str:
    return stage.asks_for.upper().replace("-", " ")


def _asks(stage: Stage, report: str) -> bool:
    """Whether a report asks for the stage that it may ask for; one that does not say so does."""
    pattern = rf"{re.escape(_question(stage))}:\W*(YES|NO)"
    found = re.findall(pattern, report[:REPORT_CHARACTERS], re.IGNORECASE)
    return not found or found[-1].upper() == "YES"


def _run(
    state: CaseState, stage: Stage, reports: list[dict[str, str]], final: bool = False
) -> list[BaseMessage]:
    rules = render(
        state.domain,
        "harness_worker",
        year=state.editions.years_text(),
        task=stage.task,
        skill=stage.name,
        final=final,
        asks_for=_question(stage),
        asks_when=stage.asks_when,
    )
    material = render(state.domain, "harness_case", case=state.case.text, reports=reports)
    state.say("system", rules)
    state.say("user", material)
    tools = {tool.name: tool for tool in tools_of(state.domain)}
    agent = create_deep_agent(
        state.chat,
        [bound_tool(state, tools[name]) for name in stage.tools],
        system_prompt=rules,
        skills=[f"/skills/{state.domain.name}/"],
        # In memory: an agent that sums its conversation up writes it into its files, and a private
        # case's text must not get onto the disk outside the run's folder.
        backend=StateBackend(),
    )
    begin = HumanMessage(material)
    files = {name: _skill(path) for name, path in skill_files(state.domain).items()}
    try:
        ended = agent.invoke({"messages": [begin], "files": files}, run_config(state))
    except GraphRecursionError:
        state.say("note", "this worker reached its limit of steps")
        return [begin, AIMessage("(this worker reached its limit of steps)")]
    messages: list[BaseMessage] = ended["messages"]
    return messages


@lru_cache(maxsize=64)
def _skill(path: Path) -> dict[str, Any]:
    """A skill as a file of an agent. Its dates are fixed: requests must not change."""
    day = "2025-01-01T00:00:00+00:00"
    return {**create_file_data(path.read_text(encoding="utf-8"), day), "modified_at": day}
