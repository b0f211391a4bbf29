"""What there is to say of an edition: its files, what was found in it, what is wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from manuals.library.editions import Library
from manuals.library.store import edition_record
from manuals.model.sections import Edition, Manual
from tam.errors import TamError


@dataclass(frozen=True)
class EditionStatus:
    """One edition. ``kinds`` counts its sections by kind; all counts are 0 when not parsed."""

    edition: Edition
    sections: int = 0
    kinds: Mapping[str, int] | None = None
    pages: int = 0
    characters: int = 0
    problem: str = ""

    @property
    def problems(self) -> tuple[str, ...]:
        """What discovery and the parser have to say of this edition."""
        return (*self.edition.problems, *([self.problem] if self.problem else []))

    def record(self) -> dict[str, Any]:
        """All of it as JSON values."""
        return {
            "name": self.edition.name,
            **edition_record(self.edition),
            "sections": self.sections,
            "sections_by_kind": dict(self.kinds or {}),
            "pages": self.pages,
            "characters": self.characters,
            "problems": list(self.problems),
        }


def edition_status(manual: Manual) -> EditionStatus:
    """The counts of a parsed edition."""
    kinds = Counter(section.kind for section in manual.sections)
    return EditionStatus(
        edition=manual.edition,
        sections=len(manual.sections),
        kinds=dict(sorted(kinds.items())),
        pages=len(manual.page_starts),
        characters=len(manual.text),
    )


def library_status(library: Library, counts: bool = True) -> Iterator[EditionStatus]:
    """Every edition in order; one that cannot be parsed is reported and the rest go on."""
    for edition in library.editions:
        if not counts:
            yield EditionStatus(edition)
            continue
        try:
            yield edition_status(library.manual(edition.source, edition.year, keep=False))
        except TamError as error:
            yield EditionStatus(edition, problem=str(error))
