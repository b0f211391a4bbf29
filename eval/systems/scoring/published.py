"""Results printed in the TAM paper (arXiv 2609.13005, table 2), all with GPT-5.

Shares are per cent. ICD precision and recall are micro averages in the paper's text and means over
cases in its data card; the table does not say which.
"""

from __future__ import annotations

from typing import NamedTuple


class Published(NamedTuple):
    """One row of the paper's main table. ``None`` where it prints nothing."""

    system: str
    icd_exact: float
    icd_precision: float
    icd_recall: float
    icd_primary: float
    legal_exact: float
    legal_mae: float


PUBLISHED: tuple[Published, ...] = (
    Published("single-pass", 1.0, 52.0, 33.0, 42.7, 7.5, 2.87),
    Published("agentic", 1.0, 59.0, 37.0, 45.7, 11.0, 2.80),
    Published("react", 1.0, 58.88, 26.82, 20.0, 15.5, 3.04),
    Published("harness", 0.7, 59.9, 27.4, 50.1, 14.5, 2.34),
)

#: legal cases of the published harness run that returned nothing, of 200
HARNESS_MISSING = 35
