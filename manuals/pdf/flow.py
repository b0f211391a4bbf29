"""Lines of a PDF as two texts: ``raw`` with all of them, ``text`` with those that are kept.

Also decides which lines are page furniture and how two lines of running text are joined.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from manuals.pdf.lines import HYPHEN, Line

#: furniture stands among this many lines at the top and the bottom of a page
_EDGE = 4
#: and on at least this share of the pages
_SHARE = 0.3
#: a gap between baselines above this multiple of the size parts two paragraphs
PARAGRAPH_GAP = 1.4
#: lines whose left edges differ by less, in points, are aligned
ALIGNED = 4.0

_BULLET = re.compile(r"[•●▪◦■\uf0b7]|[-–]\s")
_CODE_DASH = re.compile(r"\b[A-Z](?:\d[0-9A-Z]?|A\d)(?:\.[0-9A-Z]{0,4})?-$")
_LIST_LABEL = re.compile(r"(?:[a-z]|\d{1,2})[.)]\s|\([a-z0-9]{1,3}\)\s")
_CODE_ITEM = re.compile(r"[A-Z](?:\d[0-9A-Z]|A\d)(?:\.[0-9A-Z]{1,4})?-?,?\s")
#: a line that ends in the middle of a sentence fills at least this share of the measure
_GOES_ON = 0.6
_SENTENCE_END = re.compile(r"[.:;?!][”\")\]]*$")


def furniture(lines: Sequence[Line]) -> set[int]:
    """Numbers of the lines that repeat at page tops or bottoms, whatever their digits."""
    edges: list[tuple[int, tuple[str, int]]] = []
    pages = 0
    for _, group in groupby(enumerate(lines), key=lambda item: item[1].page):
        page = list(group)
        pages += 1
        for number, line in {*page[:_EDGE], *page[-_EDGE:]}:
            text = re.sub(r"\d+", "#", re.sub(r"\s+", "", line.text))
            # The title page bears the same words, larger.
            edges.append((number, (text, round(line.size))))
    counts = Counter(shape for _, shape in {(lines[number].page, shape) for number, shape in edges})
    least = max(3, _SHARE * pages)
    return {number for number, shape in edges if counts[shape] >= least}


def is_full(line: Line, following: Line, right: float) -> bool:
    """Whether the first word of the following line did not fit at the end of this one.

    ``right`` is the right edge of the page's text. Only then is the line end no end of a
    paragraph or list item.
    """
    word = following.text.split(" ", 1)[0]
    width = (following.x1 - following.x0) * (len(word) + 1) / max(len(following.text), 1)
    return line.x1 + width > right - 2.0


def _goes_on(line: Line, following: Line, right: float) -> bool:
    """Whether a sentence runs on over a line end that could as well be one of a list's item."""
    if _BULLET.match(following.text) or following.x0 < line.x0 - ALIGNED:
        return False
    aligned = abs(following.x0 - line.x0) < ALIGNED
    if not aligned and _LIST_LABEL.match(following.text):
        return False
    if aligned and _CODE_ITEM.match(line.text) and _CODE_ITEM.match(following.text):
        return False
    if is_full(line, following, right):
        return True
    # A ragged line: one longer word would have fitted, the sentence tells that it goes on.
    wide = line.x1 - line.x0 > _GOES_ON * (right - line.x0)
    return wide and following.text[:1].islower() and not re.search(r"[.:;]$", line.text)


def joint(line: Line, following: Line, right: float) -> str:
    """What parts two lines of running text: nothing, a blank, a line end or an empty line.

    A word broken at its hyphen and a range of codes close up; a full line goes on; short lines
    under each other are items of a list. ``right`` is the right edge of the page's text.
    """
    if following.page != line.page:
        full = is_full(line, following, right) and abs(following.size - line.size) < 1
        if not full and not (following.text[:1].islower() and line.text[-1:].isalpha()):
            return "\n\n" if _SENTENCE_END.search(line.text) else "\n"
    elif following.y1 - line.y1 > PARAGRAPH_GAP * max(line.size, following.size):
        return "\n\n"
    elif not _goes_on(line, following, right):
        return "\n"
    if line.text.endswith(HYPHEN):
        return ""
    if line.text.endswith("-") and line.text[-2:-1].isalnum():
        # ``Q00-`` / ``Q99`` is a range, ``O98.7-`` / ``and`` a code with its dash.
        code = _CODE_DASH.search(line.text) is not None
        range_of_codes = re.match(r"[A-Z]\d", following.text) is not None
        return "" if not code or range_of_codes else " "
    return " "


class Flow:
    """Builds ``text`` line by line and remembers where each line stands in ``raw``.

    A broken word keeps its hyphen: word processors, other than typesetters, break words only at
    hyphens of their own.
    """

    def __init__(self, lines: Sequence[Line]) -> None:
        self.lines = lines
        self._parts: list[str] = []
        self._length = 0
        self._starts: dict[int, int] = {}
        self.raw_map: list[tuple[int, int, int]] = []
        raw: list[str] = []
        offset = 0
        self._raw_offsets: list[int] = []
        raw_starts: dict[int, int] = {}
        for line in lines:
            raw_starts.setdefault(line.page, offset)
            self._raw_offsets.append(offset)
            raw.append(line.text.replace(HYPHEN, "-") + "\n")
            offset += len(raw[-1])
        self.raw = "".join(raw)
        self.last_page = lines[-1].page if lines else 0
        self.raw_page_starts = self._filled(raw_starts, offset)

    def add(self, number: int, before: str) -> int:
        """Append a line after the joint ``before``; the offset at which the line begins."""
        self._parts.append(before)
        self._length += len(before)
        start = self._length
        text = self.lines[number].text.replace(HYPHEN, "-")
        self._starts.setdefault(self.lines[number].page, start)
        self._parts.append(text)
        self._length += len(text)
        self.raw_map.append((self._raw_offsets[number], start, len(text)))
        return start

    @property
    def text(self) -> str:
        return "".join(self._parts)

    @property
    def page_starts(self) -> tuple[int, ...]:
        """Offset in ``text`` of each page; a page of which nothing is kept begins like the next."""
        return self._filled(self._starts, self._length)

    def _filled(self, starts: dict[int, int], end: int) -> tuple[int, ...]:
        filled = []
        for page in range(self.last_page, 0, -1):
            end = starts.get(page, end)
            filled.append(end)
        return tuple(reversed(filled))
