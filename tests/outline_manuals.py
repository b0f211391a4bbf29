"""Manuals from outlines, and indexes over them: for tests of golds, coverage and evaluation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from factories import edition
from searchable import make_index

from chunkers.model.chunk import Chunk, Piece
from chunkers.model.finish import finish
from manuals.library.editions import Library
from manuals.model.sections import Manual, Note, Ref, Section
from retrievers.search.index import Index


class Entry(NamedTuple):
    """One section of an outline: its depth from 0, key, heading and own text."""

    depth: int
    key: str
    title: str = ""
    text: str = ""
    kind: str = "section"
    refs: tuple[Ref, ...] = ()
    notes: tuple[Note, ...] = ()
    seventh: tuple[tuple[str, str], ...] = ()


def outline(source: str, year: int, entries: Sequence[Entry]) -> Manual:
    """A manual whose sections nest as the entries' depths say; a line for each heading."""
    text = ""
    starts: list[int] = []
    for entry in entries:
        starts.append(len(text))
        text += f"{entry.key} {entry.title}\n" + (f"{entry.text}\n" if entry.text else "")
    sections = []
    above: list[Entry] = []
    for at, entry in enumerate(entries):
        above = above[: entry.depth]
        ends = [n for n in range(at + 1, len(entries)) if entries[n].depth <= entry.depth]
        end = starts[ends[0]] if ends else len(text)
        sections.append(
            Section(
                key=entry.key,
                source=source,
                year=year,
                kind=entry.kind,
                level=entry.depth + 1,
                citation=entry.key,
                title=entry.title,
                parent=above[-1].key if above else None,
                path=tuple(each.key for each in above),
                span=(starts[at], end),
                notes=entry.notes,
                refs=entry.refs,
                seventh=entry.seventh,
            )
        )
        above.append(entry)
    return Manual(edition(source, year), text, tuple(sections))


