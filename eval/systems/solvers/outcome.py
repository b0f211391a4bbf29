"""What a system is given for a case and what it hands back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from eval.golds.gold import Gold
from eval.queries.cases import Case
from eval.systems.tools.tool import Books, Tool, ToolResult

if TYPE_CHECKING:
    from langchain_core.language_models.chat_models import BaseChatModel

Domain = Literal["icd", "legal"]
Structured = Literal["json_schema", "json_object", "text"]

#: characters of a query that a look keeps; the transcript has it whole
QUERY_CHARACTERS = 300


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one case. ``rounds`` are tool calls, ``tokens`` all tokens in and out."""

    rounds: int = 40
    tokens: int = 400_000
    repairs: int = 2
    hits: int = 8


@dataclass(frozen=True, slots=True)
class Look:
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

    def to_json(self) -> dict[str, Any]:
        """As a run's file holds it."""
        return {
            "hop": self.hop,
            "tool": self.tool,
            "stage": self.stage,
            "query": self.query,
            "sections": list(self.sections),
            "golds": list(self.golds),
            "error": self.error,
        }


@dataclass
class Work:
    """The state of one case while a system works on it.

    ``stage`` is the worker that is at it, in the harness; ``used_tokens`` counts all calls so far.
    """

    case: Case
    domain: Domain
    books: Books
    limits: Limits
    model: BaseChatModel | None = None
    structured: Structured = "json_schema"
    golds: tuple[Gold, ...] = ()
    #: id of each gold -> ids of the sections that hold it or a part of it
    gold_parts: Mapping[str, frozenset[str]] = field(default_factory=dict)
    stage: str = ""
    used_tokens: Callable[[], int] = lambda: 0
    looks: list[Look] = field(default_factory=list)
    tool_calls: int = 0
    steps: list[dict[str, Any]] = field(default_factory=list)

    @property
    def exhausted(self) -> str:
        """Which limit of the case is reached, in words for the model; empty when none is."""
        if self.tool_calls >= self.limits.rounds:
            return f"All {self.limits.rounds} tool calls are used."
        if self.used_tokens() >= self.limits.tokens:
            return "The token limit of this case is reached."
        return ""

    def run_tool(self, tool: Tool, arguments: Mapping[str, Any]) -> ToolResult:
        """Call a tool for the model: within the limits, recorded as a look and a step."""
        if self.exhausted:
            text = f"{self.exhausted} Answer now from what you have seen."
            self.say("tool-error", text)
            return ToolResult(f"Error: {text}", error=True)
        self.tool_calls += 1
        query, given = tool.subject(arguments), arguments
        if tool.name.endswith("_whole_case") and not query.strip():
            # The model need not write the case out again.
            query, given = "(the whole case)", {**arguments, "case": self.case.text}
        with self.books.lock:
            result = tool.call(self.books, given)
        self.record(tool.name, arguments, result, query)
        return result

    def record(
        self,
        name: str,
        arguments: Mapping[str, Any],
        result: ToolResult,
        query: str = "(the whole case)",
    ) -> None:
        """Keep what was looked at and shown."""
        hop = len(self.looks) + 1
        query = query[:QUERY_CHARACTERS]
        golds = tuple(
            gold for gold, parts in self.gold_parts.items() if not parts.isdisjoint(result.sections)
        )
        look = Look(hop, name, self.stage, query, result.sections, golds, result.error)
        self.looks.append(look)
        self.steps.append(
            {
                "kind": "tool",
                "stage": self.stage,
                "hop": hop,
                "tool": name,
                "arguments": dict(arguments),
                "result": result.text,
                "sections": list(result.sections),
                "golds": list(golds),
                "error": result.error,
            }
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


@dataclass(frozen=True, slots=True)
class Outcome:
    """A case's end. ``prediction`` is a list of codes, an offense level, or ``None``."""

    status: str
    prediction: list[str] | int | None
    answer: Mapping[str, Any] | None = None
    detail: str = ""
    cited: Sequence[str] = ()
