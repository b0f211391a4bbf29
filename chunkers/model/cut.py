"""Cutting and packing spans by token count, for preset ``sections``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from chunkers.model.tokens import TokenIndex, count_tokens
from tam.errors import BadOption
from tam.models import DEFAULT_ENCODER

Span = tuple[int, int]

# Where a text may be cut, best first. The last is a last resort for a text without sentences.
_PARAGRAPH = re.compile(r"\n[ \t]*\n\s*")
_LINE = re.compile(r"\n\s*")
SENTENCE_END = re.compile(
    r"(?<=[.;:?!])(?<!\bU\.S\.)(?<!\bNo\.)(?<!\bPub\.)(?<!\bStat\.)(?<!\bal\.)(?<!\be\.g\.)"
    r"(?<!\bi\.e\.)(?<!\bv\.)(?<!\bvs\.)(?<!\bDr\.)(?P<closing>[\"”’)\]]*)\s+(?=[\"“‘(\[A-Z0-9§])"
)
_SPACE = re.compile(r"\s+")
_BREAKS = (_PARAGRAPH, _LINE, SENTENCE_END, _SPACE)


def end_before(found: re.Match[str]) -> int:
    """Where the text before a break ends: behind the quotes and brackets that close a sentence."""
    return found.end("closing") if found.re is SENTENCE_END else found.start()


def trim(text: str, span: Span) -> Span:
    """The span without white space at its ends; empty when there is nothing else."""
    piece = text[span[0] : span[1]]
    start = span[0] + len(piece) - len(piece.lstrip())
    return start, max(start, span[0] + len(piece.rstrip()))


@dataclass(frozen=True, slots=True)
class Sizes:
    """Chunk sizes in tokens, context included: ``target`` to pack up to, ``bound`` never passed."""

    target: int = 256
    bound: int = 512

    def __post_init__(self) -> None:
        if not 32 <= self.target <= self.bound:
            raise BadOption(
                f"chunk sizes: target {self.target} and bound {self.bound} do not fit; "
                f"need 32 <= target <= bound"
            )


class Cutter:
    """Token-aware cutting over one manual's text.

    The context of a chunk counts towards its size; a context that leaves less than a quarter of
    the bound for the body is the caller's to shorten (``shorten``).
    """

    def __init__(self, text: str, sizes: Sizes, encoder: str = DEFAULT_ENCODER) -> None:
        self.text = text
        self.sizes = sizes
        self.encoder = encoder
        self._index = TokenIndex(text, encoder)
        self._context_tokens: dict[str, int] = {}

    def tokens(self, span: Span) -> int:
        """Tokens of a span of the manual's text."""
        return self._index.count(span)

    def room(self, context: str, size: int) -> int:
        """Tokens that ``size`` leaves for the body under this context."""
        if context not in self._context_tokens:
            self._context_tokens[context] = count_tokens([context], self.encoder)[0]
        return max(size - self._context_tokens[context], size // 4)

    def fits(self, span: Span, context: str) -> bool:
        """Whether the span under this context is within the target."""
        return self.tokens(span) <= self.room(context, self.sizes.target)

    def bounded(self, span: Span, context: str) -> bool:
        """Whether the span under this context is within the bound."""
        return self.tokens(span) <= self.room(context, self.sizes.bound)

    def shorten(self, context: str) -> str:
        """The context with its outer lines dropped and its last cut until it takes at most
        three quarters of the bound."""
        limit = self.sizes.bound - self.sizes.bound // 4
        lines = context.split("\n")
        while len(lines) > 1 and count_tokens(["\n".join(lines)], self.encoder)[0] > limit:
            del lines[0]
        words = lines[0].split(" ") if len(lines) == 1 else []
        while len(words) > 1 and count_tokens([" ".join(words)], self.encoder)[0] > limit:
            words = words[: len(words) * 3 // 4]
        return " ".join(words) if words else "\n".join(lines)

    def cut(self, span: Span, context: str) -> list[Span]:
        """The span as trimmed pieces in order, each within the bound, packed up to the target.

        Cuts fall at paragraph ends where that is enough, else at line ends (list items), sentence
        ends, and white space last. Only white space stands between two pieces.
        """
        span = trim(self.text, span)
        if span[0] == span[1]:
            return []
        if self.bounded(span, context):
            return [span]
        return self._cut(span, self.room(context, self.sizes.target), 0)

    def _cut(self, span: Span, room: int, depth: int) -> list[Span]:
        if self.tokens(span) <= room:
            return [span]
        if depth == len(_BREAKS):
            return self._cut_hard(span, room)
        units: list[Span] = []
        start = span[0]
        for found in _BREAKS[depth].finditer(self.text, span[0], span[1]):
            end = end_before(found)
            if end > start:
                units.append((start, end))
            start = found.end()
        if start < span[1]:
            units.append((start, span[1]))
        pieces: list[Span] = []
        for unit in self.pack_units(units, room):
            pieces.extend(self._cut(unit, room, depth + 1))
        return pieces

    def _cut_hard(self, span: Span, room: int) -> list[Span]:
        """Cut a text without white space at characters."""
        pieces = []
        start = span[0]
        while start < span[1]:
            end = span[1]
            # Counted anew: half a word has other tokens than the index of the whole text.
            while end - start > 1 and self._count((start, end)) > room:
                end = start + (end - start) // 2
            pieces.append((start, end))
            start = end
        return pieces

    def _count(self, span: Span) -> int:
        return count_tokens([self.text[span[0] : span[1]]], self.encoder)[0]

    def pack_units(self, units: Sequence[Span], room: int) -> Iterator[Span]:
        """Join neighbouring spans, in order, as long as they stay within ``room`` tokens."""
        current: Span | None = None
        for unit in units:
            if current is not None and self.tokens((current[0], unit[1])) <= room:
                current = (current[0], unit[1])
            else:
                if current is not None:
                    yield current
                current = unit
        if current is not None:
            yield current
