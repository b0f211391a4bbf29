"""Preset ``sections``, ICD-10-CM guidelines: chunks along the numbered and lettered sections.

A section with all below it is one chunk when it fits the target; else its own text is one, cut
into parts where it is too long, and each section below is handled the same way. Neighbours are
never merged. A heading without text of its own begins the chunk of the first section below it,
so that every character of the text is in exactly one chunk.
"""

from __future__ import annotations

from collections.abc import Iterator

from chunkers.model.chunk import Piece
from chunkers.model.cut import Cutter, Span, trim
from chunkers.model.layout import numbered_parts
from manuals.model.sections import Manual, Section


def pieces(manual: Manual, cutter: Cutter) -> Iterator[Piece]:
    """The chunks of one edition, in document order."""
    for section in manual.roots:
        yield from _section(manual, cutter, section, section.span[0], section.path)


def _section(
    manual: Manual, cutter: Cutter, section: Section, start: int, path: tuple[str, ...]
) -> Iterator[Piece]:
    """Chunks of a section's subtree.

    ``start`` lies before the section when headings without text precede it; ``path`` is then that
    of the first of them.
    """
    context = _context(manual, cutter, path)
    whole = trim(manual.text, (start, section.span[1]))
    children = manual.children(section)
    if not children or cutter.fits(whole, context):
        yield from _parts(manual, cutter, section, whole, path)
        return
    first = children[0].span[0]
    if not _has_text(manual, section, first):
        yield from _section(manual, cutter, children[0], start, path)
    else:
        own = trim(manual.text, (start, first))
        yield from _parts(manual, cutter, section, own, path)
        yield from _section(manual, cutter, children[0], first, children[0].path)
    for child in children[1:]:
        yield from _section(manual, cutter, child, child.span[0], child.path)


def _parts(
    manual: Manual, cutter: Cutter, section: Section, span: Span, path: tuple[str, ...]
) -> Iterator[Piece]:
    """A span as one piece, or as numbered parts that repeat the section's heading."""
    context = _context(manual, cutter, path)
    again = _context(manual, cutter, (*section.path, section.heading))
    spans = [span] if cutter.bounded(span, context) else cutter.cut(span, again)
    yield from numbered_parts(manual, section, section.kind, spans, (context, again))


def _has_text(manual: Manual, section: Section, first: int) -> bool:
    """Whether anything stands between a section's heading and the first section below it."""
    _, _, rest = manual.text[section.span[0] : first].partition("\n")
    return bool(rest.strip())


def _context(manual: Manual, cutter: Cutter, path: tuple[str, ...]) -> str:
    return cutter.shorten("\n".join((manual.edition.title, *path)))
