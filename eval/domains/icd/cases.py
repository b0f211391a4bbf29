"""Cases of hospital stays: a discharge note and its codes in sequence order."""

from __future__ import annotations

import json
import re

from eval.queries.case_files import Columns
from manuals.icd10cm.codes import is_code, normalise_code

_LIKE_A_CODE = re.compile(r"(?=\D*\d)[A-Za-z0-9.]{1,8}")

COLUMNS = Columns("hadm_id", "input_text", "output_icd_codes", "note_id", "year")


def read_answer(cell: str) -> tuple[str, ...]:
    """The codes of a cell. Raises ``ValueError``."""
    try:
        return parse_codes(cell)
    except ValueError as error:
        raise ValueError(
            f'holds {error}, which is no ICD-10-CM code; give a list such as ["J441", "I10"]'
        ) from error


def parse_codes(cell: str) -> tuple[str, ...]:
    """Codes of a cell in order, normalised, each once. Raises ``ValueError`` naming a bad one."""
    cell = cell.strip()
    if cell.startswith("["):
        try:
            values = json.loads(cell)
        except RecursionError as error:
            raise ValueError("lists within lists") from error
        except ValueError:
            # Python's own way to print a list, as pandas writes it.
            values = re.split(r"[\s,;]+", cell.strip("[] ").replace("'", "").replace('"', ""))
        if not all(isinstance(value, str) for value in values):
            raise ValueError("a value that is not a text")
    else:
        values = re.split(r"[\s,;]+", cell)
    codes: dict[str, None] = {}
    for value in values:
        if not value.strip():
            continue
        if is_code(value):
            codes[normalise_code(value)] = None
        elif _LIKE_A_CODE.fullmatch(value.strip()):
            # No list has it: reported as a gold that is missing.
            codes[value.strip().upper()] = None
        else:
            raise ValueError(repr(value) if len(value) <= 12 else "a value")
    return tuple(codes)
