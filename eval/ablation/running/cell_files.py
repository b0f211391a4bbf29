"""One Parquet file for each finished cell: what makes a killed study go on where it stopped.

A file's name is the hash of everything that decides its content: the cell's settings, the index's
fingerprint, queries and golds, measures, and the code of retrieval and evaluation. When one of
them changes, the name does, and the cell is computed anew. A file that cannot be read counts as
absent.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from eval.ablation.spec.cells import Cell
from eval.ablation.spec.study import Study
from eval.measuring.judged import Floats, Ints
from eval.queries.query_sets import QuerySet
from tam.files import replacing, sha256_file, sha256_text

FORMAT = 1
#: where the notes stand in a file's metadata
NOTES = "notes"


@dataclass(frozen=True)
class CellResult:
    """A cell's numbers. ``queries`` are the ids of the Q measured ones; ``values`` [Q, M] the
    study's measures; ``curve`` [Q, K] recall over sections at the study's k; ``gold_query`` [G]
    the query of each gold, ``gold_names`` their section ids and ``gold_ranks`` [G] the rank among
    sections of the first result that covers it (0: not found). ``notes`` say what was left out."""

    queries: tuple[str, ...]
    values: Floats
    curve: Floats
    gold_query: Ints
    gold_names: tuple[str, ...]
    gold_ranks: Ints
    notes: tuple[str, ...] = ()


@lru_cache(maxsize=1)
def code_version() -> str:
    """sha256 over the code that searches and measures."""
    digest = hashlib.sha256()
    root = Path(__file__).resolve().parents[3]
    for pattern in (
        "retrievers/**/*.py",
        "eval/queries/*.py",
        "eval/golds/*.py",
        "eval/measuring/*.py",
    ):
        for file in sorted(root.glob(pattern)):
            name = file.relative_to(root).as_posix()
            digest.update(f"{name}\0{sha256_file(file)}\n".encode())
    measuring = Path(__file__).with_name("measuring.py")
    digest.update(sha256_file(measuring).encode())
    return digest.hexdigest()


def queries_hash(query_set: QuerySet) -> str:
    """sha256 over the queries and their golds."""
    digest = hashlib.sha256()
    rows: Iterable[Any] = (*query_set.queries, *query_set.golds)
    for row in rows:
        digest.update(json.dumps(asdict(row), sort_keys=True, ensure_ascii=False).encode())
        digest.update(b"\n")
    return digest.hexdigest()


def cell_key(study: Study, cell: Cell, index_inputs: str, queries: str) -> str:
    """The hash that names a cell's file."""
    record = {
        "format": FORMAT,
        "settings": cell.values,
        "index": index_inputs,
        "queries": queries,
        "scores": [str(score) for score in study.scores(cell)],
        "ks": study.ks,
        "deepest": study.deepest,
        "year_policy": study.year_policy,
        "years_needed": study.needs_years,
        "code": code_version(),
    }
    return sha256_text(json.dumps(record, sort_keys=True, ensure_ascii=False))


def write_cell(path: Path, result: CellResult, labels: Iterable[str], ks: Iterable[int]) -> None:
    """Write a cell's file, complete or not at all."""
    import pyarrow as pa
    from pyarrow import parquet

    counts = np.bincount(result.gold_query, minlength=len(result.queries))
    offsets = pa.array(np.concatenate([[0], np.cumsum(counts)]), pa.int32())
    arrays: dict[str, Any] = {
        "query_id": pa.array(result.queries, pa.string()),
        "golds": pa.ListArray.from_arrays(offsets, pa.array(result.gold_names, pa.string())),
        "gold_ranks": pa.ListArray.from_arrays(offsets, pa.array(result.gold_ranks, pa.int32())),
    }
    for at, label in enumerate(labels):
        arrays[f"m:{label}"] = pa.array(result.values[:, at], pa.float64())
    for at, k in enumerate(ks):
        arrays[f"k:{k}"] = pa.array(result.curve[:, at], pa.float64())
    with replacing(path) as part:
        table = pa.table(arrays).replace_schema_metadata({NOTES: json.dumps(result.notes)})
        parquet.write_table(table, part)


def read_cell(path: Path) -> CellResult | None:
    """A finished cell; ``None`` when there is none, or it is damaged."""
    import pyarrow as pa
    from pyarrow import parquet

    if not path.is_file():
        return None
    try:
        table = parquet.read_table(path)
        names = table.column_names
        golds = table.column("golds").combine_chunks()
        counts = np.diff(np.asarray(golds.offsets))
        return CellResult(
            queries=tuple(table.column("query_id").to_pylist()),
            values=_stacked(table, [name for name in names if name.startswith("m:")]),
            curve=_stacked(table, [name for name in names if name.startswith("k:")]),
            gold_query=np.repeat(np.arange(table.num_rows), counts),
            gold_names=tuple(golds.flatten().to_pylist()),
            gold_ranks=np.asarray(
                table.column("gold_ranks").combine_chunks().flatten(), dtype=np.int64
            ),
            notes=tuple(json.loads(table.schema.metadata[NOTES.encode()])),
        )
    except (OSError, ValueError, KeyError, TypeError, pa.ArrowException):
        return None


def _stacked(table: Any, names: list[str]) -> Floats:
    columns = [np.asarray(table.column(name), dtype=np.float64) for name in names]
    return np.stack(columns, axis=1) if columns else np.zeros((table.num_rows, 0))
