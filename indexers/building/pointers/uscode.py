"""Pointers of Title 18: sections that its text names, and the guidelines for each statute."""

from __future__ import annotations

from collections.abc import Iterator

from indexers.building.pointers import general
from indexers.building.pointers.general import Others, Pointer
from indexers.building.pointers.ussg import guidelines_of
from manuals.model.sections import Manual
from manuals.ussg.statute_index import StatuteIndex


def pointers(manual: Manual, others: Others) -> Iterator[Pointer]:
    """References in the text, then Appendix A."""
    yield from general.pointers(manual, others)
    yield from _of_statutes(manual, others)


def _of_statutes(title18: Manual, others: Others) -> Iterator[Pointer]:
    """Each statute of Title 18 to the guidelines of its rows in Appendix A."""
    ussg = others("ussg")
    if ussg is None:
        return
    appendix = StatuteIndex(ussg)
    for key in appendix.sections():
        statute = title18.by_key.get(key)
        if statute is None:
            continue
        for row in appendix.rows(key).rows:
            targets = guidelines_of(row, ussg)
            if targets:
                yield Pointer("appendix_a", statute, statute.span[0], targets, statute.title, True)
