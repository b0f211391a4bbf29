"""From a filter to the rows that a search may return: exact, and before any top k."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date

import numpy as np
import numpy.typing as npt

from indexers.folder.manifest import EditionRows
from indexers.folder.opened import StoredIndex
from indexers.legs.model import Allowed
from manuals.icd10cm.codes import CATEGORY
from manuals.model.keys import Reference, parse_reference
from manuals.model.sections import Edition, Manual, Section
from manuals.model.source import SOURCES, sources_of
from manuals.model.units import is_apparatus
from manuals.model.years import edition_in_force, in_force
from retrievers.search.settings import Filter
from tam.errors import BadOption, UnknownKey, UnknownYear

_CATEGORY = re.compile(CATEGORY)

#: edition -> which of its rows are allowed
Masks = Mapping[str, npt.NDArray[np.bool_]]


def allowed_rows(index: StoredIndex, wanted: Filter) -> Allowed:
    """The rows of an index that a filter allows; never none.

    Raises ``BadOption`` (source), ``UnknownYear``, ``BadReference`` and ``UnknownKey``, each with
    what there is.
    """
    editions = _in_time(_of_sources(_named(index.manifest.editions, wanted), wanted), wanted)
    if wanted.under is None and wanted.notes:
        return Allowed(editions, tuple(index.chunks.rows_of(editions)))
    if wanted.under is None:
        held = {edition.name: np.ones(edition.chunks, bool) for edition in editions}
    else:
        held = _held_under(index, editions, wanted.under)
    if not wanted.notes:
        held = _without_notes(index, editions, held)
    keeping = tuple(edition for edition in editions if edition.name in held)
    mask = np.concatenate([held[edition.name] for edition in keeping])
    slices = tuple(index.chunks.rows_of(keeping))
    return Allowed(keeping, slices, None if mask.all() else mask)


def _without_notes(
    index: StoredIndex, editions: Sequence[EditionRows], held: Masks
) -> dict[str, npt.NDArray[np.bool_]]:
    """The masks without rows that hold nothing but apparatus."""
    kept: dict[str, npt.NDArray[np.bool_]] = {}
    for edition in editions:
        if edition.name not in held:
            continue
        mask = held[edition.name].copy()
        for at in np.flatnonzero(mask).tolist():
            keys = index.chunks.keys(edition.start + at)
            mask[at] = not (keys and all(is_apparatus(edition.source, key) for key in keys))
        if mask.any():
            kept[edition.name] = mask
    if not kept:
        raise BadOption("notes: nothing but notes is left by the other filters; allow notes")
    return kept


def editions_in_time(index: StoredIndex, wanted: Filter) -> tuple[EditionRows, ...]:
    """The editions of all sources that the filter's years or day allow."""
    return _in_time(index.manifest.editions, replace(wanted, source=None))


def _named(editions: Sequence[EditionRows], wanted: Filter) -> tuple[EditionRows, ...]:
    if wanted.editions is None:
        return tuple(editions)
    names = set(wanted.editions)
    missing = sorted(names - {edition.name for edition in editions})
    if missing or not names:
        raise UnknownYear(
            f"no edition {', '.join(missing) or 'asked for'} in this index; {_list(editions)}"
        )
    return tuple(edition for edition in editions if edition.name in names)


def _of_sources(editions: Sequence[EditionRows], wanted: Filter) -> tuple[EditionRows, ...]:
    if wanted.sources is None:
        return tuple(editions)
    here = tuple(dict.fromkeys(edition.source for edition in editions))
    for source in wanted.sources:
        if source not in here:
            known = "is not in this index" if source in SOURCES else "is not known"
            raise BadOption(f"source {source!r} {known}; sources here: {', '.join(here)}")
    return tuple(edition for edition in editions if edition.source in wanted.sources)


def _in_time(editions: tuple[EditionRows, ...], wanted: Filter) -> tuple[EditionRows, ...]:
    if wanted.as_of is not None:
        return _in_force(editions, wanted)
    years = wanted.years
    if years is None:
        return editions
    if isinstance(years, tuple):
        chosen = tuple(e for e in editions if years[0] <= e.year <= years[1])
        missing = "" if chosen else f"{years[0]} to {years[1]}"
    else:
        chosen = tuple(e for e in editions if e.year in years)
        missing = ", ".join(str(y) for y in sorted(years - {e.year for e in chosen}))
    if missing:
        raise UnknownYear(f"no edition of {missing} in this index; {_list(editions)}")
    return chosen


