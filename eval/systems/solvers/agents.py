"""Agents: a model that calls tools until it answers, by LangChain's agent constructor.

``agentic`` has the domain's two searches, ``react`` its browsing tools.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, hook_config
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import StructuredTool

from eval.systems.solvers.answering import ask, settle
from eval.systems.solvers.case_state import CaseOutcome, CaseState
from eval.systems.solvers.prompting import render
from eval.systems.tools.registry import tools_of
from eval.systems.tools.tool import Tool


def agentic(state: CaseState) -> CaseOutcome:
    """Several rounds of retrieval, then the answer."""
    return _converse(state, "agentic", tools_of(state.domain, "search"))


def react(state: CaseState) -> CaseOutcome:
    """Browsing only, then the answer."""
    return _converse(state, "react", tools_of(state.domain, "browse"))


def bound_tool(state: CaseState, tool: Tool) -> StructuredTool:
    """A tool for a model, bound to the case: its limits, its editions, its record."""

    def call(**arguments: Any) -> str:
        return state.run_tool(tool, arguments).text

    return StructuredTool(
        name=tool.name, description=tool.description, args_schema=tool.schema, func=call
    )


def run_config(state: CaseState) -> RunnableConfig:
    """One tool after the other, so that retrievals are numbered the same in every run."""
    return RunnableConfig(recursion_limit=4 * state.limits.rounds + 20, max_concurrency=1)


class CaseLimits(AgentMiddleware):
    """Ends the agent where the case's limits do, and answers calls that are no JSON."""

    def __init__(self, state: CaseState) -> None:
        super().__init__()
        self._case = state

    @hook_config(can_jump_to=["end"])
    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """No further call of the model once a limit is reached."""
        return {"jump_to": "end"} if self._case.exhausted else None

    @hook_config(can_jump_to=["model"])
    def after_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """An error value for each call whose arguments do not parse."""
        last = state["messages"][-1]
        told = []
        for bad in last.invalid_tool_calls if isinstance(last, AIMessage) else ():
            text = f"Error: the arguments are not JSON ({bad['error']}). Call the tool again."
            self._case.say("tool-error", text)
            told.append(ToolMessage(text, tool_call_id=bad["id"] or bad["name"] or "?"))
        if not told:
            return None
        # Sound calls beside bad ones are carried out next; without any the model goes on.
        return {"messages": told} | ({} if last.tool_calls else {"jump_to": "model"})


def _converse(state: CaseState, prompt: str, offered: Sequence[Tool]) -> CaseOutcome:
    rules = render(
        state.domain, prompt, year=state.editions.years_text(), rounds=state.limits.rounds
    )
    state.say("system", rules)
    state.say("user", state.case.text)
    agent = create_agent(
        state.chat,
        [bound_tool(state, tool) for tool in offered],
        system_prompt=rules,
        middleware=[CaseLimits(state)],
    )
    begin = {"messages": [HumanMessage(state.case.text)]}
    messages: list[BaseMessage] = agent.invoke(begin, run_config(state))["messages"]
    last = messages[-1]
    if isinstance(last, AIMessage):
        return settle(state, messages[:-1], last)
    question = f"{state.exhausted} Answer now from what you have seen.".strip()
    state.say("user", question)
    return ask(state, [*messages, HumanMessage(question)])
