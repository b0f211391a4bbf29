"""Hits as lines for a terminal."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterator, Sequence

import click

from manuals.model.source import SOURCES
from manuals.model.years import format_years
from retrievers.search.corpora import CorpusHit
from retrievers.search.excerpts import Excerpt, excerpt_of
from retrievers.search.hits import Hit
from retrievers.search.passage import Weights

INDENT = "    "
#: lines of text are easier to read when they are not as wide as some terminals
WIDEST = 110
NARROWEST = 40
EXCERPT_LINES = 4


def terminal_width() -> int:
    """Columns to fill: those of the terminal, within reason; 100 when there is none."""
    return max(NARROWEST, min(shutil.get_terminal_size((100, 24)).columns, WIDEST))


def hit_lines(found: CorpusHit, weights: Weights, width: int, with_corpus: bool) -> list[str]:
    """One hit: citation and title; path, edition and pages; the passage that fits best."""
    index, hit = found.index, found.hit
    lines = [_shorten(f"{hit.rank:>2}  {hit.name}", width)]
    lines[0] = click.style(lines[0], bold=True)
    where = f"{hit.source} {hit.year}"
    if hit.same_text:
        where += f" (same text in {format_years(hit.same_text)})"
    if with_corpus:
        where = f"{index.corpus}: {where}"
    if hit.pages:
        first, last = hit.pages
        where += f", page {first}" if first == last else f", pages {first}-{last}"
    if hit.covers and hit.covers != hit.citation:
        where += f", in {hit.covers}"
    if hit.found_by == "reference":
        where += f", by reference: {hit.named.key}" if hit.named else ", by reference"
    elif hit.found_by == "link" and hit.link:
        where += f", by link {hit.link.kind} from {hit.link.from_chunk}"
    lines.append(INDENT + click.style(_shorten(where, width - len(INDENT)), fg="cyan"))
    for line in hit.standing.lines() if hit.standing else ():
        lines += [INDENT + each for each in textwrap.wrap(line, width - len(INDENT))]
    path = " > ".join(part for part in hit.path if part != hit.name)
    if path and path != SOURCES[hit.source].title:
        lines.append(INDENT + click.style(_shorten_left(path, width - len(INDENT)), dim=True))
    size = (width - len(INDENT)) * (EXCERPT_LINES - 1)
    terms = weights.words if hit.named else weights.all
    excerpt = excerpt_of(hit, terms, index.stored.bm25.tokeniser, size)
    lines += [INDENT + line for line in _folded(excerpt, width - len(INDENT))]
    return lines


def explain_lines(hit: Hit) -> Iterator[str]:
    """How each leg ranked a hit."""
    for name, leg in hit.legs.items():
        span = f", characters {leg.span[0]}-{leg.span[1]} of its text" if leg.span else ""
        yield f"{INDENT}{name}: rank {leg.rank}, score {leg.score:.4f}{span}"
    if not hit.legs:
        yield f"{INDENT}no leg ranked it"
    yield f"{INDENT}score {hit.score:.6f}, {hit.tokens} tokens, found by {hit.found_by}"
    yield f"{INDENT}{hit.chunk_id}"


def _folded(excerpt: Excerpt, width: int) -> list[str]:
    """The excerpt in lines of at most ``width`` columns, with its marks in bold yellow."""
    lines = []
    offset = 0
    for line in textwrap.wrap(excerpt.text, width, break_on_hyphens=False)[:EXCERPT_LINES]:
        offset = excerpt.text.index(line, offset)
        lines.append(_marked(line, offset, excerpt.marks))
        offset += len(line)
    return lines


def _marked(line: str, offset: int, marks: Sequence[tuple[int, int]]) -> str:
    parts = []
    at = 0
    for start, end in marks:
        low, high = max(start - offset, at), min(end - offset, len(line))
        if low < high:
            parts += [line[at:low], click.style(line[low:high], fg="yellow", bold=True)]
            at = high
    return "".join([*parts, line[at:]])


def _shorten(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1].rstrip() + "…"


def _shorten_left(text: str, width: int) -> str:
    """The end of a path says most."""
    return text if len(text) <= width else "…" + text[len(text) - width + 1 :].lstrip()
