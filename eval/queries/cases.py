"""Cases: what users bring as CSV, each row a query with its answer and its year.

Two formats, told apart by their columns (the names can be given):

- **ICD**: admission id, note id, text and the codes in sequence order, as a JSON list or parted by
  commas, semicolons or blanks; a column with the year where there is one.
- **legal**: docket id, facts, offense level; the year stands in a second table.

Messages name file, line and column and never quote a case's text.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from eval.queries.trec import read_text
from manuals.icd10cm.codes import is_code, normalise_code
from tam.errors import BadCases, BadOption

FIRST_YEAR, LAST_YEAR = 1900, 2100


@dataclass(frozen=True, slots=True)
class Columns:
    """Names of a case file's columns. ``year`` and ``note_id`` need not be there."""

    case_id: str
    text: str
    answer: str
    note_id: str = ""
    year: str = ""

    def renamed(self, names: Mapping[str, str]) -> Columns:
        """With some names replaced; raises ``BadOption`` for a field that there is not."""
        fields = list(Columns.__dataclass_fields__)
        for name in names:
            if name not in fields:
                raise BadOption(f"column {name!r}: no such column; choose from {', '.join(fields)}")
        return replace(self, **names)


ICD_COLUMNS = Columns("hadm_id", "input_text", "output_icd_codes", "note_id", "year")
LEGAL_COLUMNS = Columns("docket_id", "input", "output", year="year")
YEAR_COLUMNS = ("docket_id", "sentencing_year")


@dataclass(frozen=True, slots=True)
class Case:
    """One case. ``codes`` (ICD) are normalised, in sequence order; ``level`` (legal) is the total
    offense level. ``line`` is the line of the file at which the case begins."""

    case_id: str
    text: str = field(repr=False)
    year: int | None
    codes: tuple[str, ...] = ()
    level: int | None = None
    note_id: str = ""
    line: int = 0


def read_csv(path: Path) -> tuple[list[str], Iterator[tuple[int, dict[str, str]]]]:
    """Head and rows of a UTF-8 CSV with the line on which each row begins.

    Quoted cells may hold line ends. Raises ``BadCases``: no head, a column twice, a row with too
    many or too few cells, an open quotation mark.
    """
    # A discharge note can be longer than the csv module's default of 131,072 characters.
    csv.field_size_limit(max(csv.field_size_limit(), 1 << 30))
    reader = csv.reader(io.StringIO(read_text(path), newline=""), strict=True)

    def step(begin: int) -> list[str] | None:
        try:
            return next(reader, None)
        except csv.Error as error:
            raise BadCases(
                f"{path}:{begin}: not a CSV row ({error}); quote cells that hold quotation marks, "
                f"commas or line ends"
            ) from error

    head = step(1)
    if not head or not any(cell.strip() for cell in head):
        raise BadCases(
            f"{path}:1: no column names; the first line of a case file names its columns"
        )
    names = [cell.strip() for cell in head]
    for name in names:
        if names.count(name) > 1:
            raise BadCases(f"{path}:1: column {name!r} comes twice; keep one")

    def rows() -> Iterator[tuple[int, dict[str, str]]]:
        while True:
            begin = reader.line_num + 1
            cells = step(begin)
            if cells is None:
                return
            if not cells:
                continue
            if len(cells) != len(names):
                raise BadCases(
                    f"{path}:{begin}: {len(cells)} cells under {len(names)} columns; "
                    f"quote cells that hold commas"
                )
            yield begin, dict(zip(names, cells, strict=True))

    return names, rows()


def _need(path: Path, names: Sequence[str], wanted: Sequence[str]) -> None:
    for name in wanted:
        if name not in names:
            raise BadCases(
                f"{path}:1: no column {name!r}; it has {', '.join(names)} "
                f"(name yours with --column, as in --column text={names[-1]})"
            )


def _year(path: Path, line: int, cell: str, column: str) -> int | None:
    """The year of a cell, ``None`` for an empty one. ``2025.0``, as spreadsheets write, is 2025."""
    cell = cell.strip()
    if not cell:
        return None
    found = re.fullmatch(r"(\d{4})(?:\.0+)?", cell, re.ASCII)
    if found is None or not FIRST_YEAR <= int(found[1]) <= LAST_YEAR:
        shown = f" {cell!r}" if len(cell) <= 10 else ""
        raise BadCases(f"{path}:{line}: {column}{shown} is not a year; give one such as 2025")
    return int(found[1])


