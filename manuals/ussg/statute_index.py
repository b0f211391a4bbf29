"""From a cited statute to its rows of Appendix A: which guidelines apply to it.

A row can stand for several subdivisions (``18 U.S.C. § 922(a)–(p)``, ``§ 793(d),(e)``). A citation
takes the rows that hold what it names, at the deepest level there is (``922(g)(1)`` lies in
``922(a)–(p)``); when none holds it, as for a section that has rows by subsection only, all rows
below it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from manuals.model.keys import Reference, find_references
from manuals.model.sections import Manual, Section

PREFIX = "Appendix A > "


@dataclass(frozen=True, slots=True)
class _Member:
    """One statute of a row: subdivisions, and the last one of a range of them."""

    first: tuple[str, ...]
    last: tuple[str, ...]
    row: Section

    def holds(self, names: tuple[str, ...]) -> bool:
        depth = len(self.first)
        if len(names) < depth:
            return False
        if not depth:
            return True
        if names[: depth - 1] != self.first[:-1]:
            return False
        name = names[depth - 1]
        if name == self.first[-1]:
            return True
        if len(self.last) != depth or self.last[:-1] != self.first[:-1]:
            return False
        low, high = self.first[-1], self.last[-1]
        if name.isdigit() != low.isdigit():
            return False
        return _place(low) <= _place(name) <= _place(high)


def _place(name: str) -> tuple[int, str]:
    """Order of enumerators: 2 before 10, z before aa."""
    return len(name), name


class StatuteRows(NamedTuple):
    """Rows for a citation in their order; ``exact`` when they hold what was cited, not when they
    stand below it."""

    rows: tuple[Section, ...]
    exact: bool


class StatuteIndex:
    """The statutes of one edition's Appendix A; without the appendix, none."""

    def __init__(self, manual: Manual) -> None:
        self._members: dict[str, list[_Member]] = {}
        for section in manual.sections:
            if section.kind != "statute" or not section.key.startswith(PREFIX):
                continue
            for reference in find_references(section.key.removeprefix(PREFIX)):
                if reference.kind == "statute":
                    self._add(reference, section)

    def _add(self, reference: Reference, row: Section) -> None:
        last = reference.subdivisions
        if reference.through:
            ends = [each for each in find_references(reference.through) if each.kind == "statute"]
            last = ends[0].subdivisions if ends and ends[0].key == reference.key else last
        member = _Member(reference.subdivisions, last, row)
        self._members.setdefault(reference.key, []).append(member)

    def sections(self) -> list[str]:
        """The keys of the statutes' sections (``18 U.S.C. § 922``), in the order of the rows."""
        return list(self._members)

    def rows(self, key: str, subdivisions: Sequence[str] = ()) -> StatuteRows:
        """The rows for a citation: ``("18 U.S.C. § 922", ("g", "1"))``."""
        members = self._members.get(key, [])
        names = tuple(subdivisions)
        holding = [member for member in members if member.holds(names)]
        if holding:
            deepest = max(len(member.first) for member in holding)
            chosen = [member for member in holding if len(member.first) == deepest]
        else:
            chosen = [member for member in members if member.first[: len(names)] == names]
        rows = {member.row.key: member.row for member in chosen}
        return StatuteRows(tuple(rows.values()), bool(holding))

    def rows_of(self, reference: Reference) -> StatuteRows:
        """The rows for a citation; those of a range (``50 U.S.C. §§ 1701-06``) with the rows of
        the sections between its ends."""
        found = self.rows(reference.key, reference.subdivisions)
        inside = [self.rows(key) for key in reference.inside(self._members)]
        rows = {row.key: row for each in (found, *inside) for row in each.rows}
        return StatuteRows(
            tuple(rows.values()), all(each.exact for each in (found, *inside) if each.rows)
        )
