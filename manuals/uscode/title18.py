"""Title 18 of the United States Code from the House's HTML, as a tree of sections.

Part, chapter, subchapter, section, then subsections at every enumerated level. A section's source
credit, footnotes and notes are children of its own (``18 U.S.C. § 922 Notes``, with one child for
each note's heading), so that the law in force never mixes with its history.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from manuals.model.sections import Edition, Manual
from manuals.uscode.body import Body
from manuals.uscode.html import Block, read_blocks
from manuals.uscode.statutes import statute_key
from manuals.uscode.tree import TITLE, UNITS, Tree

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
    r"(Repealed|Transferred|Renumbered|Reserved|Omitted|Vacant|Struck out|Rescinded)\b\.?", re.I
)


@dataclass
class _Unit:
    head: Block
    blocks: list[Block]


def parse_title18(paths: Sequence[Path], edition: Edition) -> Manual:
    """Parse one edition: the annual file, or the GPO edition's files of parts in their order.

    Raises ``DamagedFile`` or ``UnrecognisedFile`` for a file that is not United States Code HTML.
    """
    tree = Tree()
    file_starts: list[int] = []
    current = title = ""
    for path in paths:
        blocks, through = read_blocks(path)
        current = max(current, through)
        file_starts.append(tree.next_start())
        for unit in _units(blocks):
            title = title or (unit.head.text if unit.head.kind == "title" else "")
            _file(tree, unit)
    tree.close(0)
    return Manual(
        edition=edition,
        text="".join(tree.pieces),
        sections=tuple(draft.section(edition) for draft in tree.drafts),
        file_starts=tuple(file_starts),
        meta={
            name: value for name, value in (("currentthrough", current), ("title", title)) if value
        },
    )


def _units(blocks: Iterable[Block]) -> list[_Unit]:
    """Blocks grouped under the head that they follow."""
    units: list[_Unit] = []
    for block in blocks:
        if block.kind in UNITS:
            units.append(_Unit(block, []))
        elif units:
            units[-1].blocks.append(block)
    return units


def _file(tree: Tree, unit: _Unit) -> None:
    head = unit.head
    if head.kind == "title":
        # Only a title with front matter is a section; parts do not stand below it.
        tree.close(0)
        if unit.blocks:
            start = tree.next_start()
            name = re.sub(r"^TITLE\s+\d+\s*[—–-]\s*", "", head.text)
            tree.begin(TITLE, "title", TITLE, name, start)
        tree.write(head.text)
    else:
        tree.close(_depth_of(tree, head.kind))
        (_section_head if head.kind == "section" else _group_head)(tree, head)
    Body(tree, unit.blocks).read()


def _depth_of(tree: Tree, kind: str) -> int:
    """How many open sections stay open above a unit of this kind."""
    rank = UNITS.index(kind)
    ranks = [UNITS.index(draft.kind) if draft.kind in UNITS else 9 for draft in tree.open]
    above = [position for position, other in enumerate(ranks) if 0 < other < rank]
    return above[-1] + 1 if above else 0


def _group_head(tree: Tree, head: Block) -> None:
    found = _GROUP_HEAD.fullmatch(head.text)
    number = found["number"].upper() if found else head.text
    base = f"{TITLE} {head.kind.title()} {number}"
    if head.kind == "subchapter" and tree.open:
        base = f"{tree.open[-1].base}, Subchapter {number}"
    title = found["title"].strip().rstrip("]") if found else ""
    start = tree.write(head.text)
    draft = tree.begin(base, head.kind, base, title, start)
    draft.citation = draft.base


def _section_head(tree: Tree, head: Block) -> None:
    found = _SECTION_HEAD.fullmatch(head.text)
    start = tree.write(head.text)
    if found is None:
        tree.begin(f"{TITLE} {head.text}", "section", head.text, "", start)
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
    # Outside brackets the word must be the whole title: a heading may begin with it.
    gone = (_OUT_OF_FORCE.match if bracketed else _OUT_OF_FORCE.fullmatch)(title)
    kind = gone.group(1).lower() if gone else "section"
    tree.begin(base, kind, citation, title, start)
