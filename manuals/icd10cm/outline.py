"""Writing a manual from nested units (XML): text, spans, paths and unique keys in one pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from manuals.model.sections import Edition, Manual, Note, Ref, Section


@dataclass(slots=True)
class _Open:
    """A section whose end has not come yet."""

    order: int
    key: str
    version: int
    kind: str
    citation: str
    title: str
    step: str
    path: tuple[str, ...]
    start: int
    notes: Sequence[Note]
    refs: Sequence[Ref]
    seventh: Sequence[tuple[str, str]]


@dataclass(slots=True)
class TextOutline:
    """Collects lines of text and the sections that hold them.

    ``open`` writes a section's heading line and makes it the current one; ``line`` adds a line to
    it; ``close`` ends it after the last line written. A key that comes again gets ``#2``.
    """

    edition: Edition
    _parts: list[str] = field(default_factory=list)
    _length: int = 0
    _end: int = 0
    _stack: list[_Open] = field(default_factory=list)
    _sections: list[Section | None] = field(default_factory=list)
    _seen: Counter[str] = field(default_factory=Counter)

    def line(self, text: str) -> None:
        """Write one line; an empty one parts paragraphs."""
        self._parts.append(f"{text}\n")
        self._length += len(text) + 1
        if text:
            self._end = self._length - 1

    def open(
        self,
        key: str,
        kind: str,
        heading: str,
        *,
        citation: str = "",
        title: str = "",
        step: str = "",
        notes: Sequence[Note] = (),
        refs: Sequence[Ref] = (),
        seventh: Sequence[tuple[str, str]] = (),
    ) -> None:
        """Begin a section with its heading line.

        ``citation`` is the key unless given; ``step`` is how paths of sections below show this
        one, by default citation and title.
        """
        self._seen[key] += 1
        version = self._seen[key]
        citation = citation or key
        above = self._stack[-1] if self._stack else None
        if not step:
            step = citation if not title or title == citation else f"{citation} {title}"
        self._stack.append(
            _Open(
                order=len(self._sections),
                key=key if version == 1 else f"{key}#{version}",
                version=version,
                kind=kind,
                citation=citation,
                title=title,
                step=step,
                path=(*above.path, above.step) if above else (),
                start=self._length,
                notes=notes,
                refs=refs,
                seventh=seventh,
            )
        )
        self._sections.append(None)
        self.line(heading)

    def close(self) -> None:
        """End the current section."""
        unit = self._stack.pop()
        self._sections[unit.order] = Section(
            key=unit.key,
            source=self.edition.source,
            year=self.edition.year,
            kind=unit.kind,
            level=len(self._stack),
            citation=unit.citation,
            title=unit.title,
            parent=self._stack[-1].key if self._stack else None,
            path=unit.path,
            span=(unit.start, max(self._end, unit.start)),
            notes=tuple(unit.notes),
            refs=tuple(unit.refs),
            seventh=tuple(unit.seventh),
            version=unit.version,
        )

    def manual(self, meta: Mapping[str, str]) -> Manual:
        """The manual, once every section is closed."""
        return Manual(
            edition=self.edition,
            text="".join(self._parts),
            sections=tuple(section for section in self._sections if section is not None),
            meta=dict(meta),
        )
