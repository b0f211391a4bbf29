"""The passage of a hit: the lines of its chunk that answer the query best, and where they stand.

The lines are read in the edition's text, which has no page furniture. A passage begins in one
section and never goes on behind its end, so that the section's citation is true of all of it.
"""

from __future__ import annotations

import bisect
import math
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple

from chunkers.model.chunk import JOINT, Chunk
from chunkers.model.cut import SENTENCE_END, trim
from indexers.folder.opened import StoredIndex
from indexers.legs.tokenise import Tokeniser
from manuals.model.headings import full_title
from manuals.model.sections import Manual, Section
from manuals.model.units import is_apparatus
from retrievers.ranking.references import references_in, words_besides
from retrievers.search.hits import Leg, Passage

Span = tuple[int, int]

#: characters that a passage holds, unless one sentence is longer
SIZE = 320

#: blanks within the shortest sentence that is one by itself
LEAST = 2

_LINE = re.compile(r"[^\n]+")
_WORDS = re.compile(r"\S+")


class Place(NamedTuple):
    """How a passage's section is called and where it stands."""

    citation: str
    title: str
    path: tuple[str, ...]
    pages: Span | None


class Weights(NamedTuple):
    """The query's terms that the index holds with their inverse document frequency: ``all``, and
    those of the ``words`` besides references, by which the passage of a named section is chosen."""

    all: Mapping[str, float]
    words: Mapping[str, float]


def query_weights(stored: StoredIndex, query: str) -> Weights:
    """The weights of a query's terms in an index."""
    bm25 = stored.bm25
    weights = {}
    for term in sorted(set(bm25.tokeniser.terms(query))):
        frequency = bm25.document_frequency(term)
        if frequency:
            weights[term] = math.log(1 + len(stored) / frequency)
    words = set(bm25.tokeniser.terms(words_besides(query, references_in(query))))
    return Weights(weights, {term: weights[term] for term in weights if term in words})


def find_passage(
    chunk: Chunk,
    manual: Manual,
    weights: Weights,
    tokeniser: Tokeniser,
    named: str | None = None,
    legs: Mapping[str, Leg] = MappingProxyType({}),
) -> tuple[Passage, Place] | None:
    """The best passage of a chunk and its place; ``None`` where the edition's text has nothing of
    the chunk (a page's head, a line of the table of contents).

    With ``named``, a section that the query or a link names, it is a passage of that section, and
    named so, where the chunk holds some of it. Else it is looked for in the window that the dense
    leg liked best, where that leg ranked the chunk better than the others; then in all of it.
    """
    body = trim(manual.text, chunk.text_span)
    if body[0] >= body[1] or not manual.sections:
        return None
    section = manual.by_key.get(named) if named else None
    if section is not None:
        own = _without_notes(manual, section)
        inside = trim(manual.text, (max(body[0], own[0]), min(body[1], own[1])))
        if inside[0] < inside[1]:
            span = _best(_units(manual, inside), weights.words, tokeniser, manual.text)
            span = span or _first(manual, inside)
            return _passage(manual, section, span), place_of(manual, chunk, section, span)
    window, leads = _window(chunk, manual, body, legs)
    for stretch in (window, body) if leads else (body,):
        span = _best(_units(manual, stretch), weights.all, tokeniser, manual.text)
        if span is not None:
            break
    else:
        span = _first(manual, window)
    section = manual.section_at(span[0])
    return _passage(manual, section, span), place_of(manual, chunk, section, span)


def place_of(manual: Manual, chunk: Chunk, section: Section, span: Span) -> Place:
    """The place of a span that stands in a section."""
    pages = manual.pages(span) or chunk.pages
    return Place(section.citation, full_title(manual, section), section.path, pages)


def _window(chunk: Chunk, manual: Manual, body: Span, legs: Mapping[str, Leg]) -> tuple[Span, bool]:
    """The dense leg's window in the edition's text (without one the body), and whether no other
    leg ranked the chunk as well."""
    found = min((leg for leg in legs.values() if leg.span), key=lambda leg: leg.rank, default=None)
    if found is None or found.span is None:
        return body, False
    low, high = (_placed(chunk, manual, at) for at in found.span)
    window = trim(manual.text, (max(body[0], low), min(body[1], high)))
    if window[0] >= window[1]:
        return body, False
    return window, all(found.rank < leg.rank for leg in legs.values() if leg is not found)


