"""ICD-10-CM Tabular List: the official XML into chapters, blocks, categories and codes.

The text has one line for each heading (``E11.2 Type 2 ...``), followed by one line for each note
element that it carries, ``<element name>: <note> | <note>``; below the category these lines begin
with a blank. An empty line parts chapters, blocks and categories.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lxml import etree

from manuals.icd10cm.codes import CATEGORY
from manuals.icd10cm.outline import TextOutline
from manuals.model.sections import Edition, Manual, Note, Section
from manuals.model.source import SOURCES
from manuals.model.xmlsafe import parse_xml

INTRODUCTION = "Introduction"

#: elements of the official schema that are no notes
_STRUCTURE = frozenset({"name", "desc", "diag", "section", "sectionIndex", "title"})
_RANGE = re.compile(rf"\(({CATEGORY})(?:\s*[-–]\s*({CATEGORY}))?\)\s*$", re.IGNORECASE)


def squeeze(text: str | None) -> str:
    """A text of the XML with its white space as single blanks."""
    return " ".join((text or "").split())


def full_text(element: etree._Element) -> str:
    """All text of an element with those inside it, white space as single blanks."""
    if not len(element):
        return squeeze(element.text)
    return squeeze(" ".join(str(text) for text in element.itertext()))


@dataclass(frozen=True, slots=True)
class _Content:
    """What stands at a unit besides its heading and the units below."""

    lines: tuple[str, ...]
    notes: tuple[Note, ...]
    seventh: tuple[tuple[str, str], ...]


def _content(unit: etree._Element) -> _Content:
    lines: list[str] = []
    notes: list[Note] = []
    seventh: list[tuple[str, str]] = []
    for element in unit:
        kind = etree.QName(element).localname
        if kind in _STRUCTURE:
            continue
        if kind == "visualImpairment":
            items = [" ".join(row.split()) for row in _impairment_rows(element)]
            notes.extend(Note(kind, item) for item in items)
        else:
            items = []
            for item in element:
                text = full_text(item)
                if etree.QName(item).localname == "extension":
                    character = (item.get("char") or "").strip().upper()
                    seventh.append((character, text))
                    items.append(f"{character} {text}".strip())
                elif text:
                    items.append(text)
                    notes.append(Note(kind, text))
            own = squeeze(element.text)
            if own and not len(element):
                items.append(own)
                notes.append(Note(kind, own))
        # A release has had empty note elements: they are no note.
        if items:
            lines.append(f"{kind}: {' | '.join(items)}")
    return _Content(tuple(lines), tuple(notes), tuple(seventh))


def _impairment_rows(table: etree._Element) -> Iterator[str]:
    """The rows of the table of visual impairment: category, then its ranges of acuity."""
    for category in table:
        label = squeeze(category.findtext("value") or category.findtext("heading"))
        ranges = []
        for limits in category.findall("visRange"):
            ranges.append(", ".join(filter(None, (full_text(limit) for limit in limits))))
        yield f"{label}: {'; '.join(filter(None, ranges))}"


def parse_tabular(paths: Sequence[Path], edition: Edition) -> Manual:
    """The Tabular List of one edition. Raises ``DamagedFile`` for XML that is not whole."""
    outline = TextOutline(edition)
    title = ""
    for path in paths:
        root = parse_xml(path)
        title = title or squeeze(root.findtext("introduction/introSection/title"))
        for introduction in root.findall("introduction"):
            _introduction(outline, introduction)
        for number, chapter in enumerate(root.findall("chapter"), 1):
            _chapter(outline, chapter, number)
    return outline.manual({"title": title or SOURCES[edition.source].title})


def _introduction(outline: TextOutline, introduction: etree._Element) -> None:
    """The first title heads the introduction; each further one is a section below it."""
    parts = introduction.findall("introSection")
    head = squeeze(parts[0].findtext("title")) if parts else ""
    heading = head or INTRODUCTION
    outline.open(INTRODUCTION, "introduction", heading, citation=heading, title=heading)
    for number, part in enumerate(parts):
        notes = [Note("instruction", full_text(note)) for note in part.iter("note")]
        notes = [note for note in notes if note.text]
        if number:
            title = squeeze(part.findtext("title")) or f"Part {number + 1}"
            outline.line("")
            outline.open(
                f"{INTRODUCTION} > {title.rstrip(':')}",
                "introduction",
                title,
                citation=title,
                title=title,
                notes=notes,
            )
        for note in notes:
            outline.line(note.text)
        if number:
            outline.close()
    outline.close()
    outline.line("")


def _chapter(outline: TextOutline, chapter: etree._Element, position: int) -> None:
    """One chapter. Its name is a bare number as a rule, but ``Chapter 4`` and none at all do."""
    name = squeeze(chapter.findtext("name"))
    number = re.search(r"\d+", name)
    key = f"Chapter {int(number[0]) if number else name or position}"
    title = squeeze(chapter.findtext("desc")) or key
    content = _content(chapter)
    heading = key if title == key else f"{key} {title}"
    outline.open(key, "chapter", heading, title=title, notes=content.notes, seventh=content.seventh)
    for line in content.lines:
        outline.line(line)
    outline.line("")
    # Blocks stand flat in the file, wider ones (V00-V99) before those inside them (V00-V09), and
    # the notes of the wider bind what is inside: the ranges give the tree back.
    within: list[tuple[str, str]] = []
    for section in chapter.findall("section"):
        block = _block_range(section)
        while within and not (within[-1][0] <= block[0] and block[1] <= within[-1][1]):
            within.pop()
            outline.close()
        within.append(block)
        _block(outline, section, block)
    for _ in within:
        outline.close()
    for category in chapter.findall("diag"):
        _code(outline, category, top=True)
    outline.close()


def block_description(section: Section) -> str:
    """A block's description as printed: its title and, in brackets, its range."""
    first, _, last = section.key.partition("-")
    return f"{section.title} ({first if first == last else section.key})"


