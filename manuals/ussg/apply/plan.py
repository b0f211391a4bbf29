"""The order in which §1B1.1 applies the Guidelines Manual to a case."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from manuals.apply.plan import PlanStep, Statement, read_steps
from manuals.model.sections import Manual
from manuals.ussg.citations import NUMERALS

_PLAN = Path(__file__).with_name("plan.toml")

_PARTS = re.compile(
    r"\bParts?\s+(?P<parts>[A-Z](?:(?:,\s*(?:and\s+)?|\s+and\s+|\s+through\s+)[A-Z])*)\s+of\s+"
    r"Chapter\s+(?P<chapter>[A-Z][a-z]+)"
)
_CHAPTER = re.compile(r"\bChapter\s+(?P<chapter>[A-Z][a-z]+)\s+\(")


def steps(manual: Manual | None, found: Sequence[Statement]) -> tuple[PlanStep, ...]:
    """The steps for an edition, each with the parts that its own §1B1.1 names for it; without an
    edition those of the file."""
    planned = read_steps(_PLAN)
    if manual is None:
        return planned
    return tuple(replace(step, under=stated(manual, step.stated) or step.under) for step in planned)


def stated(manual: Manual, keys: tuple[str, ...]) -> tuple[str, ...]:
    """The chapters and parts that these paragraphs send the reader to, as keys, in order."""
    found: dict[str, None] = {}
    for key in keys:
        section = manual.by_key.get(key)
        text = manual.subtree_text(section) if section else ""
        for match in _PARTS.finditer(text):
            number = NUMERALS.get(match["chapter"].lower())
            for part in _letters(match["parts"]):
                found[f"USSG Chapter {number}, Part {part}"] = None
        if not found:
            for match in _CHAPTER.finditer(text):
                found[f"USSG Chapter {NUMERALS.get(match['chapter'].lower())}"] = None
    return tuple(each for each in found if each in manual.by_key)


def _letters(parts: str) -> list[str]:
    """``B through G`` -> B, C, ... G; ``A, B, and C`` -> A, B, C."""
    letters = re.findall(r"[A-Z]", parts)
    if "through" in parts:
        return [chr(code) for code in range(ord(letters[0]), ord(letters[-1]) + 1)]
    return letters
