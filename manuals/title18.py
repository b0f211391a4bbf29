"""Title 18 of the United States Code from the House's HTML, as a tree of sections.

Part, chapter, subchapter, section, then subsections at every enumerated level. A section's source
credit, footnotes and notes are children of its own (``18 U.S.C. § 922 Notes``, with one child for
each note's heading), so that the law in force never mixes with its history.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from manuals.enumeration import Form, Placement, heading_after, lead
from manuals.sections import Edition, Manual, Section
from manuals.statutes import statute_key
from manuals.usc_html import Block, read_blocks

TITLE = "18 U.S.C."
PARAGRAPH = "\n\n"

#: form of an enumerator -> kind of the subdivision (the drafting manuals' names)
KIND_OF: dict[Form, str] = {
    "lower": "subsection",
    "number": "paragraph",
    "upper": "subparagraph",
    "roman": "clause",
    "Roman": "subclause",
    "double": "item",
    "Double": "subitem",
}
SUBDIVISIONS = tuple(KIND_OF.values())
_UNITS = ("title", "part", "chapter", "subchapter", "section")
_GROUP_HEAD = re.compile(
    r"\[?(?P<word>PART|CHAPTER|SUBCHAPTER)\s+(?P<number>[0-9A-Za-z]+)\s*(?:[—–.-]\s*|$)(?P<title>.*)",
    re.IGNORECASE | re.DOTALL,
)
_SECTION_HEAD = re.compile(
    r"\[?\s*(?P<sign>§+)\s*(?P<digits>\d+)(?P<letters>[A-Za-z]*)"
    r"(?P<more>(?:\s*(?:,|\bto\b|\band\b|[–-])\s*\d+[A-Za-z]*)*)\.?"
    r"(?:\[\d+\])?(?:[.\s—]+(?P<title>.*))?",
    re.DOTALL,
)
_OUT_OF_FORCE = re.compile(
    r"(Repealed|Transferred|Renumbered|Reserved|Omitted|Vacant|Struck out|Rescinded)\b", re.I
)
_WHOEVER = re.compile(
    r"\bwhoever\b|\b(?:person|individual|one|alien|officer|employee)s? who\b", re.I
)
#: the older notes that a table opens, with or without a heading of its own
_CAPTION = re.compile(r"Historical and Revision Notes?(?=\n| \|)", re.IGNORECASE)


@dataclass
class _Draft:
    key: str
    kind: str
    citation: str
    title: str
    parent: _Draft | None
    start: int
    version: int = 1
    end: int = 0
    base: str = field(default="", repr=False)

    @property
    def heading(self) -> str:
        return f"{self.citation} {self.title}".strip() if self.title else self.citation

    @property
    def path(self) -> tuple[str, ...]:
        return (*self.parent.path, self.parent.heading) if self.parent else ()


@dataclass
class _Unit:
    head: Block
    blocks: list[Block]


def parse_title18(paths: Sequence[Path], edition: Edition) -> Manual:
    """Parse one edition: the annual file, or the GPO edition's files of parts in their order.

    Raises ``DamagedFile`` or ``UnrecognisedFile`` for a file that is not United States Code HTML.
    """
    tree = _Tree()
    file_starts: list[int] = []
    current = ""
    for path in paths:
        blocks, through = read_blocks(path)
        current = max(current, through)
        file_starts.append(tree.next_start())
        for unit in _units(blocks):
            tree.unit(unit)
    tree.close(0)
    return Manual(
        edition=edition,
        text="".join(tree.pieces),
        sections=tuple(_section(draft, edition) for draft in tree.drafts),
        file_starts=tuple(file_starts),
        meta={
            name: value
            for name, value in (("currentthrough", current), ("title", tree.title))
            if value
        },
    )


def _units(blocks: Iterable[Block]) -> list[_Unit]:
    """Blocks grouped under the head that they follow."""
    units: list[_Unit] = []
    for block in blocks:
        if block.kind in _UNITS:
            units.append(_Unit(block, []))
        elif units:
            units[-1].blocks.append(block)
    return units


def _section(draft: _Draft, edition: Edition) -> Section:
    path = draft.path
    return Section(
        key=draft.key,
        source=edition.source,
        year=edition.year,
        kind=draft.kind,
        level=len(path) + 1,
        citation=draft.citation,
        title=draft.title,
        parent=draft.parent.key if draft.parent else None,
        path=path,
        span=(draft.start, draft.end),
        version=draft.version,
    )


class _Tree:
    """The text so far, and the sections with those still open."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.position = 0
        self.drafts: list[_Draft] = []
        self.open: list[_Draft] = []
        self.title = ""
        self._used: set[str] = set()

    def write(self, text: str) -> int:
        """Append a paragraph; the offset at which it begins."""
        if self.pieces:
            self.pieces.append(PARAGRAPH)
            self.position += len(PARAGRAPH)
        start = self.position
        self.pieces.append(text)
        self.position += len(text)
        return start

    def close(self, depth: int) -> None:
        """Close open sections until ``depth`` of them are left."""
        while len(self.open) > depth:
            self.open.pop().end = self.position

    def begin(self, base: str, kind: str, citation: str, title: str, start: int) -> _Draft:
        """Open a section below the last open one; a key that is taken gets ``#2``."""
        parent = self.open[-1] if self.open else None
        version = parent.version if parent and parent.kind not in _UNITS[:-1] else 1
        key = base if version == 1 else f"{base}#{version}"
        while key in self._used:
            version += 1
            key = f"{base}#{version}"
        self._used.add(key)
        draft = _Draft(key, kind, citation, title, parent, start, version, base=base)
        self.drafts.append(draft)
        self.open.append(draft)
        return draft

    # -- units: title, part, chapter, subchapter, section

    def unit(self, unit: _Unit) -> None:
        head = unit.head
        if head.kind == "title":
            # Only a title with front matter is a section; parts do not stand below it.
            self.close(0)
            self.title = self.title or head.text
            if unit.blocks:
                start = self.next_start()
                title = re.sub(r"^TITLE\s+\d+\s*[—–-]\s*", "", head.text)
                self.begin(TITLE, "title", TITLE, title, start)
            self.write(head.text)
        else:
            self.close(self._depth_of(head.kind))
            (self._section_head if head.kind == "section" else self._group_head)(head)
        _Body(self, unit.blocks).read()

    def next_start(self) -> int:
        """The offset at which the next paragraph will begin."""
        return self.position + (len(PARAGRAPH) if self.pieces else 0)

    def _depth_of(self, kind: str) -> int:
        """How many open sections stay open above a unit of this kind."""
        rank = _UNITS.index(kind)
        ranks = [_UNITS.index(draft.kind) if draft.kind in _UNITS else 9 for draft in self.open]
        above = [position for position, other in enumerate(ranks) if 0 < other < rank]
        return above[-1] + 1 if above else 0

    def _group_head(self, head: Block) -> None:
        found = _GROUP_HEAD.fullmatch(head.text)
        number = found["number"].upper() if found else head.text
        base = f"{TITLE} {head.kind.title()} {number}"
        if head.kind == "subchapter" and self.open:
            base = f"{self.open[-1].base}, Subchapter {number}"
        title = found["title"].strip().rstrip("]") if found else ""
        start = self.write(head.text)
        draft = self.begin(base, head.kind, base, title, start)
        draft.citation = draft.base

    def _section_head(self, head: Block) -> None:
        found = _SECTION_HEAD.fullmatch(head.text)
        start = self.write(head.text)
        if found is None:
            self.begin(f"{TITLE} {head.text}", "section", head.text, "", start)
            return
        title = re.sub(r"\s*\[\d+\]", "", (found["title"] or "").strip())
        bracketed = head.text.startswith("[")
        if title.count("]") > title.count("["):
            title = title.removesuffix("]")
        base = statute_key(18, found["digits"], found["letters"])
        more = found["more"].strip()
        citation = base
        if more and len(found["sign"]) > 1:
            citation = f"{base.replace('§', '§§')}{'' if more[0] in ',-–' else ' '}{more}"
        gone = _OUT_OF_FORCE.match(title)
        kind = gone.group(1).lower() if gone and (bracketed or len(title) < 40) else "section"
        self.begin(base, kind, citation, title, start)


