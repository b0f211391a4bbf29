"""Known items of ICD-10-CM: index entries, inclusion terms, headings of the coding guidelines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from eval.golds.gold import DIRECT
from eval.queries.known_items.sets import (
    VERSION,
    Candidate,
    Dropped,
    KnownItems,
    heading_set,
    joined,
    unique,
)
from manuals.icd10cm.code_view import look_up_code
from manuals.library.editions import Library
from manuals.model.sections import Manual, Section
from tam.errors import UnknownKey


def of_guidelines() -> tuple[KnownItems, ...]:
    """Headings below the chapters, to their sections."""
    return (
        heading_set(
            "coding-guideline-heading",
            "Heading in the ICD-10-CM guidelines to its section.",
            "guidelines",
            "coding_guideline_heading",
            lambda section: section.kind == "guideline",
        ),
    )


def of_tabular() -> tuple[KnownItems, ...]:
    """Sets with codes as golds."""
    return (
        KnownItems(
            "index-to-tabular",
            "Path of an Alphabetic Index entry to the Tabular section of its code.",
            ("tabular", "index"),
            index_to_tabular,
            "code",
            DIRECT,
            "index_path",
            made_from=("index_entry_to_code",),
        ),
        KnownItems(
            "inclusion-term-to-code",
            "Inclusion term of the Tabular List to its code.",
            ("tabular",),
            inclusion_terms,
            "code",
            DIRECT,
            "inclusion_term",
            repeats_gold_text=True,
        ),
    )


def index_to_tabular(library: Library, year: int, dropped: Dropped) -> Iterator[Candidate]:
    """The path of each index entry that gives codes, to the Tabular sections of these codes."""
    tabular = library.manual("tabular", year)

    def pairs() -> Iterator[tuple[str, Sequence[Section]]]:
        for entry in library.manual("index", year).sections:
            codes = [ref.target for ref in entry.refs if ref.kind in ("code", "manifestation")]
            sections = [found for code in codes if (found := _code(tabular, code))]
            if sections:
                yield VERSION.sub("", entry.key), sections
            elif codes:
                dropped["no gold"] += 1

    return joined(pairs())


def _code(tabular: Manual, code: str) -> Section | None:
    try:
        return look_up_code(tabular, code).section
    except UnknownKey:
        return None


def inclusion_terms(library: Library, year: int, dropped: Dropped) -> Iterator[Candidate]:
    """Each inclusion term of the Tabular List, to the code under which it stands."""
    return unique(
        (
            (note.text, section)
            for section in library.manual("tabular", year).sections
            for note in section.notes
            if note.kind == "inclusionTerm"
        ),
        dropped,
    )
