"""What a study found: means, intervals, tests against the baseline, groups, worst queries.

All cells are compared on the queries that every cell measured. Intervals are 95 % bootstrap
intervals over queries. The test against the baseline is the paired randomisation test; Holm's
correction is over the cells, for each measure by itself. With ``REPORTED`` as the level, a cell is
marked as above or below the baseline.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from eval.ablation.running.cell_files import CellResult
from eval.ablation.running.runner import StudyRun
from eval.ablation.spec.cells import Cell
from eval.ablation.spec.study import Study
from eval.ablation.spec.validity import mark, meanings
from eval.measuring.judged import Floats, Ints
from eval.measuring.measures import Score
from eval.measuring.significance import Paired, bootstrap, compare, holm
from eval.queries.trec import split_section_id

REPORTED = 0.05
#: columns of numbers that go into one bootstrap together
_TOGETHER = 2_000


@dataclass(frozen=True)
class CellSummary:
    """One cell. ``means``, ``low`` and ``high`` [M] are of the study's measures, ``curve`` [3, K]
    mean, low and high of recall over sections; ``against`` [M] the comparisons with the baseline
    (empty for the baseline itself); ``mark`` see ``validity``."""

    cell: Cell
    mark: str
    means: Floats
    low: Floats
    high: Floats
    curve: Floats
    against: tuple[Paired, ...] = ()

    def sign(self, measure: int) -> int:
        """1 or -1 when the mean is above or below the baseline's by more than chance, else 0."""
        if not self.against or self.against[measure].adjusted >= REPORTED:
            return 0
        return 1 if self.against[measure].difference > 0 else -1


@dataclass(frozen=True)
class EditionRecall:
    """Golds of one source and year: how many, and for each cell [C] their recall at ``at``."""

    source: str
    year: int
    golds: int
    recall: Floats


@dataclass(frozen=True)
class Worst:
    """A query, its golds, and for the baseline and the best cell the value of the first measure
    and the ranks of the golds (0: not found). ``mean`` is over all cells."""

    query_id: str
    golds: tuple[str, ...]
    mean: float
    values: tuple[float, float]
    ranks: tuple[tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True)
class Summary:
    """A study's results. ``queries`` are those that every cell measured, ``left_out`` how many
    others some cell measured; ``best`` and ``baseline`` are numbers of rows; ``at`` is the k of
    ``groups``; ``unfound`` counts queries whose first measure is 0 in every cell."""

    run: StudyRun
    queries: tuple[str, ...]
    left_out: int
    rows: tuple[CellSummary, ...]
    groups: tuple[EditionRecall, ...]
    at: int
    best: int
    worst: tuple[Worst, ...]
    unfound: int

    @property
    def study(self) -> Study:
        return self.run.study

    @property
    def scores(self) -> list[Score]:
        """The measures as the baseline has them."""
        return self.study.scores(self.study.cells[0])

    def is_best(self, row: int, measure: int) -> bool:
        """Whether no cell without a mark has a better mean; marked cells are never the best."""
        if self.rows[row].mark:
            return False
        better = self.scores[measure].measure.better
        top = max(better * each.means[measure] for each in self.rows if not each.mark)
        return bool(better * self.rows[row].means[measure] >= top - 1e-12)

    def notes(self) -> Iterator[str]:
        """What a reader of any table of the study must know."""
        yield from meanings([row.mark for row in self.rows])
        yield from self.run.info.warnings()
        if self.left_out:
            yield f"{self.left_out} queries that not every cell could measure are left out"
        yield from self.run.notes


def summarise(run: StudyRun, shown: int = 20) -> Summary:
    """All numbers of a study's tables and figures; ``shown`` is how many worst queries."""
    queries, results = _common(run.results)
    study = run.study
    values = np.stack([each.values for each in results])
    curves = np.stack([each.curve for each in results])
    rows = list(_rows(run, values, curves))
    scores = study.scores(study.cells[0])
    better = scores[0].measure.better
    best = max(
        range(len(rows)),
        key=lambda at: (not rows[at].mark, better * rows[at].means[0] if len(queries) else 0, -at),
    )
    at = scores[0].at if scores[0].measure.parameter == "k" and scores[0].at else study.cells[0].k
    everyone = set().union(*(each.queries for each in run.results)) if run.results else set()
    first = better * values[:, :, 0]
    return Summary(
        run,
        queries,
        len(everyone) - len(queries),
        tuple(rows),
        tuple(_groups(results, at)),
        at,
        best,
        tuple(_worst(results, first, better, best, shown)),
        int((values[:, :, 0] == 0).all(axis=0).sum()),
    )


def _common(results: Sequence[CellResult]) -> tuple[tuple[str, ...], list[CellResult]]:
    """The queries that all cells measured, in the baseline's order, and the results on them."""
    held = set(results[0].queries).intersection(*(each.queries for each in results[1:]))
    queries = tuple(query for query in results[0].queries if query in held)
    return queries, [_select(each, queries) for each in results]


