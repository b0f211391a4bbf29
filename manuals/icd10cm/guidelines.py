"""The ICD-10-CM Official Guidelines (PDF) as a tree of sections.

The title page is a section of its own (``Front matter``). The table of contents and the page feet
are in no section; the contents are what the headings found are checked against.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from manuals.icd10cm.guideline_headings import NUMBER, PART, SECTION
from manuals.icd10cm.guideline_reader import Heading, Reader, plain
from manuals.model.keys import find_references
from manuals.model.sections import Edition, Manual, Ref, Section
from manuals.pdf.lines import read_lines
from tam.errors import EditionConflict, UnrecognisedFile

FRONT = "Front matter"


def parse_guidelines(paths: Sequence[Path], edition: Edition) -> Manual:
    """Parse the guidelines of one fiscal year.

    Raises ``EditionConflict`` when there is more than one file, ``DamagedFile`` for a PDF that
    cannot be read, and ``UnrecognisedFile`` when no section heading is found. What does not agree
    with the table of contents is added to the edition's problems.
    """
    if len(paths) != 1:
        raise EditionConflict(
            f"{edition.name}: {len(paths)} files for one edition; keep one guidelines PDF"
        )
    lines = read_lines(paths[0])
    reader = Reader(lines)
    headings = reader.read()
    if not headings:
        raise UnrecognisedFile(
            f"{paths[0]}: no heading 'Section I.' found; is this the guidelines PDF?"
        )
    text = reader.flow.text.rstrip() + "\n"
    manual = Manual(
        edition=edition,
        text=text,
        sections=tuple(_sections(headings, text, edition, reader.front_title())),
        page_starts=tuple(min(start, len(text)) for start in reader.flow.page_starts),
        raw=reader.flow.raw,
        raw_page_starts=reader.flow.raw_page_starts,
        raw_map=tuple(reader.flow.raw_map),
    )
    problems, meta = _check(reader, headings)
    manual = replace(
        manual, edition=replace(edition, problems=edition.problems + problems), meta=meta
    )
    pages = {section.key: manual.pages(_trimmed(text, section.span)) for section in manual.sections}
    return replace(
        manual,
        sections=tuple(replace(section, pages=pages[section.key]) for section in manual.sections),
    )


def _trimmed(text: str, span: tuple[int, int]) -> tuple[int, int]:
    return span[0], span[0] + len(text[span[0] : span[1]].rstrip())


def _kind(key: str, level: int) -> str:
    if key.startswith("Appendix"):
        return "appendix"
    if level == NUMBER and key.startswith("I.C."):
        return "chapter"
    return {SECTION: "section", PART: "part"}.get(level, "guideline")


def _sections(
    headings: Sequence[Heading], text: str, edition: Edition, front_title: str
) -> Iterator[Section]:
    """Sections in document order; each ends where the next of its level or above begins."""
    source, year = edition.source, edition.year
    if headings[0].start:
        span = (0, headings[0].start)
        yield Section(
            FRONT, source, year, "front", SECTION, FRONT, front_title, None, (), span,
            refs=_refs(text[span[0] : span[1]]),
        )  # fmt: skip
    shown: dict[str, tuple[str, ...]] = {}
    seen: dict[str, int] = {}
    renamed: dict[str, str] = {}
    for number, heading in enumerate(headings):
        rest = headings[number + 1 :]
        own_end = rest[0].start if rest else len(text)
        end = next((other.start for other in rest if other.level <= heading.level), len(text))
        version = seen[heading.key] = seen.get(heading.key, 0) + 1
        key = heading.key if version == 1 else f"{heading.key}#{version}"
        renamed[heading.key] = key
        parent = renamed[heading.parent] if heading.parent else None
        citation = heading.key if heading.key.startswith("Appendix") else f"Section {heading.key}"
        section = Section(
            key, source, year, _kind(heading.key, heading.level), heading.level, citation,
            heading.title, parent, shown[parent] if parent else (), (heading.start, end),
            refs=_refs(text[heading.start : own_end]), version=version,
        )  # fmt: skip
        shown[key] = (*section.path, section.heading)
        yield section


def _refs(text: str) -> tuple[Ref, ...]:
    """Codes, ranges of codes and other guidelines that a text names, each once, in order."""
    refs: dict[Ref, None] = {}
    for found in find_references(text):
        if found.kind == "code":
            # ``O98.7-``: a code that needs more characters.
            dash = "-" if found.text.endswith("-") else ""
            refs[Ref("code", found.key + dash)] = None
        elif found.kind == "code_range":
            refs[Ref("code", found.key)] = None
        elif found.kind == "guideline_section":
            refs[Ref("see", found.full_key)] = None
    return tuple(refs)


def _check(reader: Reader, headings: Sequence[Heading]) -> tuple[tuple[str, ...], dict[str, str]]:
    """Problems, and counts for whoever wants to know, from comparing with the contents."""
    entries = reader.entries
    found = {heading.key: heading for heading in headings}
    missing = [entry.key for entry in entries if entry.key not in found]
    other_title = [
        entry.key
        for entry in entries
        if entry.title and entry.key in found
        and plain(found[entry.key].title) != plain(entry.title)
    ]  # fmt: skip
    other_page = [
        entry.key
        for entry in entries
        if entry.page and entry.key in found and found[entry.key].page != entry.page
    ]
    problems = list(reader.doubts)
    if not entries:
        problems.append("no table of contents found; headings could not be checked against it")
    if missing:
        problems.append(f"headings of the contents not found in the text: {', '.join(missing)}")
    listed = {entry.key for entry in entries}
    deepest = max((entry.key.count(".") for entry in entries), default=0)
    meta = {
        "sections": str(len(headings)),
        "contents_entries": str(len(entries)),
        "no_headings": "; ".join(reader.refused),
        "contents_missing": " ".join(missing),
        "contents_other_title": " ".join(other_title),
        "contents_other_page": " ".join(other_page),
        "not_in_contents": " ".join(
            heading.key
            for heading in headings
            if heading.key not in listed and heading.key.count(".") <= deepest
        ),
    }
    return tuple(problems), meta
