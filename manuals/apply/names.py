"""Units and what they are called.

A unit is what people cite as a whole and a search returns as one hit: a guideline, a section of
the United States Code, a category of codes. ``Source.group`` says how its key begins.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from manuals.model.sections import Manual, Section
from manuals.model.source import SOURCES

Others = Callable[[str], Manual | None]

_VERSION = re.compile(r"#\d+$")


class UnitName(NamedTuple):
    """A name of the unit that holds section ``key`` of ``source``.

    ``via`` is what says so, where it is another manual's section; ``encoded`` whether the name is
    embedded too (entries of an index are many, and BM25 does as well on them).
    """

    source: str
    key: str
    text: str
    via: str = ""
    encoded: bool = True


def unit_of(source: str, key: str) -> str:
    """The key of the unit that a section's key belongs to; the key itself where it is none's."""
    pattern = SOURCES[source].group
    found = pattern.match(key) if pattern else None
    return found.group() if found else _VERSION.sub("", key)


def headed(manual: Manual, section: Section, above: int = 2) -> str:
    """A section's title with the nearest headings above it."""
    titles = [each.title for each in manual.ancestors(section)][-above:] if above else []
    return ". ".join(filter(None, (section.title, *titles)))


def titles(manual: Manual, others: Others) -> Iterator[UnitName]:
    """Each section's title with the headings above it: the general rule."""
    for section in manual.sections:
        if section.title:
            yield UnitName(manual.source, section.key, headed(manual, section))


def lay_names(manual: Manual) -> Iterator[UnitName]:
    """What people call what a section is about: the source's open data file (``lay_names``)."""
    path = SOURCES[manual.source].lay_names
    for key, names in _lay_file(path) if path else ():
        if key in manual.by_key:
            yield from (UnitName(manual.source, key, name) for name in names)


@lru_cache(maxsize=8)
def _lay_file(path: Path) -> tuple[tuple[str, tuple[str, ...]], ...]:
    with path.open(encoding="utf-8", newline="") as stream:
        rows = csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
        return tuple(
            (row["key"], tuple(name.strip() for name in row["names"].split(";"))) for row in rows
        )
