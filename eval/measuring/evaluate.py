"""Evaluating a retriever: search, judge, average.

A gold that the index does not hold is counted as missing and is in no average: that is the index's
gap, not the retriever's. A query without golds, or without one that is in the index, is left out
of the averages and counted. A query that finds nothing counts 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from eval.golds.coverage import Coverage, Status, by_query
from eval.golds.gold import Gold
from eval.measuring.diagnosis import Diagnosis, diagnose
from eval.measuring.judged import VIEWS, Bools, Floats, ViewName
from eval.measuring.measures import Score, standard_scores
from eval.measuring.plan import Counts, EvaluationPlan
from eval.measuring.significance import RESAMPLES, bootstrap
from eval.measuring.views import RankedQuery, View, chunks_view, sections_view
from eval.queries.case_files import listed
from eval.queries.query_sets import Query, QuerySet, SetInfo
from eval.queries.year_policy import choose_editions
from manuals.model.section_id import edition_name
from retrievers.ranking.legs import LegCache
from retrievers.search.index import Clock, Index, Ranking
from retrievers.search.settings import Filter, SearchSettings

KS = (1, 5, 8, 20)
BUDGETS = (4_000, 8_000, 16_000)
#: chunks retrieved for each query, at least: enough that most 16,000-token budgets are filled
DEPTH = 200
#: chunks retrieved for each section of the largest k, since several chunks can be one section
CHUNKS_A_SECTION = 5

BUILDERS: Mapping[ViewName, Callable[[Coverage, Sequence[RankedQuery]], View]] = {
    "sections": sections_view,
    "chunks": chunks_view,
}


@dataclass(frozen=True, slots=True)
class EvalSettings:
    """What to measure and how to search for it.

    ``sources`` limit search and golds to some manuals; without them a query's own ``source``
    counts. ``year_filter`` off searches all years' editions for golds of the query's year.
    """

    ks: tuple[int, ...] = KS
    budgets: tuple[int, ...] = BUDGETS
    views: tuple[ViewName, ...] = VIEWS
    search: SearchSettings = field(default_factory=SearchSettings)
    policy: str = "exact"
    year_filter: bool = True
    sources: tuple[str, ...] | None = None
    seed: int = 0
    resamples: int = RESAMPLES
    depth: int | None = None

    @property
    def chunks(self) -> int:
        """Chunks to retrieve for each query."""
        return self.depth or max(DEPTH, CHUNKS_A_SECTION * max(self.ks))


@dataclass(frozen=True, slots=True)
class GroupMeans:
    """Means over one group of golds: ``by`` is ``overall``, ``source``, ``year`` or ``origin``.

    ``means``, ``low`` and ``high`` are in the order of the evaluation's scores; the last two are
    the 95 % bootstrap interval.
    """

    by: str
    name: str
    queries: int
    golds: int
    means: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


@dataclass(frozen=True)
class Evaluation:
    """A retriever's results on a query set. ``values`` [Q, S] are one number for each measured
    query and score; ``diagnoses`` say for each gold what became of it."""

    info: SetInfo
    settings: EvalSettings
    queries: tuple[Query, ...]
    scores: tuple[Score, ...]
    values: Floats
    groups: tuple[GroupMeans, ...]
    views: Mapping[ViewName, View]
    diagnoses: tuple[Diagnosis, ...]
    counts: Counts
    notes: tuple[str, ...]
    clock: Mapping[str, float]

    def column(self, name: str) -> Floats:
        """[Q] the values of one score, by its name such as ``sections.recall@8``."""
        return self.values[:, [str(score) for score in self.scores].index(name)]


def plan_evaluation(
    index: Index, query_set: QuerySet, settings: EvalSettings, coverage: Coverage | None = None
) -> EvaluationPlan:
    """Which queries can be measured, with what filter and golds. Searches nothing."""
    coverage = coverage or Coverage(index.stored)
    pairs = [(edition.source, edition.year) for edition in index.manifest.editions]
    golds = by_query(query_set.golds)
    queries: list[Query] = []
    filters: list[Filter] = []
    kept: dict[str, tuple[Gold, ...]] = {}
    missing: list[tuple[Gold, Status]] = []
    left_out: dict[str, list[str]] = {}
    lacking: dict[str, list[str]] = {}
    other_sources = 0
    for query in query_set.queries:
        sources = settings.sources or ((query.source,) if query.source else None)
        editions = choose_editions(pairs, query.year, settings.policy, sources)
        wanted = [
            gold for gold in golds.get(query.query_id, ()) if not sources or gold.source in sources
        ]
        other_sources += len(golds.get(query.query_id, ())) - len(wanted)
        status = [(gold, coverage.status(gold)) for gold in wanted]
        missing += [(gold, what) for gold, what in status if what != "indexed"]
        held = tuple(gold for gold, what in status if what == "indexed")
        if settings.year_filter and not editions:
            reason = "no_year" if query.year is None else "no_edition"
        elif not wanted:
            reason = "without_golds"
        elif not held:
            reason = "all_missing"
        else:
            queries.append(query)
            kept[query.query_id] = held
            for source in _without_edition(index.sources, sources, editions, query, settings):
                lacking.setdefault(source, []).append(query.query_id)
            names = tuple(edition_name(source, year) for source, year in editions.items())
            filters.append(
                Filter(editions=names) if settings.year_filter else Filter(source=sources)
            )
            continue
        left_out.setdefault(reason, []).append(query.query_id)
    counts = Counts(
        queries=len(query_set.queries),
        measured=len(queries),
        without_golds=len(left_out.get("without_golds", ())),
        all_missing=len(left_out.get("all_missing", ())),
        no_year=len(left_out.get("no_year", ())),
        no_edition=len(left_out.get("no_edition", ())),
        found_nothing=0,
        golds=sum(map(len, kept.values())),
        missing=dict(sorted(Counter(what for _, what in missing).items())),
        other_sources=other_sources,
    )
    return EvaluationPlan(
        tuple(queries),
        tuple(filters),
        kept,
        tuple(missing),
        counts,
        tuple(_notes(left_out, lacking, missing)),
    )


def _without_edition(
    here: Iterable[str],
    sources: Iterable[str] | None,
    editions: Mapping[str, int],
    query: Query,
    settings: EvalSettings,
) -> list[str]:
    """Sources that a query is searched without, since none of their editions is of its year."""
    if not settings.year_filter or query.source is not None:
        return []
    wanted = here if sources is None else sources
    return [source for source in wanted if source not in editions]


_REASONS = {
    "no_year": "have no year and were left out; give --years, another --year-policy, "
    "or --no-year-filter",
    "no_edition": "are of a year without an edition here and were left out; "
    "another --year-policy takes another edition",
    "without_golds": "have no gold in the manuals searched and are in no average",
    "all_missing": "have only golds that the index does not hold and are in no average",
}


def _leaks(index: Index, query_set: QuerySet) -> list[str]:
    """A line when the indexed text was expanded with what the queries are."""
    info = query_set.info
    if info.text_from not in index.manifest.expanded_with:
        return []
    return [
        f"leak: {index.path.name} was built with expand_documents, so its text holds the queries of "
        f"{info.name} themselves ({info.text_from}); this is no measurement of retrieval"
    ]


def _notes(
    left_out: Mapping[str, Sequence[str]],
    lacking: Mapping[str, Sequence[str]],
    missing: Sequence[tuple[Gold, Status]],
) -> list[str]:
    notes = [
        f"{len(left_out[reason])} queries {words}: {listed(left_out[reason])}"
        for reason, words in _REASONS.items()
        if left_out.get(reason)
    ]
    notes += [
        f"{len(ids)} queries are of a year without an edition of {source} here and were searched "
        f"without it; another --year-policy takes another edition: {listed(ids)}"
        for source, ids in lacking.items()
    ]
    if missing:
        names = listed(gold.section for gold, _ in missing)
        notes.append(f"{len(missing)} golds are missing from the index, in no average: {names}")
    return notes


def ranked_queries(plan: EvaluationPlan, rankings: Sequence[Ranking]) -> list[RankedQuery]:
    """The plan's queries with what was found for them."""
    return [
        RankedQuery(query.query_id, plan.golds[query.query_id], found.rows, found.scores)
        for query, found in zip(plan.queries, rankings, strict=True)
    ]


