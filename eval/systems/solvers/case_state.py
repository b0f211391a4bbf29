"""What a system is given for a case and what it hands back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from eval.domains.model import Domain
from eval.golds.gold import Gold
from eval.queries.case_files import Case
from eval.systems.tools.search import shown_by
from eval.systems.tools.tool import CaseEditions, Tool, ToolResult
from tam.records import to_json

if TYPE_CHECKING:
    from langchain_core.language_models.chat_models import BaseChatModel

    from retrievers.search.hits import Hit

Structured = Literal["json_schema", "json_object", "text"]

#: characters of a query that a record keeps; the transcript has it whole
QUERY_CHARACTERS = 300
WHOLE_CASE = "(the whole case)"


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one case. ``rounds`` are tool calls, ``tokens`` all tokens in and out."""

    rounds: int = 40
    tokens: int = 400_000
    repairs: int = 2
    hits: int = 8


@dataclass(frozen=True, slots=True)
class Retrieval:
    """One look into the manuals: a search (with its query) or an opened place.

    ``hop`` counts from 1 over the searches and openings of the case; ``stage`` is the worker's, in
    the harness; ``query`` is what was searched or opened; ``sections`` are ``source/year/key``, and
    so are ``golds``, those of the case that the sections hold, whole or in part.
    """

    hop: int
    tool: str
    stage: str
    query: str
    sections: tuple[str, ...]
    golds: tuple[str, ...] = ()
    error: bool = False


@dataclass(frozen=True, slots=True)
class CaseOutcome:
    """How a case ended. ``prediction`` is a list of codes, a number, a text, or ``None``."""

    status: str
    prediction: list[str] | int | str | None
    answer: Mapping[str, Any] | None = None
    detail: str = ""
    cited: Sequence[str] = ()


@dataclass
class CaseState:
    """The state of one case while a system works on it.

    ``stage`` is the worker that is at it, in the harness; ``used_tokens`` counts all calls so far.
    """

    case: Case
    domain: Domain
    editions: CaseEditions
    limits: Limits
    model: BaseChatModel | None = None
    structured: Structured = "json_schema"
    golds: tuple[Gold, ...] = ()
    #: id of each gold -> ids of the sections that hold it or a part of it
    gold_parts: Mapping[str, frozenset[str]] = field(default_factory=dict)
    stage: str = ""
    used_tokens: Callable[[], int] = lambda: 0
    retrievals: list[Retrieval] = field(default_factory=list)
    tool_calls: int = 0
    steps: list[dict[str, Any]] = field(default_factory=list)

    @property
    def chat(self) -> BaseChatModel:
        """The model. A system without one that asks for it is a fault of ours."""
        if self.model is None:
            raise ValueError("a system with a model was called without one")
        return self.model

    @property
    def exhausted(self) -> str:
        """Which limit of the case is reached, in words for the model; empty when none is."""
        if self.tool_calls >= self.limits.rounds:
            return f"All {self.limits.rounds} tool calls are used."
        if self.used_tokens() >= self.limits.tokens:
            return "The token limit of this case is reached."
        return ""

    def run_tool(self, tool: Tool, arguments: Mapping[str, Any]) -> ToolResult:
        """Call a tool for the model: within the limits, recorded as a retrieval and a step."""
        if self.exhausted:
            text = f"{self.exhausted} Answer now from what you have seen."
            self.say("tool-error", text)
            return ToolResult(f"Error: {text}", error=True)
        self.tool_calls += 1
        query, given = tool.subject(arguments), arguments
        if tool.whole_case and not query.strip():
            # The model need not write the case out again.
            query, given = WHOLE_CASE, {**arguments, tool.whole_case: self.case.text}
        with self.editions.lock:
            result = tool.call(self.editions, given)
        self.record(tool.name, arguments, result, query)
        return result

    def retrieve(self) -> Sequence[Hit]:
        """The hits of the one retrieval with the whole case as the query, recorded."""
        if self.editions.search is None:
            raise ValueError("a system that searches was called without an index")
        hits = self.editions.search(self.case.text, self.limits.hits, None)
        self.record("retrieve", {}, ToolResult("", shown_by(hits)))
        return hits

    def record(
        self,
        name: str,
        arguments: Mapping[str, Any],
        result: ToolResult,
        query: str = WHOLE_CASE,
    ) -> None:
        """Keep what was looked at and shown."""
        golds = tuple(
            gold for gold, parts in self.gold_parts.items() if not parts.isdisjoint(result.sections)
        )
        retrieval = Retrieval(
            hop=len(self.retrievals) + 1,
            tool=name,
            stage=self.stage,
            query=query[:QUERY_CHARACTERS],
            sections=result.sections,
            golds=golds,
            error=result.error,
        )
        self.retrievals.append(retrieval)
        step = to_json(retrieval)
        del step["query"]
        self.steps.append(
            {**step, "kind": "tool", "arguments": dict(arguments), "result": result.text}
        )

    def say(self, role: str, text: str) -> None:
        """Keep a message of the conversation."""
        self.steps.append({"kind": role, "stage": self.stage, "text": text})

    def hear(self, text: str, others: Sequence[str] = ()) -> None:
        """Keep what the model said; ``others`` are its calls of tools that are none of ours."""
        if text.strip():
            self.say("model", text)
        for call in others:
            self.say("note", f"called {call}")
