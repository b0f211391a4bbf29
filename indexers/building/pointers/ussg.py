"""Pointers of the Guidelines Manual: sections that its text names, and the rows of Appendix A."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from indexers.building.pointers.general import Others, Pointer, Target, in_text, named
from manuals.model.sections import Manual, Section
from manuals.ussg.statute_index import StatuteIndex

_NOTES = re.compile(r" Notes(?:#\d+)?$")


def pointers(manual: Manual, others: Others) -> Iterator[Pointer]:
    """References in the text, then the rows."""
    yield from in_text(manual, partial(named, manual, others), _has_rule_of_its_own)
    yield from _of_rows(manual, others)


def _has_rule_of_its_own(section: Section) -> bool:
    # Each application note is a section below "Application Notes".
    return section.kind == "statute" or _NOTES.search(section.key) is not None


def _of_rows(ussg: Manual, others: Others) -> Iterator[Pointer]:
    """Each row of Appendix A to its guidelines; its words are the statute's title."""
    title18 = others("title18")
    appendix = StatuteIndex(ussg)
    for key in appendix.sections():
        statute = title18.by_key.get(key) if title18 else None
        for row in appendix.rows(key).rows:
            targets = guidelines_of(row, ussg)
            if targets:
                words = f"{row.title} {statute.title}" if statute else row.title
                yield Pointer("appendix_a", row, row.span[0], targets, words)


def guidelines_of(row: Section, ussg: Manual) -> tuple[Target, ...]:
    return tuple(
        Target("ussg", ref.target)
        for ref in row.refs
        if ref.kind == "guideline" and ref.target in ussg.by_key
    )
