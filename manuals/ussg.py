"""The Sentencing Guidelines Manual (PDF) as a tree of sections.

Chapters, parts and subparts hold guidelines; a guideline holds its subsections and, below the
heading *Commentary*, statutory provisions, application notes, background and historical note.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from manuals.appendix_a import StatuteRow, guideline_refs, split_condition, statute_rows
from manuals.citations import ussg_group
from manuals.enumeration import Placement, lead, ordinals
from manuals.paged import PagedText
from manuals.pdf import HYPHEN, Hyphens, Line, columns, read_lines
from manuals.section_tree import Node, SectionTree
from manuals.sections import Edition, Manual, Note
from manuals.ussg_blocks import Block, blocks
from manuals.ussg_layout import CELLS, Row, Sizes, measure, rows
from tam.errors import EditionConflict, UnrecognisedFile

CHAPTER, PART, SUBPART, HEADING, GUIDELINE, DIVISION, NOTE = range(7)
#: subsections are kept as sections to this depth: (b), (b)(4), (b)(4)(A)
SUBSECTION_DEPTH = 3

_FORMS = {"lower": 0, "number": 1, "upper": 2, "roman": 3, "Roman": 4, "double": 5}
_NOTE = re.compile(r"^(\d{1,2})\.\s")
_LEAD_IN = re.compile(r"^(\S.{2,140}?)\.\s?[—―–]")
_PRINTED = re.compile(r"║ ?(\d+)$|^(\d+) ?║")
_TABLE_HEAD = re.compile(r"^Statute\b.*\bGuideline\b")


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
        self._footed: set[int] = set()
        for row in self.rows:
            if row.role == "furniture":
                self._furniture.setdefault(row.line.page, []).append(row.text)
                if "║" in row.text:
                    self._footed.add(row.line.page)
        self._placement = Placement()
        self._places: list[float] = []
        self._last_note = 0
        self._margin = 0.0

    # -- writing ----------------------------------------------------------------------------

    def _turn_to(self, page: int) -> None:
        """Begin all pages up to this one; heads and feet come first, as PDFium gives them."""
        while self._page < page:
            self._page += 1
            self.text.page()
            for text in self._furniture.get(self._page, ()):
                self.text.furniture(text)

    def _write(self, row: Row, joint: str) -> int:
        self._turn_to(row.line.page)
        if row.role == "label":
            self.text.furniture(row.text)
            return self.text.length
        start = self.text.line(row.text, joint)
        self.tree.reach(self.text.length, row.line.page)
        return start

    def _open(
        self, rank: int, key: str, kind: str, title: str, page: int, citation: str = ""
    ) -> Node:
        """Open a section that begins with what is written next."""
        return self.tree.open(rank, key, kind, citation or key, title, -1, page)

    def _put(self, block: Block) -> int:
        """Write a block; sections opened since the last one begin at its start."""
        start = -1
        heading = block.kind not in ("paragraph", "historical")
        for row in block.rows:
            joint = " " if heading and start >= 0 else row.joint
            written = self._write(row, joint)
            if start < 0 and row.role != "label":
                start = written
        self.tree.begin(start)
        return start

    # -- reading ----------------------------------------------------------------------------

    def read(self) -> None:
        """The whole manual."""
        self._open(CHAPTER, "Front Matter", "front-matter", "", 1)
        pending: list[Block] = list(self._blocks(self.rows))
        position = 0
        while position < len(pending):
            block = pending[position]
            if block.kind == "appendix":
                self._appendix(block)
                break
            position += self._read(block, pending[position + 1 : position + 3])
        self._turn_to(self.pages)

    def _blocks(self, found: Sequence[Row]) -> Iterator[Block]:
        """Blocks of text; margin labels stay in their places among the rows."""
        return blocks((row for row in found if row.role != "furniture"), self.sizes, self.hyphens)

    def _read(self, block: Block, following: Sequence[Block]) -> int:
        """Read one block; returns how many blocks that took."""
        page = block.page
        match block.kind:
            case "chapter":
                return self._chapter(block, following)
            case "part" if self.tree.at(CHAPTER) is not None:
                chapter = self.tree.at(CHAPTER)
                number = chapter.key.rsplit(" ", 1)[-1] if chapter else ""
                key = ussg_group(number, block.groups[0])
                self._open(PART, key, "part", _title(block.groups[1]), page)
            case "subpart" if self.tree.at(PART) is not None:
                self._subpart(block)
            case "guideline":
                key = f"§{block.groups[0]}"
                self._open(GUIDELINE, key, "guideline", block.groups[1], page)
                self._placement, self._places = Placement(), []
            case "deleted":
                key = f"§§{block.groups[0]}-{block.groups[1]}"
                self._open(GUIDELINE, key, "deleted", block.groups[2], page)
            case "table":
                key = f"{self._unit_key()} Sentencing Table"
                self._open(DIVISION, key, "table", "Sentencing Table", page)
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
        self._put(block)
        return 1

    def _chapter(self, block: Block, following: Sequence[Block]) -> int:
        """A chapter's head with its title, which is set as large below it."""
        title = [next_ for next_ in following[:1] if next_.kind == "large"]
        words = title[0].text if title else ""
        self._open(CHAPTER, ussg_group(block.groups[0]), "chapter", _title(words), block.page)
        self._put(block)
        for part in title:
            self._put(part)
        return 1 + len(title)

    def _subpart(self, block: Block) -> None:
        number, title = block.groups
        part = self.tree.at(PART)
        subpart = self.tree.at(SUBPART)
        above = part.key if part else ""
        if subpart is not None and block.x0 > self._margin + self.sizes.head:
            # Headings 1 to 5 below a subpart of the same form (Chapter One of older editions).
            key = f"{subpart.key} > {number}. {title}"
            self._open(HEADING, key, "heading", title, block.page, f"{number}.")
            return
        self._margin = block.x0
        self._open(SUBPART, f"{above}, Subpart {number}", "subpart", _title(title), block.page)

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
        unit = self._unit_key()
        citation = f"{unit}, {abbreviation}" if abbreviation else unit
        self._open(DIVISION, f"{unit} {name}", kind, name, block.page, citation)

    def _unit_key(self) -> str:
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
        self._put(block)

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
        lead_in = _LEAD_IN.match(block.text[found.end() :])
        bold = any(part.bold for part in block.first.line.fragments)
        title = lead_in[1] if lead_in and bold else ""
        citation = f"{unit}, comment. (n.{number})"
        key = f"{unit} Application Note {number}"
        self._open(NOTE, key, "application-note", title, block.page, citation)

    # -- subsections ------------------------------------------------------------------------

    def _subsections(self, block: Block) -> None:
        names = lead(block.text)
        # (ii) where no list of (i), (ii) is open is a line of a running text.
        numeral = bool(names) and len(names[0][0]) > 1 and names[0][0].isalpha()
        if not names or (numeral and not {"roman", "Roman"} & set(self._placement.forms)):
            self._close_deeper(block)
            self._put(block)
            return
        opened: list[tuple[Node, int]] = []
        for number, (name, offset) in enumerate(names):
            place = block.x0 + number * 2 * self.sizes.head
            depth = self._place(name, place, compound=number > 0)
            node = self._subsection(block, depth, offset, last=number == len(names) - 1)
            if node is not None:
                opened.append((node, offset))
        start = self._put(block)
        for node, offset in opened:
            node.start = start + offset

    def _place(self, name: str, x: float, compound: bool) -> int:
        """The depth of an enumerator; indentation closes levels that stand further right."""
        order = max((_FORMS[form] for form in ordinals(name)), default=0)
        placed = self._placement
        while placed.forms and not compound:
            top = _FORMS[placed.forms[-1]]
            # A list that begins anew at the same indent is no part of the last item.
            anew = name in ("a", "1", "A", "i") and abs(self._places[-1] - x) <= 6 and top > 0
            if not anew and (top < order or self._places[-1] <= x + 6):
                break
            self._drop(len(placed.forms) - 1)
        depth = placed.place(name, compound)
        del self._places[depth:]
        self._places.append(x)
        return depth

    def _drop(self, depth: int) -> None:
        del self._placement.names[depth:], self._placement.forms[depth:], self._places[depth:]

    def _subsection(self, block: Block, depth: int, offset: int, last: bool) -> Node | None:
        guideline = self.tree.at(GUIDELINE)
        forms = self._placement.forms[: depth + 1]
        if guideline is None or depth >= SUBSECTION_DEPTH or "roman" in forms or "Roman" in forms:
            return None
        inner = "".join(f"({name})" for name in self._placement.names[: depth + 1])
        rest = block.text[block.text.index(")", offset) + 1 :].strip() if last else ""
        key = f"{guideline.key}{inner}"
        return self._open(DIVISION + depth, key, "subsection", _caption(rest), block.page)

    def _close_deeper(self, block: Block) -> None:
        """A paragraph without enumerator belongs to the level at whose text it is set."""
        table = block.first.cells > 1 or block.first.joint == "\n"
        if table or (self._places and block.x0 < self._places[0] - 6):
            # A table or list can reach out of the level that it belongs to.
            return
        for depth, place in enumerate(self._places[:SUBSECTION_DEPTH]):
            if block.x0 <= place + 6:
                self.tree.close(DIVISION + depth)
                return

    # -- Appendix A and what follows ------------------------------------------------------------

    def _appendix(self, head: Block) -> None:
        begin = next(i for i, row in enumerate(self.rows) if row is head.first)
        tail = self.rows[begin:]
        table = next((i for i, row in enumerate(tail) if _TABLE_HEAD.match(row.text)), len(tail))
        end = next((i for i in range(table + 1, len(tail)) if self._ends_table(tail[i])), len(tail))
        key = f"Appendix {head.groups[0]}"
        self._open(CHAPTER, key, "appendix", "Statutory Index", head.page)
        for block in self._blocks(tail[:table]):
            if block.kind in ("appendix", "large"):
                self._put(block)
            else:
                self._read(block, ())
        self._unit_key()
        if table < len(tail):
            self._write(tail[table], "\n\n")
        for row in statute_rows([r.line for r in tail[table + 1 : end] if r.role == "body"]):
            self._statute(key, row)
        self._back_matter(tail[end:])

    def _ends_table(self, row: Row) -> bool:
        return row.role in ("historical", "label") or (row.line.bold and row.role == "body")

    def _statute(self, appendix: str, row: StatuteRow) -> None:
        statute, condition = split_condition(row.cell(False, self.hyphens))
        page = row.lines[0][1].page
        node = self.tree.open(DIVISION, f"{appendix} > {statute}", "statute", statute, "", -1, page)
        node.refs.extend(guideline_refs(row.cell(True, self.hyphens), condition))
        if condition:
            node.notes.append(Note("condition", condition))
        cells = [line for right in (False, True) for side, line in row.lines if side == right]
        before = False
        for number, line in enumerate(cells):
            side = number >= sum(not right for right, _ in row.lines)
            joint = "\n" if not number else (CELLS if side != before else " ")
            before = side
            start = self._write(Row("body", line, line.text, 1, joint), joint)
            if not number:
                self.tree.begin(start)

    def _back_matter(self, found: Sequence[Row]) -> None:
        """The appendix's historical note, then indexes and what has no page foot."""
        lines_of: dict[str, list[Row]] = {}
        name = ""
        for page, group in groupby(found, key=lambda row: row.line.page):
            on_page = [row for row in group if row.role != "furniture"]
            large = next((b for b in self._blocks(on_page) if b.kind == "large"), None)
            if large is not None:
                name = _title(large.text)
            elif page not in self._footed and not name:
                name = "Back Matter"
            if name:
                on_page = _column_rows(on_page)
            lines_of.setdefault(name, []).extend(on_page)
        for name, on_pages in lines_of.items():
            if name and on_pages:
                self._open(CHAPTER, name, "back-matter", "", on_pages[0].line.page)
            for block in self._blocks(on_pages):
                if name:
                    self._put(block)
                else:
                    self._read(block, ())


