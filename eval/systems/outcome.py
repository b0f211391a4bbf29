"""What a system is given for a case and what it hands back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from eval.cases import Case
from eval.golds import Gold
from eval.systems.tooling import Books, Tool, ToolResult

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
    the harness; ``query`` is what was searched or opened; ``sections`` are ``source/year/key``.
    """

    hop: int
    tool: str
    stage: str
    query: str
    sections: tuple[str, ...]
    error: bool = False

    def to_json(self) -> dict[str, Any]:
        """As a run's file holds it."""
        return {
            "hop": self.hop,
            "tool": self.tool,
            "stage": self.stage,
            "query": self.query,
            "sections": list(self.sections),
            "error": self.error,
        }


@dataclass
class Work:
    """The state of one case while a system works on it."""

    case: Case
    domain: Domain
    books: Books
    limits: Limits
    model: BaseChatModel | None = None
    structured: Structured = "json_schema"
    golds: tuple[Gold, ...] = ()
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

    def run_tool(self, tool: Tool, arguments: Mapping[str, Any], stage: str = "") -> ToolResult:
        """Call a tool for the model: within the limits, recorded as a look and a step."""
        if self.exhausted:
            text = f"{self.exhausted} Answer now from what you have seen."
            self.say("tool-error", text, stage)
            return ToolResult(f"Error: {text}", error=True)
        self.tool_calls += 1
        with self.books.lock:
            result = tool.call(self.books, arguments)
        query = "(the whole case)" if tool.name.endswith("_whole_case") else ""
        self.record(tool.name, arguments, result, stage, query or tool.subject(arguments))
        return result

    def record(
        self,
        name: str,
        arguments: Mapping[str, Any],
        result: ToolResult,
        stage: str = "",
        query: str = "(the whole case)",
    ) -> None:
        """Keep what was looked at and shown."""
        look = Look(
            len(self.looks) + 1,
            name,
            stage,
            query[:QUERY_CHARACTERS],
            result.sections,
            result.error,
        )
        self.looks.append(look)
        self.steps.append(
            {
                "kind": "tool",
                "stage": stage,
                "hop": len(self.looks),
                "tool": name,
                "arguments": dict(arguments),
                "result": result.text,
                "sections": list(result.sections),
                "error": result.error,
            }
        )

    def say(self, role: str, text: str, stage: str = "") -> None:
        """Keep a message of the conversation."""
        self.steps.append({"kind": role, "stage": stage, "text": text})


@dataclass(frozen=True, slots=True)
class Outcome:
    """A case's end. ``prediction`` is a list of codes, an offense level, or ``None``."""

    status: str
    prediction: list[str] | int | None
    answer: Mapping[str, Any] | None = None
    detail: str = ""
    cited: Sequence[str] = ()
