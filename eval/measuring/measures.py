"""Measures as data: a name, one sentence, a parameter, a citation and a function.

A measure maps a judged run to one number for each query; the mean over queries is the result.
Sums run in rank order, so that the numbers are those of trec_eval to the last digit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from eval.measuring.judged import VIEWS, Floats, JudgedRun, ViewName
from tam.errors import BadOption

Parameter = Literal["k", "budget", ""]


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure. ``parameter``: ``k`` (a rank), ``budget`` (tokens) or none; ``optional`` when it
    may be left away (the whole list then). ``views`` are those in which it is defined.
    ``better``: 1 when more is better, -1 when less is."""

    name: str
    sentence: str
    parameter: Parameter
    citation: str
    function: Callable[[JudgedRun, int], Floats]
    views: tuple[ViewName, ...] = VIEWS
    optional: bool = False
    better: int = 1


@dataclass(frozen=True, slots=True)
class Score:
    """A measure with its parameter and view: one column of a table.

    ``at`` is 0 for the whole list. ``str(score)`` is ``sections.recall@8``.
    """

    measure: Measure
    at: int
    view: ViewName

    @property
    def label(self) -> str:
        """The name without the view: ``recall@8``."""
        return f"{self.measure.name}@{self.at}" if self.at else self.measure.name

    def __str__(self) -> str:
        return f"{self.view}.{self.label}"

    def values(self, judged: JudgedRun) -> Floats:
        """[Q] the measure of each query; ``judged`` is in the score's view."""
        if judged.view != self.view:
            raise BadOption(
                f"{self}: the run is judged in view {judged.view}; judge it in {self.view}"
            )
        if not judged.queries or not judged.depth:
            return np.zeros(len(judged.queries))
        return self.measure.function(judged, self.at)


def _top(judged: JudgedRun, k: int) -> int:
    return k if k else judged.depth


def recall(judged: JudgedRun, k: int) -> Floats:
    found = judged.new[:, : _top(judged, k)].sum(axis=1)
    return np.asarray(found / judged.golds)


def complete(judged: JudgedRun, k: int) -> Floats:
    found = judged.new[:, : _top(judged, k)].sum(axis=1)
    return np.asarray(found == judged.golds, dtype=np.float64)


def hit(judged: JudgedRun, k: int) -> Floats:
    return np.asarray(judged.covering[:, : _top(judged, k)].any(axis=1), dtype=np.float64)


def reciprocal_rank(judged: JudgedRun, k: int) -> Floats:
    covering = judged.covering[:, : _top(judged, k)]
    return np.asarray(np.where(covering.any(axis=1), 1.0 / (covering.argmax(axis=1) + 1), 0.0))


def precision(judged: JudgedRun, k: int) -> Floats:
    return np.asarray(judged.covering[:, :k].sum(axis=1) / k)


def ndcg(judged: JudgedRun, k: int) -> Floats:
    """Linear gain, discount ``1 / log2(rank + 1)``; the ideal list has one gold a position.

    A chunk that brings several golds at once gains them all; it can beat the ideal list, and the
    value is 1 then.
    """
    k = k or max(judged.depth, int(judged.golds.max()))
    seen = min(k, judged.depth)
    # cumsum adds from left to right, as trec_eval does; sum() would add in pairs.
    discount = np.log2(np.arange(2, seen + 2, dtype=np.float64))
    reached = (judged.gain[:, :seen] / discount).cumsum(axis=1)[:, -1]
    order = np.lexsort((-judged.grade, judged.gold_query))
    starts = np.concatenate(([0], judged.golds.cumsum()[:-1]))
    place = np.arange(len(order)) - np.repeat(starts, judged.golds)
    width = int(judged.golds.max())
    best = np.zeros((len(judged.queries), width))
    best[judged.gold_query[order], place] = judged.grade[order]
    best_discount = np.log2(np.arange(2, width + 2, dtype=np.float64))
    ideal = (best / best_discount)[:, : min(k, width)].cumsum(axis=1)[:, -1]
    return np.asarray(np.minimum(reached / ideal, 1.0))


def tokens(judged: JudgedRun, k: int) -> Floats:
    return np.asarray(judged.tokens[:, : _top(judged, k)].sum(axis=1), dtype=np.float64)


def budget_recall(judged: JudgedRun, budget: int) -> Floats:
    fits = judged.tokens.cumsum(axis=1) <= budget
    return np.asarray((judged.new * fits).sum(axis=1) / judged.golds)


