"""What a search returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import date
from types import MappingProxyType
from typing import Any, Literal

from manuals.library.standing import Standing
from manuals.model.headings import full_name

FoundBy = Literal["search", "reference", "link"]


@dataclass(frozen=True, slots=True)
class Leg:
    """Where one leg ranked a chunk.

    ``rank`` is 1-based among the allowed chunks, ``score`` the leg's own. ``span`` is the best
    window ``[start, end)`` in the chunk's ``text``, for the dense leg.
    """

    rank: int
    score: float
    span: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class LinkInfo:
    """The link that led to a hit: from which section of which chunk, of which kind (see
    ``indexers.building.pointers``), to which key."""

    from_chunk: str
    from_section: str
    kind: str
    target: str


@dataclass(frozen=True, slots=True)
class Named:
    """The section that the query names. ``span`` is the stretch ``[start, end)`` of the hit's
    ``text`` that holds it, without an editor's notes; ``None`` where it is not to be found."""

    key: str
    span: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a hit's text is from: the manual's ``file`` (below the manuals folder), what its
    content says of itself (``release``), the dates between which the edition applies, the slice
    ``[start, end)`` of the edition's normalised text, and the sha256 of file and text."""

    file: str
    file_sha256: str | None
    release: str
    effective_from: date
    effective_to: date | None
    span: tuple[int, int]
    part: tuple[int, int] | None
    text_sha256: str


@dataclass(frozen=True, slots=True)
class Passage:
    """The lines of a chunk that answer the query best: the slice ``span`` of the edition's text,
    and the section ``key`` that holds all of it."""

    key: str
    span: tuple[int, int]
    text: str


@dataclass(frozen=True, slots=True)
class Hit:
    """One chunk found by a search.

    ``citation``, ``title``, ``path`` and ``pages`` are those of the section in which the
    ``passage`` stands that answers the query best (``passage`` is ``None``, and they are the
    chunk's, where the edition's text has nothing of it); a section that the query names keeps its
    name. The chunk as a whole ``covers`` what that field cites, on ``covers_pages``, and holds
    ``section_keys``. ``rank`` is 1-based and is what later stages read; ``score`` descends with it. ``legs`` are
    the ranks and scores of each leg that ranked the chunk within the fusion depth (``bm25``,
    ``dense``, and ``search``, the ranking before a reranker). ``found_by`` is ``reference`` for
    a section that the query names (``named`` says which) and ``link`` for one that another hit
    points to. ``same_text`` are other years with the same text (see ``collapse`` in
    ``SearchSettings``). ``standing`` is what is known of the force of the section cited: what the
    edition says of its dates, and the laws that amended the section, with their days.
    """

    rank: int
    score: float
    chunk_id: str
    section_keys: tuple[str, ...]
    citation: str
    title: str
    path: tuple[str, ...]
    year: int
    source: str
    pages: tuple[int, int] | None
    text: str
    kind: str
    tokens: int
    legs: Mapping[str, Leg] = field(default_factory=lambda: MappingProxyType({}))
    found_by: FoundBy = "search"
    link: LinkInfo | None = None
    named: Named | None = None
    same_text: tuple[int, ...] = ()
    provenance: Provenance | None = None
    passage: Passage | None = None
    standing: Standing | None = None
    covers: str = ""
    covers_pages: tuple[int, int] | None = None

    @property
    def name(self) -> str:
        """Citation and title as one line."""
        return full_name(self.citation, self.title)

    def to_json(self) -> dict[str, Any]:
        """The hit as JSON values; keys in the order of the fields."""
        return {
            "rank": self.rank,
            "score": self.score,
            "chunk_id": self.chunk_id,
            "section_keys": list(self.section_keys),
            "citation": self.citation,
            "title": self.title,
            "path": list(self.path),
            "year": self.year,
            "source": self.source,
            "pages": list(self.pages) if self.pages else None,
            "text": self.text,
            "kind": self.kind,
            "tokens": self.tokens,
            "legs": {
                name: {
                    "rank": leg.rank,
                    "score": leg.score,
                    "span": list(leg.span) if leg.span else None,
                }
                for name, leg in self.legs.items()
            },
            "found_by": self.found_by,
            "link": (
                {
                    "from_chunk": self.link.from_chunk,
                    "from_section": self.link.from_section,
                    "kind": self.link.kind,
                    "target": self.link.target,
                }
                if self.link
                else None
            ),
            "named": (
                {
                    "key": self.named.key,
                    "span": list(self.named.span) if self.named.span else None,
                }
                if self.named
                else None
            ),
            "same_text": list(self.same_text),
            "provenance": _provenance(self.provenance) if self.provenance else None,
            "standing": self.standing.to_json() if self.standing else None,
            "passage": (
                {
                    "key": self.passage.key,
                    "span": list(self.passage.span),
                    "text": self.passage.text,
                }
                if self.passage
                else None
            ),
            "covers": self.covers,
            "covers_pages": list(self.covers_pages) if self.covers_pages else None,
        }


def _provenance(record: Provenance) -> dict[str, Any]:
    until = record.effective_to
    return {
        **asdict(record),
        "effective_from": record.effective_from.isoformat(),
        "effective_to": until.isoformat() if until else None,
        "span": list(record.span),
        "part": list(record.part) if record.part else None,
    }
