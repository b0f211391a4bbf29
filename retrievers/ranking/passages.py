"""Long queries: a whole case at once, or cut into passages that are searched one by one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from chunkers.model.cut import SENTENCE_END, end_before
from indexers.legs.ranking import RankedRows
from retrievers.ranking.fusion import RRF_K, Fused, rrf

#: words that a passage is packed up to
PASSAGE_WORDS = 60
#: a line that opens a list item begins a passage of its own once the current one has this many
MIN_WORDS = 8

_BULLET = re.compile(r"\s*[-*•–]\s+")
_ITEM = re.compile(r"\s*(?:[-*•–]|\(?\d{1,2}[.)]|\(?[a-z][.)])\s")


def _sentences(text: str) -> Iterator[tuple[str, bool]]:
    """Sentences and lines in order; true where a list item or paragraph begins."""
    fresh = True
    for line in text.splitlines():
        if not line.strip():
            fresh = True
            continue
        fresh = fresh or bool(_ITEM.match(line))
        line = _BULLET.sub("", line, count=1) if _BULLET.match(line) else line
        start = 0
        for found in SENTENCE_END.finditer(line):
            yield line[start : end_before(found)].strip(), fresh
            start, fresh = found.end(), False
        if line[start:].strip():
            yield line[start:].strip(), fresh
        fresh = False


def cut_passages(text: str, words: int = PASSAGE_WORDS) -> list[str]:
    """A text as passages of whole sentences and lines, packed up to ``words`` words.

    List items and paragraphs begin a new passage, unless the one before has fewer than
    ``MIN_WORDS`` words. A sentence longer than ``words`` is cut at white space. A text of a few
    words is one passage; white space alone gives none.
    """
    passages: list[list[str]] = []
    for sentence, fresh in _sentences(text):
        pieces = sentence.split()
        current = passages[-1] if passages else []
        if (
            passages
            and len(current) + len(pieces) <= words
            and not (fresh and len(current) >= MIN_WORDS)
        ):
            current.extend(pieces)
            continue
        passages.extend(pieces[at : at + words] for at in range(0, len(pieces), words))
    return [" ".join(passage) for passage in passages]


def best_rank(lists: Sequence[RankedRows], weights: Sequence[float]) -> Fused:
    """CombMAX over reciprocal ranks: ``max over passages of weight / (60 + rank(d))``.

    Every passage has a first chunk, so ties are the rule; a thousandth of the passages' mean
    reciprocal rank is added, which brings the chunk that more passages found first. (Fox and Shaw
    1994, on ranks, since scores of passages of different lengths do not compare.)
    """
    if not lists:
        return rrf(lists, weights)
    total = rrf(lists, weights)
    best = np.zeros(len(total.rows), np.float64)
    for each, weight in zip(lists, weights, strict=True):
        at = np.searchsorted(total.rows, each.rows)
        share = weight / (RRF_K + np.arange(1, len(each.rows) + 1, dtype=np.float64))
        best[at] = np.maximum(best[at], share)
    mean = total.scores.astype(np.float64) / len(lists)
    return Fused(total.rows, (best + mean / 1000).astype(np.float32))


PASSAGE_FUSIONS: Mapping[str, Callable[[Sequence[RankedRows], Sequence[float]], Fused]] = (
    MappingProxyType({"max": best_rank, "rrf": rrf})
)
