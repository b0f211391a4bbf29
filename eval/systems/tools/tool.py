"""What a tool is: a typed function with a docstring, an error as a value, a JSON schema.

A tool takes the editions (bound by the caller) and what the model chooses; it never raises for a
model's mistake, but answers with what to call instead. Its text is bounded and paged.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from manuals.library.editions import Library
from manuals.model.sections import Manual
from tam.errors import BadOption, TamError, UnknownYear

Group = Literal["browse", "search"]


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool returns. ``sections`` are ``source/year/key`` of the sections it showed."""

    text: str
    sections: tuple[str, ...] = ()
    error: bool = False


def failure(problem: str, instead: str) -> ToolResult:
    """An error value: what is wrong and what to call instead."""
    return ToolResult(f"Error: {problem} {instead}", error=True)


@dataclass
class CaseEditions:
    """The manuals of one case: a library and the year of each source's edition.

    ``search`` (query, number of hits, source or ``None``) gives hits in these editions; ``None``
    without an index. ``lock`` is one for all editions of a library: neither it nor an index is
    made for several threads.
    """

    library: Library
    years: Mapping[str, int]
    search: Callable[[str, int, str | None], Sequence[Any]] | None = field(default=None)
    lock: threading.RLock = field(default_factory=threading.RLock, repr=False)

    def manual(self, source: str) -> Manual:
        """The edition of the case's year. Raises ``UnknownYear`` when it is not here."""
        if source not in self.years:
            raise UnknownYear(f"there is no edition of {source} here")
        return self.library.manual(source, self.years[source])

    def years_text(self) -> str:
        """The years of the editions in words: ``2025``, or ``2021 (ussg 2018)`` when they differ."""
        years = sorted(set(self.years.values()))
        if len(years) == 1:
            return str(years[0])
        return ", ".join(f"{source} {year}" for source, year in self.years.items())


@lru_cache(maxsize=256)
def _arguments_of(function: Callable[..., ToolResult]) -> type[BaseModel]:
    """The arguments that a model chooses, as a pydantic class; the editions come first."""
    hints = get_type_hints(function)
    parameters = list(inspect.signature(function).parameters.values())[1:]
    fields: dict[str, Any] = {
        parameter.name: (
            hints[parameter.name],
            ... if parameter.default is inspect.Parameter.empty else parameter.default,
        )
        for parameter in parameters
    }
    # Models write numbers as strings at times, and names of sections as numbers.
    config = ConfigDict(extra="forbid", coerce_numbers_to_str=True)
    return create_model(function.__name__, __config__=config, **fields)


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool. ``function`` takes the editions first; ``lister`` is the tool that lists what there
    is, which an error names as the way on; ``whole_case`` names the argument that is the case at
    hand when the model leaves it out."""

    function: Callable[..., ToolResult]
    group: Group = "browse"
    lister: str = ""
    whole_case: str = ""

    @property
    def name(self) -> str:
        """The function's name."""
        return self.function.__name__

    @property
    def description(self) -> str:
        """The docstring, for the model."""
        return inspect.cleandoc(self.function.__doc__ or "")

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of the arguments."""
        made = _arguments_of(self.function).model_json_schema()
        properties = {
            name: {key: value for key, value in entry.items() if key != "title"}
            for name, entry in made.get("properties", {}).items()
        }
        return {
            "type": "object",
            "properties": properties,
            "required": made.get("required", []),
            "additionalProperties": False,
        }

    def call(self, editions: CaseEditions, arguments: Mapping[str, Any]) -> ToolResult:
        """Run the tool; wrong arguments and unknown keys come back as an error value."""
        try:
            checked = _arguments_of(self.function).model_validate(dict(arguments))
        except ValidationError as error:
            return self._refused(error)
        try:
            return self.function(editions, **dict(checked))
        except BadOption as error:
            return failure(f"{error}.", "Correct the argument.")
        except TamError as error:
            way = f"Call {self.lister} to see what there is." if self.lister else ""
            return failure(f"{error}.", way or "Correct the arguments.")

    def subject(self, arguments: Mapping[str, Any]) -> str:
        """What a call is about: its first argument, whatever the order in which they came."""
        first = next(iter(_arguments_of(self.function).model_fields), "")
        return str(arguments.get(first, ""))

    def _refused(self, error: ValidationError) -> ToolResult:
        first = error.errors()[0]
        argument = str(first["loc"][0]) if first["loc"] else ""
        takes = f"It takes: {', '.join(_arguments_of(self.function).model_fields)}."
        if first["type"] == "extra_forbidden":
            return failure(f"{self.name} has no argument {argument!r}.", takes)
        if first["type"] == "missing":
            return failure(f"{self.name} needs the argument {argument!r}.", takes)
        wanted = self.schema["properties"].get(argument, {})
        kind = f"of type {wanted.get('type', 'text')}"
        if "enum" in wanted:
            kind += f", one of {wanted['enum']}"
        return failure(
            f"{self.name}: {argument}={first['input']!r} is not {kind}.", "Correct the argument."
        )


def tool(lister: str = "") -> Callable[[Callable[..., ToolResult]], Tool]:
    """Make a browsing tool of a function, under its own name."""

    def make(function: Callable[..., ToolResult]) -> Tool:
        return Tool(function, lister=lister)

    return make
