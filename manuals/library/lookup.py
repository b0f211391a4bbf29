"""A reference in one edition: the section that it names, or the keys that look like it."""

from __future__ import annotations

import bisect
import difflib
from collections.abc import Iterable

from manuals.model.keys import Reference, find_references
from manuals.model.reference import in_order
from manuals.model.sections import Manual, Section
from manuals.model.source import SOURCES, Match

#: how many near keys an error names
NEAREST = 5


def match_reference(manual: Manual, reference: Reference) -> Match | None:
    """What an edition holds of a reference, by the rule of its source."""
    source = SOURCES[manual.source]
    if source.match is not None:
        return source.match(manual, reference)
    return match_keys(manual, source.keys(reference))


def match_keys(manual: Manual, keys: Iterable[str]) -> Match | None:
    """The first of the keys that an edition holds."""
    for depth, key in enumerate(keys):
        section = find_section(manual, key)
        if section is not None:
            return Match(manual, (section,), depth)
    return None


def joint_head(manual: Manual, key: str) -> Section | None:
    """The section under one head for several numbers that has this number among them.

    ``18 U.S.C. § 4085`` stands in ``18 U.S.C. §§ 4084, 4085``, ``§5K2.3`` in the deleted
    ``§§5K2.0-5K2.24``.
    """
    number = in_order(key)
    for section in manual.sections:
        if "§§" not in section.citation or section.kind in ("notes", "note", "statute"):
            continue
        for reference in find_references(section.citation):
            last = reference.through or reference.key
            if in_order(reference.key) <= number <= in_order(last):
                return section
    return None


def find_section(manual: Manual, key: str) -> Section | None:
    """The section with the key.

    A path of titles is found in any case of its letters, or by what stands before a title's comma
    (``Diabetes`` for ``Diabetes, diabetic``) where only one section begins so.
    """
    section = manual.by_key.get(key)
    if section is None and SOURCES[manual.source].path_keys:
        folded = key.casefold()
        same = next((s for s in manual.sections if s.key.casefold() == folded), None)
        short = [] if same is not None else _by_short_titles(manual, folded)
        return short[0] if len(short) == 1 else same
    return section


def _by_short_titles(manual: Manual, folded: str) -> list[Section]:
    """The sections that a path means when its titles may be only the first words of theirs."""
    path = folded.split(" > ")
    return [
        section
        for section in manual.sections
        if section.key.count(" > ") == len(path) - 1
        and section.version == 1
        and all(map(_is_short_for, path, section.key.casefold().split(" > ")))
    ]


def _is_short_for(words: str, title: str) -> bool:
    """Whether ``title`` is ``words`` with more after a comma, or *NEC*."""
    return words in (title, title.removesuffix(" nec"), title.partition(", ")[0])


def with_nearest(line: str, near: Iterable[str]) -> str:
    """A message with the nearest keys at its end, if there are any."""
    return f"{line}; nearest: {', '.join(near)}" if near else line


def nearest_in(key: str, manuals: Iterable[Manual]) -> tuple[str, ...]:
    """The nearest keys in several manuals together, best first."""
    near = {other for manual in manuals for other in nearest_keys(key, manual)}
    return _best(key, near, NEAREST)


def nearest_keys(key: str, manual: Manual, count: int = NEAREST) -> tuple[str, ...]:
    """Keys that look like ``key``, best first: what stands above it and its neighbours."""
    head, joint, _ = key.rpartition(" > ")
    above = find_section(manual, head) if joint else None
    if above is not None:
        near = [child.key for child in manual.children(above)]
    else:
        near = _neighbours(key, manual)
        if SOURCES[manual.source].path_keys:
            terms: dict[str, str] = {}
            for other in manual.by_key:
                if " > " not in other:
                    terms.setdefault(other.casefold(), other)
                    terms.setdefault(other.casefold().partition(", ")[0], other)
            close = difflib.get_close_matches(key.casefold(), terms, count, cutoff=0.7)
            near += [terms[other] for other in close]
            near += [section.key for section in _by_short_titles(manual, key.casefold())]
    return _best(key, near, count)


def _best(key: str, near: Iterable[str], count: int) -> tuple[str, ...]:
    scored = {other: _likeness(key.casefold(), other.casefold()) for other in near}
    return tuple(sorted(scored, key=lambda other: (-scored[other], other))[:count])


def _likeness(key: str, other: str) -> float:
    """How alike two keys look; a slip is likelier at the end of a number than at its start."""
    pairs = enumerate(zip(key, other, strict=False))
    same_start = next((at for at, (a, b) in pairs if a != b), min(len(key), len(other)))
    return difflib.SequenceMatcher(None, key, other).ratio() + same_start / len(key)


def _neighbours(key: str, manual: Manual, width: int = 60) -> list[str]:
    """Keys next to ``key`` in alphabetic order, of those that are not much longer."""
    near = (other for other in manual.by_key if len(other) <= len(key) + 1)
    keys = sorted(near, key=lambda other: (other.casefold(), other))
    at = bisect.bisect_left(keys, key.casefold(), key=str.casefold)
    return keys[max(at - width, 0) : at + width]
