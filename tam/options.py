"""Options declared once: a record's fields with help, choices and ranges, and what derives from it.

```python
@options
class SearchSettings:
    depth: Annotated[int, Option("How far down each leg is read.", low=1)] = 500
```
checks itself (strictly: true is no number) and raises ``BadOption``; ``click_options`` makes the
command's options of it, ``from_texts`` reads the parameters of a URL, ``parameters`` describes
them to a tool's schema.
"""

from __future__ import annotations

import functools
import inspect
import math
import types
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    TypeVar,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

from pydantic import ConfigDict, Field, ValidationError
from pydantic.dataclasses import dataclass as checked
from pydantic_core import PydanticCustomError, core_schema

from tam.errors import BadOption

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler

T = TypeVar("T")
Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True)
class Option:
    """What is known of one option beside its type and default.

    ``choices`` may be a function, for those that plug-ins add to; ``unchecked``
    leaves type and value to the record's ``__post_init__``, which may allow more than these. ``low`` and ``high`` are inclusive. ``title`` is
    what messages call it, ``flag`` its name at the command line, ``switch`` writes it on or off
    there, ``off`` is the help of a flag that turns it off. ``aliases`` are older names
    of choices. ``many`` takes several values (in a URL with commas between). ``read`` makes the value
    of a text.
    """

    help: str
    choices: Collection[str] | Callable[[], Collection[str]] = ()
    low: float | None = None
    high: float | None = None
    title: str = ""
    flag: str = ""
    metavar: str | None = None
    unchecked: bool = False
    switch: bool = False
    off: str = ""
    many: bool = False
    aliases: Mapping[str, str] | None = None
    read: Callable[[str], Any] | None = None

    @property
    def allowed(self) -> tuple[str, ...]:
        """The choices, of this moment."""
        return tuple(self.choices() if callable(self.choices) else self.choices)

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        if self.unchecked:
            return core_schema.any_schema()
        return core_schema.no_info_after_validator_function(self._check, handler(source))

    def _check(self, value: Any) -> Any:
        if value is not None:
            value = self.aliases.get(value, value) if self.aliases else value
            if self.choices and value not in self.allowed:
                raise PydanticCustomError("choice", "not among the choices")
            if isinstance(value, int | float) and not (
                (self.low is None or self.low <= value)
                and (self.high is None or value <= self.high)
            ):
                raise PydanticCustomError("range", "out of range")
        return value


class Declared:
    """An option of a record: its name, type, default and ``Option``."""

    def __init__(self, name: str, hint: Any, default: Any) -> None:
        self.name = name
        self.default = default
        self.type, *more = get_args(hint)
        self.option = next(each for each in more if isinstance(each, Option))

    @property
    def title(self) -> str:
        return self.option.title or self.name.replace("_", " ")

    @property
    def kind(self) -> type:
        """``bool``, ``int``, ``float`` or ``str``: what its values are made from."""
        if self.option.unchecked:
            return str
        plain = self.type
        if get_origin(plain) in (Union, types.UnionType):
            plain = next((arg for arg in get_args(plain) if arg is not type(None)), str)
        return plain if plain in (bool, int, float) else str

    def refuse(self, value: Any) -> BadOption:
        """What to say of a value that is not allowed."""
        option = self.option
        if option.choices:
            return BadOption(
                f"{self.title} {value!r} is not known; choose one of {', '.join(option.allowed)}"
            )
        if self.kind is bool:
            return BadOption(f"{self.title} {value!r} is not allowed; give true or false")
        if self.kind is str:
            return BadOption(f"{self.title} {value!r} is not allowed; give a text")
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if number and option.high is not None and math.isfinite(value):
            return BadOption(
                f"{self.title} {value} is out of range; "
                f"it must be from {option.low} to {option.high}"
            )
        what = "a whole number" if self.kind is int else "a number"
        least = "" if option.low is None else f" from {option.low:g}"
        most = "" if option.high is None else f" to {option.high:g}"
        return BadOption(f"{self.title} {value!r} is not allowed; give {what}{least}{most}")

    def of_text(self, text: str) -> Any:
        """The value that a text stands for. Raises ``BadOption``."""
        if self.option.many:
            return [part.strip() for part in text.split(",")]
        if self.option.read is not None:
            return self.option.read(text)
        if self.kind is bool:
            if text not in ("true", "false"):
                raise self.refuse(text[:20])
            return text == "true"
        try:
            # Digits alone: Python would read 1_000 and Arabic digits too.
            if self.kind is int and not (text.isascii() and text.isdecimal() and len(text) < 10):
                raise ValueError
            return self.kind(text)
        except ValueError:
            raise self.refuse(text[:20]) from None

    def click_option(self) -> Callable[[Command], Command]:
        """The option of a command; its parameter has the field's name."""
        import click

        option, dashed = self.option, self.name.replace("_", "-")
        more: dict[str, Any] = {"help": option.help, "metavar": option.metavar}
        flag = option.flag or f"--{dashed}"
        if option.switch:
            more.update(type=click.Choice(["on", "off"]), default=_on(self.default))
            more.update(show_default=True, callback=lambda _c, _p, value: value == "on")
        elif self.kind is bool:
            turned = self.default is True
            flag = option.flag or (f"--no-{dashed}" if turned else flag)
            more["help"] = option.off if turned else option.help
            more.update(is_flag=True, callback=lambda _c, _p, value: value is not turned)
        elif option.many:
            more.update(multiple=True, callback=lambda _c, _p, value: value or self.default)
            more.update(type=click.Choice(list(option.allowed)) if option.choices else str)
        elif option.read is not None:
            read = option.read
            more.update(callback=lambda _c, _p, text: self.default if text is None else read(text))
        else:
            closed = option.choices and not option.unchecked
            names = [*option.allowed, *(option.aliases or ())]
            more.update(type=click.Choice(names) if closed else self.kind)
            more.update(default=self.default, show_default=self.default is not None)
        if more["metavar"] is None:
            del more["metavar"]
        return click.option(flag, self.name, **more)

    def parameter(self) -> inspect.Parameter:
        """The parameter of a tool's function, with the help for a model to read."""
        several = self.option.many or self.option.read is not None
        default = None if several else self.default
        kind: Any = str if several else self.kind
        told = self.option.help
        if self.option.choices:
            told += f" One of {', '.join(self.option.allowed)}."
        if default is None:
            kind = kind | None
        hint = Annotated[kind, Field(description=told)]
        return inspect.Parameter(
            self.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint
        )


