"""Is it more than chance: bootstrap intervals, paired randomisation, Holm's correction.

All draws come from numpy's PCG64 with a seed, so that the same values give the same answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from eval.measuring.judged import Floats, Ints
from tam.errors import BadOption

RESAMPLES = 1_000
PERMUTATIONS = 10_000
#: up to so many queries that differ, every sign pattern is tried and the p-value is exact
EXACT_UP_TO = 14
# Two sums of the same numbers in another order differ by rounding; that is not a difference.
_ROUNDING = 1e-12


class Paired(NamedTuple):
    """System B against system A on the same queries.

    ``difference`` is mean B - mean A, ``low`` and ``high`` its bootstrap interval, ``p`` the
    two-sided p-value of the paired randomisation test, ``adjusted`` the same after Holm's
    correction over the measures tested together. ``wins`` are the queries on which B has more.
    """

    name: str
    mean_a: float
    mean_b: float
    difference: float
    low: float
    high: float
    p: float
    adjusted: float
    wins: int
    ties: int
    losses: int


def bootstrap(
    values: Floats, resamples: int = RESAMPLES, level: float = 0.95, seed: int = 0
) -> tuple[Floats, Floats]:
    """Percentile intervals of the means of M columns over the same queries.

    ``values`` [Q, M]; returns low [M] and high [M]. All columns share the resamples. Source:
    Efron and Tibshirani, An Introduction to the Bootstrap, 1993, ch. 13.
    """
    queries, columns = values.shape
    if queries == 0:
        return np.zeros(columns), np.zeros(columns)
    rng = np.random.default_rng(seed)
    counts = np.empty((resamples, queries))
    for at in range(resamples):
        draw = rng.integers(0, queries, size=queries)
        counts[at] = np.bincount(draw, minlength=queries)
    means = counts @ values / queries
    edges = np.quantile(means, [(1 - level) / 2, (1 + level) / 2], axis=0)
    # A matrix product may round differently with other thread counts.
    return np.round(edges[0], 10), np.round(edges[1], 10)


def randomisation(differences: Floats, permutations: int = PERMUTATIONS, seed: int = 0) -> Floats:
    """Two-sided p-values [M] that the mean of each column of ``differences`` [Q, M] is 0.

    The signs of the queries' differences are flipped at random, the same flips for all columns.
    Up to ``EXACT_UP_TO`` queries with a difference in some column every pattern is tried, else p
    is ``(1 + patterns at least as extreme) / (1 + patterns)``. Source: Smucker, Allan and
    Carterette, A comparison of statistical significance tests for IR evaluation, CIKM 2007.
    """
    differences = differences[np.any(differences != 0, axis=1)]
    queries, columns = differences.shape
    if queries == 0:
        return np.ones(columns)
    observed = np.abs(differences.sum(axis=0)) - _ROUNDING * queries
    if queries <= EXACT_UP_TO:
        patterns = np.arange(2**queries)[:, None] >> np.arange(queries) & 1
        extreme = np.abs((1.0 - 2.0 * patterns) @ differences) >= observed
        return np.asarray(extreme.mean(axis=0))
    rng = np.random.default_rng(seed)
    count = np.zeros(columns)
    done = 0
    while done < permutations:
        size = min(1_000, permutations - done)
        width = (queries + 7) // 8
        raw = rng.integers(0, 256, size=(size, width), dtype=np.uint8)
        bits = np.unpackbits(raw, axis=1, count=queries)
        count += (np.abs((1.0 - 2.0 * bits) @ differences) >= observed).sum(axis=0)
        done += size
    return np.asarray((1 + count) / (1 + permutations))


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjustment, in the order given.

    Source: Holm, A simple sequentially rejective multiple test procedure, 1979.
    """
    order = sorted(range(len(p_values)), key=lambda at: (p_values[at], at))
    adjusted = [0.0] * len(p_values)
    running = 0.0
    for step, at in enumerate(order):
        running = max(running, min(1.0, (len(p_values) - step) * p_values[at]))
        adjusted[at] = running
    return adjusted


def signs(differences: Floats) -> Ints:
    """1, 0 or -1 for each difference, with rounding taken as 0."""
    return np.where(np.abs(differences) <= _ROUNDING, 0, np.sign(differences)).astype(np.int64)


def compare(
    names: Sequence[str], a: Floats, b: Floats, seed: int = 0, permutations: int = PERMUTATIONS
) -> list[Paired]:
    """B against A: ``a`` and ``b`` [Q, M] over the same queries, ``names`` [M] of the measures.

    Raises ``BadOption`` when the shapes differ or there is no query.
    """
    if a.shape != b.shape or a.shape[1] != len(names):
        raise BadOption(f"cannot compare tables of {a.shape} and {b.shape}; give the same queries")
    if a.shape[0] == 0:
        raise BadOption("the two runs have no query in common; evaluate them on the same queries")
    differences = b - a
    differences[signs(differences) == 0] = 0.0
    low, high = bootstrap(differences, seed=seed)
    p = randomisation(differences, permutations, seed)
    adjusted = holm([float(value) for value in p])
    outcome = signs(differences)
    return [
        Paired(
            name,
            float(a[:, at].mean()),
            float(b[:, at].mean()),
            float(differences[:, at].mean()),
            float(low[at]),
            float(high[at]),
            float(p[at]),
            adjusted[at],
            int((outcome[:, at] > 0).sum()),
            int((outcome[:, at] == 0).sum()),
            int((outcome[:, at] < 0).sum()),
        )
        for at, name in enumerate(names)
    ]
