"""Preset ``sections`` for a source without a rule of its own: its sections, whole or in runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chunkers.model.chunk import Piece
from chunkers.model.cut import Cutter
from chunkers.model.families import Families, family_piece
from manuals.model.sections import Manual, Section
from manuals.model.source import SOURCES


def pieces(manual: Manual, cutter: Cutter) -> Iterator[Piece]:
    """Each outermost section with all below it, cut by size; chunks name what they stand under."""
    title = SOURCES[manual.source].title

    def context(above: Sequence[Section]) -> str:
        return "\n".join((title, *(section.heading for section in above)))

    families = Families(manual, cutter, context, len(manual.sections))
    for root in manual.roots:
        for family in families.cut(root):
            yield family_piece(manual, family)
