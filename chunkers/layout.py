"""The layout of chunk texts that the paper's rules share (preset ``tam``)."""

from __future__ import annotations

import re

from chunkers.chunk import JOINT

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
