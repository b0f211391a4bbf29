"""The records that every later stage reads: edition, manual, section.

A parsed manual is one normalised text and a list of sections whose spans nest in it, in document
order. A section's own text is its span without the spans of its children, so that nothing of the
text is stored twice and a chunk can name the slice it was cut from.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import Literal

from manuals.model.section_id import edition_name
from tam.errors import UnknownKey

View = Literal["text", "raw"]


@dataclass(frozen=True, slots=True)
class ManualFile:
    """One file of an edition. ``path`` is relative to the manuals folder, with ``/``."""

    path: str
    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class Edition:
    """One manual of one year.

    ``year`` is the edition's name (the fiscal year for ICD-10-CM); ``release`` is what the content
    itself says (``2025``, ``currentthrough:20251218``, ``November 1, 2025``). It applies from
    ``effective_from`` to ``effective_to``, both included; ``None`` means until further notice.
    """

    source: str
    year: int
    title: str
    release: str
    files: tuple[ManualFile, ...]
    effective_from: date
    effective_to: date | None
    problems: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """``tabular/2025``: how commands and messages name the edition."""
        return edition_name(self.source, self.year)


@dataclass(frozen=True, slots=True)
class Note:
    """A note of the manual, by kind (ICD: the element's name, such as ``excludes1``)."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Ref:
    """A pointer that a section carries.

    ``kind``: ``code``, ``manifestation``, ``see``, ``see_also`` (Index), ``cell`` (drug and
    neoplasm tables; ``condition`` is the column's head), ``guideline`` (Appendix A; ``condition``
    is the text in brackets). ``target`` is a key where the manual gives a code or number, else
    the words as printed.
    """

    kind: str
    target: str
    condition: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """A unit of a manual that can be cited.

    ``key`` is unique within its manual and is what golds and lookups use. ``span`` are character
    offsets ``[start, end)`` in ``Manual.text`` of the section with all below it; the heading line
    is inside. ``pages`` are 1-based PDF pages, first and last. ``path`` holds the display headings
    of the ancestors, outermost first. ``notes`` are this section's own (inherited ones are
    resolved by lookups). ``seventh`` are seventh-character definitions that stand here
    (character, meaning). ``version`` counts sections that share one number (1 for the first).
    """

    key: str
    source: str
    year: int
    kind: str
    level: int
    citation: str
    title: str
    parent: str | None
    path: tuple[str, ...]
    span: tuple[int, int]
    pages: tuple[int, int] | None = None
    notes: tuple[Note, ...] = ()
    refs: tuple[Ref, ...] = ()
    seventh: tuple[tuple[str, str], ...] = ()
    version: int = 1

    @property
    def heading(self) -> str:
        """Citation and title as one line; of an index entry its path with all words."""
        if self.kind in ("main_term", "term"):
            return " > ".join((*self.path[1:], self.title))
        if not self.title or self.title == self.citation:
            return self.citation
        return f"{self.citation} {self.title}"


@dataclass(frozen=True)
class Manual:
    """One parsed edition.

    ``text`` is the normalised text without page furniture; ``raw`` (PDFs only) the text with
    every line as the reader gives it, page heads and feet included. ``page_starts`` and
    ``raw_page_starts`` give the offset at which each PDF page begins. ``raw_map`` are pairs
    ``(raw offset, text offset, length)``, ascending, of the stretches that stand in both.
    ``file_starts`` gives the offset in ``text`` at which each of the edition's files begins.
    """

    edition: Edition
    text: str = field(repr=False)
    sections: tuple[Section, ...] = field(repr=False)
    page_starts: tuple[int, ...] = field(default=(), repr=False)
    raw: str = field(default="", repr=False)
    raw_page_starts: tuple[int, ...] = field(default=(), repr=False)
    raw_map: tuple[tuple[int, int, int], ...] = field(default=(), repr=False)
    file_starts: tuple[int, ...] = (0,)
    meta: Mapping[str, str] = field(default_factory=dict)

    @property
    def source(self) -> str:
        return self.edition.source

    @property
    def year(self) -> int:
        return self.edition.year

    @cached_property
    def by_key(self) -> Mapping[str, Section]:
        return {section.key: section for section in self.sections}

    @cached_property
    def _starts(self) -> tuple[int, ...]:
        return tuple(section.span[0] for section in self.sections)

    def section_at(self, offset: int) -> Section:
        """The innermost section that holds the given offset of ``text``; before the first
        section, and behind the last, the nearest."""
        section = self.sections[max(bisect.bisect_right(self._starts, offset) - 1, 0)]
        while section.span[1] <= offset and section.parent is not None:
            section = self.by_key[section.parent]
        return section

    def starts_between(self, low: int, high: int) -> tuple[int, ...]:
        """Where sections begin in a stretch of ``text``, ascending."""
        first, last = (bisect.bisect_left(self._starts, at) for at in (low, high))
        return self._starts[first:last]

    @cached_property
    def _children(self) -> Mapping[str | None, tuple[Section, ...]]:
        children: dict[str | None, list[Section]] = {}
        for section in self.sections:
            children.setdefault(section.parent, []).append(section)
        return {parent: tuple(below) for parent, below in children.items()}

    @property
    def roots(self) -> tuple[Section, ...]:
        return self._children.get(None, ())

    def get(self, key: str) -> Section:
        """The section with exactly this key; ``UnknownKey`` when there is none."""
        section = self.by_key.get(key)
        if section is None:
            raise UnknownKey(f"{self.edition.name} has no section {key!r}")
        return section

    def children(self, section: Section | None) -> tuple[Section, ...]:
        """Direct children in document order; of ``None`` the roots."""
        return self._children.get(section.key if section else None, ())

    def ancestors(self, section: Section) -> tuple[Section, ...]:
        """From the outermost to the parent."""
        above: list[Section] = []
        parent = section.parent
        while parent is not None:
            found = self.by_key[parent]
            above.append(found)
            parent = found.parent
        return tuple(reversed(above))

    def subtree(self, section: Section) -> Iterator[Section]:
        """The section and all below it, in document order."""
        yield section
        for child in self.children(section):
            yield from self.subtree(child)

    def subtree_text(self, section: Section) -> str:
        """The text of the section with all below it."""
        return self.text[section.span[0] : section.span[1]]

    def own_spans(self, section: Section) -> tuple[tuple[int, int], ...]:
        """The stretches of the section's span that belong to none of its children."""
        start, end = section.span
        spans: list[tuple[int, int]] = []
        for child in self.children(section):
            if child.span[0] > start:
                spans.append((start, child.span[0]))
            start = max(start, child.span[1])
        if end > start:
            spans.append((start, end))
        return tuple(spans)

    def own_text(self, section: Section) -> str:
        """The section's text without its children's."""
        return "".join(self.text[start:end] for start, end in self.own_spans(section)).strip()

    def pages(self, span: tuple[int, int], view: View = "text") -> tuple[int, int] | None:
        """First and last 1-based PDF page of a span; ``None`` for manuals without pages."""
        starts = self.page_starts if view == "text" else self.raw_page_starts
        if not starts:
            return None
        first = bisect.bisect_right(starts, span[0])
        last = bisect.bisect_left(starts, max(span[1], span[0] + 1))
        return max(first, 1), max(last, first, 1)

    def raw_to_text(self, span: tuple[int, int]) -> tuple[int, int]:
        """The span of ``text`` that a span of ``raw`` covers; empty where it is all furniture."""
        low: int | None = None
        high = 0
        first = max(bisect.bisect_right(self.raw_map, (span[0], len(self.text) + 1, 0)) - 1, 0)
        for at in range(first, len(self.raw_map)):
            raw_start, text_start, length = self.raw_map[at]
            if raw_start >= span[1]:
                break
            start = max(span[0], raw_start)
            end = min(span[1], raw_start + length)
            if start < end:
                if low is None:
                    low = text_start + start - raw_start
                high = max(high, text_start + end - raw_start)
        return (0, 0) if low is None else (low, high)

    def file_at(self, offset: int) -> ManualFile:
        """The file that holds the given offset of ``text``."""
        position = bisect.bisect_right(self.file_starts, offset) - 1
        return self.edition.files[max(position, 0)]
