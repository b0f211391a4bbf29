"""The library that lookups read when the reader names no folder: the fastest that is there."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from manuals.library.editions import Library, load_library, open_manuals, parsed_editions
from manuals.library.locate import DATA, SAMPLE, is_filled, shown

#: environment variable with a folder of manuals
VARIABLE = "TAM_MANUALS"


@dataclass(frozen=True)
class Chosen:
    """A library, where it comes from, and a line to say when it is only the sample."""

    library: Library
    origin: str
    warning: str = ""


def choose_library(
    given: Path | None = None,
    *,
    strict: bool = False,
    indexes: Path = Path("indexes"),
    data: Path = DATA,
    sample: Path = SAMPLE,
) -> Chosen:
    """The editions to look things up in.

    In this order: ``given``; the folder in ``TAM_MANUALS``; the parsed editions in built indexes
    (``indexes/*/manuals``, no parsing needed); fetched ones (``locate.DATA``); the bundled sample. Raises as
    ``open_manuals``.
    """
    named = given or (Path(os.environ[VARIABLE]) if os.environ.get(VARIABLE) else None)
    if named is not None:
        return Chosen(_open(named, strict), str(named))
    parsed = [folder for folder in sorted(indexes.glob("*/manuals")) if parsed_editions(folder)]
    if parsed:
        return Chosen(load_library(*parsed), f"{indexes}/*/manuals")
    if is_filled(data):
        return Chosen(open_manuals(data, strict), shown(data))
    return Chosen(
        open_manuals(sample, strict),
        "manuals/sample",
        "reading the bundled SAMPLE, not the official manuals; give --manuals DIR "
        f"or set {VARIABLE}",
    )


def _open(folder: Path, strict: bool) -> Library:
    return load_library(folder) if parsed_editions(folder) else open_manuals(folder, strict)
