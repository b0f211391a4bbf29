"""Golds of legal cases: from what the facts cite to sections of Title 18 and the Guidelines.

- A cited statute of Title 18 gives its section (origin ``cited``, grade 3), the whole section
  whichever subsection is cited. Statutes of other titles are out of scope there, and counted.
- Appendix A of the year's Guidelines Manual gives for each cited statute, of any title, the
  guidelines of its row (``mapped``, grade 2): the row of what was cited or of the nearest
  subdivision above it; when only a section was cited that has rows by subsection, all of these
  (grade 1).
- A cited guideline is a gold itself (``cited``, grade 3), the whole guideline.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from eval.domains.model import CaseGolds
from eval.golds.gold import DIRECT, NEAR, WIDE, Gold, find_key, merge
from eval.queries.case_files import Case, listed
from manuals.library.editions import Library
from manuals.model.keys import Reference, find_references
from manuals.model.sections import Section
from manuals.ussg.statute_index import StatuteIndex


class LegalFound(NamedTuple):
    """Golds of a case; ``out_of_scope`` are cited statutes of other titles, each once, and
    ``unmapped`` the cited statutes that Appendix A has no row for."""

    golds: list[Gold]
    out_of_scope: tuple[str, ...]
    unmapped: tuple[str, ...]


def golds_of_cases(
    library: Library,
    cases: Sequence[Case],
    editions: Mapping[str, Mapping[str, int]],
    tables: bool,
) -> CaseGolds:
    """Golds from what the cases' facts cite, and how much of it is out of reach."""
    rules = LegalGolds(library)
    golds: list[Gold] = []
    outside: list[str] = []
    unmapped: list[str] = []
    for case in cases:
        found = rules.golds(case.case_id, case.text, editions[case.case_id])
        golds += found.golds
        outside += found.out_of_scope
        unmapped += found.unmapped
    notes = []
    if outside:
        notes.append(
            f"{len(outside)} cited statutes are of other titles than 18, out of scope as sections "
            f"(Appendix A still maps them): {listed(outside)}"
        )
    if unmapped:
        notes.append(
            f"{len(unmapped)} cited statutes have no row in Appendix A: {listed(unmapped)}"
        )
    return CaseGolds(golds, tuple(notes))


class LegalGolds:
    """Golds from citations over one library; what is read of an edition is kept."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self._appendices: dict[int, StatuteIndex] = {}

    def golds(self, query_id: str, text: str, editions: Mapping[str, int]) -> LegalFound:
        """Golds of one case in the editions (source -> year) that it is measured on.

        What the facts cite and the edition does not hold stays as a gold that is missing.
        """
        golds: list[Gold] = []
        outside: dict[str, None] = {}
        unmapped: dict[str, None] = {}
        for reference in find_references(text, typed=True):
            if reference.kind == "guideline" and "ussg" in editions:
                golds.append(self._cited(query_id, reference, "ussg", editions["ussg"]))
            if reference.kind != "statute":
                continue
            if reference.only_in_appendix:
                outside[reference.full_key] = None
            elif "title18" in editions:
                golds.append(self._cited(query_id, reference, "title18", editions["title18"]))
            if "ussg" in editions:
                mapped = self._mapped(query_id, reference, editions["ussg"])
                golds.extend(mapped)
                if not mapped:
                    unmapped[reference.full_key] = None
        return LegalFound(merge(golds), tuple(outside), tuple(unmapped))

    def _cited(self, query_id: str, reference: Reference, source: str, year: int) -> Gold:
        """The whole section or guideline; the note keeps what was cited of it."""
        unit = Reference(reference.kind, reference.key, sources=(source,))
        key = find_key(self.library, unit, source, year) or reference.key
        return Gold(query_id, source, year, key, DIRECT, "cited", reference.full_key)

    def _mapped(self, query_id: str, reference: Reference, year: int) -> list[Gold]:
        found = self.appendix(year).rows_of(reference)
        grade = NEAR if found.exact else WIDE
        return [
            Gold(query_id, "ussg", year, ref.target, grade, "mapped", _by(reference, row))
            for row in found.rows
            for ref in row.refs
            if ref.kind == "guideline"
        ]

    def appendix(self, year: int) -> StatuteIndex:
        """Appendix A of one edition of the Guidelines Manual."""
        if year not in self._appendices:
            self._appendices[year] = StatuteIndex(self.library.manual("ussg", year))
        return self._appendices[year]


def _by(reference: Reference, row: Section) -> str:
    return f"{reference.full_key} by {row.key}"
