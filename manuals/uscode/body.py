"""What stands under a head of the United States Code: the statute, its credit and its notes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from manuals.uscode.enumeration import Form, Placement, heading_after, lead, run_in
from manuals.uscode.html import Block
from manuals.uscode.tree import TITLE, Tree

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
_WHOEVER = re.compile(
    r"\bwhoever\b|\b(?:person|individual|one|alien|officer|employee)s? who\b", re.I
)
#: the older notes that a table opens, with or without a heading of its own
_CAPTION = re.compile(r"Historical and Revision Notes?(?=\n| \|)", re.IGNORECASE)


class Body:
    """The blocks under one head, in their order."""

    def __init__(self, tree: Tree, blocks: Sequence[Block]) -> None:
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
                Statute(self.tree, [each.text for each in self.blocks[place:run]]).write()
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


class Statute:
    """A run of a statute's paragraphs, filed under their enumerators."""

    def __init__(self, tree: Tree, paragraphs: Sequence[str]) -> None:
        self.tree = tree
        self.paragraphs = paragraphs
        self.leads = [lead(text) for text in paragraphs]
        firsts = [names[0][0] if names else "" for names in self.leads]
        #: enumerators within a paragraph that go on with the list that its lead began
        self.run_ins = [
            run_in(text, names, next(filter(None, firsts[place + 1 :]), ""))
            for place, (text, names) in enumerate(zip(paragraphs, self.leads, strict=True))
        ]
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
            for name, _ in self.run_ins[place]:
                depth = placement.place(name)
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
        names = [*self.leads[place], *self.run_ins[place]]
        for order, (name, offset) in enumerate(names):
            if order:
                level = self.places[place][order][0]
                tree.close(self.base_depth + level, start + len(text[:offset].rstrip()))
                del self.openings[level:]
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
