"""Preset ``tam``, ICD-10-CM guidelines: the paper's rule, line by line over the PDF's pages.

Lines ``Section I.`` to ``Section IV.`` set the top heading, ``N. Chapter N: ...`` the chapter, and
a line that begins ``a. `` to ``z. `` opens a chunk that runs to the next such line. Text outside
of lettered paragraphs is in no chunk. A chunk without text below its first line is dropped: most
lines of the table of contents fall out so, those that wrap or are followed by an unlettered line
stay in. The paper splits no chunk of the guidelines (126 for FY2019).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from chunkers.model.chunk import Piece
from chunkers.model.finish import slugify
from chunkers.model.layout import chunk_text, collapse
from manuals.model.sections import Manual, Section

# ``Section I.C.19`` at the start of a line is a cross-reference.
_TOP = re.compile(r"Section (?:IV|I{1,3})\.(?![A-Z]\.).*")
_CHAPTER = re.compile(r"\d{1,2}\. Chapter \d{1,2}:.*")
_LETTER = re.compile(r"([a-z])\. \S.*")
_LEADERS = re.compile(r"\s*[.…]{2,}\s*\d*\s*$")


class _Open(NamedTuple):
    """A chunk that is being read: where it begins, and the headings it stands under."""

    start: int
    first_end: int
    letter: str
    headings: tuple[str, ...]


def pieces(manual: Manual) -> Iterator[Piece]:
    """The chunks of one edition, in the order of its pages."""
    name = _Names(manual)
    top = chapter = ""
    current: _Open | None = None
    offset = 0
    for line in manual.raw.splitlines(keepends=True):
        text = line.strip()
        letter = _LETTER.fullmatch(text)
        is_top, is_chapter = _TOP.fullmatch(text), _CHAPTER.fullmatch(text)
        if letter or is_top or is_chapter:
            if current is not None:
                yield from name.piece(current, offset)
                current = None
            if is_top:
                top, chapter = _LEADERS.sub("", text), ""
            elif is_chapter:
                chapter = _LEADERS.sub("", text)
            elif letter:
                headings = tuple(heading for heading in (top, chapter) if heading)
                current = _Open(offset, offset + len(line), letter[1], headings)
        offset += len(line)
    if current is not None:
        yield from name.piece(current, offset)


class _Names:
    """Makes pieces and names them by the section of the text in which they begin."""

    def __init__(self, manual: Manual) -> None:
        self._manual = manual

    def piece(self, found: _Open, end: int) -> Iterator[Piece]:
        """The piece from an opening line to ``end``; none without text below that line."""
        manual = self._manual
        if not manual.raw[found.first_end : end].strip():
            return
        section, slug = self._section(found)
        labels = ("Section", "Chapter")
        context = "\n".join(
            (
                f"Document: {manual.edition.title}",
                *(f"{name}: {text}" for name, text in zip(labels, found.headings, strict=False)),
            )
        )
        body = manual.raw[found.start : end].rstrip()
        yield Piece(
            slug=slug,
            kind="contents" if slug.startswith("contents") else section.kind,
            section=section,
            span=(found.start, found.start + len(body)),
            context=context,
            text=chunk_text(context, collapse(body)),
            title="Table of contents" if slug.startswith("contents") else "",
            view="raw",
        )

    def _section(self, found: _Open) -> tuple[Section, str]:
        """The section that begins with the line, or that holds it; the slug that says which."""
        manual = self._manual
        line = manual.raw_to_text((found.start, found.first_end))
        if line[0] == line[1]:
            # A line of the table of contents stands in no section: it is named by its page.
            page = manual.pages((found.start, found.first_end), "raw")
            return manual.sections[0], f"contents/p{page[0] if page else 0}.{found.letter}"
        section = manual.section_at(line[0])
        slug = slugify(section.key)
        return section, slug if section.span[0] == line[0] else f"{slug}/{found.letter}"
