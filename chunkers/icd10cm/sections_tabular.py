"""Preset ``sections``, Tabular List: code families, cut by size and by number of codes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chunkers.model.chunk import Piece
from chunkers.model.cut import Cutter
from chunkers.model.families import Families, Family, family_piece
from manuals.icd10cm.code_view import CODE_KINDS
from manuals.model.sections import Manual, Section
from manuals.model.source import SOURCES

#: codes and headings that one chunk may hold
MOST_CODES = 32
#: characters up to which a note that binds the codes below is repeated in their context
SHORT_NOTE = 120

_BINDING = ("codeFirst", "useAdditionalCode")


def pieces(manual: Manual, cutter: Cutter) -> Iterator[Piece]:
    """Chapters' and blocks' own notes as chunks of their own, then each category by families."""
    families = Families(manual, cutter, _context, MOST_CODES)
    # The heading of a chapter or block without notes has no chunk: it is in the context of all
    # chunks below, and the first of them carries its key.
    bare: list[str] = []
    for family in _families(manual, families, bare):
        yield family_piece(manual, family, tuple(bare))
        bare.clear()


def _families(manual: Manual, families: Families, bare: list[str]) -> Iterator[Family]:
    for section in manual.sections:
        if section.kind == "category" or (section.kind == "introduction" and not section.parent):
            yield from families.cut(section)
        elif section.kind in ("chapter", "block"):
            if section.notes:
                yield from families.head(section)
            else:
                bare.append(section.key)


def _context(above: Sequence[Section]) -> str:
    """Chapter, block and codes above, with the short notes at these codes that bind below.

    Of blocks inside wider blocks only the innermost is named.
    """
    lines = [] if above else [SOURCES["tabular"].title]
    blocks = [section for section in above if section.kind == "block"]
    for section in above:
        if section in blocks[:-1]:
            continue
        lines.append(section.heading)
        if section.kind in CODE_KINDS:
            lines.extend(_short_notes(section))
    return "\n".join(lines)


def _short_notes(section: Section) -> Iterator[str]:
    for kind in _BINDING:
        line = " | ".join(note.text for note in section.notes if note.kind == kind)
        if line and len(line) <= SHORT_NOTE:
            yield f" {kind}: {line}"
    sevenths = " | ".join(f"{character} {meaning}" for character, meaning in section.seventh)
    if sevenths and len(sevenths) <= SHORT_NOTE:
        yield f" sevenChrDef: {sevenths}"
