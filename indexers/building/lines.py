"""Lines: the short units of a chunk, indexed one by one beside the chunk.

A chunk of preset ``tam`` holds a whole category, up to 12,000 characters; a query is about one line
of it. So each line is a passage of its own, and a chunk scores by its best one (MaxP: Dai and
Callan, SIGIR 2019):

| source | a line |
|---|---|
| `tabular` | a code's title and inclusion terms (excluded conditions are left out) |
| `index`, `eindex`, `drugs`, `neoplasm` | an entry's path with all its words |
| others | the chunk's title; a paragraph of its body |
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence

from chunkers.model.chunk import JOINT, Chunk
from manuals.model.sections import Manual, Section

#: characters of a line that are read: an encoder's window holds no more of such a text
LONGEST = 600
#: a paragraph of fewer words says too little to stand alone
LEAST_WORDS = 4

_INDEXES = frozenset({"index", "eindex", "drugs", "neoplasm"})
_TERMS = frozenset({"inclusionTerm", "includes"})


def lines_of(manual: Manual, chunks: Sequence[Chunk]) -> list[list[str]]:
    """The lines of each chunk of one edition, in order; never none for a chunk."""
    if manual.source == "tabular" or manual.source in _INDEXES:
        sections = sorted(manual.sections, key=lambda section: section.span[0])
        starts = [section.span[0] for section in sections]
        return [
            [
                _line(section)
                for section in sections[
                    bisect.bisect_left(starts, chunk.text_span[0]) : bisect.bisect_left(
                        starts, chunk.text_span[1]
                    )
                ]
            ]
            or [_name(chunk)]
            for chunk in chunks
        ]
    return [[_name(chunk), *_paragraphs(chunk)] for chunk in chunks]


def _line(section: Section) -> str:
    terms = (note.text for note in section.notes if note.kind in _TERMS)
    title = section.heading if section.source in _INDEXES else section.title
    return "; ".join((title or section.citation, *terms))[:LONGEST]


def _paragraphs(chunk: Chunk) -> list[str]:
    body = chunk.text.removeprefix(chunk.context + JOINT) if chunk.context else chunk.text
    lines = (line.strip() for line in body.split("\n"))
    return [line[:LONGEST] for line in lines if len(line.split()) >= LEAST_WORDS]


def _name(chunk: Chunk) -> str:
    return (chunk.title or chunk.citation or chunk.text.strip() or chunk.key)[:LONGEST]
