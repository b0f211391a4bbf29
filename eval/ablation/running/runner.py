"""Running a study: indexes, queries, cells, results; what is finished is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from eval.ablation.running.cell_files import (
    CellResult,
    cell_key,
    queries_hash,
    read_cell,
    write_cell,
)
from eval.ablation.running.indexes import Built, Indexes, chosen_editions, open_study_library
from eval.ablation.running.measuring import CellEvaluator
from eval.ablation.spec.cells import Cell
from eval.ablation.spec.study import Study
from eval.ablation.spec.validity import refuse_leaks
from eval.queries.known_items.sets import make_queries
from eval.queries.preparation import Wanted, prepare
from eval.queries.query_sets import QuerySet, SetInfo, read_query_set
from eval.queries.trec import is_jsonl
from manuals.library.editions import Library
from retrievers.ranking.legs import LegCache
from retrievers.search.index import Clock
from tam.errors import BadOption, StudyError
from tam.progress import progress
from tam.settings import BuildSettings

CELLS = "cells"


@dataclass
class StudyRun:
    """A study with its results, cell by cell in the order of the study.

    ``kept`` is how many cells were finished before; ``built`` are the indexes by settings;
    ``clock`` the seconds of each stage in this run. ``notes`` are lines about what could not be
    used.
    """

    study: Study
    query_set: QuerySet
    results: tuple[CellResult, ...]
    built: dict[BuildSettings, Built]
    notes: tuple[str, ...] = ()
    kept: int = 0
    clock: dict[str, float] = field(default_factory=dict)

    @property
    def info(self) -> SetInfo:
        return self.query_set.info


Say = Callable[[str], None]


def run_study(
    study: Study,
    out: Path,
    root: Path,
    manuals: Path | None = None,
    say: Say = lambda line: None,
) -> StudyRun:
    """Run what is not finished yet. Cells are kept below ``out``, indexes below ``root``.

    ``say`` takes lines about the progress. Raises ``StudyError``, and what builds and searches
    raise.
    """
    clock = Clock()
    _refuse_leaking_file(study)
    with clock.stage("manuals"):
        library, sample, notes = open_study_library(root, study.corpus, manuals)
    for note in notes:
        say(note)
    editions = chosen_editions(library, study.corpus, study.index_sources, study.index_years)
    indexes = Indexes(root, study.corpus, library, editions, sample)
    groups = _by_index(study)
    say(
        f"{study.name}: {len(study.cells)} cells on {len(groups)} "
        f"{'index' if len(groups) == 1 else 'indexes'}"
    )
    built: dict[BuildSettings, Built] = {}
    for settings in groups:
        with clock.stage("indexes"):
            built[settings] = indexes.of(settings)
    with clock.stage("queries"):
        query_set = _queries(study, library, built[study.cells[0].build])
    results, kept = _run_cells(study, query_set, groups, built, out / CELLS, clock, say)
    return StudyRun(
        study,
        query_set,
        tuple(results[cell] for cell in study.cells),
        built,
        tuple(dict.fromkeys(_notes(query_set, results, study.cells))),
        kept,
        dict(clock),
    )


def _refuse_leaking_file(study: Study) -> None:
    """A set in a file says itself what its texts are."""
    if study.queries.file is not None and is_jsonl(study.queries.file):
        info = read_query_set(study.queries.file).info
        refuse_leaks(info.text_from, study.cells, study.allow_leak, study.index_sources)


def _by_index(study: Study) -> dict[BuildSettings, list[Cell]]:
    """The cells of each index, in the order in which indexes are first needed."""
    groups: dict[BuildSettings, list[Cell]] = {}
    for cell in study.cells:
        groups.setdefault(cell.build, []).append(cell)
    return groups


def _queries(study: Study, library: Library, baseline: Built) -> QuerySet:
    """The queries with golds: made from all manuals, or read from the user's files."""
    source = study.queries
    if source.file is None:
        return make_queries(source.name, library, source.years, source.n, source.seed)
    return prepare(
        baseline.index,
        source.file,
        source.year_table,
        source.gold,
        Wanted(year_policy=study.year_policy),
    )


def _run_cells(
    study: Study,
    query_set: QuerySet,
    groups: dict[BuildSettings, list[Cell]],
    built: dict[BuildSettings, Built],
    folder: Path,
    clock: Clock,
    say: Say,
) -> tuple[dict[Cell, CellResult], int]:
    queries = queries_hash(query_set)
    paths: dict[Cell, Path] = {}
    results: dict[Cell, CellResult] = {}
    for settings, cells in groups.items():
        inputs = built[settings].index.manifest.inputs
        for cell in cells:
            paths[cell] = folder / f"{cell_key(study, cell, inputs, queries)[:32]}.parquet"
            found = read_cell(paths[cell])
            if found is not None:
                results[cell] = found
    kept = len(results)
    if kept:
        say(f"{kept} of {len(study.cells)} cells are finished already")
    todo = [cell for cells in groups.values() for cell in cells if cell not in results]
    cache = LegCache()
    evaluator: CellEvaluator | None = None
    for cell in progress(todo, f"{study.name}: cells", len(todo), "cells"):
        index = built[cell.build].index
        if evaluator is None or evaluator.index is not index:
            # The lists of another index are of no use any more; the queries' vectors are.
            cache.drop_legs()
            with clock.stage("golds"):
                evaluator = CellEvaluator(index, query_set, study, cache)
        with _named(cell):
            results[cell] = evaluator.measure(cell, clock)
        with clock.stage("writing"):
            write_cell(paths[cell], results[cell], study.labels, study.ks)
    return results, kept


def _notes(
    query_set: QuerySet, results: Mapping[Cell, CellResult], cells: Iterable[Cell]
) -> Iterator[str]:
    yield from query_set.notes
    for cell in cells:
        yield from results[cell].notes


@contextmanager
def _named(cell: Cell) -> Iterator[None]:
    try:
        yield
    except BadOption as error:
        raise StudyError(f"cell {cell.name!r}: {error}") from error
