"""From a model's last words to a checked answer, with a bounded number of repairs."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from pydantic import ValidationError

from eval.systems.solvers.answers import ANSWERS, IcdAnswer, LegalAnswer
from eval.systems.solvers.outcome import Outcome, Work
from eval.systems.solvers.prompting import render
from eval.systems.tools.tool import tools

Answer = IcdAnswer | LegalAnswer


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


def listener(work: Work) -> Callable[[AIMessage], None]:
    """Keeps every message of the model among the case's steps."""
    own = {tool.name for tool in tools(work.domain)}

    def hear(message: AIMessage) -> None:
        refusal = str(message.additional_kwargs.get("refusal") or "")
        others = [f"{c['name']} {c['args']}" for c in message.tool_calls if c["name"] not in own]
        work.hear(text_of(message) or refusal, others)

    return hear


def read_answer(text: str, domain: str) -> Answer:
    """The last JSON object of a text that the domain's schema accepts.

    Words round it and code fences are passed over. Raises ``ValueError`` that says in one line
    what is wrong, for the model to mend.
    """
    schema = ANSWERS[domain]
    problem = "it holds no JSON object."
    decoder = json.JSONDecoder()
    found: Answer | None = None
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
            found = schema.model_validate(value)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"]) or "the object"
            problem = f"{where}: {first['msg']}."
        position = text.find("{", end)
    if found is None:
        raise ValueError(problem)
    return found


def response_format(work: Work) -> dict[str, Any]:
    """The keyword arguments that ask an endpoint for the answer's schema.

    They go into the request's body as they are: given to the client as ``response_format`` it
    would parse the answer itself and lose the tokens of one that was cut off.
    """
    if work.structured == "text":
        return {}
    wanted: dict[str, Any] = {"type": "json_object"}
    if work.structured == "json_schema":
        schema = ANSWERS[work.domain].model_json_schema()
        wanted = {
            "type": "json_schema",
            "json_schema": {"name": f"{work.domain}_answer", "schema": schema},
        }
    return {"extra_body": {"response_format": wanted}}


def ask(work: Work, messages: Sequence[BaseMessage]) -> Outcome:
    """Ask for the answer and check it; repair at most ``limits.repairs`` times."""
    if work.model is None:
        raise ValueError("a system with a model was called without one")
    conversation = list(messages)
    return settle(work, conversation, work.model.invoke(conversation, **response_format(work)))


def settle(work: Work, conversation: list[BaseMessage], last: BaseMessage) -> Outcome:
    """The outcome of a conversation whose last message should be the answer."""
    if work.model is None:
        raise ValueError("a system with a model was called without one")
    problem = ""
    for attempt in range(work.limits.repairs + 1):
        text = text_of(last)
        try:
            return answered(read_answer(text, work.domain))
        except ValueError as error:
            problem = str(error)
        if attempt == work.limits.repairs:
            break
        question = render(
            "repair", problem=problem, domain=work.domain, year=work.books.years_text()
        )
        work.say("user", question)
        conversation += [AIMessage(text), HumanMessage(question)]
        last = work.model.invoke(conversation, **response_format(work))
    return Outcome("unparsed", None, detail=problem)


def answered(answer: Answer) -> Outcome:
    """The outcome of a valid answer."""
    return Outcome(
        "ok",
        answer.prediction(),
        answer=answer.model_dump(mode="json"),
        cited=tuple(answer.sections),
    )