def table_values(views: Mapping[ViewName, View], scores: Sequence[Score]) -> Floats:
    """[Q, S] every score of every query."""
    return np.stack([score.values(views[score.view].judged) for score in scores], axis=1)


def evaluate(
    index: Index,
    query_set: QuerySet,
    settings: EvalSettings | None = None,
    cache: LegCache | None = None,
    coverage: Coverage | None = None,
) -> Evaluation:
    """Search all queries of a set and measure what was found.

    Raises ``BadOption`` for a bad k or retriever, and ``BadIndex``.
    """
    settings = settings or EvalSettings()
    scores = standard_scores(settings.ks, settings.budgets, settings.views)
    coverage = coverage or Coverage(index.stored)
    clock = Clock()
    with clock.stage("golds"):
        plan = plan_evaluation(index, query_set, settings, coverage)
    rankings = index.rank_rows(
        [query.text for query in plan.queries],
        settings.chunks,
        filters=plan.filters,
        # Golds are of one year: no other year's text stands for theirs.
        settings=settings.search.with_options({"collapse": "off"}),
        cache=cache,
        clock=clock,
    )
    with clock.stage("judging"):
        ranked = ranked_queries(plan, rankings)
        views = {view: BUILDERS[view](coverage, ranked) for view in settings.views}
    with clock.stage("measures"):
        values = table_values(views, scores)
        groups = tuple(group_means(views, scores, values, settings))
    with clock.stage("diagnoses"):
        diagnoses = tuple(diagnose(index, coverage, plan, rankings, views))
    nothing = sum(not len(each.rows) for each in rankings)
    counts = replace(plan.counts, found_nothing=nothing)
    return Evaluation(
        query_set.info,
        settings,
        plan.queries,
        tuple(scores),
        values,
        groups,
        views,
        diagnoses,
        counts,
        (*query_set.notes, *plan.notes, *_leaks(index, query_set)),
        dict(clock),
    )