class _Body:
    """The blocks under one head, in their order."""

    def __init__(self, tree: _Tree, blocks: Sequence[Block]) -> None:
        self.tree = tree
        self.blocks = blocks
        self.owner = tree.open[-1] if tree.open else None
        self.depth = len(tree.open)
        #: where the source credit stands: nothing after it is the statute's
        self.credit = next(
            (place for place, block in enumerate(blocks) if block.kind == "credit"), len(blocks)
        )
        self.last_note = max(
            (place for place in range(len(blocks)) if self._is_note(place)), default=-1
        )

    def _is_statute(self, place: int) -> bool:
        block = self.blocks[place]
        if block.kind not in ("statute", "table"):
            return False
        # Older notes have the class of a statute's paragraph, but stand outside its field.
        return block.field == "statute" or (block.kind == "statute" and place < self.credit)

    def _is_note(self, place: int) -> bool:
        kind = self.blocks[place].kind
        return kind not in ("credit", "footnote", "contents") and not self._is_statute(place)

    def read(self) -> None:
        place = 0
        while place < len(self.blocks):
            block = self.blocks[place]
            if self._is_statute(place):
                run = place
                while run < len(self.blocks) and self._is_statute(run):
                    run += 1
                self.tree.close(self.depth)
                _Statute(self.tree, [each.text for each in self.blocks[place:run]]).write()
                place = run
                continue
            self._single(place, block)
            place += 1
        self.tree.close(self.depth)

    def _single(self, place: int, block: Block) -> None:
        tree = self.tree
        if block.kind == "contents":
            tree.close(self.depth)
            tree.write(block.text)
        elif block.kind == "credit":
            self._apart("Source Credit", "note", "Source Credit", block)
        elif block.kind == "footnote" and (place > self.last_note or not self._in_notes()):
            self._apart("Footnotes", "footnotes", "", block)
        elif block.kind == "note" and block.field != "notes" and place < self.credit:
            if not self._in_notes():
                tree.close(self.depth)
            tree.write(block.text)  # the summary under a repealed section's head
        else:
            self._note(block)

    def _apart(self, name: str, kind: str, title: str, block: Block) -> None:
        """A child beside the notes; neighbouring blocks of one kind share it."""
        tree = self.tree
        base = f"{self._base()} {name}"
        if not (len(tree.open) == self.depth + 1 and tree.open[-1].base == base):
            tree.close(self.depth)
            start = tree.write(block.text)
            citation = f"{self._citation()} {name}" if not title else self._citation()
            tree.begin(base, kind, citation, title, start)
        else:
            tree.write(block.text)

    def _base(self) -> str:
        return self.owner.base if self.owner else TITLE

    def _citation(self) -> str:
        return self.owner.citation if self.owner else TITLE

    def _in_notes(self) -> bool:
        open_ = self.tree.open
        return len(open_) > self.depth and open_[self.depth].base == f"{self._base()} Notes"

    def _note(self, block: Block) -> None:
        tree = self.tree
        notes = f"{self._base()} Notes"
        if not self._in_notes():
            tree.close(self.depth)
            tree.begin(notes, "notes", f"{self._citation()} Notes", "", tree.next_start())
        caption = block.kind != "note_group" and _CAPTION.match(block.text)
        if block.kind in ("note_group", "note_head") or caption:
            tree.close(self.depth + 1)
        start = tree.write(block.text)
        if block.kind == "note_head" or caption:
            title = caption.group() if caption else block.text.rstrip(".:")
            tree.begin(f"{notes} > {title}", "note", f"{self._citation()} note", title, start)


