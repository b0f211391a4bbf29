"""Scores of ICD runs: micro and macro precision and recall, exact match, primary diagnosis.

Sources: the TAM paper (arXiv 2609.13005), section 6.2 (micro precision and recall, exact match,
primary diagnosis), and its data card (precision and recall as means over cases: macro here).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from eval.domains.model import Published
from eval.systems.scoring.scores import Floats, Group, Record, Scorer, Value
from manuals.icd10cm.codes import normalise_code, undotted

COLUMNS = ("exact", "precision (macro)", "recall (macro)", "F1 (macro)", "primary")

#: cases by number of reference codes: label, first, last
BANDS = (("1-4 codes", 1, 4), ("5-9", 5, 9), ("10-19", 10, 19), ("20 or more", 20, 10**6))


def _codes(record: Record) -> tuple[list[str], list[str]]:
    """Reference and predicted codes, whatever their dots and letters."""
    reference = [undotted(code) for code in record["reference"]]
    return reference, [undotted(code) for code in record["prediction"] or ()]


def _counts(record: Record) -> tuple[int, int, int]:
    """Hits, predicted and reference codes, each code once."""
    reference, predicted = map(set, _codes(record))
    return len(reference & predicted), len(predicted), len(reference)


def row(record: Record) -> list[float]:
    """One case's values of ``COLUMNS``. A missing prediction is wrong in all."""
    reference, predicted = _codes(record)
    hits, given, wanted = _counts(record)
    precision = hits / given if given else 0.0
    recall = hits / wanted if wanted else 0.0
    f1 = 2 * precision * recall / (precision + recall) if hits else 0.0
    exact = record["prediction"] is not None and set(reference) == set(predicted)
    primary = bool(predicted) and bool(reference) and predicted[0] == reference[0]
    return [float(exact), precision, recall, f1, float(primary)]


def micro(records: Sequence[Record]) -> list[Value]:
    """Precision, recall and F1 over all codes of all cases."""
    counts = np.array([_counts(record) for record in records], dtype=np.float64)
    queries = len(counts)
    rng = np.random.default_rng(0)
    draws = rng.integers(0, queries, size=(1000, queries))
    low, high = np.quantile(_ratios(counts[draws].sum(axis=1)), [0.025, 0.975], axis=0)
    value = _ratios(counts.sum(axis=0))
    names = ("precision (micro)", "recall (micro)", "F1 (micro)")
    return [
        Value(name, float(v), float(a), float(b), queries)
        for name, v, a, b in zip(names, value, low, high, strict=True)
    ]


def _ratios(sums: Floats) -> Floats:
    """Precision, recall and F1 of sums (..., 3) of hits, predicted and reference codes."""
    hits, predicted, reference = sums[..., 0], sums[..., 1], sums[..., 2]
    parts = ((hits, predicted), (hits, reference), (2 * hits, predicted + reference))
    return np.stack(
        [
            np.divide(above, below, out=np.zeros_like(above), where=below > 0)
            for above, below in parts
        ],
        axis=-1,
    )


SCORER = Scorer(COLUMNS, row, lambda record: len(record["reference"]), BANDS, micro)


def predicted_keys(prediction: Any) -> set[str]:
    """The sections that predicted codes name. A seventh character is no section of its own: the
    stem's is named."""
    codes = [normalise_code(code) for code in prediction or ()]
    return {*codes, *(normalise_code(undotted(code)[:6].rstrip("X")) for code in codes)}


def _own_rows(whole: Group) -> list[list[str]]:
    rows = []
    for kind in ("micro", "macro"):
        names = ("exact", f"precision ({kind})", f"recall ({kind})", "primary")
        values = [f"{100 * whole.value(name):.1f}" for name in names]
        rows.append([f"this run ({kind})", *values])
    return rows


#: printed in the paper (table 2), all with GPT-5
PUBLISHED = Published(
    ("per cent", "exact", "precision", "recall", "primary"),
    _own_rows,
    (
        ("paper, single-pass", "1.0", "52.0", "33.0", "42.7"),
        ("paper, agentic", "1.0", "59.0", "37.0", "45.7"),
        ("paper, react", "1.0", "58.9", "26.8", "20.0"),
        ("paper, harness", "0.7", "59.9", "27.4", "50.1"),
    ),
    ("(paper: GPT-5; micro by its text, means over cases by its data card)",),
)
