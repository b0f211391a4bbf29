"""Small indexes for the tests of searching: invented texts, the hash encoder, no build."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from datetime import date
from pathlib import Path
from types import MappingProxyType

from chunkers.model.chunk import JOINT, Chunk
from chunkers.model.store import write_chunks
from indexers.building.context import Context
from indexers.encoders.base import HashEncoder
from indexers.encoders.vectors import VectorCache
from indexers.folder.manifest import (
    EditionRows,
    EncoderRecord,
    Manifest,
    Part,
    write_manifest,
    write_part,
)
from indexers.folder.opened import open_folder
from indexers.folder.table import CHUNKS
from indexers.legs.model import LEGS
from manuals.library.editions import Library
from manuals.library.store import save_manual
from manuals.model.sections import Edition, Manual, ManualFile, Section
from manuals.model.source import SOURCES
from retrievers.search.index import Index
from tam.files import sha256_text
from tam.settings import BuildSettings


def in_force(source: str, year: int) -> tuple[date, date | None]:
    """Made-up dates: the guidelines of 2021 hold until those of 2025 begin, Title 18 of 2023 on."""
    if source == "title18":
        return date(year, 1, 1), None if year == 2023 else date(year, 12, 31)
    if source == "ussg":
        return date(year, 11, 1), None if year == 2025 else date(2025, 10, 31)
    return date(year - 1, 10, 1), date(year, 9, 30)


def make_chunk(
    source: str,
    year: int,
    key: str,
    body: str,
    *,
    keys: Sequence[str] = (),
    path: Sequence[str] = (),
    title: str = "",
    slug: str = "",
) -> Chunk:
    """A chunk of one section, named by its key."""
    context = " > ".join([*path, key])
    text = f"{context}{JOINT}{body}"
    begin, end = in_force(source, year)
    return Chunk(
        id=f"{source}/{year}/{slug or key.replace(' ', '_')}",
        source=source,
        year=year,
        kind="section",
        key=key,
        keys=tuple(keys) or (key,),
        citation=key,
        title=title,
        path=tuple(path),
        context=context,
        text=text,
        view="text",
        span=(0, len(body)),
        text_span=(0, len(body)),
        pages=(3, 4) if source == "ussg" else None,
        part=None,
        file=f"{source}-{year}.txt",
        sha256=sha256_text(text),
        tokens=len(text.split()),
        effective_from=begin,
        effective_to=end,
    )


def make_section(
    source: str, year: int, key: str, parent: str | None = None, span: tuple[int, int] = (0, 1)
) -> Section:
    return Section(key, source, year, "section", 1, key, "", parent, (), span)


def make_index(
    folder: Path,
    chunks: Sequence[Chunk],
    *,
    dense: bool = True,
    sections: Sequence[Section] = (),
    settings: BuildSettings | None = None,
) -> Index:
    """Write an index of the chunks and open it; ``sections`` become its library."""
    settings = replace(
        settings or BuildSettings(), encoder="hash" if dense else None, lines=True, overlap=8
    )
    order = list(SOURCES)
    chunks = sorted(chunks, key=lambda chunk: (order.index(chunk.source), chunk.year))
    chunks, texts = _laid_out(chunks)
    folder.mkdir(parents=True, exist_ok=True)
    write_chunks(chunks, folder / CHUNKS)
    editions = _editions(chunks)
    library = make_library(editions, _placed(sections, chunks), texts)
    for edition in editions:
        save_manual(library.manual(edition.source, edition.year), folder / "manuals")
    encoder = HashEncoder()
    cache = VectorCache(folder.parent / ".vectors", encoder)
    context = Context(
        folder,
        settings,
        chunks,
        editions,
        encoder if dense else None,
        cache,
        lambda _: nullcontext(),
    )
    context.__dict__["lines"] = [chunk.text.splitlines() for chunk in chunks]
    build = sha256_text("".join(chunk.id + chunk.sha256 for chunk in chunks))
    parts = {}
    for leg in LEGS.values():
        if leg.wanted(settings):
            place = folder / leg.place
            place.mkdir(parents=True, exist_ok=True)
            parts[leg.name] = Part(f"{leg.name} of {build}", dict(leg.build(context, place)))
            write_part(place, parts[leg.name])
    record = EncoderRecord("hash", encoder.fingerprint, encoder.dim, 256, "float32", 1)
    manifest = Manifest(
        corpus=SOURCES[chunks[0].source].corpus,
        tool="test",
        inputs=build,
        content=build,
        sample=False,
        settings=settings,
        encoder=record if dense else None,
        editions=tuple(editions),
        parts=parts,
        files={},
    )
    write_manifest(folder, manifest)
    stored = open_folder(folder)
    stored.__dict__["library"] = library
    return Index(stored)


def _laid_out(chunks: Sequence[Chunk]) -> tuple[list[Chunk], dict[tuple[str, int], str]]:
    """The chunks with their places in the texts of their editions, and these texts; a chunk that
    has a place of its own keeps it."""
    placed, texts = [], dict[tuple[str, int], str]()
    for chunk in chunks:
        if chunk.text_span != (0, len(chunk.text.partition(JOINT)[2])):
            placed.append(chunk)
            continue
        before = texts.get((chunk.source, chunk.year), "")
        before += "\n\n" if before else ""
        body = chunk.text.partition(JOINT)[2]
        span = (len(before), len(before) + len(body))
        texts[chunk.source, chunk.year] = before + body
        placed.append(replace(chunk, span=span, text_span=span))
    return placed, texts


def _placed(sections: Sequence[Section], chunks: Sequence[Chunk]) -> list[Section]:
    """The sections with the spans of the chunks named by them; what stands below such a one gets
    an empty stretch at its end. Without any section, one for each chunk."""
    spans = {(c.source, c.year, c.key): c.text_span for c in chunks}
    found: list[Section] = []
    if not sections:
        sections = [make_section(*place) for place in spans]
    for section in sections:
        own = spans.get((section.source, section.year, section.key))
        above = spans.get((section.source, section.year, section.parent or ""))
        if own is None and above is not None and section.span == (0, 1):
            own = (above[1], above[1])
        elif own is None and section.span == (0, 1):
            own = (0, max(c.text_span[1] for c in chunks))
        path = (section.parent,) if section.parent else ()
        found.append(replace(section, span=own or section.span, path=path))
    return sorted(found, key=lambda section: (section.span[0], -section.span[1]))


def _editions(chunks: Sequence[Chunk]) -> list[EditionRows]:
    editions: list[EditionRows] = []
    for row, chunk in enumerate(chunks):
        if editions and (editions[-1].source, editions[-1].year) == (chunk.source, chunk.year):
            editions[-1] = replace(editions[-1], stop=row + 1)
        else:
            editions.append(
                EditionRows(
                    source=chunk.source,
                    year=chunk.year,
                    title=chunk.source,
                    release=str(chunk.year),
                    effective_from=chunk.effective_from,
                    effective_to=chunk.effective_to,
                    files=(ManualFile(f"{chunk.source}-{chunk.year}.txt", "0" * 64, 1000),),
                    problems=(),
                    start=row,
                    stop=row + 1,
                    windows=0,
                    tokens=0,
                )
            )
    return editions


def make_library(
    editions: Sequence[EditionRows],
    sections: Sequence[Section],
    texts: Mapping[tuple[str, int], str] = MappingProxyType({}),
) -> Library:
    records = {
        Edition(
            e.source, e.year, e.title, e.release, e.files, e.effective_from, e.effective_to
        ): None
        for e in editions
    }

    def load(edition: Edition) -> Manual:
        own = [s for s in sections if (s.source, s.year) == (edition.source, edition.year)]
        text = texts.get((edition.source, edition.year), "x" * 1000)
        return Manual(edition, text, tuple(own))

    return Library(records, load)


STATUTES = {
    "18 U.S.C. § 922": "It is unlawful to ship or possess a firearm after a felony conviction.",
    "18 U.S.C. § 924": "Penalties for a person who carries or brandishes a firearm in a robbery.",
    "18 U.S.C. § 1344": "Whoever executes a scheme to defraud a bank shall be fined.",
    "18 U.S.C. § 1956": "Laundering money that is the proceeds of unlawful activity.",
}
GUIDELINES = {
    "§2B1.1": "Theft, fraud and property destruction; add levels by the loss to a bank.",
    "§2K2.1": "Unlawful possession of firearms; add levels when a serial number was ground off.",
    "§3E1.1": "Acceptance of responsibility lowers the offense level by two.",
}


def legal_chunks() -> list[Chunk]:
    """Title 18 of 2021 to 2023, with equal texts, and guidelines of 2021 and 2025."""
    chunks = []
    for year in (2021, 2022, 2023):
        for key, body in STATUTES.items():
            keys = [key, f"{key}(g)"] if key.endswith("922") else [key]
            chapter = "18 U.S.C. Chapter 44" if "92" in key else "18 U.S.C. Chapter 63"
            chunks.append(make_chunk("title18", year, key, body, keys=keys, path=[chapter]))
    for year in (2021, 2025):
        for key, body in GUIDELINES.items():
            chunks.append(make_chunk("ussg", year, key, body, path=[f"USSG Chapter {key[1]}"]))
    return chunks


def legal_sections() -> list[Section]:
    sections = []
    for year in (2021, 2022, 2023):
        for chapter in ("18 U.S.C. Chapter 44", "18 U.S.C. Chapter 63"):
            sections.append(make_section("title18", year, chapter, span=(0, 500)))
        for key in STATUTES:
            chapter = "18 U.S.C. Chapter 44" if "92" in key else "18 U.S.C. Chapter 63"
            sections.append(make_section("title18", year, key, chapter))
            if key.endswith("922"):
                sections.append(make_section("title18", year, f"{key}(g)", key))
    for year in (2021, 2025):
        for key in GUIDELINES:
            sections.append(make_section("ussg", year, f"USSG Chapter {key[1]}"))
            sections.append(make_section("ussg", year, key, f"USSG Chapter {key[1]}"))
    return sections


def legal_index(folder: Path, *, dense: bool = True) -> Index:
    return make_index(folder, legal_chunks(), dense=dense, sections=legal_sections())
