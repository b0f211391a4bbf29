"""A file of house rules: which edition it is, its sections, when it is in force."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path

from manuals.model.official_file import OfficialFile, Recognised
from manuals.model.section_tree import SectionTree
from manuals.model.sections import Edition, Manual
from manuals.model.years import long_date

_TITLE = re.compile(r"# House Rules, (\d{4})\s")
_RELEASE = re.compile(r"^In force from (.+)\.$", re.MULTILINE)
_HEADING = re.compile(
    r"^(?:## (?P<part>Part [A-Z])|### (?P<rule>Rule [A-Z]\.\d+))\. (?P<title>.+)$"
)


def recognise(file: OfficialFile) -> Recognised | None:
    """The edition that a text states in its first lines; ``None`` for all other files."""
    found = _TITLE.match(file.text) if file.kind == "" else None
    if found is None:
        return None
    release = _RELEASE.search(file.text)
    return Recognised("house", int(found[1]), release[1] if release else found[1])


def parse(paths: Sequence[Path], edition: Edition) -> Manual:
    """Parts, and rules in them; ``key`` and ``citation`` are ``Part A`` and ``Rule A.1``."""
    text = paths[0].read_text(encoding="utf-8")
    tree = SectionTree()
    at = 0
    for line in text.splitlines(keepends=True):
        found = _HEADING.match(line)
        if found is not None:
            rank, kind = (1, "part") if found["part"] else (2, "rule")
            key = found["part"] or found["rule"]
            tree.open(rank, key, kind, key, found["title"], at, 1)
        at += len(line)
        if line.strip():
            tree.reach(at, 1)
    return Manual(edition, text, tree.sections(edition, paged=False))


def dates(edition: Edition, siblings: Sequence[Edition]) -> tuple[date, date | None]:
    """From the day that the edition states until the day before the next one's."""
    later = [_begin(other) for other in siblings if other.year > edition.year]
    return _begin(edition), min(later) - timedelta(days=1) if later else None


def _begin(edition: Edition) -> date:
    return long_date(edition.release) or date(edition.year, 1, 1)
