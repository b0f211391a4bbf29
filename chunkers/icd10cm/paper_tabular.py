"""Preset ``tam``, Tabular List: one chunk for each category; a long one by its direct children.

The paper's chunks hold codes, descriptions, and the notes named includes, inclusionTerm, excludes1,
excludes2, codeFirst, useAdditionalCode, codeAlso and sevenChrNote, and these decide whether a
category is too long. What else a category carries (general notes, the meanings of the seventh
characters, the table of visual impairment; 1.4 % of the text) is in our chunk too, so that it is a
slice of the manual with nothing left out, but never makes it split.
"""

from __future__ import annotations

from collections.abc import Iterator

from chunkers.model.chunk import Piece
from chunkers.model.finish import slugify
from chunkers.model.layout import LIMIT, chunk_text, collapse
from manuals.icd10cm.tabular import block_description
from manuals.model.sections import Manual, Section

_NOT_COUNTED = ("notes: ", "sevenChrDef: ", "visualImpairment: ")


def pieces(manual: Manual) -> Iterator[Piece]:
    """One piece for each category, or for each direct child of one over the limit."""
    for section in manual.sections:
        if section.kind != "category":
            continue
        context = _context(manual, section)
        body = collapse(manual.subtree_text(section))
        below = manual.children(section)
        if below and len(chunk_text(context, _counted(body))) > LIMIT:
            context = f"{context}\nCategory: {section.heading}"
            for child in below:
                yield _piece(child, context, collapse(manual.subtree_text(child)))
        else:
            yield _piece(section, context, body)


def _piece(section: Section, context: str, body: str) -> Piece:
    return Piece(
        slug=slugify(section.key),
        kind=section.kind,
        section=section,
        span=section.span,
        context=context,
        text=chunk_text(context, body),
    )


def _context(manual: Manual, category: Section) -> str:
    above = manual.ancestors(category)
    lines = [f"Document: {manual.meta['title']}"]
    lines.extend(f"Chapter: {section.title}" for section in above if section.kind == "chapter")
    blocks = [section for section in above if section.kind == "block"]
    if blocks:
        lines.append(f"Section: {block_description(blocks[-1])}")
    return "\n".join(lines)


def _counted(body: str) -> str:
    """The body with the lines that the paper's rule counts."""
    lines = body.split("\n")
    return "\n".join(line for line in lines if not line.lstrip().startswith(_NOT_COUNTED))
