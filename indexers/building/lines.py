"""Lines: the short units of a chunk, indexed one by one beside the chunk.

A chunk of preset ``paper`` holds a whole category, up to 12,000 characters; a query is about one line
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
from manuals.model.source import SOURCES

#: characters of a line that are read: an encoder's window holds no more of such a text
LONGEST = 600
#: a paragraph of fewer words says too little to stand alone
LEAST_WORDS = 4

_TERMS = frozenset({"inclusionTerm", "includes"})


def lines_of(manual: Manual, chunks: Sequence[Chunk]) -> list[list[str]]:
    """The lines of each chunk of one edition, in order; never none for a chunk."""
    found: list[list[str]] = SOURCES[manual.source].lines(manual, chunks)
    return found


def section_lines(manual: Manual, chunks: Sequence[Chunk]) -> list[list[str]]:
    """One line for each section that begins in a chunk: its title and what it includes."""
    sections = sorted(manual.sections, key=lambda section: section.span[0])
    starts = [section.span[0] for section in sections]
    spans = ((bisect.bisect_left(starts, end) for end in chunk.text_span) for chunk in chunks)
    return [
        [_line(section) for section in sections[first:last]] or [_name(chunk)]
        for chunk, (first, last) in zip(chunks, spans, strict=True)
    ]


def paragraph_lines(manual: Manual, chunks: Sequence[Chunk]) -> list[list[str]]:
    """The chunk's title and each paragraph of its body."""
    return [[_name(chunk), *_paragraphs(chunk)] for chunk in chunks]


def _line(section: Section) -> str:
    terms = (note.text for note in section.notes if note.kind in _TERMS)
    title = section.heading if SOURCES[section.source].path_keys else section.title
    return "; ".join((title or section.citation, *terms))[:LONGEST]


def _paragraphs(chunk: Chunk) -> list[str]:
    body = chunk.text.removeprefix(chunk.context + JOINT) if chunk.context else chunk.text
    lines = (line.strip() for line in body.split("\n"))
    return [line[:LONGEST] for line in lines if len(line.split()) >= LEAST_WORDS]


def _name(chunk: Chunk) -> str:
    return (chunk.title or chunk.citation or chunk.text.strip() or chunk.key)[:LONGEST]
