"""A reference in one edition: the section that it names, or the keys that look like it."""

from __future__ import annotations

import bisect
import difflib
from dataclasses import dataclass

from manuals.codes import is_code
from manuals.icd import CodeView, look_up_code
from manuals.keys import Reference
from manuals.sections import Manual, Section
from manuals.statute_index import StatuteIndex
from tam.errors import UnknownKey

#: sources whose keys are paths of titles
INDEX_SOURCES = frozenset({"index", "eindex", "drugs", "neoplasm"})

#: how many near keys an error names
NEAREST = 5


@dataclass(frozen=True, slots=True)
class Match:
    """Sections of one edition for a reference; ``depth`` 0 when they are exactly what it names."""

    manual: Manual
    sections: tuple[Section, ...]
    depth: int


def match_reference(manual: Manual, reference: Reference) -> Match | None:
    """What an edition holds of a reference: the first of its keys that is there.

    A statute in the Guidelines Manual is looked up among the rows of Appendix A.
    """
    if manual.source == "ussg" and reference.kind == "statute":
        found = StatuteIndex(manual).rows(reference.key, reference.subdivisions)
        return Match(manual, found.rows, 0 if found.exact else 1) if found.rows else None
    for depth, key in enumerate(keys_of(reference, manual.source)):
        section = find_section(manual, key)
        if section is not None:
            return Match(manual, (section,), depth)
    return None


def find_section(manual: Manual, key: str) -> Section | None:
    """The section with the key.

    A code with a seventh character is found at its stem, and an index title in any case of its
    letters.
    """
    section = manual.by_key.get(key)
    if section is None and manual.source == "tabular" and is_code(key):
        try:
            return look_up_code(manual, key).section
        except UnknownKey:
            return None
    if section is None and manual.source in INDEX_SOURCES:
        folded = key.casefold()
        return next((s for s in manual.sections if s.key.casefold() == folded), None)
    return section


def nearest_keys(key: str, manual: Manual, count: int = NEAREST) -> tuple[str, ...]:
    """Keys that look like ``key``, best first: what stands above it and its neighbours."""
    head, joint, _ = key.rpartition(" > ")
    above = manual.by_key.get(head) if joint else None
    if above is not None:
        near = [child.key for child in manual.children(above)]
    else:
        near = _neighbours(key, manual)
        if manual.source in INDEX_SOURCES:
            terms = [other for other in manual.by_key if " > " not in other]
            near += difflib.get_close_matches(key, terms, count, cutoff=0.7)
    scored = {other: _likeness(key.lower(), other.lower()) for other in near}
    return tuple(sorted(scored, key=lambda other: (-scored[other], other))[:count])


def _likeness(key: str, other: str) -> float:
    """How alike two keys look; a slip is likelier at the end of a number than at its start."""
    pairs = enumerate(zip(key, other, strict=False))
    same_start = next((at for at, (a, b) in pairs if a != b), min(len(key), len(other)))
    return difflib.SequenceMatcher(None, key, other).ratio() + same_start / len(key)


def _neighbours(key: str, manual: Manual, width: int = 60) -> list[str]:
    """Keys next to ``key`` in alphabetic order, of those that are not much longer."""
    keys = sorted(other for other in manual.by_key if len(other) <= len(key) + 1)
    at = bisect.bisect_left(keys, key)
    return keys[max(at - width, 0) : at + width]


def keys_of(reference: Reference, source: str) -> tuple[str, ...]:
    """The keys to try in a source's editions, from what was named upwards."""
    if source == "ussg":
        return (reference.appendix_key, *reference.candidates[1:])
    return reference.candidates


def code_view(manual: Manual, reference: Reference) -> CodeView | None:
    if manual.source != "tabular" or reference.kind != "code":
        return None
    return look_up_code(manual, reference.full_key)


def why_no_code(manual: Manual, key: str) -> tuple[str, tuple[str, ...]]:
    """What the Tabular List has to say on a code that it does not hold, and codes near it."""
    try:
        look_up_code(manual, key)
    except UnknownKey as error:
        return str(error), error.nearest or nearest_keys(key, manual)
    return f"{manual.edition.name} has no section of its own for {key}", (key,)