def _block_range(section: etree._Element) -> tuple[str, str]:
    """First and last category of a block: from its id, else its description, else its codes."""
    for text in (f"({section.get('id') or ''})", squeeze(section.findtext("desc"))):
        found = _RANGE.search(text.upper())
        if found:
            return found[1], found[2] or found[1]
    names = [squeeze(name.text).upper()[:3] for name in section.iterfind("diag/name")]
    return (names[0], names[-1]) if names else ("", "")


def _block(outline: TextOutline, section: etree._Element, block: tuple[str, str]) -> None:
    """Open a block with its notes and write the categories in it; the caller closes it."""
    description = squeeze(section.findtext("desc"))
    # A block of one category is ``B99-B99``: ``B99`` is the category.
    key = "-".join(block) if block[0] else description
    title = _RANGE.sub("", description).strip() or description
    content = _content(section)
    outline.open(
        key,
        "block",
        f"{key} {title}".strip(),
        title=title,
        notes=content.notes,
        seventh=content.seventh,
    )
    for line in content.lines:
        outline.line(line)
    outline.line("")
    for category in section.findall("diag"):
        _code(outline, category, top=True)


def _code(outline: TextOutline, diag: etree._Element, top: bool = False) -> None:
    """One category or code with all below it."""
    key = squeeze(diag.findtext("name")).upper().rstrip(".")
    title = squeeze(diag.findtext("desc"))
    content = _content(diag)
    below = diag.findall("diag")
    kind = "category" if top else "subcategory" if below else "code"
    outline.open(
        key,
        kind,
        f"{key} {title}".strip(),
        title=title,
        notes=content.notes,
        seventh=content.seventh,
    )
    for line in content.lines:
        outline.line(line if top else f" {line}")
    for child in below:
        _code(outline, child)
    outline.close()
    if top:
        outline.line("")
