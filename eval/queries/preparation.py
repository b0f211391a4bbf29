"""From the files that a user brings to queries with golds: what ``tam eval`` measures on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from eval.domains.model import domains_over
from eval.golds.gold import (
    Given,
    Gold,
    Origin,
    at_least,
    given_golds,
    merge,
    qrels_golds,
    read_given,
)
from eval.queries.case_files import YEAR_COLUMNS, Case, listed, read_years, with_years
from eval.queries.cases import read_cases
from eval.queries.query_sets import Query, QuerySet, SetInfo, read_query_set
from eval.queries.trec import is_jsonl
from eval.queries.year_policy import choose_editions
from retrievers.search.index import Index
from tam.errors import BadCases


@dataclass(frozen=True)
class Wanted:
    """How golds are found and which count.

    ``year_policy`` chooses the editions of a case, ``domain`` the reader of a case file whose
    columns are those of several. ``origins`` and ``min_grade`` leave golds out;
    ``tables`` lets the drug and neoplasm tables count as index entries. ``columns`` are names of a
    case file's columns, ``year_columns`` those of the year table.
    """

    year_policy: str = "exact"
    origins: tuple[Origin, ...] = ()
    min_grade: int = 1
    tables: bool = False
    columns: Mapping[str, str] = field(default_factory=dict)
    year_columns: tuple[str, str] = YEAR_COLUMNS
    domain: str | None = None


def prepare(
    index: Index,
    queries: Path,
    years: Path | None = None,
    golds: Sequence[Path] = (),
    wanted: Wanted | None = None,
) -> QuerySet:
    """Queries with golds from a case file (CSV) or a query set (JSONL).

    ``golds`` are files of given golds: JSONL of ``case_id`` and ``gold_sections``, or TREC qrels.
    Raises ``BadCases`` for a file that is not as documented.
    """
    wanted = wanted or Wanted()
    if is_jsonl(queries):
        found = read_query_set(queries)
        cases: list[Case] = []
    else:
        over = domains_over(index.corpus)[0].name
        domain, cases = read_cases(queries, wanted.columns, wanted.domain or over)
        if domain.corpus != index.corpus:
            raise BadCases(
                f"{queries}: {domain.name} cases, but the index is of {index.corpus}; "
                f"choose the other with --corpus"
            )
        found = QuerySet(SetInfo(queries.stem), (), ())
    notes: list[str] = list(found.notes)
    table = read_years(years, wanted.year_columns) if years is not None else {}
    given, qrels = _given_files(index, golds)
    own_years = {row.case_id: row.year for row in given if row.year is not None}
    if cases:
        cases = with_years(with_years(cases, own_years), table)
        asked = [Query(case.case_id, case.text, case.year) for case in cases]
    else:
        asked = [
            replace(
                query, year=table.get(query.query_id) or query.year or own_years.get(query.query_id)
            )
            for query in found.queries
        ]
    ids = {query.query_id for query in asked}
    notes += _strangers(table, ids, "years") + _strangers(
        [row.case_id for row in given], ids, "golds"
    )
    notes += _strangers(dict.fromkeys(gold.query_id for gold in qrels), ids, "qrels")
    notes += _years_that_differ(given, asked)
    pairs = [(edition.source, edition.year) for edition in index.manifest.editions]
    editions = {
        query.query_id: choose_editions(pairs, query.year, wanted.year_policy) for query in asked
    }
    all_golds = [
        *found.golds,
        *given_golds([row for row in given if row.case_id in ids], editions, index.library),
        *(gold for gold in qrels if gold.query_id in ids),
    ]
    if cases:
        more = domain.golds(index.library, cases, editions, wanted.tables)
        all_golds += more.golds
        notes += more.notes
    kept = [
        gold for gold in merge(all_golds) if not wanted.origins or gold.origin in wanted.origins
    ]
    return QuerySet(found.info, tuple(asked), tuple(at_least(kept, wanted.min_grade)), tuple(notes))


def _given_files(index: Index, paths: Iterable[Path]) -> tuple[list[Given], list[Gold]]:
    given: list[Given] = []
    qrels: list[Gold] = []
    for path in paths:
        if is_jsonl(path):
            given += read_given(path)
        else:
            qrels += qrels_golds(path, _chunk_keys(index), index.library)
    return given, qrels


def _chunk_keys(index: Index) -> dict[str, tuple[str, int, str]]:
    """Chunk id -> source, year and key of the section that the chunk is named by."""
    chunks = index.stored.chunks
    found: dict[str, tuple[str, int, str]] = {}
    for edition in index.manifest.editions:
        for row in range(edition.start, edition.stop):
            found[chunks.ids[row]] = (edition.source, edition.year, chunks.named[row])
    return found


def _strangers(names: Iterable[str], ids: set[str], what: str) -> list[str]:
    """A note on ids of another file that no query has."""
    strange = [name for name in names if name not in ids]
    if not strange:
        return []
    return [f"{len(strange)} ids of the {what} file are of no query: {listed(strange)}"]


def _years_that_differ(given: Iterable[Given], queries: Iterable[Query]) -> list[str]:
    years = {query.query_id: query.year for query in queries}
    differ = [
        row.case_id
        for row in given
        if row.year is not None and years.get(row.case_id, row.year) != row.year
    ]
    if not differ:
        return []
    return [
        f"{len(differ)} cases have another year in the golds file than in the queries or year table, "
        f"which counts: {listed(differ)}"
    ]