def _passage(manual: Manual, section: Section, span: Span) -> Passage:
    return Passage(section.key, span, manual.text[span[0] : span[1]])


def _without_notes(manual: Manual, section: Section) -> Span:
    """The section's span up to the first of its editor's notes."""
    low, high = section.span
    for child in manual.children(section):
        if is_apparatus(manual.source, child.key):
            high = min(high, child.span[0])
    return low, high


class _Unit(NamedTuple):
    """A line or sentence, and where the innermost section that it begins in ends."""

    span: Span
    limit: int


def _units(manual: Manual, span: Span) -> Iterator[_Unit]:
    """Lines and sentences of a span without surrounding white space, cut where sections begin."""
    text = manual.text
    begins = manual.starts_between(*span)
    for line in _LINE.finditer(text, *span):
        first = bisect.bisect_left(begins, line.start())
        last = bisect.bisect_left(begins, line.end())
        fixed = {line.start(), line.end(), *begins[first:last]}
        cuts = [line.start()]
        for cut in sorted({*fixed, *(f.end() for f in SENTENCE_END.finditer(text, *line.span()))}):
            # The number of a section, and a heading of a word, go with what follows.
            if cut > cuts[-1] and (cut in fixed or text.count(" ", cuts[-1], cut - 1) >= LEAST):
                cuts.append(cut)
        for start, end in pairwise(cuts):
            unit = trim(text, (start, end))
            if unit[0] < unit[1]:
                yield _Unit(unit, manual.section_at(unit[0]).span[1])


def _best(
    found: Iterator[_Unit], terms: Mapping[str, float], tokeniser: Tokeniser, text: str
) -> Span | None:
    """The run of whole units, at most ``SIZE`` characters long, whose distinct terms weigh most;
    of equal ones the shortest, then the first. What still fits behind it gives the context.

    ``None`` when no unit has a term.
    """
    units = list(found)
    held = [
        frozenset(term for term in tokeniser.terms(text[slice(*unit.span)]) if term in terms)
        for unit in units
    ]
    best: tuple[float, int, int, int] | None = None
    for first, unit in enumerate(units):
        together: frozenset[str] = frozenset()
        for last in range(first, len(units)):
            start, end = units[last].span
            if last > first and (end - unit.span[0] > SIZE or start >= unit.limit):
                break
            if not held[last] <= together:
                together |= held[last]
                weight = sum(terms[term] for term in sorted(together))
                candidate = (-weight, end - unit.span[0], first, last)
                best = candidate if best is None else min(best, candidate)
    if best is None:
        return None
    _, _, first, last = best
    return _extended(units, first, last)


def _extended(units: list[_Unit], first: int, last: int) -> Span:
    start, limit = units[first].span[0], units[first].limit
    while (
        last + 1 < len(units)
        and units[last + 1].span[0] < limit
        and units[last + 1].span[1] - start <= SIZE
    ):
        last += 1
    return start, min(units[last].span[1], limit)


def _first(manual: Manual, span: Span) -> Span:
    """The passage that a span begins with."""
    units = list(_units(manual, trim(manual.text, span)))
    return _extended(units, 0, 0) if units else span


def _placed(chunk: Chunk, manual: Manual, offset: int) -> int:
    """The offset in the edition's text of one in the chunk's text.

    Presets change white space only, so characters that are none are counted.
    """
    head = len(chunk.text) - len(chunk.text.partition(JOINT)[2] or chunk.text)
    before = len("".join(chunk.text[head : max(offset, head)].split()))
    body = manual.text if chunk.view == "text" else manual.raw
    at = chunk.span[0]
    for word in _WORDS.finditer(body, *chunk.span):
        size = word.end() - word.start()
        if before < size:
            at = word.start() + before
            break
        before -= size
    else:
        at = chunk.span[1]
    if chunk.view == "text":
        return at
    low, high = manual.raw_to_text((at, chunk.span[1]))
    return low if low < high else chunk.text_span[1]
