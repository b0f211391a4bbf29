"""The chunk: what indexes hold and searches return."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from manuals.model.sections import Manual, Section, View

#: context and body of a chunk's text are parted by an empty line
JOINT = "\n\n"


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of one edition.

    ``id`` is readable and stable across rebuilds. ``keys`` are the keys of all sections that the
    chunk holds or cuts, in document order, and ``key`` the one it is named by. ``span`` is the
    slice ``[start, end)`` of the manual's ``view`` (``text``, or ``raw`` for the page-wise rules
    of preset ``paper`` on PDFs) and ``text_span`` the same in ``text``. ``body`` is that slice;
    ``text``, which is indexed, is the context lines, an empty line, and the body with white space
    as the preset wants it. ``part`` is (number, of how many) when a section was cut.
    ``tokens`` counts word pieces of the configured encoder's tokenizer over ``text``;
    ``sha256`` is that of ``text``.
    """

    id: str
    source: str
    year: int
    kind: str
    key: str
    keys: tuple[str, ...]
    citation: str
    title: str
    path: tuple[str, ...]
    context: str
    text: str
    view: View
    span: tuple[int, int]
    text_span: tuple[int, int]
    pages: tuple[int, int] | None
    part: tuple[int, int] | None
    file: str
    sha256: str
    tokens: int
    effective_from: date
    effective_to: date | None

    def body(self, manual: Manual) -> str:
        """The slice of the manual that this chunk was cut from."""
        source = manual.text if self.view == "text" else manual.raw
        return source[self.span[0] : self.span[1]]


@dataclass(frozen=True, slots=True)
class Piece:
    """What a preset's rule decides about one chunk; ``finish`` makes the chunk of it.

    ``slug`` becomes the last part of the id (``source/year/slug``); ``text`` is the whole text to
    index, context included.
    """

    slug: str
    kind: str
    section: Section
    span: tuple[int, int]
    context: str
    text: str
    title: str = ""
    view: View = "text"
    part: tuple[int, int] | None = None
    extra_keys: tuple[str, ...] = ()
