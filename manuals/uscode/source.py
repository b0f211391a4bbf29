"""Title 18 of the United States Code as a source. An edition is of a year.

An edition states the law as of its ``currentthrough`` date. It holds from that day until the next
edition is current: what was enacted between two is not yet in the older one (its sections are then
marked, see ``manuals.library.standing``), but the newer one has law that came after the day.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from manuals.model.sections import Edition
from manuals.model.source import ChunkCounts, Source
from manuals.model.years import DAY, compact_date
from tam.plugins import Hook

#: people's words for crimes and procedure in the Code's and the Guidelines' own
VOCABULARY = Path(__file__).parent / "apply" / "terms.tsv"


def _dates(edition: Edition, siblings: Sequence[Edition]) -> tuple[date, date | None]:
    begin = _current_through(edition)
    later = [day for day in map(_current_through, siblings) if day > begin]
    return begin, min(later) - DAY if later else None


def _current_through(edition: Edition) -> date:
    return compact_date(edition.release) or date(edition.year, 12, 31)


SOURCE = Source(
    name="title18",
    title="United States Code, Title 18",
    short="Title 18",
    corpus="legal",
    order=7,
    files="Title 18 HTML",
    parts=("I", "II", "III", "IV", "V"),
    recognise=Hook("manuals.uscode.recognise:recognise"),
    parse=Hook("manuals.uscode.title18:parse_title18"),
    dates=_dates,
    in_force="current through {first}",
    amendments=Hook("manuals.uscode.amendments:amendments"),
    parse_reference=Hook("manuals.uscode.citations:parse_reference"),
    find_references=Hook("manuals.uscode.citations:find_references"),
    match=Hook("manuals.uscode.lookup:match"),
    group=re.compile(r"18 U\.S\.C\. § [^\s(#]+"),
    names=Hook("manuals.uscode.apply.names:names"),
    lay_names=Path(__file__).parent / "apply" / "lay_names.tsv",
    vocabulary=VOCABULARY,
    ties=frozenset({"appendix_a"}),
    unit=re.compile(r"18 U\.S\.C\. § [^\s(#]+"),
    apparatus=re.compile(r" (?:Notes|Source Credit|Footnotes)(?: > .*)?(?:#\d+)?$", re.DOTALL),
    chunk_rules={
        "paper": Hook("chunkers.uscode.paper:pieces"),
        "sections": Hook("chunkers.uscode.sections:pieces"),
    },
    counts=ChunkCounts(
        "legal",
        13091,
        (2021, 2022, 2023, 2024, 2025),
        6824,
        measured={
            2021: (1358, 1358),
            2022: (1366, 1366),
            2023: (1366, 1366),
            2024: (1367, 1367),
            2025: (1367, 1367),
        },
    ),
    pointers=Hook("indexers.building.pointers.uscode:pointers"),
    known_items=Hook("eval.queries.known_items.uscode:sets"),
)
