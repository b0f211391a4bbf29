"""Case files: what users bring as CSV, each row a query with its answer and its year.

What the columns are called and how an answer reads is the domain's; the year stands in a column of
the file, in a second table, or both. Messages name file, line and column and never quote a case's
text.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from eval.queries.trec import read_text
from tam.errors import BadCases, BadOption

FIRST_YEAR, LAST_YEAR = 1900, 2100

#: ids named in a note before it says how many more there are
SHOWN = 5

#: the columns of a year table: case id and year
YEAR_COLUMNS = ("docket_id", "sentencing_year")

#: a case's answer: codes in order, a number, a text; ``None`` where the file has none
CaseAnswer = tuple[str, ...] | int | str | None


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


@dataclass(frozen=True, slots=True)
class Case:
    """One case. ``line`` is the line of the file at which it begins."""

    case_id: str
    text: str = field(repr=False)
    year: int | None
    answer: CaseAnswer = None
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


def read_case_file(
    path: Path, columns: Columns, read_answer: Callable[[str], CaseAnswer]
) -> list[Case]:
    """The cases of a file in its order. ``read_answer`` reads an answer's cell; its ``ValueError``
    says what is wrong and what to give. Raises ``BadCases`` naming file and line."""
    cases = []
    for line, row, case_id in _rows(path, columns):
        try:
            answer = read_answer(row[columns.answer])
        except ValueError as error:
            raise BadCases(
                f"{path}:{line}: {columns.answer} of case {case_id!r} {error}"
            ) from error
        year = _year(path, line, row.get(columns.year, ""), columns.year)
        note_id = row.get(columns.note_id, "").strip()
        cases.append(Case(case_id, row[columns.text], year, answer, note_id, line))
    return cases


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


def listed(names: Iterable[str]) -> str:
    """The first few distinct names, and how many more there are."""
    distinct = list(dict.fromkeys(names))
    more = f" and {len(distinct) - SHOWN} more" if len(distinct) > SHOWN else ""
    return ", ".join(distinct[:SHOWN]) + more
