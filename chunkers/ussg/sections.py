"""Preset ``sections``, Sentencing Guidelines: by guideline and subheading.

A guideline's text, statutory provisions, application notes, background and historical note are
chunks of their own kinds. What fits the target stays whole; else subsections are packed in order
and a long one is cut the same way. An application note stays whole up to the bound; small ones are
packed together. Appendix A is packed by rows, never across two titles of the Code. A chunk that
begins below a heading has it in its context. The heading of a unit without text of its own (*PART
K*) stands in the context of all chunks below; the first of them carries its key.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from chunkers.model.chunk import Piece
from chunkers.model.cut import Cutter, Span, trim
from chunkers.model.finish import slugify
from chunkers.model.layout import chunk_text, numbered_parts
from manuals.model.sections import Manual, Section
from manuals.model.source import SOURCES
from manuals.ussg.layout import CELLS

_GROUPS = ("chapter", "part", "subpart", "heading")
_UNITS = ("guideline", "deleted")
#: characters of a subsection's first line that the chunks below it repeat
OPENING = 160


@dataclass(frozen=True, slots=True)
class _Unit:
    """A stretch to pack: a section whole, or words of the section above before or after one."""

    section: Section
    span: Span
    whole: bool


def pieces(manual: Manual, cutter: Cutter) -> Iterator[Piece]:
    """The chunks of one edition, in document order."""
    cut = _Guidelines(manual, cutter)
    bare: list[str] = []
    for root in manual.roots:
        for piece in cut.group(root, bare):
            yield replace(piece, extra_keys=tuple(bare)) if bare else piece
            bare.clear()


class _Guidelines:
    def __init__(self, manual: Manual, cutter: Cutter) -> None:
        self.manual = manual
        self.cutter = cutter

    def group(self, section: Section, bare: list[str]) -> Iterator[Piece]:
        """A chapter, part, guideline or appendix, part by part."""
        if section.kind == "appendix":
            yield from self._appendix(section)
            return
        children = self.manual.children(section)
        start = section.span[0]
        begun = False
        for child in children:
            if child.kind == "subsection":
                continue
            own = trim(self.manual.text, (start, child.span[0]))
            # The line "Commentary" goes with the subheading below it.
            label = self._label(own)
            text = trim(self.manual.text, (own[0], label))
            if self._is_bare(section, text, begun):
                bare.append(section.key)
            elif text[0] < text[1]:
                yield from self._pieces(section, text)
            begun = True
            if child.kind in (*_GROUPS, *_UNITS):
                yield from self.group(child, bare)
            else:
                begin = label if label < own[1] else child.span[0]
                yield from self._pieces(child, (begin, child.span[1]))
            start = child.span[1]
        text = trim(self.manual.text, (start, section.span[1]))
        if text[0] < text[1]:
            yield from self._pieces(section, text)

    def _label(self, own: Span) -> int:
        """Where a last line *Commentary* of a stretch begins; its end when there is none."""
        found = re.search(
            r"(?:^|\n)(Commentary(?: to [^\n]*)?)$", self.manual.text[own[0] : own[1]]
        )
        return own[0] + found.start(1) if found else own[1]

    def _is_bare(self, section: Section, text: Span, begun: bool) -> bool:
        """Whether a unit of chapters and parts is only its heading lines."""
        words = self.manual.text[text[0] : text[1]]
        return section.kind in _GROUPS and not begun and words.upper() in (words, words.title())

    # -- one part

    def _pieces(self, section: Section, span: Span) -> Iterator[Piece]:
        for named, stretch in self._packed(section, span):
            yield from self._parts(named, stretch, self._kind(section))

    def _kind(self, section: Section) -> str:
        return "guideline" if section.kind == "subsection" else section.kind

    def _packed(self, section: Section, span: Span) -> Iterator[tuple[Section, Span]]:
        """Stretches up to the target, each with the section it is named by."""
        units = list(self._units(section, span))
        if self._fits(section, span) or len(units) < 2:
            yield section, span
            return
        group: list[_Unit] = []
        for unit in units:
            opening = len(group) == 1 and not group[0].whole
            stretch = (group[0].span[0], unit.span[1]) if group else unit.span
            if group and not self._fits(section, stretch):
                small = self.cutter.tokens(group[0].span) <= self.cutter.sizes.target // 4
                if opening and unit.whole and small:
                    # The words that open a list go with its first member.
                    yield from self._packed(unit.section, stretch)
                    group = []
                    continue
                yield from self._flush(section, group)
                group = []
            group.append(unit)
        if group:
            yield from self._flush(section, group)

    def _flush(self, section: Section, group: Sequence[_Unit]) -> Iterator[tuple[Section, Span]]:
        stretch = (group[0].span[0], group[-1].span[1])
        if len(group) == 1 and group[0].whole:
            yield from self._packed(group[0].section, stretch)
        else:
            named = section if stretch[0] == section.span[0] else group[0].section
            yield named, stretch

    def _units(self, section: Section, span: Span) -> Iterator[_Unit]:
        """A section's own words and its children within a span, in order."""
        start = span[0]
        for child in self.manual.children(section):
            if child.span[0] < span[0] or child.span[1] > span[1]:
                continue
            own = trim(self.manual.text, (start, child.span[0]))
            if own[0] < own[1]:
                yield _Unit(section, own, whole=False)
            yield _Unit(child, child.span, whole=True)
            start = child.span[1]
        own = trim(self.manual.text, (start, span[1]))
        if own[0] < own[1]:
            yield _Unit(section, own, whole=False)

    def _fits(self, section: Section, span: Span) -> bool:
        return self.cutter.fits(span, self._context(section, span[0]))

    def _parts(self, section: Section, span: Span, kind: str) -> Iterator[Piece]:
        """A stretch as one piece, or as numbered parts within the bound."""
        context = self.cutter.shorten(self._context(section, span[0]))
        again = self.cutter.shorten(self._context(section, span[1]))
        spans = [span]
        if not self.cutter.bounded(span, context):
            if section.kind == "table":
                again = self.cutter.shorten(f"{again}\n{self._column_heads(span)}")
                spans = self._table_rows(span, again)
            else:
                spans = self.cutter.cut(span, max(context, again, key=len))
        title = self._title(section)
        yield from numbered_parts(self.manual, section, kind, spans, (context, again), title)

    # -- tables

    def _column_heads(self, span: Span) -> str:
        """The lines of a table above its first row, which begins with a number."""
        text = self.manual.text[span[0] : span[1]]
        first = re.search(r"^\d", text, re.MULTILINE)
        heads = text[: first.start()] if first else ""
        return "\n".join(line for line in heads.split("\n") if CELLS in line)

    def _table_rows(self, span: Span, context: str) -> list[Span]:
        """The table's lines packed up to the target."""
        lines = [
            (span[0] + found.start(), span[0] + found.end())
            for found in re.finditer(r"[^\n]+", self.manual.text[span[0] : span[1]])
        ]
        room = self.cutter.room(context, self.cutter.sizes.target)
        packed = list(self.cutter.pack_units(lines, room))
        return [part for group in packed for part in self.cutter.cut(group, context)]

    # -- headings

    def _line(self, section: Section) -> tuple[Section, ...]:
        return (*self.manual.ancestors(section), section)

    def _title(self, section: Section) -> str:
        """``Theft — Application Notes``: the guideline's title with the subheading."""
        unit = next((above for above in self._line(section) if above.kind in _UNITS), None)
        if unit is None or unit is section:
            return section.title or section.key
        if section.kind == "subsection":
            return f"{unit.title}: {section.title}" if section.title else unit.title
        name = section.key.removeprefix(unit.key).strip().split("#")[0]
        return f"{unit.title} — {name}"

    def _context(self, section: Section, start: int) -> str:
        """Manual, part, guideline with subheading, and openings of the subsections above.

        Only what begins before ``start`` is named: the text itself shows the rest.
        """
        groups: list[str] = []
        heading = ""
        openings: list[str] = []
        for above in self._line(section):
            begun = above.span[0] < start
            if above.kind in _GROUPS:
                if begun:
                    groups.append(above.heading.removeprefix("USSG "))
            elif above.kind in _UNITS:
                heading = above.heading if begun or above is not section else ""
            elif above.kind in ("subsection", "application-note"):
                openings += [self._opening(above)] if begun else []
            else:
                label = above.heading if above.kind == "appendix" else above.title or above.key
                heading = " — ".join(part for part in (heading, label) if part)
        if heading and section.kind == "subsection" and not openings and start <= section.span[0]:
            heading = heading if self._unit_begins_before(section, start) else ""
        lines = [SOURCES["ussg"].title, ": ".join(groups[-1:]), heading, *openings]
        return "\n".join(line for line in lines if line)

    def _unit_begins_before(self, section: Section, start: int) -> bool:
        return any(a.kind in _UNITS and a.span[0] < start for a in self._line(section))

    def _opening(self, section: Section) -> str:
        """The first line of a subsection or note, shortened."""
        end = self.manual.text.find("\n", *section.span)
        words = self.manual.text[section.span[0] : end if end >= 0 else section.span[1]]
        return words if len(words) <= OPENING else words[:OPENING].rsplit(" ", 1)[0] + " …"

    # -- Appendix A

    def _appendix(self, appendix: Section) -> Iterator[Piece]:
        """The introduction, the rows title by title, what follows."""
        children = self.manual.children(appendix)
        rows = [child for child in children if child.kind == "statute"]
        first = rows[0].span[0] if rows else appendix.span[1]
        head = trim(self.manual.text, (appendix.span[0], first))
        notes = [child for child in children if child.kind != "statute"]
        before = [note for note in notes if note.span[1] <= head[1]]
        own_end = before[0].span[0] if before else head[1]
        yield from self._pieces(appendix, trim(self.manual.text, (head[0], own_end)))
        for note in before:
            yield from self._pieces(note, note.span)
        rest = trim(self.manual.text, (before[-1].span[1], head[1])) if before else (0, 0)
        for title, group in groupby(rows, key=lambda row: self._code_title(row)):
            yield from self._rows(
                appendix, title, list(group), rest[0] if rest[0] < rest[1] else -1
            )
            rest = (0, 0)
        for note in notes:
            if note not in before:
                yield from self._pieces(note, note.span)

    def _code_title(self, row: Section) -> str:
        return row.citation.rpartition(" > ")[2].split(" §", 1)[0]

    def _rows(
        self, appendix: Section, title: str, rows: Sequence[Section], start: int
    ) -> Iterator[Piece]:
        """Rows of one title packed up to the target; ``start`` takes a heading above them in."""
        lines = (SOURCES["ussg"].title, f"{appendix.key} {appendix.title} — {title}")
        context = "\n".join(lines)
        spans: list[tuple[Section, Span]] = []
        for row in rows:
            span = (start, row.span[1]) if start >= 0 else row.span
            start = -1
            if spans and self.cutter.fits((spans[-1][1][0], span[1]), context):
                spans[-1] = (spans[-1][0], (spans[-1][1][0], span[1]))
            else:
                spans.append((row, span))
        parts = [
            (row, part)
            for row, span in spans
            for part in (
                [span] if self.cutter.bounded(span, context) else self.cutter.cut(span, context)
            )
        ]
        for number, (row, part) in enumerate(parts, start=1):
            yield Piece(
                slug=slugify(f"{appendix.key} {title}") + (f"/{number}" if len(parts) > 1 else ""),
                kind="appendix-a",
                section=row,
                span=part,
                context=context,
                text=chunk_text(context, self.manual.text[part[0] : part[1]]),
                title=f"{appendix.title}: {title}",
                part=(number, len(parts)) if len(parts) > 1 else None,
            )
