"""Blocks of the Guidelines Manual: headings over all their lines, paragraphs, table rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from manuals.pdf.lines import Hyphens, join_lines
from manuals.ussg.layout import Row, Sizes

BlockKind = Literal[
    "chapter",
    "appendix",
    "large",
    "part",
    "subpart",
    "guideline",
    "deleted",
    "table",
    "introductory",
    "concluding",
    "commentary",
    "statutory",
    "notes",
    "background",
    "historical",
    "paragraph",
]

_CHAPTER = re.compile(r"^CHAPTER ([A-Z]+)$")
_APPENDIX = re.compile(r"^APPENDIX ([A-Z])$")
_PART = re.compile(r"^PART ([A-Z]) ?[―—–-] ?(\S.*)$")
_SUBPART = re.compile(r"^(\d{1,2})\. ?(\S.*)$")
# 2016 prints one head without its section sign (2G1.3).
_GUIDELINE = re.compile(r"^§? ?(\d[A-Z]\d{1,2}\.\d{1,2})\. ?(\S.*)$")
_DELETED = re.compile(r"^§§? ?(\d[A-Z]\d+\.\d+) ?[―—–-] ?(\d[A-Z]\d+\.\d+)\. ?(.*)$")
_LABELS: tuple[tuple[BlockKind, re.Pattern[str]], ...] = (
    ("introductory", re.compile(r"^Introductory Commentary$")),
    ("concluding", re.compile(r"^Concluding Commentary\b.*$")),
    ("commentary", re.compile(r"^Commentary( to .*)?$")),
    ("table", re.compile(r"^SENTENCING TABLE$")),
)
_INLINE: tuple[tuple[BlockKind, re.Pattern[str]], ...] = (
    ("statutory", re.compile(r"^Statutory Provisions?:")),
    ("notes", re.compile(r"^Application Notes?:")),
    ("background", re.compile(r"^Background:")),
)


@dataclass(frozen=True, slots=True)
class Block:
    """Rows that belong together, labels among them, with the text of all others.

    ``groups`` are the parts that the kind's pattern caught.
    """

    kind: BlockKind
    rows: tuple[Row, ...]
    text: str
    groups: tuple[str, ...] = ()

    @property
    def first(self) -> Row:
        """The first row that is no label."""
        return next(row for row in self.rows if row.role != "label")

    @property
    def page(self) -> int:
        return self.first.line.page

    @property
    def x0(self) -> float:
        return self.first.line.x0


def blocks(rows: Iterable[Row], sizes: Sizes, hyphens: Hyphens) -> Iterator[Block]:
    """Rows (no page heads and feet) as blocks, in order.

    A margin label stays where it stands, inside the block before or after it.
    """
    pending: list[Row] = []
    last: Row | None = None
    for row in rows:
        if row.role == "label":
            pending.append(row)
            continue
        if last is not None and not (_continues(row) or _heading_goes_on(last, row, sizes)):
            yield _block(pending, sizes, hyphens)
            pending = []
        pending.append(row)
        last = row
    if last is not None:
        yield _block(pending, sizes, hyphens)


def _all_bold(row: Row) -> bool:
    """Whether all letters and digits are bold; a bracket at the end may be set otherwise."""
    return all(part.bold for part in row.line.fragments if any(map(str.isalnum, part.text)))


def _continues(row: Row) -> bool:
    return row.joint == " "


def _heading_goes_on(last: Row, row: Row, sizes: Sizes) -> bool:
    """Whether a bold line goes on with the heading in the line above.

    A heading's lines are ragged, so that their joints say nothing; a numbered line begins anew.
    """
    above, line = last.line, row.line
    return (
        _all_bold(last)
        and _all_bold(row)
        and above.page == line.page
        and above.font == line.font
        and abs(above.size - line.size) < 0.3
        and line.size > 1.03 * sizes.body
        and line.y1 - above.y1 < 1.5 * line.size
        and not any(p.match(line.text) for p in (_GUIDELINE, _DELETED, _SUBPART, _PART, _CHAPTER))
    )


def _block(rows: list[Row], sizes: Sizes, hyphens: Hyphens) -> Block:
    words = [row for row in rows if row.role != "label"]
    text = join_lines([row.text for row in words], hyphens)
    kind, groups = _classify(words, text, sizes)
    return Block(kind, tuple(rows), text, groups)


def _classify(rows: list[Row], text: str, sizes: Sizes) -> tuple[BlockKind, tuple[str, ...]]:
    first = rows[0]
    size = first.line.size
    if first.role == "historical":
        return "historical", ()
    if all(_all_bold(row) for row in rows):
        if size > 1.2 * sizes.head:
            if found := _CHAPTER.match(text):
                return "chapter", found.groups()
            if found := _APPENDIX.match(text):
                return "appendix", found.groups()
            if size > 1.4 * sizes.head:
                return "large", ()
        if size > 1.03 * sizes.body:
            for kind, pattern in (
                ("part", _PART),
                ("guideline", _GUIDELINE),
                ("deleted", _DELETED),
                ("subpart", _SUBPART),
            ):
                if found := pattern.match(text):
                    return kind, found.groups()  # type: ignore[return-value]
        for label, pattern in _LABELS:
            if pattern.match(text):
                return label, ()
    if first.line.fragments[0].bold:
        for label, pattern in _INLINE:
            if pattern.match(text):
                return label, ()
    return "paragraph", ()
