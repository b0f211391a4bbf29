"""System 4: staged workers, each a LangChain deep agent with its own context and skills.

A worker sees the case and the short reports of those before it, never their conversations. The
tools are the browsing tools of ``react``, each worker with those of its part.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from eval.systems.solvers.answering import settle, text_of
from eval.systems.solvers.outcome import Outcome, Work
from eval.systems.solvers.prompting import FOLDER, render
from eval.systems.tools.tool import tool_named
from tam.errors import MissingExtra

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

#: characters of a worker's report that the next ones see
REPORT_CHARACTERS = 6000


class Stage(NamedTuple):
    """One worker: its part, its skill and its tools."""

    name: str
    task: str
    tools: tuple[str, ...]


STAGES: dict[str, tuple[Stage, ...]] = {
    "icd": (
        Stage(
            "index-lookup",
            "list the active conditions of the case and find candidate codes for each in the "
            "Alphabetic Index and its tables.",
            ("list_index_terms", "open_index_entry"),
        ),
        Stage(
            "tabular-check",
            "verify every candidate code in the Tabular List, complete its characters, and "
            "follow its notes.",
            (
                "list_tabular_chapters",
                "open_tabular_chapter",
                "open_tabular_block",
                "open_tabular_code",
            ),
        ),
        Stage(
            "guideline-review",
            "apply the Official Guidelines to the open questions: sequence, combination, "
            "exclusion, extra codes.",
            ("list_guideline_contents", "open_guideline_section", "open_tabular_code"),
        ),
        Stage(
            "coding-audit",
            "audit the code set and order it.",
            ("open_tabular_code", "open_index_entry", "open_guideline_section"),
        ),
    ),
    "legal": (
        Stage(
            "statute",
            "fix the statutes of conviction, count by count.",
            ("list_title18_chapters", "open_title18_chapter", "open_statute_section"),
        ),
        Stage(
            "mapping",
            "map each statute to its Chapter Two guideline through Appendix A.",
            ("search_appendix_a", "list_ussg_contents", "open_guideline"),
        ),
        Stage(
            "chapter-two",
            "work out the offense level of each count under its Chapter Two guideline.",
            ("open_guideline", "open_ussg_subheading", "open_statute_section"),
        ),
        Stage(
            "chapter-three",
            "apply Chapter Three (and Chapter Four where it changes the level): adjustments, "
            "grouping, acceptance.",
            ("list_ussg_contents", "open_ussg_subheading", "open_guideline"),
        ),
        Stage(
            "audit",
            "audit the calculation.",
            ("open_guideline", "open_ussg_subheading", "search_appendix_a"),
        ),
    ),
}

#: the stage that runs only when the one before asks for it
ON_DEMAND = "guideline-review"
_REVIEW = re.compile(r"GUIDELINE REVIEW:\W*(YES|NO)", re.IGNORECASE)


def solve(work: Work) -> Outcome:
    """Run the stages in order; the last one answers."""
    reports: list[dict[str, str]] = []
    stages = STAGES[work.domain]
    for position, stage in enumerate(stages):
        work.stage = stage.name
        if stage.name == ON_DEMAND and not _wants_review(reports):
            work.say("note", "not needed, says the report before")
            continue
        final = position == len(stages) - 1
        messages = _run(work, stage, reports, final)
        last = messages[-1]
        if final:
            return settle(work, messages[:-1], last)
        report = text_of(last).strip() or "(no report)"
        reports.append({"stage": stage.name, "text": report[:REPORT_CHARACTERS]})
    raise ValueError("a harness without a last stage")


def _wants_review(reports: list[dict[str, str]]) -> bool:
    """Whether the last report asks for a review; a report that does not say so gets one."""
    found = _REVIEW.findall(reports[-1]["text"]) if reports else []
    return not found or found[-1].upper() == "YES"


def _run(work: Work, stage: Stage, reports: list[dict[str, str]], final: bool) -> list[BaseMessage]:
    try:
        from deepagents import create_deep_agent
        from deepagents.backends import StateBackend
    except ImportError as error:
        raise MissingExtra("deepagents", "llm", "the system harness") from error
    from langchain_core.messages import AIMessage, HumanMessage
    from langchain_core.runnables import RunnableConfig
    from langgraph.errors import GraphRecursionError

    if work.model is None:
        raise ValueError("a system with a model was called without one")
    rules = render(
        "harness_worker",
        domain=work.domain,
        year=work.books.years_text(),
        task=stage.task,
        skill=stage.name,
        final=final,
        ask_review=stage.name == "tabular-check",
    )
    material = render("harness_case", case=work.case.text, reports=reports)
    work.say("system", rules)
    work.say("user", material)
    agent = create_deep_agent(
        work.model,
        [_langchain_tool(work, name) for name in stage.tools],
        system_prompt=rules,
        skills=[f"/skills/{work.domain}/"],
        # In memory: an agent that sums its conversation up writes it into its files, and clinical
        # text must not get onto the disk outside the run's folder.
        backend=StateBackend(),
    )
    # One tool after the other, so that looks are numbered the same in every run.
    config = RunnableConfig(recursion_limit=4 * work.limits.rounds + 20, max_concurrency=1)
    start = HumanMessage(material)
    try:
        state = agent.invoke({"messages": [start], "files": _skills(work.domain)}, config)
    except GraphRecursionError:
        work.say("note", "this worker reached its limit of steps")
        return [start, AIMessage("(this worker reached its limit of steps)")]
    messages: list[BaseMessage] = state["messages"]
    return messages


@lru_cache(maxsize=2)
def _skills(domain: str) -> dict[str, Any]:
    """The skills as the files of an agent. Their dates are fixed: requests must not change."""
    from deepagents.backends.utils import create_file_data

    day = "2025-01-01T00:00:00+00:00"
    return {
        f"/{path.relative_to(FOLDER).as_posix()}": {
            **create_file_data(path.read_text(encoding="utf-8"), day),
            "modified_at": day,
        }
        for path in sorted((FOLDER / "skills" / domain).rglob("*.md"))
    }


def _langchain_tool(work: Work, name: str) -> Any:
    from langchain_core.tools import StructuredTool

    tool = tool_named(name)

    def call(**arguments: Any) -> str:
        return work.run_tool(tool, arguments).text

    return StructuredTool(
        name=tool.name, description=tool.description, args_schema=tool.schema, func=call
    )
