"""Cases of sentencing: the facts and the total offense level."""

from __future__ import annotations

import re

from eval.queries.case_files import Columns

COLUMNS = Columns("docket_id", "input", "output", year="year")


def read_answer(cell: str) -> int | None:
    """The offense level of a cell, ``None`` for an empty one. Raises ``ValueError``."""
    cell = cell.strip()
    if cell and not re.fullmatch(r"\d{1,2}(?:\.0+)?", cell, re.ASCII):
        raise ValueError("is not an offense level; give a whole number")
    return int(float(cell)) if cell else None
