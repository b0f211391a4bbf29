"""Preset ``tam``, Sentencing Guidelines: the paper's rule, line by line over the PDF's pages.

A line that begins with a section sign and a number opens a section; a line that is only the name
of a subheading opens a chunk within it; ``CHAPTER`` and ``PART`` lines end what is open. Page
tops repeat the section sign, so that a chunk begins on every page, and so does a cross-reference
that wraps to the start of a line: about half of the chunks are such fragments. A chunk without
text below its first line is dropped. The paper splits no chunk of this manual.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator
from typing import NamedTuple

from chunkers.model.chunk import Piece
from chunkers.model.finish import slugify
from chunkers.model.layout import chunk_text, collapse
from manuals.model.sections import Manual, Section

_SECTION = re.compile(r"§\s*\d[\w-]*(?:\.\d+)?")
_SUBHEADING = re.compile(
    r"Commentary|Application Notes?|Background|Introductory Commentary|Historical Note"
    r"|Statutory Provisions"
)
_RESET = re.compile(r"(CHAPTER|PART) ")


class _Open(NamedTuple):
    """A chunk that is being read: where it begins, its section line and its subheading."""

    start: int
    first_end: int
    section: str
    subheading: str


def pieces(manual: Manual) -> Iterator[Piece]:
    """The chunks of one edition, in the order of its pages."""
    name = _Names(manual)
    section = chapter = part = ""
    current: _Open | None = None
    offset = 0
    for line in manual.raw.splitlines(keepends=True):
        text = line.strip()
        opens = _SECTION.match(text) is not None
        subheading = bool(section) and _SUBHEADING.fullmatch(text) is not None
        reset = _RESET.match(text)
        if opens or subheading or reset:
            if current is not None:
                yield from name.piece(current, offset, (chapter, part))
            current = None
            if reset:
                section = ""
                chapter = text if reset[1] == "CHAPTER" else chapter
                part = text if reset[1] == "PART" else ""
            else:
                section = text if opens else section
                label = text if subheading else ""
                current = _Open(offset, offset + len(line), section, label)
        offset += len(line)
    if current is not None:
        yield from name.piece(current, offset, (chapter, part))


class _Names:
    """Makes pieces and names them by the section of the text in which they begin."""

    def __init__(self, manual: Manual) -> None:
        self._manual = manual

    def piece(self, found: _Open, end: int, groups: tuple[str, str]) -> Iterator[Piece]:
        """The piece from an opening line to ``end``; none without text below that line."""
        manual = self._manual
        if not manual.raw[found.first_end : end].strip():
            return
        section = self._section((found.start, end))
        lines = {"Document": manual.edition.title, "Chapter": groups[0], "Part": groups[1]}
        if found.subheading:
            lines["Section"] = found.section
        context = "\n".join(f"{name}: {text}" for name, text in lines.items() if text)
        body = manual.raw[found.start : end].rstrip()
        number = _SECTION.match(found.section)
        label = found.subheading or (number.group() if number else found.section)
        pages = manual.pages((found.start, found.first_end), "raw")
        yield Piece(
            slug=f"p{pages[0] if pages else 0}/{slugify(label)}",
            kind=section.kind,
            section=section,
            span=(found.start, found.start + len(body)),
            context=context,
            text=chunk_text(context, collapse(body)),
            view="raw",
        )

    def _section(self, span: tuple[int, int]) -> Section:
        """The innermost section that holds the piece's first text.

        For a piece that is all furniture, that of the text which follows it.
        """
        manual = self._manual
        first, last = manual.raw_to_text(span)
        if first == last:
            following = bisect.bisect_left(manual.raw_map, (span[1], 0, 0))
            first = manual.raw_map[min(following, len(manual.raw_map) - 1)][1]
        return manual.section_at(first)
