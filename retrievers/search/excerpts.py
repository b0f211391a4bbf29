"""A hit's passage on one line, and its words that match."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from chunkers.model.chunk import JOINT
from indexers.legs.tokenise import Tokeniser
from retrievers.search.hits import Hit

Span = tuple[int, int]

_SPACE = re.compile(r"\s+")
_LEADERS = re.compile(r"(?:\s*[.…]){4,}\s*")
_WORD = re.compile(r"[^\s—]+")


class Excerpt(NamedTuple):
    """Text on one line, and the spans in it of the words that share a term with the query."""

    text: str
    marks: tuple[Span, ...]


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


def excerpt_of(
    hit: Hit, terms: Mapping[str, float], tokeniser: Tokeniser, size: int = 240
) -> Excerpt:
    """The hit's passage on one line of at most ``size`` characters, from its first word that
    shares a term with the query on where it is longer; without a passage the start of its text."""
    text = hit.passage.text if hit.passage else hit.text.partition(JOINT)[2] or hit.text
    text = _LEADERS.sub(" … ", _SPACE.sub(" ", text)).strip()
    marks = match_marks(text, terms, tokeniser)
    clipped = _clip(text, size, marks[0][0] if marks else 0)
    return Excerpt(clipped, match_marks(clipped, terms, tokeniser))
