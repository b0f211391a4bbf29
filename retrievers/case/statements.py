"""The statements of a case: numbered or bulleted facts, sentences, lines of a problem list."""

from __future__ import annotations

import re
from collections.abc import Iterator

from chunkers.model.cut import SENTENCE_END, end_before
from manuals.apply.plan import Statement

_BULLET = re.compile(r"^\s*(?:[-*•–]|\(?\d{1,3}[.)])\s+")
#: words of the shortest statement that is searched by itself
_LEAST = 3
#: words of the longest: an encoder reads no more of a text at once
_LONGEST = 60


def statements(case: str) -> list[Statement]:
    """The statements of a case in order. Raises nothing: a text without words has none."""
    return list(_sized(_sentences(case)))


def _sentences(case: str) -> Iterator[Statement]:
    at = 0
    for line in case.splitlines(keepends=True):
        bullet = _BULLET.match(line)
        start = at + (bullet.end() if bullet else len(line) - len(line.lstrip()))
        stop = at + len(line.rstrip())
        at += len(line)
        for found in SENTENCE_END.finditer(case, start, stop):
            end = end_before(found)
            if end > start:
                yield Statement(case[start:end], start, end)
            start = found.end()
        if start < stop:
            yield Statement(case[start:stop], start, stop)


def _sized(found: Iterator[Statement]) -> Iterator[Statement]:
    """Those with words in them, very long ones cut between words."""
    for each in found:
        words = list(re.finditer(r"\S+", each.text))
        if len(words) < _LEAST and not re.search(r"\w{3}", each.text):
            continue
        for first in range(0, len(words), _LONGEST):
            part = words[first : first + _LONGEST]
            low, high = part[0].start(), part[-1].end()
            yield Statement(each.text[low:high], each.start + low, each.start + high)