class _Statute:
    """A run of a statute's paragraphs, filed under their enumerators."""

    def __init__(self, tree: _Tree, paragraphs: Sequence[str]) -> None:
        self.tree = tree
        self.paragraphs = paragraphs
        self.leads = [lead(text) for text in paragraphs]
        self.places = self._placed()
        self.base_depth = len(tree.open)
        self.openings: list[str] = []

    def _placed(self) -> list[list[tuple[int, Form]]]:
        """For each paragraph the depth and form of each of its enumerators."""
        placement = Placement()
        firsts = [names[0][0] if names else "" for names in self.leads]
        places: list[list[tuple[int, Form]]] = []
        for place, names in enumerate(self.leads):
            ahead = [name for name in firsts[place + 1 :] if name] if _unsure(names) else []
            found: list[tuple[int, Form]] = []
            for order, (name, _) in enumerate(names):
                within = names[order + 1][0] if order + 1 < len(names) else ""
                depth = placement.place(name, order > 0, within, ahead)
                found.append((depth, placement.forms[-1]))
            places.append(found)
        return places

    def write(self) -> None:
        for place, text in enumerate(self.paragraphs):
            if self.leads[place]:
                self._enumerated(place, text)
            else:
                self._flush(place, text)
        self.tree.close(self.base_depth)

    def _enumerated(self, place: int, text: str) -> None:
        tree = self.tree
        depth = self.places[place][0][0]
        tree.close(self.base_depth + depth)
        del self.openings[depth:]
        start = tree.write(text)
        names = self.leads[place]
        for order, (name, offset) in enumerate(names):
            parent = tree.open[-1].base if tree.open else TITLE
            base = f"{parent}({name.replace('–', '-')})"
            kind = KIND_OF[self.places[place][order][1]]
            begin = start if order == 0 else start + offset
            tree.begin(base, kind, base, heading_after(text, offset), begin)
            last = order + 1 == len(names)
            self.openings.append(text[offset:] if last else text[offset : names[order + 1][1]])

    def _flush(self, place: int, text: str) -> None:
        """A paragraph without an enumerator: it ends a list, or goes on where the last one was.

        It may not close a level that the next enumerator still needs.
        """
        deep = len(self.openings)
        needed = next((depths[0][0] for depths in self.places[place + 1 :] if depths), 0)
        before = self.paragraphs[place - 1] if place else ""
        keep = max(self._level_of(text, before), min(needed, deep))
        self.tree.close(self.base_depth + keep)
        del self.openings[keep:]
        self.tree.write(text)

    def _level_of(self, text: str, before: str) -> int:
        """How many levels stay open above a paragraph without an enumerator."""
        deep = len(self.openings)
        if not deep:
            return 0
        if text[:1].islower() and not before.endswith(("—", ":")):
            # The end of the sentence that the list hangs on: "shall be fined" of "whoever".
            if text.startswith("shall "):
                for level in range(deep - 1, 0, -1):
                    if _WHOEVER.search(self.openings[level - 1]):
                        return level
            return deep - 1
        name = self.tree.open[-1].base.rpartition("(")[2].rstrip(")")
        listed = (deep > 1 or name.isdigit()) and name not in ("a", "1", "A", "i", "I")
        return deep - 1 if listed and text[:1].isupper() else deep


def _unsure(names: Sequence[tuple[str, int]]) -> bool:
    """Whether a paragraph's first enumerator can be a letter or a numeral."""
    return bool(names) and names[0][0] in ("i", "I")
