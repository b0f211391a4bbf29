"""Preset ``sections``, Title 18: by section, then by subsection at any depth.

What fits the target stays whole; else a unit's opening words and its subdivisions are packed in
order, and a subdivision that is too long is cut the same way. A chunk that begins below a section's
heading repeats the heading and the opening words of the subdivisions above it in its context.
Source credits, footnotes and notes are chunks of kind ``note``, never with the statute's text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from chunkers.model.chunk import Piece
from chunkers.model.cut import Cutter, Span, trim
from chunkers.model.layout import numbered_parts
from manuals.model.sections import Manual, Section
from manuals.model.source import SOURCES
from manuals.uscode.body import SUBDIVISIONS

#: characters of a subdivision's opening words that its parts repeat
OPENING = 240

_GROUPS = ("title", "part", "chapter", "subchapter")


@dataclass(frozen=True, slots=True)
class _Unit:
    """A stretch of the text to pack: a subdivision, or a unit's own words before or between."""

    section: Section
    span: Span
    whole: bool = True


def pieces(manual: Manual, cutter: Cutter) -> Iterator[Piece]:
    """The chunks of one edition, in document order.

    The heading of a chapter without text of its own stands in the context of all chunks below;
    the first of them carries its key.
    """
    cut = _Title(manual, cutter)
    bare: list[str] = []
    last: Piece | None = None
    for section in manual.sections:
        if section.kind in _GROUPS:
            below = list(cut.group(section))
            bare.append(section.key)
        elif cut.is_unit(section):
            below = list(cut.section(section))
        else:
            continue
        for piece in below:
            if last is not None:
                yield last
            last = _with_keys(piece, bare)
            bare.clear()
    if last is not None:
        yield _with_keys(last, bare)  # headings that nothing follows


def _with_keys(piece: Piece, keys: Sequence[str]) -> Piece:
    """The piece with further keys; ``finish`` leaves out those that it holds anyway."""
    return replace(piece, extra_keys=(*piece.extra_keys, *keys)) if keys else piece


