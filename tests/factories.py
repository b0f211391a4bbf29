"""Small manuals and chunks for tests, in words of our own."""

from __future__ import annotations

import hashlib
from datetime import date

from chunkers.model.chunk import Chunk, Piece
from chunkers.model.finish import finish
from manuals.model.sections import Edition, Manual, ManualFile, Section
from manuals.model.source import SOURCES

WORDS = (
    *("ladder", "harbour", "lantern", "orchard", "pebble", "willow", "copper", "meadow"),
    *("saddle", "timber", "anchor", "bramble", "candle", "drizzle", "ember", "falcon"),
    *("garnet", "hollow", "island", "juniper", "kettle", "lagoon", "marble", "nettle"),
)


def edition(source: str, year: int) -> Edition:
    """An edition with one made-up file, in force for its calendar year."""
    name = f"{source}/{year}/manual.txt"
    return Edition(
        source=source,
        year=year,
        title=f"Manual of {source}, {year}",
        release=str(year),
        files=(ManualFile(name, hashlib.sha256(name.encode()).hexdigest(), 100),),
        effective_from=date(year, 1, 1),
        effective_to=date(year, 12, 31),
    )


def manual(source: str, year: int, bodies: list[str], keys: list[str] | None = None) -> Manual:
    """A manual with one section for each body, under headings ``K1``, ``K2``, ... (or ``keys``)."""
    text = ""
    sections = []
    for number, body in enumerate(bodies, 1):
        key = keys[number - 1] if keys else f"K{number}"
        start = len(text)
        text += f"{key} Heading {number}\n{body}\n\n"
        sections.append(
            Section(
                key=key,
                source=source,
                year=year,
                kind="section",
                level=1,
                citation=key,
                title=f"Heading {number}",
                parent=None,
                path=(),
                span=(start, len(text)),
            )
        )
    return Manual(edition=edition(source, year), text=text, sections=tuple(sections))


def chunks_of(whole: Manual) -> list[Chunk]:
    """One chunk for each section: a context line naming the manual, and the section's text."""
    context = f"Document: {whole.edition.title}"
    pieces = []
    for section in whole.sections:
        start, end = section.span
        body = whole.text[start:end].rstrip()
        pieces.append(
            Piece(
                slug=section.key,
                kind="section",
                section=section,
                span=(start, start + len(body)),
                context=context,
                text=f"{context}\n\n{body}",
            )
        )
    return finish(whole, pieces, lambda texts: [len(text.split()) for text in texts])


def body(seed: int, words: int = 30) -> str:
    """A made-up paragraph that depends on the seed alone."""
    digest = hashlib.shake_256(str(seed).encode()).digest(words)
    return " ".join(WORDS[byte % len(WORDS)] for byte in digest)


def chunks(editions: dict[tuple[str, int], list[str]]) -> list[Chunk]:
    """Chunks of several editions, one for each body, in the order of an index's rows."""
    order = sorted(editions, key=lambda pair: (list(SOURCES).index(pair[0]), pair[1]))
    found: list[Chunk] = []
    for source, year in order:
        found.extend(chunks_of(manual(source, year, editions[source, year])))
    return found
