"""Runs and qrels: TREC files (six and four columns) and JSONL, in and out.

TREC columns are parted by white space, but keys of sections have spaces (``18 U.S.C. § 922``).
Ids are therefore escaped as in a URL, and only where it is needed: white space, control
characters, the byte order mark and ``%`` itself become ``%XX`` for each byte of their UTF-8 form;
everything else, ``§`` included, stays readable. ``unescape(escape(x)) == x`` for every ``x``.

Scores: trec_eval reads them as 32-bit floats and orders equal ones by id, descending; other tools
go by dict order. A run is therefore written with scores that fall strictly from rank to rank, as
32-bit floats: an equal score is lowered by the smallest step. On reading, the rank column is not
trusted: the order is score descending, then id ascending.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

import numpy as np

from manuals.model.section_id import SectionId
from manuals.model.source import SOURCES
from tam.errors import BadCases
from tam.files import write_text

_UNSAFE = re.compile("[\\s%\x00-\x1f\x7f-\x9f\ufeff]")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


class RunRow(NamedTuple):
    """One result: query, document (a section id or chunk id), rank from 1, score, run's name."""

    query_id: str
    doc_id: str
    rank: int
    score: float
    tag: str = "tam"


class Qrel(NamedTuple):
    """One judgement: ``grade`` above 0 is relevant."""

    query_id: str
    doc_id: str
    grade: int


def escape(text: str) -> str:
    """The id as one TREC column; raises ``BadCases`` for an empty one."""
    if not text:
        raise BadCases("an id is empty, which a TREC file cannot hold; give every query an id")
    return _UNSAFE.sub(lambda found: quote(found.group(), safe="", errors="strict"), text)


def unescape(text: str) -> str:
    """The id that was escaped."""
    return unquote(text, errors="strict")


def section_id(source: str, year: int, key: str) -> str:
    """How runs and qrels name a section: ``ussg/2025/§2K2.1``."""
    return str(SectionId(source, year, key))


def split_section_id(text: str) -> SectionId | None:
    """A section id of a source that there is; ``None`` when the text is none."""
    found = SectionId.parse(text)
    return found if found is not None and found.source in SOURCES else None


def read_text(path: Path) -> str:
    """A UTF-8 text file without its byte order mark; raises ``BadCases`` naming file and line."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise BadCases(f"{path}: cannot be read ({error.strerror}); check the path") from error
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise BadCases(f"{path}:{line}: not UTF-8; save the file as UTF-8") from error


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a UTF-8 text file that are not blank, with their numbers from 1."""
    # Only \n ends a line: an id may hold U+2028 or \x85, at which str.splitlines would cut.
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if line.strip():
            yield number, line.rstrip("\r")