class _Title:
    def __init__(self, manual: Manual, cutter: Cutter) -> None:
        self.manual = manual
        self.cutter = cutter

    def is_unit(self, section: Section) -> bool:
        """Whether it is a section of the code, not a part of one nor a chapter's notes."""
        parent = self.manual.by_key[section.parent] if section.parent else None
        return (parent is None or parent.kind in _GROUPS) and not self._is_apart(section)

    def group(self, section: Section) -> Iterator[Piece]:
        """A chapter's table of contents and notes; nothing when it is only a heading."""
        children = self.manual.children(section)
        apart = [child for child in children if self._is_apart(child)]
        first = min((child.span[0] for child in children), default=section.span[1])
        head = trim(self.manual.text, (section.span[0], first))
        if "\n" in self.manual.text[head[0] : head[1]]:
            yield from self._parts(section, head, self._context(section), "contents")
        if apart:
            yield from self._notes(section, apart)

    def section(self, section: Section) -> Iterator[Piece]:
        """The statute, then its credit, footnotes and notes."""
        children = self.manual.children(section)
        apart = [child for child in children if self._is_apart(child)]
        end = apart[0].span[0] if apart else section.span[1]
        law = trim(self.manual.text, (section.span[0], end))
        inner = [child for child in children if child.kind in SUBDIVISIONS]
        yield from self._unit(section, inner, law)
        if apart:
            yield from self._notes(section, apart)

    def _is_apart(self, section: Section) -> bool:
        return section.kind in ("notes", "note", "footnotes")

    # -- the statute

    def _unit(self, section: Section, inner: Sequence[Section], span: Span) -> Iterator[Piece]:
        """A unit's chunks. ``span`` may begin before it, with the opening of the units above."""
        context = self._context(section, span[0])
        if not inner or self.cutter.fits(span, context):
            yield from self._parts(self._named(section, span), span, context, self._kind(section))
            return
        below = self._context(inner[0], inner[0].span[0])
        for group in self._packed(self._units(section, inner, span), context, below):
            first = group[0]
            stretch = (first.span[0], group[-1].span[1])
            child = group[-1].section
            if len(group) <= 2 and group[-1].whole and not self._fits_any(stretch, context, below):
                yield from self._unit(child, self._subdivisions(child), stretch)
            elif first.span[0] == span[0]:
                named = self._named(section, span)
                yield from self._parts(named, stretch, context, self._kind(section))
            else:
                yield from self._parts(first.section, stretch, below, self._kind(section))

    def _units(self, section: Section, inner: Sequence[Section], span: Span) -> Iterator[_Unit]:
        """The unit's own words and its subdivisions, in order, without gaps."""
        start = span[0]
        for child in inner:
            own = trim(self.manual.text, (start, child.span[0]))
            if own[0] < own[1]:
                yield _Unit(section, own, whole=False)
            yield _Unit(child, child.span)
            start = child.span[1]
        own = trim(self.manual.text, (start, span[1]))
        if own[0] < own[1]:
            yield _Unit(section, own, whole=False)

    def _packed(self, units: Iterator[_Unit], context: str, below: str) -> Iterator[list[_Unit]]:
        """Neighbours joined up to the target; opening words always go with what follows."""
        group: list[_Unit] = []
        for unit in units:
            opening = len(group) == 1 and not group[0].whole
            stretch = (group[0].span[0], unit.span[1]) if group else unit.span
            above = below if group and group[0].whole else context
            if group and not opening and not self.cutter.fits(stretch, above):
                yield group
                group = []
            elif opening and unit.whole and not self.cutter.fits(stretch, above):
                long = self.cutter.tokens(group[0].span) > self.cutter.sizes.target // 4
                if long:
                    yield group
                    group = []
            group.append(unit)
        if group:
            yield group

    def _fits_any(self, span: Span, context: str, below: str) -> bool:
        return self.cutter.fits(span, context) and self.cutter.fits(span, below)

    def _subdivisions(self, section: Section) -> list[Section]:
        return [child for child in self.manual.children(section) if child.kind in SUBDIVISIONS]

    def _named(self, section: Section, span: Span) -> Section:
        """The outermost unit that the span begins with: ``(c)`` for a text from ``(c)(1)(A)``."""
        for above in (*self.manual.ancestors(section), section):
            if above.span[0] >= span[0] and above.kind not in _GROUPS:
                return above
        return section

    def _kind(self, section: Section) -> str:
        """Kind of the section that a subdivision belongs to: ``section``, ``repealed``, ..."""
        for above in (*self.manual.ancestors(section), section):
            if above.kind not in _GROUPS:
                return above.kind
        return section.kind

    # -- credit, footnotes, notes

    def _notes(self, section: Section, apart: Sequence[Section]) -> Iterator[Piece]:
        units = list(self._note_units(apart))
        context = self._context(apart[0])
        group: list[_Unit] = []
        for unit in units:
            if group and not self.cutter.fits((group[0].span[0], unit.span[1]), context):
                yield from self._note_group(section, group, context)
                group = []
            group.append(unit)
        yield from self._note_group(section, group, context)

    def _note_units(self, apart: Sequence[Section]) -> Iterator[_Unit]:
        """Each note with the group headings (*Editorial Notes*) that stand before it."""
        for child in apart:
            start = child.span[0]
            inner = self.manual.children(child)
            for note in inner:
                last = note is inner[-1]
                end = child.span[1] if last else note.span[1]
                yield _Unit(note, trim(self.manual.text, (start, end)))
                start = end
            if not inner:
                yield _Unit(child, child.span)

    def _note_group(
        self, section: Section, group: Sequence[_Unit], context: str
    ) -> Iterator[Piece]:
        span = (group[0].span[0], group[-1].span[1])
        named = group[0].section
        again = f"{context}\nNotes: {named.title}" if named.title else context
        title = f"{section.title}: {named.title}" if named.title else section.title
        # A container that begins with its first note has no text of its own to be held by.
        above = [self.manual.ancestors(unit.section)[-1] for unit in group]
        bare = [
            notes.key
            for notes, unit in zip(above, group, strict=True)
            if notes.kind == "notes" and notes.span[0] == unit.section.span[0]
        ]
        for piece in self._parts(named, span, context, "note", again=again, title=title):
            yield _with_keys(piece, bare)
            bare.clear()

    # -- both

    def _parts(
        self,
        section: Section,
        span: Span,
        context: str,
        kind: str,
        again: str = "",
        title: str = "",
    ) -> Iterator[Piece]:
        """A span as one piece, or as numbered parts that say where they belong."""
        context = self.cutter.shorten(context)
        spans = [span]
        if not self.cutter.bounded(span, context):
            again = again or self._continued(section)
            again = self.cutter.shorten(again)
            longer = max(context, again, key=len)
            spans = self.cutter.cut(span, longer)
        title = title or self._title(section)
        yield from numbered_parts(self.manual, section, kind, spans, (context, again), title)

    def _continued(self, section: Section) -> str:
        """Context of a later part: the unit's own opening is above it too."""
        return self._context(section, section.span[1])

    def _title(self, section: Section) -> str:
        """The section's heading; a subdivision's own heading follows it."""
        if section.kind not in SUBDIVISIONS:
            return section.title
        unit = self._unit_of(section)
        return f"{unit.title}: {section.title}" if section.title else unit.title

    def _unit_of(self, section: Section) -> Section:
        for above in self.manual.ancestors(section):
            if above.kind not in _GROUPS:
                return above
        return section

    def _context(self, section: Section, start: int = -1) -> str:
        """Document, chapter, section heading and the openings of the subdivisions above.

        Only what begins before ``start`` is named: the text itself shows the rest.
        """
        lines = [SOURCES["title18"].title]
        openings = ""
        for above in (*self.manual.ancestors(section), section):
            if above is section and start < 0:
                break
            if above.kind in _GROUPS:
                lines.append(above.heading.removeprefix("18 U.S.C. "))
            elif start < 0 or above.span[0] < start:
                if above.kind in SUBDIVISIONS:
                    openings += self._opening(above)
                else:
                    lines.append(above.heading)
            if openings.endswith("\n"):
                lines.append(openings.strip())
                openings = ""
        if openings.strip():
            lines.append(openings.strip())
        return "\n".join(lines)

    def _opening(self, section: Section) -> str:
        """``(g) It shall be unlawful for any person—`` and a line end; ``(a)`` without one."""
        inner = self._subdivisions(section)
        end = inner[0].span[0] if inner else section.span[1]
        words = re.sub(r"\s+", " ", self.manual.text[section.span[0] : end]).strip()
        if len(words) > OPENING:
            words = words[:OPENING].rsplit(" ", 1)[0] + " …"
        return words if re.fullmatch(r"\([^)]*\)", words) else words + "\n"
