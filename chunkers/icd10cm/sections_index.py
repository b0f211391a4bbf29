"""Preset ``sections``, Index and tables: main terms, then their branches at any depth."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import replace

from chunkers.model.chunk import Piece
from chunkers.model.cut import Cutter
from chunkers.model.families import Families, Family, family_piece
from chunkers.model.layout import chunk_text
from manuals.model.sections import Manual, Section
from manuals.model.source import SOURCES


def pieces(manual: Manual, cutter: Cutter) -> Iterator[Piece]:
    """The families of each main term; a chunk never holds two main terms."""
    families = Families(manual, cutter, _context, len(manual.sections))
    for section in manual.sections:
        if section.kind == "main_term":
            for family in families.cut(section):
                yield _piece(manual, family)


def _piece(manual: Manual, family: Family) -> Piece:
    piece = family_piece(manual, family)
    return replace(piece, text=chunk_text(family.context, _level(manual.text, family)))


def _level(text: str, family: Family) -> str:
    """The body with its indentation counted from its first line."""
    start, end = family.span
    line = text.rfind("\n", 0, start) + 1
    margin = text[line:start]
    return textwrap.dedent((margin if not margin.strip() else "") + text[start:end])


def _context(above: Sequence[Section]) -> str:
    """The manual's title and, below a main term, the path with all its words."""
    title = SOURCES[above[0].source].title
    return f"{title}\n{above[-1].heading}" if len(above) > 1 else title