def _select(result: CellResult, queries: tuple[str, ...]) -> CellResult:
    if result.queries == queries:
        return result
    place = {query: at for at, query in enumerate(result.queries)}
    rows = np.array([place[query] for query in queries], dtype=np.int64)
    new = np.full(len(result.queries), -1, dtype=np.int64)
    new[rows] = np.arange(len(rows))
    kept = np.flatnonzero(new[result.gold_query] >= 0)
    kept = kept[np.argsort(new[result.gold_query[kept]], kind="stable")]
    return replace(
        result,
        queries=queries,
        values=result.values[rows],
        curve=result.curve[rows],
        gold_query=new[result.gold_query[kept]],
        gold_names=tuple(result.gold_names[at] for at in kept),
        gold_ranks=result.gold_ranks[kept],
    )


def _rows(run: StudyRun, values: Floats, curves: Floats) -> Iterator[CellSummary]:
    """[C, Q, M] and [C, Q, K] to one row for each cell."""
    study = run.study
    measures = values.shape[2]
    low, high = _intervals(values, study.seed)
    curve_low, curve_high = _intervals(curves, study.seed)
    against = _against(study, values)
    for at, cell in enumerate(study.cells):
        yield CellSummary(
            cell,
            mark(cell, run.info, study.index_sources),
            _mean(values[at]),
            low[at],
            high[at],
            np.stack([_mean(curves[at]), curve_low[at], curve_high[at]]),
            tuple(against[at * measures : (at + 1) * measures]) if at else (),
        )


def _mean(values: Floats) -> Floats:
    return values.mean(axis=0) if len(values) else np.zeros(values.shape[1])


def _intervals(values: Floats, seed: int) -> tuple[Floats, Floats]:
    """[C, Q, M] -> low and high [C, M]; all columns share the resamples."""
    cells, queries, measures = values.shape
    flat = values.transpose(1, 0, 2).reshape(queries, cells * measures)
    parts = [
        bootstrap(flat[:, first : first + _TOGETHER], seed=seed)
        for first in range(0, flat.shape[1], _TOGETHER)
    ]
    low, high = (np.concatenate(each).reshape(cells, measures) for each in zip(*parts, strict=True))
    return low, high


def _against(study: Study, values: Floats) -> list[Paired]:
    """Each cell against the baseline, cell by cell and measure by measure, the baseline's own
    comparisons with itself first."""
    cells, queries, measures = values.shape
    if not queries:
        return []
    flat = values.transpose(1, 0, 2).reshape(queries, cells * measures)
    base = np.tile(flat[:, :measures], (1, cells))
    names = [f"{cell.name}: {label}" for cell in study.cells for label in study.labels]
    found: list[Paired] = []
    for first in range(0, flat.shape[1], _TOGETHER):
        part = slice(first, first + _TOGETHER)
        found += compare(names[part], base[:, part], flat[:, part], study.seed)
    for measure in range(measures):
        places = range(measures + measure, len(found), measures)
        for place, adjusted in zip(places, holm([found[at].p for at in places]), strict=True):
            found[place] = found[place]._replace(adjusted=adjusted)
    return found


def _groups(results: Sequence[CellResult], at: int) -> Iterator[EditionRecall]:
    """Recall at ``at`` over the golds of each source and year."""
    names: list[str] = sorted({name for each in results for name in each.gold_names})
    edition = {name: _edition(name) for name in names}
    for source, year in sorted(set(edition.values())):
        recall = []
        golds = 0
        for each in results:
            inside = np.array(
                [edition[name] == (source, year) for name in each.gold_names], dtype=np.bool_
            )
            recall.append(_recall(each.gold_query[inside], each.gold_ranks[inside], at))
            golds = max(golds, int(inside.sum()))
        yield EditionRecall(source, year, golds, np.array(recall))


def _edition(name: str) -> tuple[str, int]:
    parts = split_section_id(name)
    return (parts[0], parts[1]) if parts else (name, 0)


def _recall(queries: Ints, ranks: Ints, at: int) -> float:
    """The mean over queries of the share of these golds that stand at ``at`` or above."""
    if not len(queries):
        return 0.0
    found = (ranks > 0) & (ranks <= at)
    golds = np.bincount(queries)
    hits = np.bincount(queries, weights=found)
    own = golds > 0
    return float((hits[own] / golds[own]).mean())


def _worst(
    results: Sequence[CellResult], first: Floats, better: int, best: int, shown: int
) -> Iterator[Worst]:
    """Queries by the mean of the first measure over the cells, lowest first; those that every
    cell answers in full are left out."""
    means = first.mean(axis=0)
    top = first.max(axis=0, initial=-np.inf)
    queries = results[0].queries
    limit = 1.0 if better > 0 else np.inf
    order = sorted(range(len(queries)), key=lambda at: (means[at], top[at], queries[at]))
    for at in order[:shown]:
        if means[at] >= limit:
            return
        pair = (results[0], results[best])
        golds = [pair[0].gold_names[place] for place in np.flatnonzero(pair[0].gold_query == at)]
        yield Worst(
            queries[at],
            tuple(golds),
            float(better * means[at]),
            (float(pair[0].values[at, 0]), float(pair[1].values[at, 0])),
            (_ranks(pair[0], at), _ranks(pair[1], at)),
        )


def _ranks(result: CellResult, query: int) -> tuple[int, ...]:
    return tuple(result.gold_ranks[result.gold_query == query].tolist())