def group_means(
    views: Mapping[ViewName, View], scores: Sequence[Score], values: Floats, settings: EvalSettings
) -> list[GroupMeans]:
    """Means overall and by source, year and origin of the golds, with intervals."""
    golds = next(iter(views.values())).golds
    low, high = bootstrap(values, settings.resamples, seed=settings.seed)
    groups = [_group("overall", "overall", len(golds), values, low, high)]
    for by in ("source", "year", "origin"):
        labels = [str(getattr(gold, by)) for gold in golds]
        for name in sorted(set(labels)):
            wanted = np.array([label == name for label in labels])
            groups.append(_of_golds(by, name, wanted, views, scores, settings))
    return groups


def _of_golds(
    by: str,
    name: str,
    wanted: Bools,
    views: Mapping[ViewName, View],
    scores: Sequence[Score],
    settings: EvalSettings,
) -> GroupMeans:
    judged = {view: each.judged.select(wanted) for view, each in views.items()}
    values = np.stack([score.values(judged[score.view]) for score in scores], axis=1)
    low, high = bootstrap(values, settings.resamples, seed=settings.seed)
    return _group(by, name, int(wanted.sum()), values, low, high)


def _group(by: str, name: str, golds: int, values: Floats, low: Floats, high: Floats) -> GroupMeans:
    means = values.mean(axis=0) if len(values) else np.zeros(values.shape[1])
    return GroupMeans(
        by,
        name,
        len(values),
        golds,
        tuple(map(float, means)),
        tuple(map(float, low)),
        tuple(map(float, high)),
    )
