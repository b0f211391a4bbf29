"""The options that name the columns of case files, shared by ``tam eval`` and ``tam run``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from tam.errors import BadOption

Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--column", multiple=True, metavar="FIELD=NAME", help="A case file's column: text=note."
    ),
    click.option(
        "--year-columns",
        default="docket_id,sentencing_year",
        show_default=True,
        help="The year table's columns.",
    ),
)


def column_options(command: Command) -> Command:
    """Add the options to a command, which takes them as ``column`` and ``year_columns``."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def case_columns(pairs: tuple[str, ...]) -> dict[str, str]:
    """Field -> the column's name. Raises ``BadOption``."""
    columns: dict[str, str] = {}
    for pair in pairs:
        field, equals, name = pair.partition("=")
        if not equals or not field.strip() or not name.strip():
            raise BadOption(f"--column {pair!r}: write FIELD=NAME, such as text=note")
        columns[field.strip()] = name.strip()
    return columns


def year_table_columns(text: str) -> tuple[str, str]:
    """The columns of case id and year. Raises ``BadOption``."""
    names = [name.strip() for name in text.split(",")]
    if len(names) != 2 or not all(names):
        raise BadOption(f"--year-columns {text!r}: write the two names, such as docket_id,year")
    return names[0], names[1]
