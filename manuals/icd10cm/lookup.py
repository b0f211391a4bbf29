"""Codes in an edition of the Tabular List: stems of codes with a seventh character, what is valid."""

from __future__ import annotations

from manuals.icd10cm.code_view import CodeView, look_up_code
from manuals.icd10cm.codes import is_code
from manuals.library.lookup import match_keys, nearest_keys, with_nearest
from manuals.model.reference import Reference
from manuals.model.sections import Manual
from manuals.model.source import Match
from tam.errors import UnknownKey


def match(manual: Manual, reference: Reference) -> Match | None:
    """The section of a key; a code with a seventh character is found at its stem."""
    found = match_keys(manual, reference.candidates)
    if found is None and is_code(reference.full_key):
        try:
            return Match(manual, (look_up_code(manual, reference.full_key).section,), 0)
        except UnknownKey:
            return None
    return found


def code_view(manual: Manual, reference: Reference) -> CodeView | None:
    """All that a code inherits."""
    return look_up_code(manual, reference.full_key) if reference.kind == "code" else None


def why_absent(
    manual: Manual, reference: Reference, line: str, near: tuple[str, ...]
) -> tuple[str, tuple[str, ...]]:
    """What the Tabular List has to say on a code that it does not hold, and codes near it."""
    key = reference.full_key
    if reference.kind != "code":
        return with_nearest(line, near), near
    try:
        look_up_code(manual, key)
    except UnknownKey as error:
        return str(error), error.nearest or nearest_keys(key, manual)
    return f"{manual.edition.name} has no section of its own for {key}", (key,)