def _column_rows(found: Sequence[Row]) -> list[Row]:
    """Rows of a page in two columns, column by column; a page in one column as it is."""
    body = [row for row in found if row.role != "label"]
    if not body:
        return []
    left = min(row.line.x0 for row in body)
    right = max(row.line.x1 for row in body)
    ordered = columns([row.line for row in body], (left + right) / 2)
    if len(ordered) < 1.3 * len(body):
        return list(body)
    return [Row("body", line, line.text, 1, "\n") for line in ordered]


def _page_offset(found: Sequence[Row]) -> int:
    offsets: Counter[int] = Counter()
    for row in found:
        printed = _PRINTED.search(row.text) if row.role == "furniture" else None
        if printed is not None:
            offsets[row.line.page - int(printed[1] or printed[2])] += 1
    return max(offsets, key=lambda offset: (offsets[offset], -offset)) if offsets else 0


_SMALL = {"a", "an", "and", "as", "at", "by", "for", "from", "in", "of", "on", "or", "than", "the"}
_SMALL |= {"to", "under", "with"}


def _title(text: str) -> str:
    """A heading in capitals as the table of contents prints it: ``Offense Conduct``."""
    if text != text.upper():
        return text
    words = re.split(r"([^\W\d_]+(?:[’'][^\W\d_]+)*)", text.lower())
    for number, word in enumerate(words):
        if word[:1].isalpha() and (number < 2 or word not in _SMALL):
            words[number] = word[0].upper() + word[1:]
    return "".join(words)


def _caption(text: str) -> str:
    """The title of a subsection: its whole text when that is short, or the words before a dash."""
    found = _LEAD_IN.match(text)
    if found is not None:
        return found[1]
    heading = len(text) <= 60 and re.search(r"^[•⚫●▪]|([.;—]|\b(and|or))$", text) is None
    return text.rstrip(":") if heading else ""
