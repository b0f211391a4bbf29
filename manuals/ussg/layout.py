"""The Guidelines Manual's page layout: what is furniture, what is text, and what joins to what.

All sizes are taken relative to the file's own: the body is the commonest size, a running head is
what stands topmost at the height where most pages have a bold line, and so on, so that other
editions (and the bundled sample) with other fonts read the same.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from manuals.pdf.lines import HYPHEN, Line, split_line

Role = Literal["furniture", "label", "body", "historical"]

_FOOT = re.compile(r"║|\bGuidelines Manual \(")
_ANCHOR = re.compile(r"^Ch\. ?\d+( Pt\. ?[A-Z])?( (Intro|Concl)\. Comment\.)?$")
_RULE = re.compile(r"^(\* ?){3,}$")
_LABEL = re.compile(r"^(Historical|Note|Historical Note)$")
_MARKER = re.compile(r"^(\([A-Za-z0-9]{1,5}\)|\d{1,2}\.|[A-Z]\.|[•⚫●▪*†]+)(\s|$)")
_BULLET = re.compile(r"^[•⚫●▪*†]")
_GROUP_HEAD = re.compile(r"^(PART [A-Z] ?[―—–-]|CHAPTER [A-Z]+$)")
_CONTENTS = "TABLE OF CONTENTS"
#: parts two cells of a table's row in the text
CELLS = " | "


@dataclass(frozen=True, slots=True)
class Row:
    """A visual line with its part in the page.

    ``line`` is without a margin label; ``text`` has `` | `` between the cells of a table's row.
    ``cells`` counts them. ``joint`` is what parts the row from the text before: a blank, one line
    end (a row of a list or table) or two (a paragraph).
    """

    role: Role
    line: Line
    text: str
    cells: int
    joint: str


@dataclass(frozen=True, slots=True)
class Sizes:
    """Type sizes in points: of most of the text, of the margin labels, of section heads."""

    body: float
    label: float
    head: float


def is_marker(text: str) -> bool:
    """Whether a line begins like a list item: ``(a)``, ``(1)``, ``1.``, a bullet."""
    return bool(_MARKER.match(text))


def measure(lines: Sequence[Line]) -> Sizes:
    """The file's sizes, each weighted by its characters."""
    body: Counter[float] = Counter()
    labels: Counter[float] = Counter()
    heads: Counter[float] = Counter()
    for line in lines:
        if not line.bold:
            body[line.size] += len(line.text)
        elif re.match(r"§\d[A-Z]\d\.\d+\. ", line.text):
            heads[line.size] += 1
        first = line.fragments[0]
        if first.italic and _LABEL.match(first.text.strip()):
            labels[first.size] += 1
    common = max(body, key=lambda size: (body[size], -size)) if body else 10.0
    label = max(labels, key=lambda size: (labels[size], -size)) if labels else 0.0
    head = max(heads, key=lambda size: (heads[size], -size)) if heads else 1.15 * common
    return Sizes(common, label, head)


def rows(lines: Sequence[Line]) -> Iterator[Row]:
    """Every line of the file with its role and its joint to the one before."""
    sizes = measure(lines)
    pages = [list(page) for _, page in groupby(lines, key=lambda line: line.page)]
    head_height = _usual_height([page[0] for page in pages if page[0].bold])
    right = _right_edges(lines)
    before: Row | None = None
    contents = 0.0
    for page in pages:
        historical = _historical(page, sizes, before)
        top = min(line.y1 for line in page)
        for line, is_historical in zip(page, historical, strict=True):
            label, rest = _margin_label(line, sizes)
            if label is not None:
                yield Row("label", label, label.text, 1, "\n")
            if rest is None:
                continue
            # The table of contents runs from its title to the next line set as large.
            if rest.bold and not _is_head(rest, top, head_height):
                if rest.text == _CONTENTS:
                    contents = rest.size
                elif contents and rest.size > 0.95 * contents:
                    contents = 0.0
            if (
                contents
                or _is_head(rest, top, head_height)
                or _FOOT.search(rest.text)
                or _RULE.match(rest.text)
                or (rest.bold and _ANCHOR.match(rest.text))
            ):
                yield Row("furniture", rest, rest.text, 1, "\n")
                continue
            text, cells = _cells(rest)
            role: Role = "historical" if is_historical else "body"
            row = Row(role, rest, text, cells, "")
            before = Row(role, rest, text, cells, _joint(before, row, right))
            yield before


