"""The end of the Guidelines Manual: Appendix A and, in some editions, indexes and lists."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Protocol

from manuals.model.section_tree import Node, SectionTree
from manuals.model.sections import Note
from manuals.pdf.lines import Hyphens, columns
from manuals.ussg.appendix_a import StatuteRow, guideline_refs, split_condition, statute_rows
from manuals.ussg.blocks import Block
from manuals.ussg.headings import CHAPTER, DIVISION, title_case
from manuals.ussg.layout import CELLS, Row

_TABLE_HEAD = re.compile(r"^Statute\b.*\bGuideline\b")


class Reader(Protocol):
    """What reads the manual up to here: its rows, the tree, and where text and sections go."""

    rows: list[Row]
    hyphens: Hyphens
    tree: SectionTree
    footed: set[int]

    def open(self, rank: int, key: str, kind: str, title: str, page: int) -> Node: ...

    def write(self, row: Row, joint: str) -> int: ...

    def put(self, block: Block) -> int: ...

    def blocks(self, found: Sequence[Row]) -> Iterator[Block]: ...

    def read_block(self, block: Block, following: Sequence[Block]) -> int: ...

    def unit_key(self) -> str: ...


def read_appendix(reader: Reader, head: Block) -> None:
    begin = next(i for i, row in enumerate(reader.rows) if row is head.first)
    tail = reader.rows[begin:]
    table = next((i for i, row in enumerate(tail) if _TABLE_HEAD.match(row.text)), len(tail))
    end = next((i for i in range(table + 1, len(tail)) if _ends_table(tail[i])), len(tail))
    key = f"Appendix {head.groups[0]}"
    reader.open(CHAPTER, key, "appendix", "Statutory Index", head.page)
    for block in reader.blocks(tail[:table]):
        if block.kind in ("appendix", "large"):
            reader.put(block)
        else:
            reader.read_block(block, ())
    reader.unit_key()
    if table < len(tail):
        reader.write(tail[table], "\n\n")
    for row in statute_rows([r.line for r in tail[table + 1 : end] if r.role == "body"]):
        _statute(reader, key, row)
    _back_matter(reader, tail[end:])


def _ends_table(row: Row) -> bool:
    return row.role in ("historical", "label") or (row.line.bold and row.role == "body")


def _statute(reader: Reader, appendix: str, row: StatuteRow) -> None:
    statute, condition = split_condition(row.cell(False, reader.hyphens))
    page = row.lines[0][1].page
    # Cited as a row: what stands there are guidelines, not the statute.
    row_key = f"{appendix} > {statute}"
    node = reader.tree.open(DIVISION, row_key, "statute", row_key, "", -1, page)
    node.refs.extend(guideline_refs(row.cell(True, reader.hyphens), condition))
    if condition:
        node.notes.append(Note("condition", condition))
    cells = [line for right in (False, True) for side, line in row.lines if side == right]
    before = False
    for number, line in enumerate(cells):
        side = number >= sum(not right for right, _ in row.lines)
        joint = "\n" if not number else (CELLS if side != before else " ")
        before = side
        start = reader.write(Row("body", line, line.text, 1, joint), joint)
        if not number:
            reader.tree.begin(start)


def _back_matter(reader: Reader, found: Sequence[Row]) -> None:
    """The appendix's historical note, then indexes and what has no page foot."""
    lines_of: dict[str, list[Row]] = {}
    name = ""
    for page, group in groupby(found, key=lambda row: row.line.page):
        on_page = [row for row in group if row.role != "furniture"]
        large = next((b for b in reader.blocks(on_page) if b.kind == "large"), None)
        if large is not None:
            name = title_case(large.text)
        elif page not in reader.footed and not name:
            name = "Back Matter"
        if name:
            on_page = _column_rows(on_page)
        lines_of.setdefault(name, []).extend(on_page)
    for name, on_pages in lines_of.items():
        if name and on_pages:
            reader.open(CHAPTER, name, "back-matter", "", on_pages[0].line.page)
        for block in reader.blocks(on_pages):
            if name:
                reader.put(block)
            else:
                reader.read_block(block, ())


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
