"""The Sentencing Guidelines Manual (PDF) as a tree of sections.

Chapters, parts and subparts hold guidelines; a guideline holds its subsections and, below the
heading *Commentary*, statutory provisions, application notes, background and historical note.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from manuals.model.section_tree import Node, SectionTree
from manuals.model.sections import Edition, Manual
from manuals.pdf.lines import HYPHEN, Hyphens, Line, read_lines
from manuals.pdf.paged import PagedText
from manuals.uscode.enumeration import lead
from manuals.ussg.blocks import Block
from manuals.ussg.blocks import blocks as group_blocks
from manuals.ussg.citations import group_key
from manuals.ussg.headings import (
    CHAPTER,
    DIVISION,
    GUIDELINE,
    HEADING,
    NOTE,
    PART,
    SUBPART,
    caption,
    lead_in,
    title_case,
)
from manuals.ussg.layout import Row, Sizes, measure, rows
from manuals.ussg.levels import Levels
from manuals.ussg.tail import read_appendix
from tam.errors import EditionConflict, UnrecognisedFile

#: subsections are kept as sections to this depth: (b), (b)(4), (b)(4)(A)
SUBSECTION_DEPTH = 3

_TABLE_NOTES = re.compile(r"\*?(Notes to (?:[\w ]+ )?Table):")
_NOTE = re.compile(r"^(\d{1,2})\.\s")
_PRINTED = re.compile(r"║ ?(\d+)$|^(\d+) ?║")


def parse_ussg(paths: Sequence[Path], edition: Edition) -> Manual:
    """Parse one edition of the manual.

    ``Manual.meta["printed_page_offset"]`` is PDF page minus printed page. Raises
    ``EditionConflict`` when there is more than one file, ``DamagedFile`` for a PDF that cannot be
    read, ``UnrecognisedFile`` when no chapter or guideline is found.
    """
    if len(paths) != 1:
        raise EditionConflict(
            f"{edition.name}: {len(paths)} files for one edition; keep one Guidelines Manual"
        )
    lines = read_lines(paths[0])
    reader = Reader(lines)
    reader.read()
    sections = reader.tree.sections(edition)
    kinds = Counter(section.kind for section in sections)
    if not kinds["chapter"] or not kinds["guideline"]:
        raise UnrecognisedFile(
            f"{paths[0]}: no chapter and guideline headings found; is this the Guidelines Manual?"
        )
    return Manual(edition=edition, sections=sections, meta=reader.meta, **reader.text.fields())


class Reader:
    """Reads the lines from top to bottom into a text and a tree."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self.sizes: Sizes = measure(lines)
        self.hyphens = Hyphens(line.text.replace(HYPHEN, " ") for line in lines)
        self.text = PagedText(self.hyphens)
        self.tree = SectionTree()
        self.rows = list(rows(lines))
        self.pages = lines[-1].page
        self.meta = {"printed_page_offset": str(_page_offset(self.rows))}
        self._page = 0
        self._furniture: dict[int, list[str]] = {}
        self.footed: set[int] = set()
        for row in self.rows:
            if row.role == "furniture":
                self._furniture.setdefault(row.line.page, []).append(row.text)
                if "║" in row.text:
                    self.footed.add(row.line.page)
        self._levels = Levels()
        self._last_note = 0
        self._table_notes = ""
        self._margin = 0.0

    # -- writing ----------------------------------------------------------------------------

    def _turn_to(self, page: int) -> None:
        """Begin all pages up to this one; heads and feet come first, as PDFium gives them."""
        while self._page < page:
            self._page += 1
            self.text.page()
            for text in self._furniture.get(self._page, ()):
                self.text.furniture(text)

    def write(self, row: Row, joint: str) -> int:
        self._turn_to(row.line.page)
        if row.role == "label":
            self.text.furniture(row.text)
            return self.text.length
        start = self.text.line(row.text, joint)
        self.tree.reach(self.text.length, row.line.page)
        return start

    def open(
        self, rank: int, key: str, kind: str, title: str, page: int, citation: str = ""
    ) -> Node:
        """Open a section that begins with what is written next."""
        return self.tree.open(rank, key, kind, citation or key, title, -1, page)

    def put(self, block: Block) -> int:
        """Write a block; sections opened since the last one begin at its start."""
        start = -1
        heading = block.kind not in ("paragraph", "historical")
        for row in block.rows:
            joint = " " if heading and start >= 0 else row.joint
            written = self.write(row, joint)
            if start < 0 and row.role != "label":
                start = written
        self.tree.begin(start)
        return start

    # -- reading ----------------------------------------------------------------------------

    def read(self) -> None:
        """The whole manual."""
        self.open(CHAPTER, "Front Matter", "front-matter", "", 1)
        pending: list[Block] = list(self.blocks(self.rows))
        position = 0
        while position < len(pending):
            block = pending[position]
            if block.kind == "appendix":
                read_appendix(self, block)
                break
            position += self.read_block(block, pending[position + 1 : position + 3])
        self._turn_to(self.pages)

    def blocks(self, found: Sequence[Row]) -> Iterator[Block]:
        """Blocks of text; margin labels stay in their places among the rows."""
        return group_blocks(
            (row for row in found if row.role != "furniture"), self.sizes, self.hyphens
        )

    def read_block(self, block: Block, following: Sequence[Block]) -> int:
        """Read one block; returns how many blocks that took."""
        page = block.page
        match block.kind:
            case "chapter":
                return self._chapter(block, following)
            case "part" if self.tree.at(CHAPTER) is not None:
                chapter = self.tree.at(CHAPTER)
                number = chapter.key.rsplit(" ", 1)[-1] if chapter else ""
                key = group_key(number, block.groups[0])
                self.open(PART, key, "part", title_case(block.groups[1]), page)
            case "subpart" if self.tree.at(PART) is not None:
                self._subpart(block)
            case "guideline":
                key = f"§{block.groups[0]}"
                self._table_notes = ""
                self.open(GUIDELINE, key, "guideline", block.groups[1], page)
                self._levels = Levels()
            case "deleted":
                key = f"§§{block.groups[0]}-{block.groups[1]}"
                self.open(GUIDELINE, key, "deleted", block.groups[2], page)
            case "table":
                key = f"{self.unit_key()} Sentencing Table"
                self.open(DIVISION, key, "table", "Sentencing Table", page)
            case "introductory" | "concluding" | "commentary":
                self._commentary(block, following)
            case "statutory":
                self._division("Statutory Provisions", "statutory-provisions", block, "")
            case "notes":
                self._division("Application Notes", "application-notes", block, "comment.")
                self._last_note = 0
                self._margin = block.x0
            case "background":
                self._division("Background", "background", block, "comment. (backg’d.)")
            case "historical":
                if self._division_kind() != "historical-note":
                    self._division("Historical Note", "historical-note", block, "")
            case _:
                self._paragraph(block)
                return 1
        self.put(block)
        return 1

    def _chapter(self, block: Block, following: Sequence[Block]) -> int:
        """A chapter's head with its title, which is set as large below it."""
        title = [next_ for next_ in following[:1] if next_.kind == "large"]
        words = title[0].text if title else ""
        self.open(CHAPTER, group_key(block.groups[0]), "chapter", title_case(words), block.page)
        self.put(block)
        for part in title:
            self.put(part)
        return 1 + len(title)

    def _subpart(self, block: Block) -> None:
        number, title = block.groups
        part = self.tree.at(PART)
        subpart = self.tree.at(SUBPART)
        above = part.key if part else ""
        if subpart is not None and block.x0 > self._margin + self.sizes.head:
            # Headings 1 to 5 below a subpart of the same form (Chapter One of older editions).
            key = f"{subpart.key} > {number}. {title}"
            self.open(HEADING, key, "heading", title, block.page, f"{number}.")
            return
        self._margin = block.x0
        self.open(SUBPART, f"{above}, Subpart {number}", "subpart", title_case(title), block.page)

    def _commentary(self, block: Block, following: Sequence[Block]) -> None:
        """*Commentary* alone opens a section only where unlabelled text follows."""
        if block.kind == "commentary":
            labelled = following and following[0].kind in ("statutory", "notes", "background")
            self.tree.close(DIVISION)
            if not labelled:
                self._division("Commentary", "commentary", block, "comment.")
        elif block.kind == "introductory":
            self._division(
                "Introductory Commentary", "introductory-commentary", block, "intro. comment."
            )
        else:
            self.tree.close(SUBPART)
            self._division("Concluding Commentary", "commentary", block, "concl. comment.")

    def _division(self, name: str, kind: str, block: Block, abbreviation: str) -> None:
        unit = self.unit_key()
        citation = f"{unit}, {abbreviation}" if abbreviation else unit
        self.open(DIVISION, f"{unit} {name}", kind, name, block.page, citation)

    def unit_key(self) -> str:
        """The key of the innermost guideline, subpart, part or chapter."""
        self.tree.close(DIVISION)
        return self.tree.top.key if self.tree.top else ""

    def _division_kind(self) -> str:
        division = self.tree.at(DIVISION)
        return division.kind if division else ""

    def _paragraph(self, block: Block) -> None:
        kind = self._division_kind()
        if kind == "historical-note":
            # The label ends with its note: what follows belongs to the unit again.
            self.tree.close(DIVISION)
        elif kind == "application-notes":
            self._note(block)
        elif self.tree.at(GUIDELINE) is not None and kind in ("", "subsection"):
            self._subsections(block)
            return
        self.put(block)

    def _note(self, block: Block) -> None:
        found = _NOTE.match(block.text)
        if found is None or block.x0 > self._margin + 0.6 * self.sizes.body:
            return
        number = int(found[1])
        if not self._last_note < number <= self._last_note + 3:
            return
        self._last_note = number
        division = self.tree.at(DIVISION)
        unit = division.key.removesuffix(" Application Notes") if division else ""
        bold = any(part.bold for part in block.first.line.fragments)
        title = lead_in(block.text[found.end() :]) if bold else ""
        citation = f"{unit}, comment. (n.{number})"
        key = f"{unit} Application Note {number}"
        self.open(NOTE, key, "application-note", title, block.page, citation)

    # -- subsections ------------------------------------------------------------------------

    def _subsections(self, block: Block) -> None:
        names = lead(block.text)
        # (ii) where no list of (i), (ii) is open is a line of a running text.
        numeral = bool(names) and len(names[0][0]) > 1 and names[0][0].isalpha()
        if not names or (numeral and not self._levels.has_numerals()):
            ended = self._levels.reach_of(block, SUBSECTION_DEPTH)
            if ended is not None:
                self.tree.close(DIVISION + ended)
            notes = _TABLE_NOTES.fullmatch(block.text)
            self._table_notes = notes[1] if notes else self._table_notes
            self.put(block)
            return
        opened: list[tuple[Node, int]] = []
        for number, (name, offset) in enumerate(names):
            place = block.x0 + number * 2 * self.sizes.head
            depth = self._levels.place(name, place, compound=number > 0)
            node = self._subsection(block, depth, offset, last=number == len(names) - 1)
            if node is not None:
                opened.append((node, offset))
        start = self.put(block)
        for node, offset in opened:
            node.start = start + offset

    def _subsection(self, block: Block, depth: int, offset: int, last: bool) -> Node | None:
        guideline = self.tree.at(GUIDELINE)
        deep = depth >= SUBSECTION_DEPTH or self._levels.has_numerals(depth)
        if guideline is None or deep:
            return None
        inner = "".join(f"({name})" for name in self._levels.names(depth))
        rest = block.text[block.text.index(")", offset) + 1 :].strip() if last else ""
        key = f"{guideline.key}{inner}"
        return self.open(
            DIVISION + depth, key, "subsection", caption(rest), block.page, self._cited(key)
        )

    def _cited(self, key: str) -> str:
        """The citation of a subsection: the notes to a table are lettered (A), (B) beside it."""
        above, _, name = key.rpartition("(")
        if not name[0].isupper():
            self._table_notes = ""
        return f"{above}, {self._table_notes} ({name}" if self._table_notes else ""


def _page_offset(found: Sequence[Row]) -> int:
    offsets: Counter[int] = Counter()
    for row in found:
        printed = _PRINTED.search(row.text) if row.role == "furniture" else None
        if printed is not None:
            offsets[row.line.page - int(printed[1] or printed[2])] += 1
    return max(offsets, key=lambda offset: (offsets[offset], -offset)) if offsets else 0
