"""The six manuals of ICD-10-CM as sources. An edition is of a fiscal year.

A release of April holds from 1 April of it: the guidelines print their date, the XML files say it
only by the publisher's file name (``icd10cm-tabular-April-2024.xml``). Whether an October release
was updated in April is not in its files, so nothing is said of it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

from manuals.model.sections import Edition
from manuals.model.source import ChunkCounts, Source
from manuals.model.years import fiscal_year, long_date
from tam.plugins import Hook

#: abbreviations and lay words in the classification's own
VOCABULARY = Path(__file__).parent / "apply" / "terms.tsv"

_RECOGNISE = Hook("manuals.icd10cm.recognise:recognise")
_PARSE_REFERENCE = Hook("manuals.icd10cm.citations:parse_reference")
_FIND_REFERENCES = Hook("manuals.icd10cm.citations:find_references")


def _dates(edition: Edition, siblings: Sequence[Edition]) -> tuple[date, date]:
    first, last = fiscal_year(edition)
    released = long_date(edition.release)
    names = [file.path.rpartition("/")[2] for file in edition.files]
    if released is None and any(re.search(r"april", name, re.IGNORECASE) for name in names):
        released = date(edition.year, 4, 1)
    return (released if released and first <= released <= last else first), last


def _source(name: str, title: str, order: int, rules: str, **fields: Any) -> Source:
    return Source(
        name=name,
        title=title,
        order=order,
        corpus="icd",
        files="ICD-10-CM XML or guidelines",
        edition_title="{title}, FY {year}",
        recognise=_RECOGNISE,
        dates=_dates,
        parse_reference=_PARSE_REFERENCE,
        find_references=_FIND_REFERENCES,
        vocabulary=VOCABULARY,
        chunk_rules={
            preset: Hook(f"chunkers.icd10cm.{preset}_{rules}:pieces")
            for preset in ("paper", "sections")
        },
        **fields,
    )


def _index(name: str, title: str, order: int, **fields: Any) -> Source:
    return _source(
        name,
        title,
        order,
        "index",
        parse=Hook("manuals.icd10cm.index:parse_index"),
        path_keys=True,
        way_to="tabular",
        names=Hook("manuals.icd10cm.apply.names:index_names"),
        pointers=Hook("indexers.building.pointers.icd10cm:of_index"),
        lines=Hook("indexers.building.lines:section_lines"),
        **fields,
    )


GUIDELINES = _source(
    "guidelines",
    "ICD-10-CM Official Guidelines",
    1,
    "guidelines",
    parse=Hook("manuals.icd10cm.guidelines:parse_guidelines"),
    pointers=Hook("indexers.building.pointers.icd10cm:of_guidelines"),
    counts=ChunkCounts("ICD-10-CM", 17138, (2019,), 126, measured={2025: (132, 132)}),
    known_items=Hook("eval.queries.known_items.icd10cm:of_guidelines"),
)

TABULAR = _source(
    "tabular",
    "ICD-10-CM Tabular List",
    2,
    "tabular",
    parse=Hook("manuals.icd10cm.tabular:parse_tabular"),
    match=Hook("manuals.icd10cm.lookup:match"),
    code_view=Hook("manuals.icd10cm.lookup:code_view"),
    why_absent=Hook("manuals.icd10cm.lookup:why_absent"),
    pointers=Hook("indexers.building.pointers.icd10cm:of_tabular"),
    lines=Hook("indexers.building.lines:section_lines"),
    group=re.compile(r"[A-Z][0-9A-Z]{2}(?=$|\.)"),
    names=Hook("manuals.icd10cm.apply.names:tabular_names"),
    lay_names=Path(__file__).parent / "apply" / "lay_names.tsv",
    plan=Hook("manuals.icd10cm.apply.plan:steps"),
    read_case=Hook("manuals.icd10cm.apply.notes:read_note"),
    counts=ChunkCounts(
        "ICD-10-CM", 17138, (2019,), 2255, measured={2021: (2256, 2256), 2025: (2311, 2311)}
    ),
    known_items=Hook("eval.queries.known_items.icd10cm:of_tabular"),
)

INDEX = _index(
    "index",
    "ICD-10-CM Alphabetic Index",
    3,
    expands="tabular",
    counts=ChunkCounts("ICD-10-CM", 17138, (2019,), 14457, measured={2025: (15151, 15151)}),
)
EINDEX = _index("eindex", "ICD-10-CM External Cause Index", 4, expands="tabular")
DRUGS = _index("drugs", "ICD-10-CM Table of Drugs and Chemicals", 5)
NEOPLASM = _index("neoplasm", "ICD-10-CM Neoplasm Table", 6)
