"""From a preset's pieces to chunks: ids, keys, pages, provenance, hashes and token counts."""

from __future__ import annotations

import bisect
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from chunkers.model.chunk import Chunk, Piece
from manuals.model.headings import stretch_name
from manuals.model.sections import Manual
from tam.files import sha256_text

TokenCounts = Callable[[Sequence[str]], list[int]]


def slugify(key: str) -> str:
    """A key as part of a chunk id: no white space, readable, nothing lost that tells keys apart."""
    text = key.replace("U.S.C.", "USC").replace("§", "").replace(" > ", ">")
    return re.sub(r"\s+", "_", text.strip())


def held_keys(manual: Manual) -> Callable[[tuple[int, int]], tuple[str, ...]]:
    """A function from a span of ``text`` to the keys of the sections whose own text it touches.

    Only stretches with a character that is not white space count.
    """
    stretches: list[tuple[int, int, int]] = []
    for order, section in enumerate(manual.sections):
        for start, end in manual.own_spans(section):
            piece = manual.text[start:end]
            if piece.strip():
                begin = start + len(piece) - len(piece.lstrip())
                stretches.append((begin, start + len(piece.rstrip()), order))
    stretches.sort()
    starts = [start for start, _, _ in stretches]

    def keys(span: tuple[int, int]) -> tuple[str, ...]:
        # Own stretches never overlap, so the one before the first start inside can reach in too.
        first = max(bisect.bisect_right(starts, span[0]) - 1, 0)
        found: set[int] = set()
        for at in range(first, len(stretches)):
            start, end, order = stretches[at]
            if start >= span[1]:
                break
            if end > span[0]:
                found.add(order)
        return tuple(manual.sections[order].key for order in sorted(found))

    return keys


def finish(manual: Manual, pieces: Iterable[Piece], count_tokens: TokenCounts) -> list[Chunk]:
    """Chunks in the order of the pieces. Equal slugs get ``~2``, ``~3``, ... in that order."""
    pieces = list(pieces)
    tokens = count_tokens([piece.text for piece in pieces])
    keys_of = held_keys(manual)
    edition = manual.edition
    seen: Counter[str] = Counter()
    chunks: list[Chunk] = []
    for piece, count in zip(pieces, tokens, strict=True):
        seen[piece.slug] += 1
        slug = piece.slug if seen[piece.slug] == 1 else f"{piece.slug}~{seen[piece.slug]}"
        text_span = piece.span if piece.view == "text" else manual.raw_to_text(piece.span)
        keys = list(keys_of(text_span))
        for key in (piece.section.key, *piece.extra_keys):
            if key not in keys:
                keys.append(key)
        citation, title = stretch_name(manual, piece.section, text_span)
        if citation == piece.section.citation and piece.title:
            title = piece.title
        chunks.append(
            Chunk(
                id=f"{edition.source}/{edition.year}/{slug}",
                source=edition.source,
                year=edition.year,
                kind=piece.kind,
                key=piece.section.key,
                keys=tuple(keys),
                citation=citation,
                title=title,
                path=piece.section.path,
                context=piece.context,
                text=piece.text,
                view=piece.view,
                span=piece.span,
                text_span=text_span,
                pages=manual.pages(piece.span, piece.view),
                part=piece.part,
                file=manual.file_at(text_span[0]).path,
                sha256=sha256_text(piece.text),
                tokens=count,
                effective_from=edition.effective_from,
                effective_to=edition.effective_to,
            )
        )
    return chunks
