"""The passage of a hit that answers the query best, and its words that match."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from chunkers.model.chunk import JOINT
from chunkers.model.cut import SENTENCE_END, end_before
from indexers.legs.tokenise import Tokeniser
from retrievers.search.hits import Hit

Span = tuple[int, int]

_SPACE = re.compile(r"\s+")
_WORD = re.compile(r"[^\s—]+")


class Excerpt(NamedTuple):
    """Text on one line, and the spans in it of the words that share a term with the query."""

    text: str
    marks: tuple[Span, ...]


def _units(text: str) -> list[str]:
    """Lines and sentences without surrounding or repeated white space."""
    units: list[str] = []
    for line in text.splitlines():
        start = 0
        for found in SENTENCE_END.finditer(line):
            units.append(line[start : end_before(found)])
            start = found.end()
        units.append(line[start:])
    return [unit for unit in (_SPACE.sub(" ", unit).strip() for unit in units) if unit]


def match_marks(text: str, terms: Mapping[str, float], tokeniser: Tokeniser) -> tuple[Span, ...]:
    """Spans of the words of ``text`` that give a term of the query, without outer punctuation."""
    marks: list[Span] = []
    for found in _WORD.finditer(text):
        word = found.group()
        if any(term in terms for term in tokeniser.terms(word)):
            inner = _inner(word)
            start = found.start() + word.find(inner)
            marks.append((start, start + len(inner)))
    return tuple(marks)


def _inner(word: str) -> str:
    """A word without punctuation round it; brackets that pair inside it stay."""
    while True:
        inner = word.strip("\"'“”‘’.,;:!?[]")
        if inner.count(")") > inner.count("("):
            inner = inner.removesuffix(")")
        elif inner.count("(") > inner.count(")"):
            inner = inner.removeprefix("(")
        if inner == word:
            return inner
        word = inner


def _clip(text: str, size: int, at: int = 0) -> str:
    """At most ``size`` characters of ``text`` from whole words, round the offset ``at``."""
    if len(text) <= size:
        return text
    start = max(0, min(at - size // 3, len(text) - size))
    if start:
        start = text.find(" ", start) + 1
    end = start + size - 4
    if end < len(text):
        cut = text.rfind(" ", start, end)
        end = cut if cut > start else end
    return ("… " if start else "") + text[start:end].strip() + (" …" if end < len(text) else "")


def best_excerpt(
    hit: Hit,
    terms: Mapping[str, float],
    tokeniser: Tokeniser,
    size: int = 240,
    span: Span | None = None,
) -> Excerpt:
    """The run of whole lines and sentences of the hit's body, at most ``size`` characters long,
    whose distinct query terms weigh most; of equal ones the shortest, then the first.

    ``terms`` are the query's terms with a weight for each. Without any match it is the start of
    the dense leg's best window, else of the body. With ``span`` only that stretch of the hit's
    text is looked at.
    """
    body = hit.text[slice(*span)] if span else hit.text.partition(JOINT)[2] or hit.text
    units = _units(body)
    found = [frozenset(t for t in tokeniser.terms(unit) if t in terms) for unit in units]
    best: tuple[float, int, int, int] | None = None
    for first in range(len(units)):
        length = -1
        held: frozenset[str] = frozenset()
        for last in range(first, len(units)):
            length += len(units[last]) + 1
            if last > first and length > size:
                break
            held |= found[last]
            if held:
                weight = sum(terms[term] for term in sorted(held))
                candidate = (-weight, length, first, last)
                best = candidate if best is None else min(best, candidate)
    if best is None:
        spans = [] if span else [leg.span for leg in hit.legs.values() if leg.span]
        start = spans[0][0] if spans else 0
        text = _SPACE.sub(" ", hit.text[start:] if start > len(hit.text) - len(body) else body)
        return Excerpt(_clip(text.strip(), size), ())
    _, _, first, last = best
    # What still fits behind the run gives the reader the context.
    length = sum(map(len, units[first : last + 1])) + last - first
    while last + 1 < len(units) and length + 1 + len(units[last + 1]) <= size:
        last += 1
        length += 1 + len(units[last])
    text = " ".join(units[first : last + 1])
    marks = match_marks(text, terms, tokeniser)
    clipped = _clip(text, size, marks[0][0] if marks else 0)
    return Excerpt(clipped, match_marks(clipped, terms, tokeniser))
