"""All editions of a folder, each parsed when it is first asked for, and lookups over them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from pathlib import Path

from manuals.icd10cm.code_view import CodeView
from manuals.library.lookup import match_reference, nearest_in, with_nearest
from manuals.library.standing import Standing, named, standing
from manuals.library.store import collector_paused, load_edition, load_manual
from manuals.model.keys import Reference, parse_reference
from manuals.model.sections import Edition, Manual, Section
from manuals.model.source import SOURCES, Match, check_source, sources_of
from manuals.model.units import unit_key
from manuals.model.years import edition_in_force, read_day
from tam.errors import BadOption, ManualError, UnknownKey, UnknownYear


@dataclass(frozen=True)
class Found:
    """What a lookup found.

    ``section`` is the one asked for or, when the tree does not go as deep, the nearest one above
    it (``exact`` is False then, and ``asked`` says what was asked for); ``also`` are further rows
    of Appendix A for the same statute. ``code`` is the full view of an ICD-10-CM code with all
    that it inherits. ``latest`` says that no year was asked for and
    the newest edition that holds the key was taken; ``other_years`` are the other editions.
    ``as_of`` is the day asked for.
    """

    manual: Manual
    section: Section
    reference: Reference
    asked: str
    exact: bool
    also: tuple[Section, ...] = ()
    code: CodeView | None = None
    latest: bool = False
    other_years: tuple[int, ...] = ()
    as_of: date | None = None
    library: Library | None = field(default=None, repr=False, compare=False)

    @cached_property
    def standing(self) -> Standing:
        """What is known of the section's force; for a day it reads the next edition too."""
        library = self.library or Library((self.manual.edition,), lambda edition: self.manual)
        return standing(library, self.manual, self.section, self.as_of)


class Library:
    """The editions of one folder.

    ``problems`` are lines about files that could not be read or need a look, ``notes`` about
    those left out on purpose.
    """

    def __init__(
        self,
        editions: Iterable[Edition],
        load: Callable[[Edition], Manual],
        problems: Sequence[str] = (),
        notes: Sequence[str] = (),
    ) -> None:
        order = list(SOURCES)
        self.editions = tuple(sorted(editions, key=lambda e: (order.index(e.source), e.year)))
        self.problems = tuple(problems)
        self.notes = tuple(notes)
        self._load = load
        self._manuals: dict[Edition, Manual] = {}

    @property
    def sources(self) -> tuple[str, ...]:
        """The sources that have an edition here, in the order of ``SOURCES``."""
        return tuple(dict.fromkeys(edition.source for edition in self.editions))

    def years(self, source: str) -> tuple[int, ...]:
        """The years of a source's editions, ascending."""
        return tuple(edition.year for edition in self.editions if edition.source == source)

    def edition(self, source: str, year: int) -> Edition:
        """The edition's record. Raises ``BadOption`` or ``UnknownYear``."""
        check_source(source)
        for edition in self.editions:
            if edition.source == source and edition.year == year:
                return edition
        here = ", ".join(map(str, self.years(source)))
        raise UnknownYear(
            f"no {source} of {year} is here; "
            + (f"years of {source}: {here}" if here else f"there is no edition of {source} at all")
        )

    def manual(self, source: str, year: int, keep: bool = True) -> Manual:
        """The parsed edition, kept in memory unless told otherwise.

        Raises as ``edition`` and as the source's parser.
        """
        edition = self.edition(source, year)
        manual = self._manuals.get(edition)
        if manual is None:
            with collector_paused():
                manual = self._load(edition)
            if keep:
                self._manuals[edition] = manual
        return manual

    def manuals(self, keep: bool = True) -> Iterator[Manual]:
        """Every edition parsed, in order."""
        for edition in self.editions:
            yield self.manual(edition.source, edition.year, keep)

    def look_up(
        self,
        typed: str | Reference,
        year: int | None = None,
        source: str | None = None,
        as_of: date | str | None = None,
    ) -> Found:
        """The section that a typed reference names.

        In the edition of ``year``, or in that which holds for the day ``as_of``; without both in
        the newest edition that holds it. A subdivision below the leaves of the tree gives the
        nearest section above. Raises ``BadOption``, ``BadReference``, ``UnknownYear``, and
        ``UnknownKey`` with the nearest keys and the years that hold it.
        """
        if year is not None and as_of is not None:
            raise BadOption("give a year or a date (as of), not both; leave one out")
        day = None if as_of is None else read_day(as_of)
        reference = parse_reference(typed) if isinstance(typed, str) else typed
        pairs = self._editions_for(reference, year, source, day)
        best: Match | None = None
        for edition in pairs:
            match = match_reference(self._parsed(edition), reference)
            if match is not None and (best is None or match.depth < best.depth):
                best = match
            if best is not None and best.depth == 0:
                break
        if best is None:
            raise self._unknown(reference, pairs, year, day)
        manual = best.manual
        source_of = SOURCES[manual.source]
        others = [other for other in self.years(manual.source) if other != manual.year]
        return Found(
            manual=manual,
            section=best.sections[0],
            reference=reference,
            asked=source_of.keys(reference)[0],
            exact=best.depth == 0,
            also=best.sections[1:],
            code=source_of.code_view and source_of.code_view(manual, reference),
            latest=year is None and day is None and bool(others),
            other_years=tuple(others),
            as_of=day,
            library=self,
        )

    def _editions_for(
        self, reference: Reference, year: int | None, source: str | None, day: date | None
    ) -> list[Edition]:
        """The editions to look in, newest first, sources in their order."""
        sources = (check_source(source),) if source else sources_of(reference)
        own = [edition for edition in self.editions if edition.source in sources]
        if day is not None and own:
            return _holding(own, day)
        chosen = [edition for edition in own if year is None or edition.year == year]
        if not chosen:
            asked_for = " or ".join(sources) or f"a manual with {reference.full_key}"
            here = ", ".join(edition.name for edition in own) or "none"
            raise UnknownYear(
                f"no edition of {asked_for}{f' of {year}' if year is not None else ''} is here; "
                f"editions here: {here}"
            )
        return sorted(chosen, key=lambda edition: -edition.year)

    def _parsed(self, edition: Edition) -> Manual:
        return self.manual(edition.source, edition.year)

    def _unknown(
        self,
        reference: Reference,
        tried: Sequence[Edition],
        year: int | None,
        day: date | None,
    ) -> UnknownKey:
        source = SOURCES[tried[0].source]
        key = source.keys(reference)[0]
        sources = {edition.source for edition in tried}
        years = sorted(
            {
                edition.year
                for edition in self.editions
                if edition.source in sources
                and edition not in tried
                and (match := match_reference(self._parsed(edition), reference)) is not None
                and match.depth == 0
            }
        )
        one = year is not None or len(tried) == 1
        where = tried[0].name if one else "any edition here"
        line = f"{key!r} is not in {where}"
        newest = {edition.source: edition for edition in reversed(tried)}
        near = nearest_in(key, map(self._parsed, newest.values()))
        if source.why_absent is None:
            line = with_nearest(line, near)
        else:
            line, near = source.why_absent(self._parsed(tried[0]), reference, line, near)
        if years:
            line += f"; it is in {', '.join(map(str, years))}: give one of these years"
        if day is not None and years:
            line += self._added_by(reference, tried[0], years)
        return UnknownKey(line, nearest=near, years=years)

    def _added_by(self, reference: Reference, tried: Edition, years: Sequence[int]) -> str:
        """Which law made a section that an edition does not hold yet, where its notes say so."""
        year = next((year for year in years if year > tried.year), None)
        manual = self.manual(tried.source, year) if year is not None else None
        match = match_reference(manual, reference) if manual else None
        if manual is None or match is None:
            return ""
        unit = manual.by_key.get(unit_key(manual.source, match.sections[0].key))
        laws = [each for each in (named(manual, unit) if unit else ()) if each.added]
        return f" ({year}: {laws[0]})" if laws else ""


