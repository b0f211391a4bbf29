"""From a model's last words to a checked answer, with a bounded number of repairs."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from pydantic import BaseModel, ValidationError

from eval.domains.model import Domain
from eval.systems.solvers.case_state import CaseOutcome, CaseState
from eval.systems.solvers.prompting import render
from eval.systems.tools.registry import tools_of


def text_of(message: BaseMessage) -> str:
    """The text of a message whose content may be a list of blocks."""
    if isinstance(message.content, str):
        return message.content
    parts = [
        block if isinstance(block, str) else str(block.get("text", ""))
        for block in message.content
        if isinstance(block, str) or block.get("type") in ("text", "output_text")
    ]
    return "".join(parts)


def listener(state: CaseState) -> Callable[[AIMessage], None]:
    """Keeps every message of the model among the case's steps."""
    own = {tool.name for tool in tools_of(state.domain)}

    def hear(message: AIMessage) -> None:
        refusal = str(message.additional_kwargs.get("refusal") or "")
        others = [f"{c['name']} {c['args']}" for c in message.tool_calls if c["name"] not in own]
        state.hear(text_of(message) or refusal, others)

    return hear


def answer_form(domain: Domain) -> type[BaseModel]:
    """The pydantic class of a domain's answers."""
    if domain.answer is None:
        raise ValueError(f"the domain {domain.name} has no form of an answer")
    return domain.answer()


def read_answer(text: str, form: type[BaseModel]) -> Any:
    """The last JSON object of a text that the form accepts.

    Words round it and code fences are passed over. Raises ``ValueError`` that says in one line
    what is wrong, for the model to mend.
    """
    problem = "it holds no JSON object."
    decoder = json.JSONDecoder()
    found: Any = None
    position = text.find("{")
    while position >= 0:
        try:
            value, end = decoder.raw_decode(text, position)
        except RecursionError:
            problem = "its JSON is nested too deep."
            break
        except ValueError as error:
            if found is None and problem.startswith("it holds no"):
                problem = f"its JSON does not parse ({error})."
            position = text.find("{", position + 1)
            continue
        try:
            found = form.model_validate(value)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"]) or "the object"
            problem = f"{where}: {first['msg']}."
        position = text.find("{", end)
    if found is None:
        raise ValueError(problem)
    return found


def response_format(state: CaseState) -> dict[str, Any]:
    """The keyword arguments that ask an endpoint for the answer's schema.

    They go into the request's body as they are: given to the client as ``response_format`` it
    would parse the answer itself and lose the tokens of one that was cut off.
    """
    if state.structured == "text":
        return {}
    wanted: dict[str, Any] = {"type": "json_object"}
    if state.structured == "json_schema":
        schema = answer_form(state.domain).model_json_schema()
        wanted = {
            "type": "json_schema",
            "json_schema": {"name": f"{state.domain.name}_answer", "schema": schema},
        }
    return {"extra_body": {"response_format": wanted}}


def ask(state: CaseState, messages: Sequence[BaseMessage]) -> CaseOutcome:
    """Ask for the answer and check it; repair at most ``limits.repairs`` times."""
    conversation = list(messages)
    return settle(state, conversation, state.chat.invoke(conversation, **response_format(state)))


def settle(state: CaseState, conversation: list[BaseMessage], last: BaseMessage) -> CaseOutcome:
    """The outcome of a conversation whose last message should be the answer."""
    problem = ""
    for attempt in range(state.limits.repairs + 1):
        text = text_of(last)
        try:
            answer = read_answer(text, answer_form(state.domain))
        except ValueError as error:
            problem = str(error)
        else:
            said = answer.model_dump(mode="json")
            return CaseOutcome("ok", answer.prediction(), said, cited=tuple(answer.sections))
        if attempt == state.limits.repairs:
            break
        question = render(state.domain, "repair", problem=problem, year=state.editions.years_text())
        state.say("user", question)
        conversation += [AIMessage(text), HumanMessage(question)]
        last = state.chat.invoke(conversation, **response_format(state))
    return CaseOutcome("unparsed", None, detail=problem)
