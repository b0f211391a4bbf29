"""The Sentencing Guidelines Manual as a source. An edition is named by the year of its date.

It applies from the date of the title page (1 November) until the day before the next edition took
effect. Editions are not annual: ``EDITIONS`` lists the official ones, so that 2016 ends in 2018,
and 2021 in 2023, whether or not the next one is in the folder.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from manuals.model.reference import Reference
from manuals.model.sections import Edition
from manuals.model.source import ChunkCounts, Source
from manuals.model.years import DAY, long_date
from manuals.uscode.source import VOCABULARY
from tam.plugins import Hook

#: editions of the Guidelines Manual since 2001 (ussc.gov, Guidelines Manual Archive)
EDITIONS = (*range(2001, 2017), 2018, 2021, 2023, 2024, 2025)


def _dates(edition: Edition, siblings: Sequence[Edition]) -> tuple[date, date | None]:
    begin = long_date(edition.release) or date(edition.year, 11, 1)
    years = {*EDITIONS, *(other.year for other in siblings)}
    later = [year for year in years if year > edition.year]
    return begin, date(min(later), 11, 1) - DAY if later else None


def _keys(reference: Reference) -> tuple[str, ...]:
    # A statute has its place in Appendix A.
    return (reference.appendix_key, *reference.candidates[1:])


SOURCE = Source(
    name="ussg",
    title="Sentencing Guidelines Manual",
    short="Guidelines Manual",
    corpus="legal",
    order=8,
    files="Guidelines Manual PDFs",
    recognise=Hook("manuals.ussg.recognise:recognise"),
    parse=Hook("manuals.ussg.manual:parse_ussg"),
    dates=_dates,
    in_force="in effect {dates}",
    amendments=Hook("manuals.ussg.lookup:amendments"),
    official_years=EDITIONS,
    parse_reference=Hook("manuals.ussg.citations:parse_reference"),
    find_references=Hook("manuals.ussg.citations:find_references"),
    kinds=frozenset({"statute"}),
    keys=_keys,
    match=Hook("manuals.ussg.lookup:match"),
    why_absent=Hook("manuals.ussg.lookup:why_absent"),
    group=re.compile(r"§[^\s(#]+"),
    names=Hook("manuals.ussg.apply.names:names"),
    lay_names=Path(__file__).parent / "apply" / "lay_names.tsv",
    vocabulary=VOCABULARY,
    plan=Hook("manuals.ussg.apply.plan:steps"),
    unit=re.compile(r"§[^\s(#]+"),
    apparatus=re.compile(r" Historical Note(?:#\d+)?$"),
    chunk_rules={
        "paper": Hook("chunkers.ussg.paper:pieces"),
        "sections": Hook("chunkers.ussg.sections:pieces"),
    },
    counts=ChunkCounts(
        "legal",
        13091,
        (2021, 2022, 2023, 2024, 2025),
        6267,
        # There is no Guidelines Manual of 2022: that of 2021 stayed in force.
        same_as=((2022, 2021),),
        # These depend on the reader: the rule starts a chunk at every page top.
        measured={2016: (1370, 1395), 2025: (1255, 1275)},
    ),
    pointers=Hook("indexers.building.pointers.ussg:pointers"),
    known_items=Hook("eval.queries.known_items.ussg:sets"),
)
