"""What of each chunk is embedded: its whole text, or overlapping windows of a long one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from chunkers.model.chunk import JOINT, Chunk
from indexers.encoders.base import Encoder, Offsets

# Chunks whose tokens are held at a time.
_BATCH = 512


class Window(NamedTuple):
    """One text to embed, and the slice of the chunk's text that it stands for."""

    text: str
    span: tuple[int, int]


@dataclass(frozen=True, slots=True)
class WindowOptions:
    """``enabled`` off gives the paper's single vector: the encoder reads the beginning of the
    text and no more. ``overlap`` is in tokens, at most half of a window."""

    enabled: bool = True
    overlap: int = 64


def windows(
    chunks: Sequence[Chunk], encoder: Encoder, options: WindowOptions
) -> Iterator[list[Window]]:
    """For each chunk its windows, in order; none for a chunk whose text is blank.

    A text within the encoder's window is one window. A longer one is cut into windows of its
    body, at white space, each under the chunk's last context lines (as many as take a quarter of
    the window), so that every part is embedded with its heading.
    """
    for first in range(0, len(chunks), _BATCH):
        batch = chunks[first : first + _BATCH]
        offsets = encoder.offsets([chunk.text for chunk in batch])
        for chunk, tokens in zip(batch, offsets, strict=True):
            yield _of_chunk(chunk, tokens, encoder, options)


def _of_chunk(
    chunk: Chunk, tokens: Offsets, encoder: Encoder, options: WindowOptions
) -> list[Window]:
    text, size = chunk.text, encoder.window
    if not text.strip():
        return []
    if size is None or len(tokens) <= size:
        return [Window(text, (0, len(text)))]
    if not options.enabled:
        return [Window(text, (0, tokens[size - 1][1]))]
    body = len(chunk.context) + len(JOINT) if chunk.context else 0
    if not text.startswith(chunk.context + JOINT):
        body = 0
    heading, length = _heading(text[:body], tokens, size // 4)
    inside = [span for span in tokens if span[0] >= body] or tokens
    room = size - length
    return [
        Window(heading + text[start:end], (start, end))
        for start, end in _cut(text, inside, room, min(options.overlap, room // 2))
    ]


def _heading(context: str, tokens: Offsets, limit: int) -> tuple[str, int]:
    """The last lines of the context that fit the limit, with a line end, and their tokens."""
    lines: list[str] = []
    total = 0
    end = len(context)
    for line in reversed(context.split("\n")):
        start = end - len(line)
        size = sum(1 for span in tokens if start <= span[0] < end)
        if total + size > limit:
            break
        if line.strip():
            lines.insert(0, line)
        total += size
        end = start - 1
    return "".join(f"{line}\n" for line in lines), total


def _cut(text: str, tokens: Offsets, size: int, overlap: int) -> Iterable[tuple[int, int]]:
    """Spans of at most ``size`` tokens that cover all tokens and overlap by about ``overlap``."""
    start = 0
    while True:
        end = min(start + size, len(tokens))
        if end < len(tokens):
            end = _word_start(tokens, end, start + size // 2 + 1)
        yield tokens[start][0], tokens[end - 1][1]
        if end == len(tokens):
            return
        start = _word_start(tokens, end - overlap, start + 1)


def _word_start(tokens: Offsets, at: int, lowest: int) -> int:
    """The nearest token at or before ``at`` that begins after white space, not below
    ``lowest``; ``at`` itself when there is none."""
    for number in range(at, lowest - 1, -1):
        if tokens[number - 1][1] < tokens[number][0]:
            return number
    return max(at, lowest)
