"""Fusion of ranked lists: one function for each method.

Every function takes the lists of one query, best first, and their weights, and returns the union
of their rows, ascending, with fused scores as float32. The caller puts them into the total order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from indexers.legs.ranking import RankedRows, Rows, Scores

#: as in Cormack et al. 2009
RRF_K = 60

Contributions = list[npt.NDArray[np.float64]]


class Fused(NamedTuple):
    """Distinct rows, ascending, and their fused scores."""

    rows: Rows
    scores: Scores


def _sum(lists: Sequence[RankedRows], contributions: Contributions, base: float = 0.0) -> Fused:
    if not lists:
        return Fused(np.empty(0, np.int64), np.empty(0, np.float32))
    rows, inverse = np.unique(np.concatenate([each.rows for each in lists]), return_inverse=True)
    total = np.bincount(inverse, weights=np.concatenate(contributions), minlength=len(rows))
    # float32 hides the last bits, which depend on the order of summation.
    return Fused(rows.astype(np.int64, copy=False), (total + base).astype(np.float32))


def rrf(lists: Sequence[RankedRows], weights: Sequence[float], k: int = RRF_K) -> Fused:
    """Reciprocal rank fusion: ``score(d) = sum over lists of weight / (k + rank(d))``.

    Ranks start at 1; a list that does not hold ``d`` adds nothing. Cormack, Clarke and Büttcher,
    "Reciprocal rank fusion outperforms Condorcet and individual rank learning methods", SIGIR 2009.
    """
    return _sum(
        lists,
        [
            weight / (k + np.arange(1, len(each.rows) + 1, dtype=np.float64))
            for each, weight in zip(lists, weights, strict=True)
        ],
    )


def minmax(lists: Sequence[RankedRows], weights: Sequence[float]) -> Fused:
    """Weighted sum of min-max scores: ``sum of weight * (s(d) - min) / (max - min)``.

    ``min`` and ``max`` are those of the list; a list that does not hold ``d`` adds 0, its minimum,
    and one whose scores are all equal adds nothing that tells rows apart. CombSUM of Fox and Shaw,
    "Combination of multiple searches", TREC-2, 1994, with the normalisation of Lee, "Analyses of
    multiple evidence combination", SIGIR 1997.
    """
    contributions: Contributions = []
    for each, weight in zip(lists, weights, strict=True):
        scores = each.scores.astype(np.float64)
        low = scores.min(initial=np.inf)
        spread = max(scores.max(initial=-np.inf) - low, 1e-9)
        contributions.append(weight * (scores - low) / spread)
    return _sum(lists, contributions)


def zscore(lists: Sequence[RankedRows], weights: Sequence[float]) -> Fused:
    """Weighted sum of z scores: ``sum of weight * (s(d) - mean) / standard deviation``.

    Mean and (population) deviation are those of the list. A list that does not hold ``d`` adds its
    lowest z score: with 0, which is the mean, a row that was not found would beat half of those
    that were. Montague and Aslam, "Relevance score normalization for metasearch", CIKM 2001
    (there: zero-mean, unit-variance, ZMUV).
    """
    contributions: Contributions = []
    base = 0.0
    for each, weight in zip(lists, weights, strict=True):
        scores = each.scores.astype(np.float64)
        if not len(scores):
            contributions.append(scores)
            continue
        spread = max(float(scores.std()), 1e-9)
        low = float(scores.min())
        base += weight * (low - float(scores.mean())) / spread
        contributions.append(weight * (scores - low) / spread)
    return _sum(lists, contributions, base)


FUSIONS: Mapping[str, Callable[[Sequence[RankedRows], Sequence[float]], Fused]] = MappingProxyType(
    {"rrf": rrf, "minmax": minmax, "zscore": zscore}
)
