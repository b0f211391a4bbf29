"""Golds: the sections that a query needs, whoever says so.

A gold is the key of a section with its source and year, so that every preset and chunk size is
measured by the same golds. Rules that find golds are a domain's (``eval/domains``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from eval.queries.trec import (
    Qrel,
    read_jsonl,
    read_qrels,
    section_id,
    split_section_id,
    write_jsonl,
)
from manuals.library.editions import Library
from manuals.model.keys import Reference, parse_reference
from manuals.model.source import SOURCES, sources_of
from tam.errors import BadCases, BadReference, UnknownKey, UnknownYear

Origin = Literal["given", "code", "cited", "mapped"]
#: origin -> what it means; of two golds of one section and grade the first origin here counts
ORIGINS: Mapping[Origin, str] = {
    "given": "a person wrote it",
    "code": "it comes from the case's answer codes",
    "cited": "the case or the text cites it",
    "mapped": "Appendix A maps a cited statute to it",
}

#: the section itself: given, cited, or the code's own
DIRECT = 3
#: one step away: an index entry with the code, a guideline that names it, Appendix A
NEAR = 2
#: two steps: an entry with an incomplete code, a guideline that names a category or range
WIDE = 1


@dataclass(frozen=True, slots=True)
class Gold:
    """A section that a query needs. ``grade`` from 1 (wide) to 3 (direct); ``note`` says through
    what it was found (``E11.22``, ``18 U.S.C. § 922(g)(1)``), never words of a case."""

    query_id: str
    source: str
    year: int
    key: str
    grade: int = DIRECT
    origin: Origin = "given"
    note: str = ""

    @property
    def section(self) -> str:
        """The section as an id of runs and qrels: ``ussg/2025/§2K2.1``."""
        return section_id(self.source, self.year, self.key)


def merge(golds: Iterable[Gold]) -> list[Gold]:
    """Each section once for a query: the highest grade, then the first origin of ``ORIGINS``.

    Order: as the sections first come.
    """
    order = list(ORIGINS)
    best: dict[tuple[str, str], Gold] = {}
    for gold in golds:
        at = (gold.query_id, gold.section)
        held = best.get(at)
        if held is None or (gold.grade, -order.index(gold.origin)) > (
            held.grade,
            -order.index(held.origin),
        ):
            best[at] = gold
    return list(best.values())


def qrels_of(golds: Iterable[Gold]) -> list[Qrel]:
    """The golds as judgements over section ids."""
    return [Qrel(gold.query_id, gold.section, gold.grade) for gold in golds]


# -- side file


def write_golds(path: Path, golds: Iterable[Gold]) -> None:
    """The side file of the qrels: what a qrels file has no columns for."""
    write_jsonl(path, (asdict(gold) for gold in golds))


def gold_of(path: Path, line: int, row: Mapping[str, Any], query_id: str = "") -> Gold:
    """A gold from its JSON form; raises ``BadCases`` naming file, line and field."""

    def field(name: str, kind: type, default: Any = None) -> Any:
        value = row.get(name, default)
        if not isinstance(value, kind) or isinstance(value, bool) or value == "" != default:
            raise BadCases(f"{path}:{line}: a gold's {name} is missing or not of its kind")
        return value

    source, origin = field("source", str), field("origin", str, "given")
    for what, value, known in (("source", source, SOURCES), ("origin", origin, ORIGINS)):
        if value not in known:
            raise BadCases(
                f"{path}:{line}: a gold's {what} {value!r} is none of {', '.join(known)}"
            )
    grade = field("grade", int, DIRECT)
    if grade < 1:
        raise BadCases(f"{path}:{line}: a gold's grade is {grade}; give 1 or more")
    return Gold(
        query_id or field("query_id", str),
        source,
        field("year", int),
        field("key", str),
        grade,
        origin,
        field("note", str, ""),
    )


def read_golds(path: Path) -> list[Gold]:
    """A side file; other fields are not looked at. Raises ``BadCases``."""
    return [gold_of(path, line, row) for line, row in read_jsonl(path)]


# -- given golds


@dataclass(frozen=True, slots=True)
class Given:
    """One line of a file of given golds: keys as written, the year they are of if it says so."""

    case_id: str
    year: int | None
    keys: tuple[str, ...]
    line: int


def read_given(path: Path) -> list[Given]:
    """JSONL with ``case_id``, ``year`` (may be missing or null) and ``gold_sections``.

    Raises ``BadCases``: a field that is missing or of the wrong kind, a case twice, a key twice,
    a key that is no reference.
    """
    found: list[Given] = []
    seen: dict[str, int] = {}
    for line, row in read_jsonl(path):
        case_id = row.get("case_id")
        if isinstance(case_id, int) and not isinstance(case_id, bool):
            case_id = str(case_id)
        if not isinstance(case_id, str) or not case_id:
            raise BadCases(f"{path}:{line}: no case_id; give the case's id")
        if case_id in seen:
            raise BadCases(
                f"{path}:{line}: case {case_id!r} stands in line {seen[case_id]} already; keep one"
            )
        seen[case_id] = line
        year = row.get("year")
        if year is not None and (isinstance(year, bool) or not isinstance(year, int)):
            raise BadCases(f"{path}:{line}: year is not a whole number; give one such as 2025")
        keys = row.get("gold_sections")
        if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
            raise BadCases(f"{path}:{line}: gold_sections is not a list of keys; give a list")
        for at, key in enumerate(keys):
            if key in keys[:at]:
                raise BadCases(f"{path}:{line}: gold {key!r} comes twice; keep one")
            if split_section_id(key) is None:
                _reference(path, line, key)
        found.append(Given(case_id, year, tuple(keys), line))
    return found


def _reference(path: Path, line: int, key: str) -> Reference:
    try:
        return parse_reference(key)
    except BadReference as error:
        raise BadCases(f"{path}:{line}: gold {error}") from error


def given_golds(
    given: Iterable[Given], editions: Mapping[str, Mapping[str, int]], library: Library
) -> list[Gold]:
    """Golds of a person: each key in the edition that the case is measured on.

    ``editions`` gives for each case source -> year. A key below the leaves of the tree, or a code
    with its seventh character, gives the section that holds it, with the key as note. A key that
    the edition does not hold stays as it is: it is counted as missing from the index. A key with
    its source and year (``ussg/2025/§2K2.1``) is taken as it is.
    """
    golds: list[Gold] = []
    for row in given:
        for key in row.keys:
            named = split_section_id(key)
            if named is not None:
                golds.append(Gold(row.case_id, *named))
                continue
            reference = parse_reference(key)
            golds.append(_placed(row, reference, editions.get(row.case_id, {}), library))
    return merge(golds)


def _placed(
    row: Given, reference: Reference, editions: Mapping[str, int], library: Library
) -> Gold:
    sources = sources_of(reference)
    for source in sources:
        if source not in editions:
            continue
        key = find_key(library, reference, source, editions[source])
        if key is not None:
            note = "" if key == reference.full_key else reference.full_key
            return Gold(row.case_id, source, editions[source], key, note=note)
    year = next((editions[source] for source in sources if source in editions), row.year or 0)
    return Gold(row.case_id, sources[0], year, reference.full_key)


def find_key(library: Library, reference: Reference, source: str, year: int) -> str | None:
    """The key of the section that a reference names in one edition, or of the nearest above."""
    try:
        return library.look_up(reference, year, source).section.key
    except (UnknownKey, UnknownYear):
        return None


_CHUNK_ID = re.compile(r"(?P<source>[a-z0-9]+)/(?P<year>\d{4})/.+", re.DOTALL)


def qrels_golds(
    path: Path, chunk_keys: Mapping[str, tuple[str, int, str]], library: Library | None
) -> list[Gold]:
    """Golds of a qrels file whose ids are section ids or chunk ids; grade 0 is no gold.

    A chunk id stands for the section that the chunk is named by (``chunk_keys`` maps ids to
    source, year, key), so that golds of one preset measure every preset. An id that is both is a
    section. Raises ``BadCases`` for an id that is of neither form.
    """
    golds: list[Gold] = []
    for qrel in read_qrels(path):
        if qrel.grade <= 0:
            continue
        named: tuple[str, int, str] | None = split_section_id(qrel.doc_id)
        if named is None:
            raise BadCases(
                f"{path}: {qrel.doc_id!r} (query {qrel.query_id!r}) is neither a section such as "
                f"ussg/2025/§2K2.1 nor the id of a chunk; escape blanks as %20"
            )
        if library is None or not _holds(library, *named):
            named = chunk_keys.get(qrel.doc_id, named)
        golds.append(Gold(qrel.query_id, *named, grade=qrel.grade))
    return merge(golds)


def _holds(library: Library, source: str, year: int, key: str) -> bool:
    return year in library.years(source) and key in library.manual(source, year).by_key


def at_least(golds: Sequence[Gold], grade: int) -> list[Gold]:
    """The golds of this grade or a higher one."""
    return [gold for gold in golds if gold.grade >= grade]
