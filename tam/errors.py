"""Every error that a user can cause.

TamError
 ├── ManualError            a manual's file is damaged, of the wrong kind or in conflict
 │    ├── UnrecognisedFile  not one of the manuals that we read
 │    ├── DamagedFile       truncated, encrypted, without text, or an error page
 │    └── EditionConflict   the content names another year, or one edition comes twice
 ├── FetchError             a download failed, was refused or did not verify
 ├── BadReference           what was typed is not a reference to any manual
 ├── UnknownKey             a well-formed reference that the edition does not hold
 ├── UnknownYear            no edition of that year is here
 ├── BadIndex               an index folder is missing, damaged, newer or of another encoder
 ├── BadOption              a value for an option or argument is not allowed
 ├── BadCases               a case, query, gold, run or qrels file is not as documented
 ├── StudyError             an ablation study's file is wrong
 ├── RunError               an end-to-end run cannot start or go on
 └── MissingExtra           an optional package is needed and absent

The command line prints one as a single line and exits with 2. The message names the file or
value, what is wrong with it, and the next step.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def one_line(text: str) -> str:
    """The text with line ends, other control characters and lone surrogates as escapes.

    A message quotes names of files and what was typed, which may hold any of them.
    """
    return _UNPRINTABLE.sub(lambda found: ascii(found.group())[1:-1], text)


class TamError(Exception):
    """Base of all errors that the user can mend. ``str(error)`` is one line."""

    def __str__(self) -> str:
        return one_line(super().__str__())


class ManualError(TamError):
    """A manual's file cannot be used as it is."""


class UnrecognisedFile(ManualError):
    """The content is not one of the manuals that we read."""


class DamagedFile(ManualError):
    """The file is truncated, encrypted, has no text, or is an error page saved under its name."""


class EditionConflict(ManualError):
    """The content names another year than its folder, or one edition comes in different bytes."""


class FetchError(TamError):
    """A download failed, was refused, or did not match its size or sha256."""


class BadReference(TamError):
    """What was typed does not read as a code, citation, guideline number or index path."""


class UnknownKey(TamError):
    """A well-formed reference that the edition does not hold.

    ``nearest`` are keys that exist and look alike, best first; ``years`` the years that hold
    the key itself.
    """

    def __init__(
        self, message: str, *, nearest: Sequence[str] = (), years: Sequence[int] = ()
    ) -> None:
        super().__init__(message)
        self.nearest = tuple(nearest)
        self.years = tuple(years)


class UnknownYear(TamError):
    """No edition of the year asked for is here; the message lists those that are."""


class BadIndex(TamError):
    """An index folder is missing, damaged, of a newer format, or built with another encoder."""


class BadOption(TamError):
    """A value for an option or argument is not allowed; the message lists what is."""


class BadCases(TamError):
    """A case, query, gold, run or qrels file is not as documented; names file and line."""


class StudyError(TamError):
    """An ablation study's file names a bad axis, value or measure, or is too large."""


class RunError(TamError):
    """An end-to-end run cannot start or go on."""


#: the distribution's name on the package index, where ``tam`` is another project
DISTRIBUTION = "tam-retrieval"


def install_hint(extra: str) -> str:
    """The command that installs an extra: in a checkout its own environment's, else by name."""
    if (Path(__file__).parents[1] / "pyproject.toml").is_file():
        return f".venv/bin/pip install -e '.[{extra}]'"
    return f"pip install '{DISTRIBUTION}[{extra}]'"


class MissingExtra(TamError):
    """An optional package is needed; the message gives the line that installs it."""

    def __init__(self, package: str, extra: str, what: str) -> None:
        super().__init__(
            f"{what} needs the package {package}, which is not installed: "
            f"run  {install_hint(extra)}"
        )
