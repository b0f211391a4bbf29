"""Preset ``tam``, Index and tables: one chunk for each main term; a long one by its direct terms."""

from __future__ import annotations

import re
from collections.abc import Iterator

from chunkers.model.chunk import Piece
from chunkers.model.finish import slugify
from chunkers.model.layout import LIMIT, chunk_text, collapse
from manuals.model.sections import Manual, Section

_INDENT = re.compile(r"^ +", re.MULTILINE)


def pieces(manual: Manual) -> Iterator[Piece]:
    """One piece for each main term, or for each direct child of one over the limit."""
    for section in manual.sections:
        if section.kind != "main_term":
            continue
        context = _context(manual, section)
        piece = _piece(manual, section, context)
        below = manual.children(section)
        if below and len(piece.text) > LIMIT:
            for child in below:
                yield _piece(manual, child, context)
        else:
            yield piece


def _context(manual: Manual, main_term: Section) -> str:
    letter = main_term.path[0].removeprefix("Letter ")
    return f"Document: {manual.meta['title']}\nLetter: {letter}\nMain term: {main_term.title}"


def _piece(manual: Manual, section: Section, context: str) -> Piece:
    # The paper's lines are not indented.
    body = collapse(_INDENT.sub("", manual.subtree_text(section)))
    return Piece(
        slug=slugify(section.key),
        kind=section.kind,
        section=section,
        span=section.span,
        context=context,
        text=chunk_text(context, body),
    )