def share(judged: JudgedRun, k: int) -> Floats:
    """Raises ``BadOption`` when the run was judged without the manuals' spans."""
    if judged.share is None:
        raise BadOption("share: the run was judged without the index's manuals; judge it by index")
    inside = judged.pair_position <= _top(judged, k)
    best = np.zeros(len(judged.gold_query))
    np.maximum.at(best, judged.pair_gold[inside], judged.share[inside])
    total = np.bincount(judged.gold_query, weights=best, minlength=len(judged.queries))
    return np.asarray(total / judged.golds)


_TREC = (
    "Buckley and Voorhees, TREC: Experiment and Evaluation in Information Retrieval, 2005, ch. 3"
)
_DCG = "Järvelin and Kekäläinen, Cumulated gain-based evaluation of IR techniques, TOIS 20(4), 2002"
_MRR = "Voorhees, The TREC-8 Question Answering Track Report, 1999"
_TAM = "this project, docs/evaluation.md"

MEASURES: dict[str, Measure] = {
    measure.name: measure
    for measure in (
        Measure(
            "recall", "Mean share of a query's golds that the top k cover.", "k", _TREC, recall
        ),
        Measure(
            "all", "Share of queries of which the top k cover every gold.", "k", _TAM, complete
        ),
        Measure("hit", "Share of queries of which the top k cover any gold.", "k", _TREC, hit),
        Measure(
            "mrr",
            "Mean of 1 / rank of the first result that covers a gold, 0 when none does.",
            "k",
            _MRR,
            reciprocal_rank,
            optional=True,
        ),
        Measure(
            "ndcg",
            "Discounted sum of the grades of the golds covered, by the best possible sum.",
            "k",
            _DCG,
            ndcg,
            optional=True,
        ),
        Measure("precision", "Share of the top k that cover a gold.", "k", _TREC, precision),
        Measure("tokens", "Mean tokens of the top k's chunks.", "k", _TAM, tokens, better=-1),
        Measure(
            "budget_recall",
            "Mean share of a query's golds in the chunks from the top that fit into so many tokens.",
            "budget",
            _TAM,
            budget_recall,
            views=("chunks",),
        ),
        Measure(
            "share",
            "Mean share of the golds' text that the top k's chunks hold.",
            "k",
            _TAM,
            share,
            views=("chunks",),
        ),
    )
}

_NAME = re.compile(r"(?:(?P<view>[a-z]+)\.)?(?P<name>[a-z_]+)(?:@(?P<at>\d{1,9}))?")


def parse_score(text: str, view: ViewName = "sections") -> Score:
    """``recall@8``, ``chunks.recall@8``, ``mrr``, ``budget_recall@4000`` -> a score.

    A measure without a view takes ``view`` where it is defined there, else its own. Raises
    ``BadOption`` naming what there is.
    """
    found = _NAME.fullmatch(text.strip())
    measure = MEASURES.get(found["name"]) if found else None
    if found is None or measure is None:
        raise BadOption(f"measure {text!r}: no such measure; choose from {', '.join(MEASURES)}")
    named = found["view"]
    chosen: ViewName = view if view in measure.views else measure.views[0]
    if named is not None:
        views = [known for known in measure.views if known == named]
        if not views:
            raise BadOption(
                f"measure {text!r}: {measure.name} has no view {named!r}; "
                f"choose from {', '.join(measure.views)}"
            )
        chosen = views[0]
    at = int(found["at"] or 0)
    if at == 0 and (found["at"] is not None or not measure.optional):
        raise BadOption(f"measure {text!r}: needs a number from 1, such as {measure.name}@8")
    return Score(measure, at, chosen)


def standard_scores(
    ks: Sequence[int], budgets: Sequence[int], views: Sequence[ViewName] = VIEWS
) -> list[Score]:
    """The columns of ``tam eval``: every measure at every k, or budget, in the views asked for.

    Raises ``BadOption`` for a k or budget below 1 and for an empty list of k.
    """
    if not ks or min(ks) < 1 or min(budgets, default=1) < 1:
        raise BadOption(
            "k and token budgets are whole numbers from 1; give for example -k 1,5,8,20"
        )
    scores = []
    for view in views:
        for measure in MEASURES.values():
            if view not in measure.views:
                continue
            if measure.name == "mrr":
                scores.append(Score(measure, 0, view))
                continue
            points = budgets if measure.parameter == "budget" else ks
            scores += [Score(measure, at, view) for at in sorted(set(points))]
    return scores
