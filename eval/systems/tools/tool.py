"""What a tool is: a typed function with a docstring, an error as a value, a JSON schema.

A tool takes the books (bound by the caller) and what the model chooses; it never raises for a
model's mistake, but answers with what to call instead. Its text is bounded and paged.
"""

from __future__ import annotations

import importlib
import inspect
import re
import threading
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from manuals.library.editions import Library
from manuals.model.sections import Manual
from tam.errors import BadOption, TamError, UnknownYear

ToolDomain = Literal["icd", "legal"]
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
class Books:
    """The manuals of one case: a library and the year of each source's edition.

    ``lock`` is one for all books of a library: neither it nor an index is made for several threads.
    """

    library: Library
    domain: ToolDomain
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


@dataclass(frozen=True, slots=True)
class Tool:
    """A registered tool. ``function`` takes the books first; ``lister`` is the tool that lists
    what there is, which an error names as the way on."""

    name: str
    domain: ToolDomain
    group: Group
    function: Callable[..., ToolResult]
    lister: str = ""

    @property
    def description(self) -> str:
        """The docstring, for the model."""
        return inspect.cleandoc(self.function.__doc__ or "")

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of the arguments."""
        hints = get_type_hints(self.function)
        properties: dict[str, Any] = {}
        required: list[str] = []
        for name, parameter in list(inspect.signature(self.function).parameters.items())[1:]:
            entry = dict(_json_type(hints[name]))
            if parameter.default is inspect.Parameter.empty:
                required.append(name)
            else:
                entry["default"] = parameter.default
            properties[name] = entry
        return {
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": False,
        }

    def call(self, books: Books, arguments: Mapping[str, Any]) -> ToolResult:
        """Run the tool; wrong arguments and unknown keys come back as an error value."""
        checked = self._checked(arguments)
        if isinstance(checked, ToolResult):
            return checked
        try:
            result = self.function(books, **checked)
        except BadOption as error:
            return failure(f"{error}.", "Correct the argument.")
        except TamError as error:
            way = f"Call {self.lister} to see what there is." if self.lister else ""
            return failure(f"{error}.", way or "Correct the arguments.")
        return result

    def subject(self, arguments: Mapping[str, Any]) -> str:
        """What a call is about: its first argument, whatever the order in which they came."""
        first = next(iter(self.schema["properties"]), "")
        return str(arguments.get(first, ""))

    def _checked(self, arguments: Mapping[str, Any]) -> dict[str, Any] | ToolResult:
        schema = self.schema
        names = ", ".join(schema["properties"])
        unknown = [name for name in arguments if name not in schema["properties"]]
        if unknown:
            return failure(f"{self.name} has no argument {unknown[0]!r}.", f"It takes: {names}.")
        missing = [name for name in schema["required"] if name not in arguments]
        if missing:
            return failure(f"{self.name} needs the argument {missing[0]!r}.", f"It takes: {names}.")
        checked: dict[str, Any] = {}
        for name, value in arguments.items():
            wanted = schema["properties"][name]
            converted = _convert(value, wanted)
            if converted is None:
                return failure(
                    f"{self.name}: {name}={value!r} is not of type {wanted['type']}"
                    + (f", one of {wanted['enum']}" if "enum" in wanted else "")
                    + ".",
                    "Correct the argument.",
                )
            checked[name] = converted
        return checked


_JSON_TYPES: Mapping[type, str] = types.MappingProxyType(
    {str: "string", int: "integer", bool: "boolean"}
)


def _json_type(hint: Any) -> dict[str, Any]:
    if get_origin(hint) is Literal:
        return {"type": "string", "enum": list(get_args(hint))}
    if hint not in _JSON_TYPES:
        raise TypeError(f"a tool's argument cannot be of type {hint!r}")
    return {"type": _JSON_TYPES[hint]}


def _convert(value: Any, wanted: Mapping[str, Any]) -> Any:
    """The value in the wanted type, or ``None``. Models write numbers as strings at times."""
    kind = wanted["type"]
    if kind == "boolean":
        return value if isinstance(value, bool) else None
    if kind == "integer":
        if isinstance(value, bool):
            return None
        if isinstance(value, int):
            return value
        return int(value) if isinstance(value, str) and re.fullmatch(r"\d{1,6}", value) else None
    if not isinstance(value, str | int) or isinstance(value, bool):
        return None
    text = str(value)
    return text if "enum" not in wanted or text in wanted["enum"] else None


_TOOLS: dict[str, Tool] = {}

F = TypeVar("F", bound=Callable[..., ToolResult])


def tool(domain: ToolDomain, group: Group = "browse", lister: str = "") -> Callable[[F], F]:
    """Register a function as a tool under its own name."""

    def register(function: F) -> F:
        name = function.__name__
        if name in _TOOLS:
            raise ValueError(f"two tools are called {name}")
        _TOOLS[name] = Tool(name, domain, group, function, lister)
        return function

    return register


def tools(domain: ToolDomain | None = None, group: Group | None = None) -> tuple[Tool, ...]:
    """The registered tools, in the order in which a person would use them."""
    # Importing the modules fills the register.
    for module in ("icd", "legal", "search"):
        importlib.import_module(f"eval.systems.tools.{module}")
    return tuple(
        found
        for found in _TOOLS.values()
        if domain in (None, found.domain) and group in (None, found.group)
    )


def tool_named(name: str) -> Tool:
    """One tool. Raises ``BadOption`` that lists the names."""
    for found in tools():
        if found.name == name:
            return found
    raise BadOption(f"no tool {name!r}; tools are {', '.join(t.name for t in tools())}")
