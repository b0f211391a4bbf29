"""Scores of end-to-end runs: what was predicted against the reference.

A missing prediction is counted apart and is wrong: it is no exact match, has precision, recall and
F1 of 0, a wrong primary diagnosis, and is within no number of levels. Only the mean absolute error
is over the cases with a prediction, as nothing says how far off a missing one is; the count of
missing ones stands beside it.

Sources: the TAM paper, section 6.2 (micro precision and recall, exact match, primary diagnosis,
MAE) and its data card (precision and recall as means over cases: macro here).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from eval.measuring.significance import bootstrap
from manuals.icd10cm.codes import undotted

Floats = npt.NDArray[np.float64]

#: cases by number of reference codes, and by offense level: label, first, last
CODE_BINS = (("1-4 codes", 1, 4), ("5-9", 5, 9), ("10-19", 10, 19), ("20 or more", 20, 10**6))
LEVEL_BANDS = (("level 1-9", 1, 9), ("10-19", 10, 19), ("20-29", 20, 29), ("30-43", 30, 43))


class Value(NamedTuple):
    """A measure's value with its 95 % bootstrap interval, over ``cases`` cases."""

    name: str
    value: float
    low: float
    high: float
    cases: int


class Group(NamedTuple):
    """Scores of some cases: all, a bin or a band."""

    label: str
    cases: int
    missing: int
    values: tuple[Value, ...]

    def value(self, name: str) -> float:
        """One measure's value."""
        return next(v.value for v in self.values if v.name == name)


def score_icd(records: Sequence[Mapping[str, Any]]) -> list[Group]:
    """Scores over all cases, then by number of reference codes; empty bins are left out."""
    groups = [_icd_group("all", records)]
    for label, first, last in CODE_BINS:
        own = [r for r in records if first <= len(r["reference"]) <= last]
        if own:
            groups.append(_icd_group(label, own))
    return groups


def score_legal(records: Sequence[Mapping[str, Any]]) -> list[Group]:
    """Scores over all cases, then by offense-level band; empty bands are left out."""
    groups = [_legal_group("all", records)]
    for label, first, last in LEVEL_BANDS:
        own = [r for r in records if first <= int(r["reference"]) <= last]
        if own:
            groups.append(_legal_group(label, own))
    return groups


ICD_COLUMNS = ("exact", "precision (macro)", "recall (macro)", "F1 (macro)", "primary")
LEGAL_COLUMNS = ("exact", "within 1", "within 2", "within 3")


def icd_case(record: Mapping[str, Any]) -> tuple[list[float], tuple[int, int, int]]:
    """One case: its row of ``ICD_COLUMNS``, and (hits, predicted, reference) for micro scores."""
    reference = [undotted(code) for code in record["reference"]]
    predicted = [undotted(code) for code in record["prediction"] or ()]
    hits = len(set(reference) & set(predicted))
    precision = hits / len(set(predicted)) if predicted else 0.0
    recall = hits / len(set(reference)) if reference else 0.0
    f1 = 2 * precision * recall / (precision + recall) if hits else 0.0
    exact = record["prediction"] is not None and set(reference) == set(predicted)
    primary = bool(predicted) and bool(reference) and predicted[0] == reference[0]
    row = [float(exact), precision, recall, f1, float(primary)]
    return row, (hits, len(set(predicted)), len(set(reference)))


def legal_case(record: Mapping[str, Any]) -> list[float]:
    """One case: its row of ``LEGAL_COLUMNS``."""
    if record["prediction"] is None:
        return [0.0] * len(LEGAL_COLUMNS)
    off = level_error(record)
    return [float(off == 0), *(float(off <= bound) for bound in (1, 2, 3))]


def level_error(record: Mapping[str, Any]) -> float:
    """How many levels a prediction is off; there must be one."""
    return float(abs(int(record["prediction"]) - int(record["reference"])))


def _icd_group(label: str, records: Sequence[Mapping[str, Any]]) -> Group:
    cases = [icd_case(record) for record in records]
    values = _means(ICD_COLUMNS, np.array([row for row, _ in cases], dtype=np.float64))
    counts = np.array([count for _, count in cases], dtype=np.float64)
    values += _micro(counts)
    missing = sum(record["prediction"] is None for record in records)
    return Group(label, len(records), missing, tuple(values))


def _micro(counts: Floats) -> list[Value]:
    """Precision, recall and F1 over all codes of all cases, ``counts`` [Q, 3]."""
    queries = len(counts)

    def ratios(sums: Floats) -> Floats:
        hits, predicted, reference = sums[..., 0], sums[..., 1], sums[..., 2]
        return np.stack(
            [
                np.divide(hits, predicted, out=np.zeros_like(hits), where=predicted > 0),
                np.divide(hits, reference, out=np.zeros_like(hits), where=reference > 0),
                np.divide(
                    2 * hits,
                    predicted + reference,
                    out=np.zeros_like(hits),
                    where=predicted + reference > 0,
                ),
            ],
            axis=-1,
        )

    rng = np.random.default_rng(0)
    draws = rng.integers(0, queries, size=(1000, queries))
    low, high = np.quantile(ratios(counts[draws].sum(axis=1)), [0.025, 0.975], axis=0)
    value = ratios(counts.sum(axis=0))
    names = ("precision (micro)", "recall (micro)", "F1 (micro)")
    return [
        Value(name, float(v), float(a), float(b), queries)
        for name, v, a, b in zip(names, value, low, high, strict=True)
    ]


def _legal_group(label: str, records: Sequence[Mapping[str, Any]]) -> Group:
    rows = np.array([legal_case(record) for record in records], dtype=np.float64)
    values = _means(LEGAL_COLUMNS, rows)
    predicted = [record for record in records if record["prediction"] is not None]
    errors = np.array([[level_error(record)] for record in predicted], dtype=np.float64)
    if len(errors):
        values += _means(("MAE",), errors)
    else:
        values.append(Value("MAE", float("nan"), float("nan"), float("nan"), 0))
    return Group(label, len(records), len(records) - len(predicted), tuple(values))


def _means(names: Sequence[str], rows: Floats) -> list[Value]:
    low, high = bootstrap(rows)
    means = rows.mean(axis=0)
    return [
        Value(name, float(means[at]), float(low[at]), float(high[at]), len(rows))
        for at, name in enumerate(names)
    ]
