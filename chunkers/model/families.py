"""Cutting a tree of short sections (codes, index terms) into families, for preset ``sections``.

A section with all below it is one chunk when it fits the target. One that does not fit gives a
chunk of its own lines with as many of its children as fit, then further runs of its children; a
child that does not fit is cut the same way, at any depth. Every line is in exactly one chunk, and
each chunk's context names all that it stands under.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from chunkers.model.chunk import Piece
from chunkers.model.cut import Cutter, Span, trim
from chunkers.model.finish import slugify
from chunkers.model.layout import chunk_text, collapse
from manuals.model.sections import Manual, Section


@dataclass(frozen=True, slots=True)
class Family:
    """What one chunk holds: whole sections from ``first`` to ``last``, which are siblings, or
    (``last`` is ``first``) one section, whole or from its heading on.

    ``part`` as in ``Chunk``: set when one section's own lines had to be cut.
    """

    first: Section
    last: Section
    span: Span
    context: str
    part: tuple[int, int] | None = None


def family_piece(manual: Manual, family: Family, extra_keys: tuple[str, ...] = ()) -> Piece:
    """The chunk of a family."""
    first = family.first
    return Piece(
        slug=slugify(first.key),
        kind=first.kind,
        section=first,
        span=family.span,
        context=family.context,
        text=chunk_text(family.context, collapse(manual.text[family.span[0] : family.span[1]])),
        part=family.part,
        extra_keys=extra_keys,
    )


class Families:
    """Cuts the sections of one manual.

    ``context_of`` gives the context lines for a chunk that stands below the given sections
    (outermost first). A chunk holds at most ``most`` sections.
    """

    def __init__(
        self,
        manual: Manual,
        cutter: Cutter,
        context_of: Callable[[Sequence[Section]], str],
        most: int,
    ) -> None:
        self._manual = manual
        self._cutter = cutter
        self._context_of = context_of
        self._most = most
        self._sizes: dict[str, int] = {}
        for section in reversed(manual.sections):
            below = sum(self._sizes[child.key] for child in manual.children(section))
            self._sizes[section.key] = 1 + below

    def cut(self, section: Section) -> Iterator[Family]:
        """The families of a section with all below it, in document order."""
        yield from self._cut(section, section, self._context(self._manual.ancestors(section)))

    def head(self, section: Section) -> Iterator[Family]:
        """A section's heading and the lines before its first child, cut only at the bound."""
        context = self._context(self._manual.ancestors(section))
        yield from self._own(section, section, self._head_span(section), context)

    def _cut(self, first: Section, section: Section, context: str) -> Iterator[Family]:
        """Cut ``section``; the first chunk begins at the heading of ``first``, which is the
        section itself or one above it of which nothing but its head is out yet."""
        start = first.span[0]
        children = self._manual.children(section)
        if self._fits((start, section.span[1]), context, self._sizes[section.key]):
            yield Family(first, first, self._trim(start, section.span[1]), context)
            return
        if not children:
            yield from self._own(first, section, (start, section.span[1]), context)
            return
        taken = self._taken(start, children, context)
        if taken:
            yield Family(first, first, self._trim(start, children[taken - 1].span[1]), context)
        elif self._leads(start, children[0], context):
            yield from self._cut(first, children[0], context)
            taken = 1
        else:
            yield from self._own(first, section, (start, children[0].span[0]), context)
        below = (*self._manual.ancestors(section), section)
        yield from self._runs(children[taken:], self._context(below))

    def _taken(self, start: int, children: Sequence[Section], context: str) -> int:
        """How many of the children fit into one chunk with the lines from ``start`` on."""
        count = 1
        for taken, child in enumerate(children):
            count += self._sizes[child.key]
            if not self._fits((start, child.span[1]), context, count):
                return taken
        return len(children)

    def _leads(self, start: int, child: Section, context: str) -> bool:
        """Whether what begins at ``start`` goes into the first chunk of a child that is cut:
        a bare heading alone makes a poor chunk."""
        return bool(self._manual.children(child)) and self._fits(
            (start, self._head_span(child)[1]), context, 2
        )

    def _runs(self, children: Sequence[Section], context: str) -> Iterator[Family]:
        """Children packed into runs up to the target; one that is too large is cut itself."""
        run: list[Section] = []
        count = 0
        for child in children:
            size = self._sizes[child.key]
            start = run[0].span[0] if run else child.span[0]
            if run and not self._fits((start, child.span[1]), context, count + size):
                yield self._run(run, context)
                run, count = [], 0
            if self._fits(child.span, context, size):
                run.append(child)
                count += size
            else:
                yield from self._cut(child, child, context)
        if run:
            yield self._run(run, context)

    def _run(self, run: Sequence[Section], context: str) -> Family:
        return Family(run[0], run[-1], self._trim(run[0].span[0], run[-1].span[1]), context)

    def _own(self, first: Section, section: Section, span: Span, context: str) -> Iterator[Family]:
        """Lines without children, in parts when they pass the bound; later parts stand under
        the section's heading."""
        spans = self._cutter.cut(span, context)
        if len(spans) == 1:
            yield Family(first, first, spans[0], context)
            return
        inner = self._context((*self._manual.ancestors(section), section))
        spans = self._cutter.cut(span, inner)
        for number, piece in enumerate(spans, 1):
            lines = inner
            if number == 1 and self._cutter.bounded(piece, context):
                lines = context
            part = (number, len(spans)) if len(spans) > 1 else None
            yield Family(first, first, piece, lines, part)

    def _context(self, above: Sequence[Section]) -> str:
        return self._cutter.shorten(self._context_of(above))

    def _head_span(self, section: Section) -> Span:
        children = self._manual.children(section)
        return section.span[0], children[0].span[0] if children else section.span[1]

    def _fits(self, span: Span, context: str, count: int) -> bool:
        room = self._cutter.room(context, self._cutter.sizes.target)
        return count <= self._most and self._cutter.tokens(span) <= room

    def _trim(self, start: int, end: int) -> Span:
        return trim(self._cutter.text, (start, end))
