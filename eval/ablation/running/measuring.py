"""One cell: search for all queries, lay the results against the golds, measure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date

import numpy as np

from eval.ablation.running.cell_files import CellResult
from eval.ablation.spec.cells import Cell
from eval.ablation.spec.study import Study
from eval.domains.model import domains_over
from eval.golds.coverage import Coverage
from eval.measuring.evaluate import EvalSettings, plan_evaluation, ranked_queries
from eval.measuring.measures import MEASURES, Score
from eval.measuring.plan import EvaluationPlan
from eval.measuring.views import View, chunks_view, sections_view
from eval.queries.query_sets import Query, QuerySet
from eval.queries.year_policy import choose_editions
from manuals.model.section_id import edition_name
from retrievers.ranking.legs import LegCache
from retrievers.search.index import Clock, Index
from retrievers.search.settings import Filter


class CellEvaluator:
    """An index made ready for a study: golds sorted out once, legs shared by all cells."""

    def __init__(self, index: Index, query_set: QuerySet, study: Study, cache: LegCache) -> None:
        self.index = index
        self.study = study
        self.cache = cache
        self.coverage = Coverage(index.stored)
        self.settings = EvalSettings(policy=study.year_policy, year_filter=study.needs_years)
        self.plan: EvaluationPlan = plan_evaluation(index, query_set, self.settings, self.coverage)
        self._filters: dict[str, tuple[Filter, ...]] = {}

    def filters(self, kind: str) -> tuple[Filter, ...]:
        """For each measured query the filter of a cell: ``off``, ``year`` or ``as_of``."""
        if kind not in self._filters:
            self._filters[kind] = tuple(self._filter(kind, query) for query in self.plan.queries)
        return self._filters[kind]

    def _filter(self, kind: str, query: Query) -> Filter:
        if kind == "off" or query.year is None:
            return Filter(source=query.source)
        if kind == "as_of":
            return Filter(source=query.source, as_of=self._day(query.source, query.year))
        editions = choose_editions(
            [(edition.source, edition.year) for edition in self.index.manifest.editions],
            query.year,
            self.study.year_policy,
            (query.source,) if query.source else None,
        )
        return Filter(editions=[edition_name(source, year) for source, year in editions.items()])

    def _day(self, source: str | None, year: int) -> date:
        """The last day of a year, or the first for which the year's edition of a source holds."""
        begins = [
            edition.effective_from
            for edition in self.index.manifest.editions
            if (edition.source, edition.year) == (source, year)
        ]
        # The last day of the domain's year: what came into force within it counts.
        return max([date(year, *domains_over(self.study.corpus)[0].last_day), *begins])

    def measure(self, cell: Cell, clock: Clock | None = None) -> CellResult:
        """Search and measure one cell. Raises as ``Index.rank_rows``."""
        clock = Clock() if clock is None else clock
        rankings = self.index.rank_rows(
            [query.text for query in self.plan.queries],
            self.study.deepest,
            filters=self.filters(cell.filter),
            settings=cell.search,
            cache=self.cache,
            clock=clock,
        )
        with clock.stage("judging"):
            ranked = ranked_queries(self.plan, rankings)
            scores = self.study.scores(cell)
            views = {"sections": sections_view(self.coverage, ranked)}
            if any(score.view == "chunks" for score in scores):
                # Reading the golds' texts takes longer than all the rest.
                shares = any(score.measure.name == "share" for score in scores)
                views["chunks"] = chunks_view(self.coverage, ranked, shares)
        with clock.stage("measures"):
            return _result(views, scores, self.study.ks, self.plan.notes)


def _result(
    views: Mapping[str, View],
    scores: Sequence[Score],
    ks: Sequence[int],
    notes: tuple[str, ...],
) -> CellResult:
    sections = views["sections"]
    curve = [Score(MEASURES["recall"], k, "sections").values(sections.judged) for k in ks]
    return CellResult(
        queries=sections.judged.queries,
        values=np.stack([score.values(views[score.view].judged) for score in scores], axis=1),
        curve=np.stack(curve, axis=1),
        gold_query=sections.judged.gold_query,
        gold_names=tuple(gold.section for gold in sections.golds),
        gold_ranks=sections.judged.first,
        notes=notes,
    )
