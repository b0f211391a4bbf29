"""The layout of chunk texts that the rules of both presets share."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from chunkers.model.chunk import JOINT, Piece
from chunkers.model.cut import Span
from chunkers.model.finish import slugify
from manuals.model.sections import Manual, Section

#: characters of a chunk's text, context lines included, above which the paper's rules split
LIMIT = 12_000

_BLANKS = re.compile(r"[^\S\n]+")
_LINE_ENDS = re.compile(r"\n{3,}")


def collapse(text: str) -> str:
    """White space as the paper has it: runs of blanks to one, three or more line ends to two."""
    return _LINE_ENDS.sub("\n\n", _BLANKS.sub(" ", text)).strip()


def chunk_text(context: str, body: str) -> str:
    """Context lines, an empty line, the body; the body alone where there is no context."""
    return f"{context}{JOINT}{body}" if context else body


def numbered_parts(
    manual: Manual,
    section: Section,
    kind: str,
    spans: Sequence[Span],
    contexts: tuple[str, str],
    title: str = "",
) -> Iterator[Piece]:
    """Spans of ``text`` as the parts of one section; a single span as a piece without number.

    ``contexts`` are that of the first part and that of all others.
    """
    count = len(spans)
    for number, span in enumerate(spans, start=1):
        context = contexts[0] if number == 1 else contexts[1]
        yield Piece(
            slug=slugify(section.key) + (f"/{number}" if count > 1 else ""),
            kind=kind,
            section=section,
            span=span,
            context=context,
            text=chunk_text(context, manual.text[span[0] : span[1]]),
            title=title,
            part=(number, count) if count > 1 else None,
        )