def _holding(editions: Sequence[Edition], day: date) -> list[Edition]:
    """Of each source the edition that holds for a day. Raises ``UnknownYear`` when none does."""
    found: list[Edition] = []
    failed: UnknownYear | None = None
    for source in dict.fromkeys(edition.source for edition in editions):
        try:
            found.append(edition_in_force(editions, source, day))
        except UnknownYear as error:
            failed = failed or error
    if not found and failed is not None:
        raise failed
    return found


def open_manuals(folder: Path | str, strict: bool = False) -> Library:
    """The editions of a folder of official files, in any layout.

    Raises ``BadOption`` without such a folder, ``ManualError`` when there is no manual in it
    and, when ``strict``, at the first file that is not right.
    """
    # An index is read without the readers of official files.
    from manuals.library.discover import discover

    folder = Path(folder)
    found = discover(folder, strict)
    if not found.editions:
        reason = f" ({found.problems[0]})" if found.problems else ""
        *some, last = dict.fromkeys(source.files for source in SOURCES.values())
        raise ManualError(
            f"{folder}: no manual found{reason}; give a folder with {', '.join(some)} or {last}"
        )

    def load(edition: Edition) -> Manual:
        return parse_edition(edition, folder)

    return Library(found.editions, load, found.problems, found.notes)


def parse_edition(edition: Edition, folder: Path) -> Manual:
    """Parse one edition of official files below ``folder``."""
    parse = SOURCES[edition.source].parse
    return parse([folder / file.path for file in edition.files], edition)


def load_library(*folders: Path | str) -> Library:
    """The parsed editions that ``manuals.library.store.save_manual`` wrote below these folders.

    Of an edition in more than one folder the first counts. Raises ``ManualError`` when there are
    none.
    """
    places: dict[tuple[str, int], Path] = {}
    editions: list[Edition] = []
    for record in (record for folder in folders for record in parsed_editions(Path(folder))):
        edition = load_edition(record.parent)
        if places.setdefault((edition.source, edition.year), record.parent) == record.parent:
            editions.append(edition)
    if not editions:
        shown = ", ".join(map(str, folders))
        raise ManualError(f"{shown}: no parsed editions here; build an index first (tam build)")
    return Library(editions, lambda edition: load_manual(places[edition.source, edition.year]))


def parsed_editions(folder: Path) -> list[Path]:
    """The ``edition.json`` files of the parsed editions directly below a folder."""
    return sorted(folder.glob("*/edition.json"))
