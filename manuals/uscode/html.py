"""United States Code HTML as blocks of text with what the structure comments say.

Both forms of the House's HTML have the same heads and paragraph classes: the annual archive
(with website furniture at its start) and the GPO edition (one file for each part, with page
comments in mid-paragraph). Fields are marked by comments ``field-start:NAME`` and
``field-end:NAME``; ``documentid`` comments begin each unit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from lxml import etree, html

from manuals.model.xmlsafe import parse_html
from tam.errors import UnrecognisedFile

BlockKind = Literal[
    "title", "part", "chapter", "subchapter", "section", "statute", "credit", "note_group",
    "note_head", "note", "footnote", "contents", "table",
]  # fmt: skip

_HEADS: dict[str, BlockKind] = {
    "usc-title-head": "title",
    "part-head": "part",
    "chapter-head": "chapter",
    "subchapter-head": "subchapter",
    "section-head": "section",
    "note-head": "note_head",
}
_SKIPPED = frozenset({"script", "style", "head", "noscript", "form", "nav", "button"})
_COMMENT = re.compile(r"\s*(?P<name>[a-z-]+):(?P<value>.*)", re.DOTALL)
_CURRENT = re.compile(r"currentthrough:(\d{8})")
_FOOTNOTE_TEXT = re.compile(
    r"\[?\d{1,2}\]? (?:So in original\b|Section catchline\b|See [^.]{1,60} notes? below\.)"
)
# A footnote's anchor that was left as a link: [1](#2281a_1_target)
_LINKED_ANCHOR = re.compile(r"\[(\d{1,2})\]\(#[^)\s]*\)")


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, heading or table. ``indent`` is the class's ``-2em`` (0 without)."""

    kind: BlockKind
    text: str
    field: str = ""
    indent: int = 0


def read_blocks(path: Path) -> tuple[list[Block], str]:
    """The blocks of one file in order, and its ``currentthrough`` date (``YYYYMMDD`` or empty).

    Raises ``DamagedFile`` (not HTML) and ``UnrecognisedFile`` (no structure comments).
    """
    reader = _Reader()
    reader.read(parse_html(path))
    if not any(block.kind == "section" for block in reader.blocks):
        raise UnrecognisedFile(
            f"{path}: no section of the United States Code in it; give the OLRC annual HTML "
            f"or the GPO edition's HTML of Title 18"
        )
    return reader.blocks, reader.current


def clean(text: str) -> str:
    """White space of any kind to single spaces; soft hyphens and zero-width characters dropped."""
    return re.sub(r"\s+", " ", re.sub("[\u00ad\u200b\ufeff]", "", text)).strip()


class _Reader:
    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.current = ""
        self.fields: list[str] = []
        self.started = False

    def read(self, element: html.HtmlElement) -> None:
        """Walk in document order; a block's own descendants are not walked again."""
        for child in element:
            if isinstance(child, etree._Comment):
                self._comment(child.text or "")
            elif (
                isinstance(child.tag, str) and child.tag not in _SKIPPED and not self._block(child)
            ):
                self.read(child)

    def _comment(self, text: str) -> None:
        found = _COMMENT.match(text)
        if found is None:
            return
        name, value = found["name"], found["value"].strip()
        if name == "documentid":
            # What stands before the first unit is the website's or the publisher's.
            self.started = True
            self.fields.clear()
            current = _CURRENT.search(value)
            if current and not self.current:
                self.current = current.group(1)
        elif name == "field-start":
            self.fields.append(value)
        elif name == "field-end" and value in self.fields:
            while self.fields.pop() != value:
                pass

    def _block(self, element: html.HtmlElement) -> bool:
        """Take an element as a block; false when it is only a container."""
        classes = (element.get("class") or "").split()
        first = classes[0] if classes else ""
        tag = element.tag
        if not (tag in ("p", "table") or re.fullmatch("h[1-6]", tag) or first == "analysis"):
            return False
        if not self.started:
            return True
        if first == "analysis":
            text = "\n".join(filter(None, (_inline(row) for row in element.iterchildren("div"))))
        else:
            text = _table(element) if tag == "table" else _inline(element)
        if text:
            self.blocks.append(self._classified(element, first, text))
        # Comments inside a block count all the same (page breaks do not matter).
        for inner in element.iter(etree.Comment):
            self._comment(inner.text or "")
        return True

    def _classified(self, element: html.HtmlElement, first: str, text: str) -> Block:
        field = self.fields[0] if self.fields else ""
        indent = re.search(r"-(\d)em$", first)
        block = Block("note", text, field, int(indent.group(1)) if indent else 0)
        if first in _HEADS:
            kind = _HEADS[first]
            if kind == "note_head" and element.find("strong") is not None:
                kind = "note_group"
            return replace(block, kind=kind)
        if first == "analysis":
            return replace(block, kind="contents")
        if first == "footnote" or _FOOTNOTE_TEXT.match(text):
            return replace(block, kind="footnote")
        if element.tag == "table":
            return replace(block, kind="table")
        if first == "source-credit":
            return replace(block, kind="credit")
        if first.startswith("statutory-body") or (field == "statute" and element.tag == "p"):
            return replace(block, kind="statute")
        return block


def _inline(element: html.HtmlElement) -> str:
    """An element's text on one line; a footnote's anchor in brackets, apart from the words."""
    return _LINKED_ANCHOR.sub(r"[\1]", clean("".join(_pieces(element))))


def _pieces(element: html.HtmlElement) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        if isinstance(child, etree._Comment):
            pass
        elif child.tag == "sup" and clean(child.text_content()).isdigit():
            yield f"[{clean(child.text_content())}]"
        elif child.tag in ("br", "div", "p"):
            yield from (" ", *_pieces(child), " ")
        else:
            yield from _pieces(child)
        yield child.tail or ""


def _table(table: html.HtmlElement) -> str:
    """Caption and rows as lines, cells parted by `` | ``."""
    lines = [_inline(caption) for caption in table.iter("caption")]
    for row in table.iter("tr"):
        cells = [_inline(cell) for cell in row if cell.tag in ("td", "th")]
        if any(cells):
            lines.append(" | ".join(cells))
    return "\n".join(lines)
