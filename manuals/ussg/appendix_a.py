"""Appendix A of the Guidelines Manual: which guideline applies to which statute."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from manuals.model.sections import Ref
from manuals.pdf.lines import Hyphens, Line, columns, join_lines, make_line, split_line

_STATUTE = re.compile(r"^\d{1,2} U\.S\.C\. ?(App\. ?)?§")
_GUIDELINE = re.compile(r"^\d[A-Z]\d{1,2}\.\d{1,2}\b")
# One number is printed without its first digit (J1.1).
_BETWEEN_CELLS = re.compile(r" (?=\d?[A-Z]\d{1,2}\.\d{1,2}\b)")
_NUMBER = re.compile(r"(?<![\w.])§?(\d[A-Z]\d{1,2}\.\d{1,2})(?![\w.]*\d)")


@dataclass(slots=True)
class StatuteRow:
    """One row: its lines by cell, in reading order (True for the right, the guideline cell)."""

    lines: list[tuple[bool, Line]] = field(default_factory=list)

    def cell(self, right: bool, hyphens: Hyphens | None = None) -> str:
        """The words of one cell."""
        return join_lines([line.text for side, line in self.lines if side == right], hyphens)


def split_condition(statute: str) -> tuple[str, str]:
    """The left cell as statute and condition: ``7 U.S.C. § 2156 (felony provisions only)``.

    A bracket is a condition when a blank stands before it and words in it; ``(a)(1)`` is not.
    """
    found = re.match(r"^(.*?) \(([^()]*[a-z]{3}.*)\)$", statute)
    if found is None:
        return normalise(statute), ""
    return normalise(found[1]), found[2].strip()


def normalise(statute: str) -> str:
    """The statute as keys show it: one blank after each sign, none inside subdivisions."""
    statute = re.sub(r"§ ?", "§ ", " ".join(statute.split()))
    statute = re.sub(r"§ §", "§§", statute)
    # 470aaa–5 is a section number of its own, 134a–e a range.
    statute = re.sub(r"(?<=[0-9a-z])–(?=\d)", "-", statute)
    return re.sub(r" (?=\([A-Za-z0-9]{1,4}\))", "", statute)


def guideline_refs(cell: str, condition: str = "") -> tuple[Ref, ...]:
    """The guidelines of a right cell with their conditions.

    ``2A1.5, 2C1.1 (if ...)`` gives two; a bracket that itself begins with a number,
    ``2K2.4 (2K1.4 for ...)``, gives that guideline with the rest as its condition. ``condition``
    is the statute cell's and holds for all.
    """
    refs: list[Ref] = []

    def add(number: str, own: str) -> None:
        both = "; ".join(part for part in (condition, own) if part)
        refs.append(Ref("guideline", f"§{number}", both))

    position = 0
    while found := _NUMBER.search(cell, position):
        position = found.end()
        bracket = re.match(r"\s*\(", cell[position:])
        own = ""
        nested = ""
        if bracket:
            begin = position + bracket.end()
            end = _closing(cell, begin)
            inside = cell[begin:end].strip()
            position = end + 1
            if _GUIDELINE.match(inside):
                nested = inside
            else:
                own = inside
        add(found[1], own)
        if nested:
            inner = _NUMBER.match(nested)
            if inner is not None:
                add(inner[1], nested[inner.end() :].strip(" ,"))
    return tuple(refs)


def _closing(text: str, start: int) -> int:
    """Offset of the bracket that closes the one before ``start``; the end when none does."""
    depth = 1
    for offset in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[offset], 0)
        if depth == 0:
            return offset
    return len(text)


def statute_rows(lines: Sequence[Line]) -> list[StatuteRow]:
    """The table's rows, from its lines in page order (head lines and furniture left out).

    The page has two columns of two cells. A line whose left cell begins with a title and section
    begins a row; any other goes on with the row above, across columns and pages.
    """
    if not lines:
        return []
    middle = (min(line.x0 for line in lines) + max(line.x1 for line in lines)) / 2
    edges = _guideline_edges(lines, middle)
    rows: list[StatuteRow] = []
    for line in _in_columns(lines, middle):
        left, right = _split_cells(line, edges[line.x0 >= middle] - 3)
        if left is not None and (_STATUTE.match(left.text) or not rows):
            rows.append(StatuteRow())
        if left is not None:
            rows[-1].lines.append((False, left))
        if right is not None:
            rows[-1].lines.append((True, right))
    return rows


def _split_cells(line: Line, edge: float) -> tuple[Line | None, Line | None]:
    """The two cells of a line; one printed in a single run is cut before the first guideline."""
    left, right = split_line(line, edge)
    if left is None:
        return left, right
    *before, last = left.fragments
    between = _BETWEEN_CELLS.search(last.text) if right is None or last.x1 > edge else None
    if between is None:
        return left, right
    cut = between.start()
    x = last.x0 + (last.x1 - last.x0) * cut / len(last.text)
    first = last._replace(text=last.text[:cut], x1=x)
    second = last._replace(text=last.text[between.end() :], x0=x + last.size)
    whole = make_line([*before, first, second, *(right.fragments if right else ())], line)
    return split_line(whole, x + last.size / 2)


def _in_columns(lines: Iterable[Line], middle: float) -> Iterator[Line]:
    for _, page in groupby(lines, key=lambda line: line.page):
        yield from columns(list(page), middle)


def _guideline_edges(lines: Iterable[Line], middle: float) -> tuple[float, float]:
    """Where the guideline cells of the left and the right column begin."""
    starts: tuple[Counter[int], Counter[int]] = (Counter(), Counter())
    for line in lines:
        for part in line.fragments:
            if _GUIDELINE.match(part.text.strip()):
                starts[part.x0 >= middle][round(part.x0)] += 1
    first, second = (
        float(max(found, key=lambda x: (found[x], -x))) if found else float("inf")
        for found in starts
    )
    return first, second
