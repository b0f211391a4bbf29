"""Sections of a flowing text: found by their headings, each open until a heading of its rank."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from manuals.model.sections import Edition, Note, Ref, Section


@dataclass(slots=True)
class Node:
    """A section that may still be open. ``rank`` orders the levels; the smaller is the outer."""

    rank: int
    key: str
    kind: str
    citation: str
    title: str
    start: int
    first_page: int
    parent: Node | None
    version: int = 1
    end: int = 0
    last_page: int = 0
    notes: list[Note] = field(default_factory=list)
    refs: list[Ref] = field(default_factory=list)


class SectionTree:
    """Opens and closes sections; a section ends where the last line in it ended."""

    def __init__(self) -> None:
        self._nodes: list[Node] = []
        self._stack: list[Node] = []
        self._keys: Counter[str] = Counter()

    @property
    def top(self) -> Node | None:
        """The innermost open section."""
        return self._stack[-1] if self._stack else None

    def at(self, rank: int) -> Node | None:
        """The open section of this rank."""
        return next((node for node in self._stack if node.rank == rank), None)

    def open(
        self, rank: int, key: str, kind: str, citation: str, title: str, start: int, page: int
    ) -> Node:
        """Close all of this rank and below, and open a section under what is left open.

        A key that was there before gets ``#2``, ``#3``, ... ``start`` is -1 when the heading is
        still to be written (``begin``).
        """
        self.close(rank)
        self._keys[key] += 1
        version = self._keys[key]
        key = key if version == 1 else f"{key}#{version}"
        node = Node(rank, key, kind, citation, title, start, page, self.top, version)
        self._nodes.append(node)
        self._stack.append(node)
        return node

    def begin(self, start: int) -> None:
        """Sections opened with a start of -1 begin at this offset."""
        for node in self._stack:
            if node.start < 0:
                node.start = start

    def close(self, rank: int) -> None:
        """Close all open sections of this rank and below."""
        while self._stack and self._stack[-1].rank >= rank:
            self._stack.pop()

    def reach(self, end: int, page: int) -> None:
        """All open sections now reach to this offset and page."""
        for node in self._stack:
            node.end = end
            node.last_page = page

    def sections(self, edition: Edition, paged: bool = True) -> tuple[Section, ...]:
        """All sections in document order; ``paged`` says whether their pages mean anything."""
        sections: list[Section] = []
        paths: dict[int, tuple[str, ...]] = {}
        for node in self._nodes:
            above = () if node.parent is None else paths[id(node.parent)]
            section = Section(
                key=node.key,
                source=edition.source,
                year=edition.year,
                kind=node.kind,
                level=len(above),
                citation=node.citation,
                title=node.title,
                parent=node.parent.key if node.parent else None,
                path=above,
                span=(node.start, max(node.end, node.start)),
                pages=(node.first_page, max(node.last_page, node.first_page)) if paged else None,
                notes=tuple(node.notes),
                refs=tuple(node.refs),
                version=node.version,
            )
            paths[id(node)] = (*above, section.heading)
            sections.append(section)
        return tuple(sections)