def cut(manual: Manual, keys: Iterable[str]) -> list[Chunk]:
    """One chunk for each key, with all below it; ``key|2`` cuts it into two halves by length."""
    pieces = []
    for name in keys:
        key, _, parts = name.partition("|")
        section = manual.get(key)
        start, end = section.span
        count = int(parts or 1)
        edges = [start + (end - start) * n // count for n in range(count + 1)]
        for number in range(count):
            span = (edges[number], edges[number + 1])
            pieces.append(
                Piece(
                    slug=key.replace(" ", "_") + (f"~{number + 1}" if number else ""),
                    kind="section",
                    section=section,
                    span=span,
                    context="",
                    text=manual.text[span[0] : span[1]],
                    part=(number + 1, count) if count > 1 else None,
                )
            )
    return finish(manual, pieces, lambda texts: [len(text.split()) for text in texts])


def library_of(*manuals: Manual) -> Library:
    held = {manual.edition: manual for manual in manuals}
    return Library(held, held.__getitem__)


def index_of(folder: Path, cuts: Sequence[tuple[Manual, Sequence[str]]]) -> Index:
    """A BM25 index over chunks of these manuals, with the manuals as its library."""
    chunks = [chunk for manual, keys in cuts for chunk in cut(manual, keys)]
    index = make_index(folder, chunks, dense=False)
    index.stored.__dict__["library"] = library_of(*(manual for manual, _ in cuts))
    return index


# -- a small world: all words are our own

TABULAR = (
    Entry(0, "Chapter 9", "Organs of the circulation", kind="chapter"),
    Entry(1, "I10-I15", "Pressure", kind="block"),
    Entry(2, "I10", "High pressure", "in the arteries", "category"),
    Entry(0, "Chapter 10", "Organs of the breath", kind="chapter"),
    Entry(1, "J40-J47", "Long breath illness", kind="block"),
    Entry(2, "J44", "Narrow pipes", kind="category"),
    Entry(
        3,
        "J44.1",
        "Narrow pipes with a flare",
        "Sudden worsening",
        "code",
        notes=(Note("inclusionTerm", "Flaring pipes"),),
    ),
    Entry(3, "J44.9", "Narrow pipes, plain", "", "code"),
    Entry(0, "Chapter 19", "Hurts", kind="chapter"),
    Entry(1, "S80-S89", "Hurts of the leg", kind="block"),
    Entry(
        2,
        "S82",
        "Broken shin",
        kind="category",
        seventh=(("A", "first visit"), ("D", "later visit")),
    ),
    Entry(3, "S82.1", "Upper end broken", "near the knee", "code"),
)

INDEX = (
    Entry(0, "Letter N", kind="letter"),
    Entry(1, "Narrow", kind="main_term", refs=(Ref("see", "Tight"),)),
    Entry(2, "Narrow > pipes", kind="term", refs=(Ref("code", "J44.9"),)),
    Entry(3, "Narrow > pipes > flaring", kind="term", refs=(Ref("code", "J44.1"),)),
    Entry(1, "Shin", kind="main_term", refs=(Ref("code", "S82"),)),
    Entry(2, "Shin > upper", kind="term", refs=(Ref("code", "S82.1"),)),
    Entry(1, "High pressure", kind="main_term", refs=(Ref("code", "I10"),)),
    Entry(1, "Wheeze", kind="main_term", refs=(Ref("code", "J44.1"),)),
    Entry(1, "Nowhere", kind="main_term", refs=(Ref("code", "Z99.9"),)),
)

CODING = (
    Entry(0, "I.C.9", "Circulation (I00-I99)", kind="chapter"),
    Entry(1, "I.C.9.a", "Pressure", "Give I10 when nothing else is named.", "guideline"),
    Entry(0, "I.C.10", "Breath (J00-J99)", kind="chapter"),
    Entry(1, "I.C.10.a", "Flares", "Code J44.1 stands for a flare.", "guideline"),
    Entry(1, "I.C.10.b", "Pipes", "All codes in category J44 need a cause.", "guideline"),
    Entry(0, "I.B.1", "Vitamins", "Vitamin B12 is no code, and J441 of no meaning.", "guideline"),
)


def title18_entries(word: str) -> tuple[Entry, ...]:
    return (
        Entry(0, "18 U.S.C. Chapter 44", "Firearms", kind="chapter"),
        Entry(1, "18 U.S.C. § 922", "Unlawful acts", f"No one may {word}."),
        Entry(2, "18 U.S.C. § 922(g)", "", f"A felon may not own a rifle or {word}.", "subsection"),
        Entry(2, "18 U.S.C. § 922(h)", "", "Nor may a servant of one.", "subsection"),
        Entry(2, "18 U.S.C. § 922 Notes", "", "Felon and rifle came in by amendment.", "notes"),
        Entry(1, "18 U.S.C. § 924", "Penalties", "Ten years of prison."),
        Entry(1, "18 U.S.C. § 925", "Relief from disabilities", "The court may relieve."),
        Entry(1, "18 U.S.C. § 930", "Repealed", "", "repealed"),
    )


USSG = (
    Entry(0, "USSG Chapter 2", "Offense Conduct", kind="chapter"),
    Entry(1, "§2K2.1", "Unlawful possession of rifles", "Base level by record.", "guideline"),
    Entry(2, "§2K2.1(b)(4)", "", "If a rifle was stolen add two.", "subsection"),
    Entry(2, "§2K2.1 Application Notes", "", "Stolen means taken.", "application-notes"),
    Entry(2, "§2K2.1 Historical Note", "", "Effective once, with rifle.", "historical-note"),
    Entry(1, "§2K2.4", "Use of rifles", "A term is as the statute says.", "guideline"),
    Entry(1, "§3E1.1", "Acceptance", "Two levels down.", "guideline"),
    Entry(0, "Appendix A", "Statutory Index", kind="appendix"),
    Entry(
        1,
        "Appendix A > 18 U.S.C. § 922(a)–(p)",
        kind="statute",
        refs=(Ref("guideline", "§2K2.1"),),
    ),
    Entry(1, "Appendix A > 18 U.S.C. § 922(q)", kind="statute", refs=(Ref("guideline", "§2K2.5"),)),
    Entry(1, "Appendix A > 18 U.S.C. § 924(c)", kind="statute", refs=(Ref("guideline", "§2K2.4"),)),
    Entry(1, "Appendix A > 8 U.S.C. § 1326", kind="statute", refs=(Ref("guideline", "§2L1.2"),)),
    Entry(1, "Appendix A > 18 U.S.C. § 925", kind="statute", refs=(Ref("guideline", "§3E1.1"),)),
)


def icd_manuals(year: int = 2025) -> tuple[Manual, Manual, Manual]:
    return (
        outline("guidelines", year, CODING),
        outline("tabular", year, TABULAR),
        outline("index", year, INDEX),
    )


def legal_manuals() -> tuple[Manual, Manual, Manual]:
    """Title 18 of 2021 and 2025, the Guidelines Manual of 2025."""
    return (
        outline("title18", 2021, title18_entries("trade lanterns")),
        outline("title18", 2025, title18_entries("trade saddles")),
        outline("ussg", 2025, USSG),
    )


SECTION_CUTS = (
    *("18 U.S.C. § 922(g)", "18 U.S.C. § 922(h)", "18 U.S.C. § 922 Notes"),
    *("18 U.S.C. § 924", "18 U.S.C. § 925"),
)
USSG_CUTS = (
    *("§2K2.1(b)(4)", "§2K2.1 Application Notes", "§2K2.1 Historical Note", "§2K2.4", "§3E1.1"),
)


def small_legal_index(folder: Path) -> Index:
    """Statutes by subsection with notes apart, guidelines by subheading."""
    old, new, ussg = legal_manuals()
    return index_of(folder, [(old, SECTION_CUTS), (new, SECTION_CUTS), (ussg, USSG_CUTS)])


def small_icd_index(folder: Path) -> Index:
    """The Tabular List by category, the index by main term, the guidelines by section."""
    coding, tabular, index = icd_manuals()
    return index_of(
        folder,
        [
            (coding, ["I.C.9.a", "I.C.10.a", "I.C.10.b"]),
            (tabular, ["I10", "J44", "S82"]),
            (index, ["Narrow", "Shin", "High pressure", "Wheeze"]),
        ],
    )
