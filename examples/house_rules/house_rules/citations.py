"""How people cite the rules: ``Rule A.1``, ``house rule a.1``, ``Part A of the house rules``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from manuals.model.reference import Reference

_RULE = re.compile(r"\b(?:house )?rules? (?P<rule>[A-F]\.\d{1,2})(?![\w.]*\d)", re.IGNORECASE)
_PART = re.compile(r"Part (?P<part>[A-F])(?: of the house rules)?", re.IGNORECASE)


def parse_reference(text: str) -> Reference | None:
    """A typed text that is as a whole a rule or a part."""
    rule, part = _RULE.fullmatch(text), _PART.fullmatch(text)
    if rule is not None:
        return _reference(f"Rule {rule['rule'].upper()}", text, 0, len(text))
    if part is not None:
        return _reference(f"Part {part['part'].upper()}", text, 0, len(text))
    return None


def find_references(text: str, typed: bool) -> Iterator[Reference]:
    """The rules that a running text names."""
    for found in _RULE.finditer(text):
        yield _reference(f"Rule {found['rule'].upper()}", text, *found.span())


def _reference(key: str, text: str, start: int, end: int) -> Reference:
    return Reference("rule", key, sources=("house",), span=(start, end), text=text[start:end])
