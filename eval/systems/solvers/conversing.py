"""Systems 2 and 3: a model that calls tools until it answers.

``agentic`` has the two retrieval tools of the domain, ``react`` the browsing tools only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage, ToolMessage

from eval.systems.solvers.answering import ask, settle
from eval.systems.solvers.outcome import Outcome, Work
from eval.systems.solvers.prompting import render
from eval.systems.tools.tool import Tool, tools


def agentic(work: Work) -> Outcome:
    """Several rounds of retrieval, then the answer."""
    return _converse(work, "agentic", tools(work.domain, "search"))


def react(work: Work) -> Outcome:
    """Browsing only, then the answer."""
    return _converse(work, "react", tools(work.domain, "browse"))


def as_function(tool: Tool) -> dict[str, Any]:
    """A tool in the form of the chat-completions protocol."""
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.schema,
        },
    }


def _converse(work: Work, prompt: str, offered: Sequence[Tool]) -> Outcome:
    if work.model is None:
        raise ValueError("a system with a model was called without one")
    rules = render(
        prompt, domain=work.domain, year=work.books.years_text(), rounds=work.limits.rounds
    )
    work.say("system", rules)
    work.say("user", work.case.text)
    messages: list[BaseMessage] = [SystemMessage(rules), HumanMessage(work.case.text)]
    model = work.model.bind_tools([as_function(tool) for tool in offered])
    by_name = {tool.name: tool for tool in offered}
    # One turn more than there are tool calls, so that a model that uses all can still answer.
    for _ in range(work.limits.rounds + 1):
        reply = model.invoke(messages)
        if not reply.tool_calls and not reply.invalid_tool_calls:
            return settle(work, messages, reply)
        messages.append(reply)
        for call in reply.tool_calls:
            tool = by_name.get(call["name"])
            if tool is None:
                text = f"Error: there is no tool {call['name']!r}. Tools: {', '.join(by_name)}."
                work.say("tool-error", text)
            else:
                text = work.run_tool(tool, call["args"]).text
            messages.append(ToolMessage(text, tool_call_id=call["id"] or call["name"]))
        for bad in reply.invalid_tool_calls:
            text = f"Error: the arguments are not JSON ({bad['error']}). Call the tool again."
            work.say("tool-error", text)
            messages.append(ToolMessage(text, tool_call_id=bad["id"] or bad["name"] or "?"))
        if work.exhausted:
            break
    question = f"{work.exhausted} Answer now from what you have seen.".strip()
    work.say("user", question)
    messages.append(HumanMessage(question))
    return ask(work, messages)
