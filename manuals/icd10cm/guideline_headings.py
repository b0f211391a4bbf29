"""Headings of the ICD-10-CM guidelines: their labels, their order and the table of contents.

A heading's label says its level: ``Section I.``, ``A.``, ``1.``, ``a.``, ``1)``, ``(a)``,
``(i)``. Items of lists in running text begin alike, so a heading must also be printed as one (in
bold) and come next in its sequence; ``Outline`` keeps that sequence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from manuals.pdf.lines import Line

SECTION, PART, NUMBER, LETTER, ITEM, SUBITEM, DETAIL = range(1, 8)

_LABELS: tuple[tuple[int, re.Pattern[str]], ...] = (
    # ``Section I.C.2`` and ``I.C.2`` at the start of a line are cross-references.
    (SECTION, re.compile(r"Section ([IVX]+)\.\s*(?![A-Z]\.|\d)(?=\S)")),
    (PART, re.compile(r"([A-Z])\.\s*(?![A-Z]\.|\d)(?=\S)")),
    (NUMBER, re.compile(r"(\d{1,2})\.\s+(?=\S)")),
    (LETTER, re.compile(r"([a-z])\.\s+(?=\S)")),
    (ITEM, re.compile(r"(\d{1,2})\)\s*(?=\S)")),
    (SUBITEM, re.compile(r"\(([a-z])\)\s*(?=\S)")),
    (DETAIL, re.compile(r"\(([ivx]+)\)\s*(?=\S)")),
)
_APPENDIX = re.compile(r"Appendix ([IVX]+|[A-Z])\b\W*$")
_ROMAN = (
    "", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x",
    "xi", "xii", "xiii", "xiv", "xv", "xvi", "xvii", "xviii", "xix", "xx",
)  # fmt: skip
_LEADERS = re.compile(r"\s*(?:\.{3,}|…+\.*)\s*(\d*)\s*$")
#: a page with at least this many dotted leaders is part of the table of contents
_LEAST_LEADERS = 5


class Label(NamedTuple):
    """A reading of a line's start: level, label as in keys, and where the title begins."""

    level: int
    name: str
    end: int


class Entry(NamedTuple):
    """An entry of the table of contents."""

    key: str
    title: str
    page: int | None


def labels(text: str) -> list[Label]:
    """All readings of a line's start as a heading's label; ``(i)`` has two."""
    found = []
    for level, pattern in _LABELS:
        match = pattern.match(text)
        if match is not None:
            found.append(Label(level, match.group(1), match.end()))
    return found


def appendix(text: str) -> str | None:
    """``Appendix I`` of a line that is nothing else (leaders and a page number aside)."""
    match = _APPENDIX.match(_LEADERS.sub("", text).strip())
    return f"Appendix {match.group(1)}" if match else None


def _ordinal(level: int, name: str) -> int:
    if level in (SECTION, DETAIL):
        return _ROMAN.index(name.lower()) if name.lower() in _ROMAN else 0
    if level in (NUMBER, ITEM):
        return int(name)
    return ord(name.lower()) - ord("a") + 1


class Outline:
    """The open headings, one for each level, while reading from the top."""

    def __init__(self) -> None:
        self._open: dict[int, tuple[str, int]] = {}

    def follows(self, label: Label) -> bool:
        """Whether the label comes next: the first below its parent, or one after its sibling."""
        if label.level > SECTION and not self._parent(label.level):
            return False
        last = self._open[label.level][1] if label.level in self._open else 0
        return _ordinal(label.level, label.name) == last + 1

    def fits(self, label: Label) -> bool:
        """Whether a heading of this level can stand here: siblings or a parent are open."""
        return (
            label.level == SECTION or label.level in self._open or bool(self._parent(label.level))
        )

    def is_open(self, level: int) -> bool:
        """Whether text at this place belongs to a heading of this level."""
        return level in self._open

    def key(self, label: Label) -> str:
        """The key that the label has at this place."""
        parent = self._parent(label.level)
        return f"{parent}.{label.name}" if parent else label.name

    def parent(self, label: Label) -> str | None:
        return self._parent(label.level) or None

    def enter(self, label: Label) -> str:
        """Open a heading, close those below it; its key."""
        key = self.key(label)
        self.close(label.level)
        self._open[label.level] = (key, _ordinal(label.level, label.name))
        return key

    def close(self, level: int = SECTION) -> None:
        """Close the headings of this level and below."""
        for deeper in [known for known in self._open if known >= level]:
            del self._open[deeper]

    def _parent(self, level: int) -> str:
        above = [known for known in self._open if known < level]
        return self._open[max(above)][0] if above else ""


def contents_pages(lines: Sequence[Line]) -> set[int]:
    """Pages of the table of contents: those full of dotted leaders."""
    counts: dict[int, int] = {}
    for line in lines:
        if _LEADERS.search(line.text):
            counts[line.page] = counts.get(line.page, 0) + 1
    return {page for page, count in counts.items() if count >= _LEAST_LEADERS}


def contents(lines: Sequence[Line]) -> list[Entry]:
    """Entries of the table of contents that carry a label, with the keys they stand for.

    ``lines`` are those of its pages without furniture. Lines of an entry that wraps are joined;
    titles without a label (``Reserved for future guideline expansion``) are no entries.
    """
    entries: list[Entry] = []
    outline = Outline()
    for text, page in _joined(lines):
        name = appendix(text)
        if name is not None:
            entries.append(Entry(name, "", page))
            outline.close()
            continue
        for label in labels(text):
            if outline.follows(label):
                entries.append(Entry(outline.enter(label), text[label.end :].strip(), page))
                break
    return entries


def _joined(lines: Sequence[Line]) -> Iterator[tuple[str, int | None]]:
    """Texts of entries without leaders, with their page numbers."""
    edge = max((line.x1 for line in lines), default=0.0)
    text = ""
    for line in lines:
        starts = bool(labels(line.text)) or appendix(line.text) is not None
        if text and starts:
            yield text, None
            text = ""
        # ``(Q00-`` / ``Q99)`` closes up.
        text += line.text if not text or text.endswith("-") else f" {line.text}"
        found = _LEADERS.search(text)
        # A long entry leaves no room for leaders; its number may even stand alone on a line.
        if found is None and (line.x1 > edge - 4 or (not starts and line.text.isdigit())):
            found = re.search(r"[\s.]*\s(\d+)$", text)
        if found is not None:
            yield text[: found.start()].strip(), int(found.group(1)) if found.group(1) else None
            text = ""
    if text:
        yield text, None