def _on(value: Any) -> str:
    return "on" if value else "off"


@dataclass_transform(frozen_default=True)
def options(model: type[T]) -> type[T]:
    """Make a class a frozen record that checks its fields and raises ``BadOption``."""
    made: Any = checked(frozen=True, config=ConfigDict(strict=True, extra="forbid"))(model)
    validate = made.__init__

    @functools.wraps(validate)
    def init(self: T, *args: Any, **given: Any) -> None:
        try:
            validate(self, *args, **given)
        except ValidationError as error:
            raise _refusal(made, error) from None

    made.__init__ = init
    record: type[T] = made
    return record


def _refusal(model: type, error: ValidationError) -> BadOption:
    first = error.errors(include_url=False)[0]
    name, known = str(first["loc"][0]), declared(model)
    if name not in known:
        return BadOption(f"option {name!r} is not known; choose one of {', '.join(known)}")
    return known[name].refuse(first["input"])


@functools.cache
def declared(model: type) -> Mapping[str, Declared]:
    """The options of a record by name, in order; fields without an ``Option`` are left out."""
    hints = get_type_hints(model, include_extras=True)
    found = {}
    for field in fields(model):
        hint = hints[field.name]
        if any(isinstance(each, Option) for each in get_args(hint)[1:]):
            default: Any = field.default
            if hasattr(default, "default"):  # pydantic's FieldInfo
                default = default.default
            found[field.name] = Declared(field.name, hint, None if default is MISSING else default)
    return found


def chosen(model: type, only: Iterable[str] = (), but: Collection[str] = ()) -> list[Declared]:
    """Some options of a record: all, or ``only`` these; without those of ``but``."""
    known = declared(model)
    return [known[name] for name in (only or known) if name not in but]


def click_options(
    model: type, only: Iterable[str] = (), but: Collection[str] = ()
) -> Callable[[Command], Command]:
    """Add a record's options to a command, which takes them as keywords of the fields' names."""
    wanted = chosen(model, tuple(only), but)

    def add(command: Command) -> Command:
        for each in reversed(wanted):
            command = each.click_option()(command)
        return command

    return add


def from_texts(model: type, texts: Mapping[str, str]) -> dict[str, Any]:
    """Keyword arguments for a record from texts by field name. Raises ``BadOption``."""
    known = declared(model)
    return {name: known[name].of_text(text) for name, text in texts.items()}


def with_parameters(function: Callable[..., Any], more: Iterable[Declared]) -> None:
    """Give a function that takes ``**keywords`` a signature that names them, for a tool's schema."""
    signature = inspect.signature(function, eval_str=True)
    kept = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    listed = [*kept, *(each.parameter() for each in more)]
    function.__signature__ = signature.replace(parameters=listed)  # type: ignore[attr-defined]
    function.__annotations__ = {
        **{each.name: each.annotation for each in listed},
        "return": signature.return_annotation,
    }