def _list(editions: Iterable[EditionRows]) -> str:
    """``years here: title18 2021, 2022; ussg 2025``."""
    by_source: dict[str, list[str]] = {}
    for edition in editions:
        by_source.setdefault(edition.source, []).append(str(edition.year))
    listed = "; ".join(f"{source} {', '.join(years)}" for source, years in by_source.items())
    return f"years here: {listed or 'none'}"


def _in_force(editions: tuple[EditionRows, ...], wanted: Filter) -> tuple[EditionRows, ...]:
    """Of each source the edition that holds. A source without one is left out, unless it was asked
    for by name or no source has one."""
    day = wanted.as_of
    if not isinstance(day, date):
        raise TypeError(f"as_of is {day!r}, which Filter makes a date")
    records = [_edition(edition) for edition in editions]
    names: set[str] = set()
    failed: UnknownYear | None = None
    for source in dict.fromkeys(edition.source for edition in editions):
        try:
            names.add(edition_in_force(records, source, day).name)
        except UnknownYear as error:
            if wanted.sources is not None:
                raise
            failed = error
    if not names:
        if failed is not None and len({edition.source for edition in editions}) == 1:
            raise failed
        ranges = "; ".join(f"{e.name} {in_force(e)}" for e in records)
        raise UnknownYear(f"no edition in this index holds for {day.isoformat()}: {ranges}")
    return tuple(edition for edition in editions if edition.name in names)


def _edition(rows: EditionRows) -> Edition:
    return Edition(
        rows.source,
        rows.year,
        rows.title,
        rows.release,
        rows.files,
        rows.effective_from,
        rows.effective_to,
        rows.problems,
    )


def _held_under(
    index: StoredIndex, editions: Sequence[EditionRows], typed: str
) -> dict[str, npt.NDArray[np.bool_]]:
    """For each edition that has the section: which of its rows hold something in or below it.

    A reference that could be of several sources (a word: an index entry) counts in all that
    have it.
    """
    reference = parse_reference(typed)
    sources = sources_of(reference)
    searched = [edition for edition in editions if edition.source in sources]
    if not searched:
        wanted, here = " or ".join(sources), ", ".join(edition.name for edition in editions)
        raise UnknownKey(f"{typed!r} is of {wanted}, and the search is limited to {here}")
    held: dict[str, npt.NDArray[np.bool_]] = {}
    errors: list[UnknownKey] = []
    for edition in searched:
        try:
            keys = _keys_under(index, edition, reference, typed)
        except UnknownKey as error:
            errors.append(error)
            continue
        mask = _rows_holding(index, edition, keys)
        if mask.any():
            held[edition.name] = mask
    if held:
        return held
    if errors:
        raise errors[-1]
    raise UnknownKey(f"no chunk of this index holds {typed!r} or anything below it")


def _keys_under(
    index: StoredIndex, edition: EditionRows, reference: Reference, typed: str
) -> frozenset[str]:
    manual = index.library.manual(edition.source, edition.year)
    if reference.kind == "code_range" and reference.key not in manual.by_key:
        first, last = reference.key.split("-")
        sections = _categories(manual, lambda code: first <= code[:3] <= last)
        if not sections:
            raise UnknownKey(f"{edition.name} has no code from {first} to {last}")
    else:
        found = index.library.look_up(reference, edition.year, edition.source)
        if not found.exact:
            raise UnknownKey(
                f"{found.asked!r} is not in {edition.name}; the nearest section above it is "
                f"{found.section.key!r}",
                nearest=(found.section.key,),
            )
        sections = [found.section]
    return frozenset(below.key for section in sections for below in manual.subtree(section))


def _categories(manual: Manual, wanted: Callable[[str], bool]) -> list[Section]:
    return [s for s in manual.sections if _CATEGORY.fullmatch(s.key) and wanted(s.key)]


def _rows_holding(
    index: StoredIndex, edition: EditionRows, keys: frozenset[str]
) -> npt.NDArray[np.bool_]:
    mask = np.zeros(edition.chunks, bool)
    for row in range(edition.start, edition.stop):
        mask[row - edition.start] = not keys.isdisjoint(index.chunks.keys(row))
    return mask
