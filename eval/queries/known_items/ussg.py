"""Known items of the Guidelines Manual: headings, and statutes by Appendix A."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from eval.golds.gold import NEAR
from eval.queries.known_items.sets import Candidate, Dropped, KnownItems, heading_set, unique
from eval.queries.known_items.uscode import in_force
from manuals.library.editions import Library
from manuals.ussg.statute_index import StatuteIndex


def sets() -> tuple[KnownItems, ...]:
    """Sets with guidelines as golds."""
    return (
        KnownItems(
            "appendix-a-to-guideline",
            "Title 18 heading of a statute in Appendix A to the guidelines of its rows.",
            ("ussg", "title18"),
            appendix_a,
            "mapped",
            NEAR,
            "title18_heading",
            made_from=("appendix_a",),
        ),
        heading_set(
            "guideline-heading",
            "Heading of a sentencing guideline to the guideline.",
            "ussg",
            "guideline_heading",
            lambda section: section.kind == "guideline",
        ),
    )


def appendix_a(library: Library, year: int, dropped: Dropped) -> Iterator[Candidate]:
    """The heading of each statute of Title 18 in Appendix A, to the guidelines of its rows."""
    ussg = library.manual("ussg", year)
    statutes = filter(in_force, library.manual("title18", year).sections)
    own_heading = {
        each.sections[0].key: each.text
        for each in unique(((section.title, section) for section in statutes), Counter())
    }
    appendix = StatuteIndex(ussg)
    for key in appendix.sections():
        targets = [
            ref.target
            for row in appendix.rows(key).rows
            for ref in row.refs
            if ref.kind == "guideline"
        ]
        sections = [
            ussg.by_key[target] for target in dict.fromkeys(targets) if target in ussg.by_key
        ]
        if not key.startswith("18 U.S.C. "):
            dropped["other title"] += 1
        elif key not in own_heading:
            dropped["no heading of its own"] += 1
        elif not sections:
            dropped["no gold"] += 1
        else:
            yield Candidate(own_heading[key], tuple(sections))
