"""Words that a printer broke at line ends, and how they are put together again."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

#: stands at the end of a line for a hyphen at which a word was broken
HYPHEN = "\x02"


class Hyphens:
    """Decides whether a hyphen at which a word was broken belongs to the word.

    It does when the document elsewhere writes the word with a hyphen more often than without.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._words: Counter[str] = Counter()
        for text in texts:
            self._words.update(re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)*", text.lower()))

    def join(self, left: str, right: str) -> str:
        """``left`` and ``right`` of a broken word as one, with or without the hyphen."""
        head = re.search(r"[^\W\d_]*(?:-[^\W\d_]*)*$", left.lower())
        tail = re.match(r"[^\W\d_]*", right.lower())
        first = head.group() if head else ""
        second = tail.group() if tail else ""
        plain = self._words[first + second]
        hyphenated = self._words[f"{first}-{second}"]
        return f"{left}-{right}" if hyphenated > plain else left + right


def join_lines(texts: Iterable[str], hyphens: Hyphens | None = None) -> str:
    """Lines as one paragraph: broken words rejoined, else a space between two lines.

    A line that ends with a hyphen of its own (``self-``, ``1-``) is joined without a space.
    """
    joined = ""
    for text in texts:
        text = text.strip(" ")
        if joined.endswith(HYPHEN):
            left = joined[:-1]
            joined = hyphens.join(left, text) if hyphens else left + text
        elif not joined or (joined[-1:] == "-" and joined[-2:-1].isalnum()):
            joined += text
        else:
            joined = f"{joined} {text}"
    # A marker inside a line is a broken word that PDFium rejoined itself.
    return joined.rstrip(HYPHEN).replace(HYPHEN, "")