_LIKE_A_CODE = re.compile(r"(?=\D*\d)[A-Za-z0-9.]{1,8}")


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
            codes[value.strip().upper()] = (
                None  # no list has it: reported as a gold that is missing
            )
        else:
            raise ValueError(repr(value) if len(value) <= 12 else "a value")
    return tuple(codes)


def _rows(path: Path, columns: Columns) -> Iterator[tuple[int, dict[str, str], str]]:
    """Line, row and case id; refuses empty and repeated ids and empty texts."""
    names, rows = read_csv(path)
    _need(path, names, (columns.case_id, columns.text, columns.answer))
    seen: dict[str, int] = {}
    for line, row in rows:
        case_id = row[columns.case_id].strip()
        if not case_id:
            raise BadCases(f"{path}:{line}: {columns.case_id} is empty; give every case an id")
        if case_id in seen:
            raise BadCases(
                f"{path}:{line}: case {case_id!r} stands in line {seen[case_id]} already; keep one"
            )
        seen[case_id] = line
        if not row[columns.text].strip():
            raise BadCases(
                f"{path}:{line}: {columns.text} of case {case_id!r} is empty; "
                f"give its text or leave the case out"
            )
        yield line, row, case_id
    if not seen:
        raise BadCases(f"{path}: no cases below the column names; give at least one")


def read_icd_cases(path: Path, columns: Columns = ICD_COLUMNS) -> list[Case]:
    """ICD cases in file order. Raises ``BadCases`` naming file and line."""
    cases = []
    for line, row, case_id in _rows(path, columns):
        try:
            codes = parse_codes(row[columns.answer])
        except ValueError as error:
            raise BadCases(
                f"{path}:{line}: {columns.answer} holds {error}, which is no ICD-10-CM code; "
                f'give a list such as ["J441", "I10"]'
            ) from error
        cases.append(
            Case(
                case_id,
                row[columns.text],
                _year(path, line, row.get(columns.year, ""), columns.year),
                codes=codes,
                note_id=row.get(columns.note_id, "").strip(),
                line=line,
            )
        )
    return cases


def read_legal_cases(path: Path, columns: Columns = LEGAL_COLUMNS) -> list[Case]:
    """Legal cases in file order. Raises ``BadCases`` naming file and line."""
    cases = []
    for line, row, case_id in _rows(path, columns):
        answer = row[columns.answer].strip()
        if answer and not re.fullmatch(r"\d{1,2}(?:\.0+)?", answer, re.ASCII):
            raise BadCases(
                f"{path}:{line}: {columns.answer} of case {case_id!r} is not an offense level; "
                f"give a whole number"
            )
        cases.append(
            Case(
                case_id,
                row[columns.text],
                _year(path, line, row.get(columns.year, ""), columns.year),
                level=int(float(answer)) if answer else None,
                line=line,
            )
        )
    return cases


def read_cases(path: Path, names: Mapping[str, str] | None = None) -> tuple[str, list[Case]]:
    """A case file's corpus (``icd`` or ``legal``), told by its columns, and its cases.

    ``names`` replace the names of columns. Raises ``BadCases`` when the columns are of neither.
    """
    head, _ = read_csv(path)
    icd, legal = (columns.renamed(names or {}) for columns in (ICD_COLUMNS, LEGAL_COLUMNS))
    if icd.answer in head and icd.case_id in head:
        return "icd", read_icd_cases(path, icd)
    if legal.answer in head and legal.case_id in head:
        return "legal", read_legal_cases(path, legal)
    raise BadCases(
        f"{path}:1: the columns {', '.join(head)} are neither those of ICD cases "
        f"({icd.case_id}, {icd.text}, {icd.answer}) nor of legal ones "
        f"({legal.case_id}, {legal.text}, {legal.answer}); name yours with --column"
    )


def read_years(path: Path, columns: tuple[str, str] = YEAR_COLUMNS) -> dict[str, int | None]:
    """The year table: case id -> year. Raises ``BadCases`` naming file and line."""
    id_column, year_column = columns
    names, rows = read_csv(path)
    _need(path, names, columns)
    years: dict[str, int | None] = {}
    for line, row in rows:
        case_id = row[id_column].strip()
        if not case_id:
            raise BadCases(f"{path}:{line}: {id_column} is empty; give the case's id")
        if case_id in years:
            raise BadCases(f"{path}:{line}: case {case_id!r} comes twice; keep one year")
        years[case_id] = _year(path, line, row[year_column], year_column)
    return years


def with_years(cases: Sequence[Case], years: Mapping[str, int | None]) -> list[Case]:
    """The cases with the table's years; a case that the table has no year for keeps its own."""
    return [replace(case, year=years.get(case.case_id) or case.year) for case in cases]