def read_jsonl(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a JSONL file with their line numbers; raises ``BadCases``."""
    for number, line in read_lines(path):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            reason = error.msg if isinstance(error, json.JSONDecodeError) else "not JSON"
            raise BadCases(
                f"{path}:{number}: not JSON ({reason}); give one object on each line"
            ) from error
        if not isinstance(value, dict):
            raise BadCases(f"{path}:{number}: not a JSON object; give one object on each line")
        if _SURROGATE.search(line) and not _is_utf8(value):
            raise BadCases(
                f"{path}:{number}: half a character (\\ud800 to \\udfff); write it whole"
            )
        yield number, value


def _is_utf8(value: Any) -> bool:
    """Whether a JSON value can be written as UTF-8 again, which half a character cannot."""
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def write_jsonl(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Write one JSON object on each line, complete or not at all."""
    write_text(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def is_jsonl(path: Path) -> bool:
    """Whether a run or qrels file is JSONL, by its suffix; any other is TREC."""
    return path.suffix.lower() in (".jsonl", ".ndjson")


def _columns(path: Path, count: int, what: str) -> Iterator[tuple[int, list[str]]]:
    for number, line in read_lines(path):
        columns = line.split()
        if len(columns) != count:
            raise BadCases(
                f"{path}:{number}: {len(columns)} columns where a TREC {what} has {count}; "
                f"escape white space in ids (a blank is %20)"
            )
        yield number, columns


def _unescaped(path: Path, number: int, text: str) -> str:
    try:
        return unescape(text)
    except UnicodeDecodeError as error:
        raise BadCases(
            f"{path}:{number}: the escape in id {text!r} is not UTF-8; write % itself as %25"
        ) from error


def _whole(path: Path, number: int, value: Any, name: str) -> int:
    """A whole number of a column or JSON field; ``BadCases`` for anything else."""
    if isinstance(value, str) and re.fullmatch(r"[+-]?\d{1,18}", value, re.ASCII):
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise BadCases(f"{path}:{number}: {name} is not a whole number; give one such as 1")


def _finite(path: Path, number: int, value: Any) -> float:
    try:
        score = float(value)
    except (TypeError, ValueError):
        score = math.nan
    if not math.isfinite(score) or isinstance(value, bool):
        raise BadCases(f"{path}:{number}: the score is not a finite number; give one such as 1.5")
    return score


def _field(path: Path, number: int, row: dict[str, Any], name: str) -> Any:
    if name not in row:
        raise BadCases(f"{path}:{number}: no field {name!r}; add it")
    return row[name]


def _id(path: Path, number: int, row: dict[str, Any], name: str) -> str:
    value = _field(path, number, row, name)
    if not isinstance(value, str) or not value:
        raise BadCases(f"{path}:{number}: {name} is not a text; give the id in quotation marks")
    return value


def _run_rows(path: Path) -> Iterator[tuple[int, RunRow]]:
    if is_jsonl(path):
        for number, row in read_jsonl(path):
            yield (
                number,
                RunRow(
                    _id(path, number, row, "query_id"),
                    _id(path, number, row, "doc_id"),
                    _whole(path, number, row.get("rank", 0), "rank"),
                    _finite(path, number, _field(path, number, row, "score")),
                    str(row.get("tag", "tam")),
                ),
            )
        return
    for number, (query, _, doc, rank, score, tag) in _columns(path, 6, "run"):
        yield (
            number,
            RunRow(
                _unescaped(path, number, query),
                _unescaped(path, number, doc),
                _whole(path, number, rank, "the rank"),
                _finite(path, number, score),
                _unescaped(path, number, tag),
            ),
        )


def ordered(rows: Iterable[RunRow]) -> list[RunRow]:
    """The rows in the one total order, ranks counted anew from 1 for each query.

    Queries come in ascending order of id; in a query score descending, then id ascending.
    """
    rows = sorted(rows, key=lambda row: (row.query_id, -row.score, row.doc_id))
    return [
        row._replace(rank=rank)
        for _, group in groupby(rows, key=lambda row: row.query_id)
        for rank, row in enumerate(group, 1)
    ]


def read_run(path: Path) -> list[RunRow]:
    """A run file in the one total order; raises ``BadCases`` naming file and line."""
    rows: list[RunRow] = []
    seen: set[tuple[str, str]] = set()
    for number, row in _run_rows(path):
        if (row.query_id, row.doc_id) in seen:
            raise BadCases(
                f"{path}:{number}: {row.doc_id!r} comes twice for query {row.query_id!r}; "
                f"keep its best row"
            )
        seen.add((row.query_id, row.doc_id))
        rows.append(row)
    return ordered(rows)


def falling(scores: Sequence[float]) -> list[float]:
    """Scores of one query in rank order, as 32-bit floats that fall strictly.

    A score that is not below the one before becomes the next 32-bit float below that.
    """
    values = np.asarray(scores, dtype=np.float32)
    if len(values) > 1 and not bool(np.all(values[1:] < values[:-1])):
        for at in range(1, len(values)):
            if values[at] >= values[at - 1]:
                values[at] = np.nextafter(values[at - 1], np.float32(-np.inf))
    return [float(value) for value in values]


def write_run(path: Path, rows: Sequence[RunRow]) -> None:
    """Write rows that are in rank order within each query; the score column falls strictly."""
    jsonl = is_jsonl(path)
    # The same chunks are found for many queries.
    escaped = lru_cache(maxsize=None)(escape)
    lines: list[str] = []
    for query_id, group in groupby(rows, key=attrgetter("query_id")):
        results = list(group)
        query = escape(query_id)
        scores = falling([row.score for row in results])
        for rank, ((_, doc, _, _, tag), score) in enumerate(zip(results, scores, strict=True), 1):
            if jsonl:
                value = RunRow(query_id, doc, rank, score, tag)._asdict()
                lines.append(json.dumps(value, ensure_ascii=False))
            else:
                lines.append(f"{query} Q0 {escaped(doc)} {rank} {score!r} {escaped(tag)}")
    write_text(path, "".join(line + "\n" for line in lines))


def _qrel_rows(path: Path) -> Iterator[tuple[int, Qrel]]:
    if is_jsonl(path):
        for number, row in read_jsonl(path):
            yield (
                number,
                Qrel(
                    _id(path, number, row, "query_id"),
                    _id(path, number, row, "doc_id"),
                    _whole(path, number, row.get("grade", 1), "grade"),
                ),
            )
        return
    for number, (query, _, doc, grade) in _columns(path, 4, "qrels file"):
        yield (
            number,
            Qrel(
                _unescaped(path, number, query),
                _unescaped(path, number, doc),
                _whole(path, number, grade, "the grade"),
            ),
        )


def read_qrels(path: Path) -> list[Qrel]:
    """A qrels file in the order of its lines; raises ``BadCases`` naming file and line."""
    rows: list[Qrel] = []
    seen: set[tuple[str, str]] = set()
    for number, row in _qrel_rows(path):
        if (row.query_id, row.doc_id) in seen:
            raise BadCases(
                f"{path}:{number}: {row.doc_id!r} is judged twice for query {row.query_id!r}; "
                f"keep one line"
            )
        seen.add((row.query_id, row.doc_id))
        rows.append(row)
    return rows


def write_qrels(path: Path, rows: Sequence[Qrel]) -> None:
    """Write judgements in the order given."""
    if is_jsonl(path):
        write_jsonl(path, (row._asdict() for row in rows))
        return
    lines = (f"{escape(row.query_id)} 0 {escape(row.doc_id)} {row.grade}\n" for row in rows)
    write_text(path, "".join(lines))
