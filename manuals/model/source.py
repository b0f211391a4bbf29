"""What the project knows of a kind of manual: one ``Source`` object, registered by its package.

An entry point of group ``tam.sources`` names the object; ``docs/guides/source.md`` shows one from
the first line to a search. What a source leaves out has a general rule. Functions of later stages
are named by ``tam.plugins.Hook("module:function")`` and imported when they are first called.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from manuals.model.official_file import OfficialFile, Recognised
from manuals.model.reference import Reference
from manuals.model.sections import Edition, Manual, Section
from tam.errors import BadOption
from tam.plugins import Hook, Registry


@dataclass(frozen=True, slots=True)
class Match:
    """Sections of one edition for a reference; ``depth`` 0 when they are exactly what it names."""

    manual: Manual
    sections: tuple[Section, ...]
    depth: int


@dataclass(frozen=True, slots=True)
class ChunkCounts:
    """How many chunks the rules of preset ``paper`` should give.

    ``index`` and ``index_chunks`` are the name and size of the paper's index that holds the
    source, ``years`` and ``chunks`` its row there; ``same_as`` are years without a manual of
    their own and the year whose manual was in force. ``measured``: year -> lowest and highest
    count of the official edition.
    """

    index: str
    index_chunks: int
    years: tuple[int, ...]
    chunks: int
    same_as: tuple[tuple[int, int], ...] = ()
    measured: Mapping[int, tuple[int, int]] = field(default_factory=dict)


def _no_reference(text: str) -> Reference | None:
    return None


def _no_references(text: str, typed: bool) -> Iterable[Reference]:
    return ()


def _calendar_year(edition: Edition, siblings: Sequence[Edition]) -> tuple[date, date]:
    return date(edition.year, 1, 1), date(edition.year, 12, 31)


def _candidates(reference: Reference) -> tuple[str, ...]:
    return reference.candidates


@dataclass(frozen=True, kw_only=True, eq=False)
class Source:
    """A kind of manual, with editions by year.

    | field | what |
    |---|---|
    | ``name``, ``title``, ``short`` | as ids and options, headings, and messages write it |
    | ``corpus``, ``order`` | the index that holds it; its place among the others |
    | ``files`` | what a folder must hold, in words (``Title 18 HTML``) |
    | ``edition_title`` | a form with ``{title}`` and ``{year}`` |
    | ``parts`` | names of an edition's files, in order, when it comes in several |
    | ``recognise`` | a file -> edition; ``None`` when it is not one's own. Sources may share one |
    | ``parse`` | an edition's files, in the order of ``Edition.files`` -> ``Manual`` |
    | ``dates`` | an edition and all of its source -> first and last day for which it holds |
    | ``in_force`` | how that is said: a form with ``{dates}``, or ``{first}`` alone |
    | ``amendments`` | a manual and a whole section (``unit``) -> ``Amendment`` records by date |
    | ``official_years`` | the years with an edition of their own; empty when all may have one |
    | ``parse_reference`` | a typed text -> its reference, or ``None`` |
    | ``find_references`` | a running text, and whether a person typed it -> references in it |
    | ``kinds`` | kinds of reference answered though their ``sources`` do not name this source |
    | ``keys`` | a reference -> keys to try, from what was named upwards |
    | ``match`` | an edition and a reference -> what it holds of it; else the first of ``keys`` |
    | ``code_view`` | the same -> what a code inherits, or ``None`` |
    | ``why_absent`` | the same with a message and near keys for what is not there -> better ones |
    | ``path_keys`` | keys are paths of titles: found in any case and by their first words |
    | ``group`` | keys of units: what a search returns as one hit (``manuals.apply.names``) |
    | ``names`` | ``(manual, others)`` -> what units are called, here and in other manuals |
    | ``lay_names``, ``vocabulary`` | open data files: what people call a section; people's words |
    | ``way_to`` | a source whose units its entries name: no hit of its own beside them |
    | ``ties`` | kinds of pointer that tie two units: each is evidence for the other |
    | ``plan`` | ``(manual, statements)`` -> steps by which a whole case is looked up |
    | ``read_case`` | a case -> its statements, where it has a form of its own |
    | ``unit``, ``apparatus`` | keys of whole sections; of the editor's notes |
    | ``chunk_rules`` | preset -> rule: ``(manual, cutter)`` of ``sections``, else ``(manual)`` |
    | ``counts`` | what the rules of preset ``paper`` should give |
    | ``pointers`` | ``(manual, others)`` -> where its sections say to go next |
    | ``lines`` | ``(manual, chunks)`` -> the short units of each chunk |
    | ``expands`` | a source whose chunks are indexed with the paths that lead to them from here |
    | ``known_items`` | () -> query sets that the manual provides, with this source as gold |
    """

    name: str
    title: str
    corpus: str
    files: str
    recognise: Callable[[OfficialFile], Recognised | None]
    parse: Callable[[Sequence[Path], Edition], Manual]
    order: int = 100
    short: str = ""
    edition_title: str = "{title}, {year}"
    parts: tuple[str, ...] = ()
    dates: Callable[[Edition, Sequence[Edition]], tuple[date, date | None]] = _calendar_year
    in_force: str = "in force {dates}"
    amendments: Callable[..., Any] | None = None
    official_years: tuple[int, ...] = ()
    parse_reference: Callable[[str], Reference | None] = _no_reference
    find_references: Callable[[str, bool], Iterable[Reference]] = _no_references
    kinds: frozenset[str] = frozenset()
    keys: Callable[[Reference], tuple[str, ...]] = _candidates
    match: Callable[[Manual, Reference], Match | None] | None = None
    code_view: Callable[[Manual, Reference], Any] | None = None
    why_absent: Callable[..., tuple[str, tuple[str, ...]]] | None = None
    path_keys: bool = False
    group: re.Pattern[str] | None = None
    names: Callable[..., Any] = Hook("manuals.apply.names:titles")  # noqa: RUF009
    lay_names: Path | None = None
    vocabulary: Path | None = None
    way_to: str = ""
    ties: frozenset[str] = frozenset()
    plan: Callable[..., Any] | None = None
    read_case: Callable[..., Any] | None = None
    unit: re.Pattern[str] | None = None
    apparatus: re.Pattern[str] | None = None
    chunk_rules: Mapping[str, Callable[..., Any]] = field(
        default_factory=lambda: {"sections": Hook("chunkers.model.general:pieces")}
    )
    counts: ChunkCounts | None = None
    pointers: Callable[..., Any] = Hook("indexers.building.pointers.general:pointers")  # noqa: RUF009
    lines: Callable[..., Any] = Hook("indexers.building.lines:paragraph_lines")  # noqa: RUF009
    expands: str = ""
    known_items: Callable[[], Any] | None = None


SOURCES: Registry[Source] = Registry("tam.sources", "source")


def corpora() -> tuple[str, ...]:
    """The corpora of all sources, in the order of these."""
    return tuple(dict.fromkeys(source.corpus for source in SOURCES.values()))


def in_corpus(corpus: str) -> tuple[str, ...]:
    """The names of the sources of a corpus, in order."""
    return tuple(name for name, source in SOURCES.items() if source.corpus == corpus)


def check_corpus(corpus: str) -> str:
    """The corpus, if a source is of it; else raises ``BadOption`` with those that there are."""
    if corpus not in corpora():
        raise BadOption(f"corpus {corpus!r} is not known; choose one of {', '.join(corpora())}")
    return corpus


def check_source(source: str) -> str:
    """The source's name, if it is registered; else raises ``BadOption``."""
    if source not in SOURCES:
        raise BadOption(f"no source {source!r}; sources are {', '.join(SOURCES)}")
    return source


def edition_title(source: str, year: int) -> str:
    """``ICD-10-CM Tabular List, FY 2025``; ``Sentencing Guidelines Manual, 2025``."""
    of = SOURCES[source]
    return of.edition_title.format(title=of.title, year=year)


def sources_of(reference: Reference) -> tuple[str, ...]:
    """The sources that can hold what a reference names, in order; none for what no manual has."""
    return reference.sources or tuple(
        name for name, source in SOURCES.items() if reference.kind in source.kinds
    )