def _usual_height(first_lines: Sequence[Line]) -> float:
    heights = Counter(round(line.y1) for line in first_lines)
    return max(heights, key=lambda height: (heights[height], -height)) if heights else -1.0


def _is_head(line: Line, top: float, usual: float) -> bool:
    return line.bold and line.y1 == top and abs(line.y1 - usual) < 3 and len(line.text) < 60


def _right_edges(lines: Sequence[Line]) -> dict[float, float]:
    """Size -> the usual right end of its full lines."""
    ends: dict[float, Counter[int]] = {}
    for line in lines:
        ends.setdefault(line.size, Counter())[round(line.x1)] += 1
    edges: dict[float, float] = {}
    for size, counted in ends.items():
        near = {x: counted[x - 1] + counted[x] + counted[x + 1] for x in counted}
        edges[size] = float(max(near, key=lambda x: (near[x], x)))
    return edges


def _margin_label(line: Line, sizes: Sizes) -> tuple[Line | None, Line | None]:
    """The margin label *Historical* or *Note* in a line, and the rest of the line."""
    first = line.fragments[0]
    if not first.italic or first.size > 0.9 * sizes.body or not _LABEL.match(first.text.strip()):
        return None, line
    if len(line.fragments) == 1:
        return line, None
    return split_line(line, first.x1 + 0.5)


def _historical(page: Sequence[Line], sizes: Sizes, before: Row | None) -> list[bool]:
    """Which lines of a page are of historical notes.

    A run of lines in the label's size is one when a label stands beside it, when it goes on from
    the page before, or when it begins as such notes do.
    """
    found = [False] * len(page)
    start = 0
    goes_on = before is not None and before.role == "historical"
    while start < len(page):
        label, rest = _margin_label(page[start], sizes)
        size = (rest or label or page[start]).size
        end = start
        labelled = False
        while end < len(page):
            label, rest = _margin_label(page[end], sizes)
            labelled = labelled or label is not None
            if abs((rest or page[end]).size - size) > 0.3 or page[end].bold:
                break
            end += 1
        small = size < 0.9 * sizes.body
        opening = re.match(r"Effective |Sections? \d|The heading to ", page[start].text)
        if small and end > start and (labelled or goes_on or opening):
            found[start:end] = [True] * (end - start)
            goes_on = True
        elif end > start or page[start].y1 > page[0].y1 + sizes.head:
            # Only the running head may stand before text that goes on.
            goes_on = False
        start = max(end, start + 1)
    return found


def _cells(line: Line) -> tuple[str, int]:
    """The line's text with its cells parted, and how many there are.

    A cell begins after a gap of more than 2.2 times the size that no list marker explains.
    """
    groups: list[list[str]] = []
    end = 0.0
    for part in line.fragments:
        wide = bool(groups) and part.x0 - end > 2.2 * line.size
        if wide and len(groups) == 1 and is_marker("".join(groups[0]).strip()):
            wide = len("".join(groups[0]).split()) > 1
        if not groups or wide:
            groups.append([])
        groups[-1].append(part.text)
        end = part.x1
    if len(groups) < 2:
        return line.text, 1
    cells = [" ".join("".join(group).split()) for group in groups]
    return CELLS.join(cell for cell in cells if cell), len(cells)


def _joint(before: Row | None, row: Row, right: dict[float, float]) -> str:
    # The head of a part that is not used stands close above the next one.
    if before is None or (row.line.bold and _GROUP_HEAD.match(row.text)):
        return "\n\n"
    line, last = row.line, before.line
    same_size = abs(line.size - last.size) < 0.08 * max(line.size, last.size)
    short = last.x1 < right.get(last.size, last.x1) - 3.5 * last.size
    if before.role == row.role and last.text.endswith(HYPHEN):
        return " "
    if before.role != row.role or (not same_size and row.cells == before.cells == 1):
        return "\n\n"
    # A running text can wrap before "(ii)"; a list's item stands left of the line above.
    item = bool(_BULLET.match(row.text)) or (is_marker(row.text) and line.x0 < last.x0 - 3)
    if line.page != last.page:
        if row.cells > 1 or before.cells > 1:
            return "\n" if row.cells > 1 and before.cells > 1 else "\n\n"
        ends = ".:;—" if is_marker(last.text) else ".:—"
        ended = last.text[-1:] in ends and is_marker(row.text)
        return "\n\n" if short or item or ended or line.bold != last.bold else " "
    if line.y1 - last.y1 > 1.55 * max(line.size, last.size):
        return "\n\n"
    if row.cells > 1 or before.cells > 1 or short or item:
        return "\n"
    return " "
