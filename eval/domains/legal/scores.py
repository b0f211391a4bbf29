"""Scores of legal runs: exact level, within 1 to 3 levels, mean absolute error.

Source: the TAM paper (arXiv 2609.13005), section 6.2.
"""

from __future__ import annotations

import math

from eval.domains.model import Published
from eval.systems.scoring.scores import Group, MeanError, Record, Scorer

COLUMNS = ("exact", "within 1", "within 2", "within 3")

#: cases by offense level: label, first, last
BANDS = (("level 1-9", 1, 9), ("10-19", 10, 19), ("20-29", 20, 29), ("30-43", 30, 43))


def row(record: Record) -> list[float]:
    """One case's values of ``COLUMNS``. A missing prediction is within no number of levels."""
    if record["prediction"] is None:
        return [0.0] * len(COLUMNS)
    off = level_error(record)
    return [float(off <= bound) for bound in (0, 1, 2, 3)]


def level_error(record: Record) -> float:
    """How many levels a prediction is off; there must be one."""
    return float(abs(int(record["prediction"]) - int(record["reference"])))


SCORER = Scorer(
    COLUMNS,
    row,
    lambda record: int(record["reference"]),
    BANDS,
    error=MeanError("MAE", "offense levels", level_error),
)


def _own_rows(whole: Group) -> list[list[str]]:
    mae = whole.value("MAE")
    exact = f"{100 * whole.value('exact'):.1f}"
    return [["this run", exact, "-" if math.isnan(mae) else f"{mae:.2f}"]]


#: printed in the paper (table 2), all with GPT-5
PUBLISHED = Published(
    ("", "exact %", "MAE"),
    _own_rows,
    (
        ("paper, single-pass", "7.5", "2.87"),
        ("paper, agentic", "11.0", "2.80"),
        ("paper, react", "15.5", "3.04"),
        ("paper, harness", "14.5", "2.34"),
    ),
    ("(paper: GPT-5, 200 cases; its harness returned nothing in 35 of them)",),
)
