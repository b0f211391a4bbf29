"""Scores of end-to-end runs: what was predicted against the reference, by a domain's scorer.

A missing prediction is counted apart and is wrong: it scores 0 in every measure of a case. Only a
mean error is over the cases with a prediction, as nothing says how far off a missing one is; the
count of missing ones stands beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from eval.measuring.significance import Paired, bootstrap, compare

Floats = npt.NDArray[np.float64]
Record = Mapping[str, Any]


class Value(NamedTuple):
    """A measure's value with its 95 % bootstrap interval, over ``cases`` cases. ``unit`` is empty
    for a share."""

    name: str
    value: float
    low: float
    high: float
    cases: int
    unit: str = ""


class Group(NamedTuple):
    """Scores of some cases: all, a bin or a band."""

    label: str
    cases: int
    missing: int
    values: tuple[Value, ...]

    def value(self, name: str) -> float:
        """One measure's value."""
        return next(v.value for v in self.values if v.name == name)


class MeanError(NamedTuple):
    """How far predictions are off, in ``unit``, over the cases that have one."""

    name: str
    unit: str
    of: Callable[[Record], float]


@dataclass(frozen=True, slots=True)
class Scorer:
    """How a domain's cases are scored.

    ``row`` gives a case's value of each of ``columns``, from 0 to 1, the first of which is the
    exact match. ``bands`` (label, first, last of ``size``) are groups beside all cases. ``pooled``
    gives measures over the cases as one, ``error`` a mean error.
    """

    columns: tuple[str, ...]
    row: Callable[[Record], Sequence[float]]
    size: Callable[[Record], int] = lambda record: 0
    bands: tuple[tuple[str, int, int], ...] = ()
    pooled: Callable[[Sequence[Record]], list[Value]] = lambda records: []
    error: MeanError | None = None

    def exact(self, record: Record) -> bool:
        """Whether a case was answered exactly."""
        return self.row(record)[0] == 1.0

    def score(self, records: Sequence[Record]) -> list[Group]:
        """Scores over all cases, then by band; empty bands are left out."""
        groups = [self._group("all", records)]
        for label, first, last in self.bands:
            own = [record for record in records if first <= self.size(record) <= last]
            if own:
                groups.append(self._group(label, own))
        return groups

    def _group(self, label: str, records: Sequence[Record]) -> Group:
        rows = np.array([self.row(record) for record in records], dtype=np.float64)
        predicted = [record for record in records if record["prediction"] is not None]
        values = _means(self.columns, rows) + self.pooled(records)
        if self.error is not None:
            values.append(_mean_error(self.error, predicted))
        return Group(label, len(records), len(records) - len(predicted), tuple(values))

    def compare(self, first: Sequence[Record], second: Sequence[Record]) -> list[Paired]:
        """The second run against the first, case by case; the mean error over the cases that
        both answered."""
        rows = [np.array([self.row(record) for record in side]) for side in (first, second)]
        paired = compare(list(self.columns), rows[0], rows[1])
        answered = [
            pair
            for pair in zip(first, second, strict=True)
            if None not in (pair[0]["prediction"], pair[1]["prediction"])
        ]
        if self.error is not None and answered:
            off = np.array([[self.error.of(record) for record in pair] for pair in answered])
            name = f"{self.error.name} ({len(answered)} answered by both)"
            paired += compare([name], off[:, :1], off[:, 1:])
        return paired


def _means(names: Sequence[str], rows: Floats, unit: str = "") -> list[Value]:
    low, high = bootstrap(rows)
    means = rows.mean(axis=0)
    return [
        Value(name, float(means[at]), float(low[at]), float(high[at]), len(rows), unit)
        for at, name in enumerate(names)
    ]


def _mean_error(error: MeanError, predicted: Sequence[Record]) -> Value:
    if not predicted:
        return Value(error.name, float("nan"), float("nan"), float("nan"), 0, error.unit)
    off = np.array([[error.of(record)] for record in predicted], dtype=np.float64)
    return _means((error.name,), off, error.unit)[0]


def _equal(record: Record) -> list[float]:
    return [float(record["prediction"] == record["reference"])]


#: a prediction is right when it is the reference
EXACT_ONLY = Scorer(("exact",), _equal)
