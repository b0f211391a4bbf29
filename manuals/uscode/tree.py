"""Sections of the United States Code while they are being filed: the text so far, what is open."""

from __future__ import annotations

from dataclasses import dataclass, field

from manuals.model.sections import Edition, Section

TITLE = "18 U.S.C."
PARAGRAPH = "\n\n"
#: kinds of units, outermost first; all but the last are groups of sections
UNITS = ("title", "part", "chapter", "subchapter", "section")


@dataclass
class Draft:
    """A section that is not finished. ``base`` is its key without ``#2``."""

    key: str
    kind: str
    citation: str
    title: str
    parent: Draft | None
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

    def section(self, edition: Edition) -> Section:
        """The finished section."""
        path = self.path
        return Section(
            key=self.key,
            source=edition.source,
            year=edition.year,
            kind=self.kind,
            level=len(path) + 1,
            citation=self.citation,
            title=self.title,
            parent=self.parent.key if self.parent else None,
            path=path,
            span=(self.start, self.end),
            version=self.version,
        )


class Tree:
    """The text so far, and the sections with those still open."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.position = 0
        self.drafts: list[Draft] = []
        self.open: list[Draft] = []
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

    def close(self, depth: int, end: int | None = None) -> None:
        """Close open sections until ``depth`` of them are left, at ``end`` or the text so far."""
        while len(self.open) > depth:
            self.open.pop().end = self.position if end is None else end

    def begin(self, base: str, kind: str, citation: str, title: str, start: int) -> Draft:
        """Open a section below the last open one; a key that is taken gets ``#2``."""
        parent = self.open[-1] if self.open else None
        version = parent.version if parent and parent.kind not in UNITS[:-1] else 1
        key = base if version == 1 else f"{base}#{version}"
        while key in self._used:
            version += 1
            key = f"{base}#{version}"
        self._used.add(key)
        draft = Draft(key, kind, citation, title, parent, start, version, base=base)
        self.drafts.append(draft)
        self.open.append(draft)
        return draft

    def next_start(self) -> int:
        """The offset at which the next paragraph will begin."""
        return self.position + (len(PARAGRAPH) if self.pieces else 0)
