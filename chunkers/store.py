"""Chunks on disk: Parquet for the index, JSON lines for people."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Any

from chunkers.chunk import Chunk
from tam.errors import IndexError_
from tam.files import replacing, write_text

#: fixed, so that equal chunks give equal bytes
_COMPRESSION = "zstd"
_LEVEL = 3
# Small row groups: a hit is read without the chunks far from it.
_ROWS = 128


def _schema() -> Any:
    import pyarrow as pa

    texts = pa.list_(pa.string())
    fields = {
        "id": pa.string(),
        "source": pa.string(),
        "year": pa.int32(),
        "kind": pa.string(),
        "key": pa.string(),
        "keys": texts,
        "citation": pa.string(),
        "title": pa.string(),
        "path": texts,
        "context": pa.string(),
        "text": pa.string(),
        "view": pa.string(),
        "start": pa.int64(),
        "end": pa.int64(),
        "text_start": pa.int64(),
        "text_end": pa.int64(),
        "first_page": pa.int32(),
        "last_page": pa.int32(),
        "part": pa.int32(),
        "parts": pa.int32(),
        "file": pa.string(),
        "sha256": pa.string(),
        "tokens": pa.int32(),
        "effective_from": pa.date32(),
        "effective_to": pa.date32(),
    }
    return pa.schema(list(fields.items()))


#: a pair of the chunk -> its two columns
_PAIRS = {
    "span": ("start", "end"),
    "text_span": ("text_start", "text_end"),
    "pages": ("first_page", "last_page"),
    "part": ("part", "parts"),
}


def _row(chunk: Chunk) -> dict[str, Any]:
    row = {name: getattr(chunk, name) for name in Chunk.__slots__}
    for name, (first, second) in _PAIRS.items():
        pair = row.pop(name)
        row[first], row[second] = pair if pair else (None, None)
    return row


def _chunk(row: dict[str, Any]) -> Chunk:
    for name, (first, second) in _PAIRS.items():
        pair = row.pop(first), row.pop(second)
        row[name] = None if pair[0] is None else pair
    row["keys"] = tuple(row["keys"])
    row["path"] = tuple(row["path"])
    return Chunk(**row)


def write_chunks(chunks: Iterable[Chunk], path: Path) -> None:
    """Write chunks to one Parquet file, complete or not at all; equal chunks, equal bytes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = _schema()
    rows = [_row(chunk) for chunk in chunks]
    table = pa.table(
        {
            name: pa.array([row[name] for row in rows], schema.field(name).type)
            for name in schema.names
        },
        schema=schema,
    )
    with replacing(path) as part:
        pq.write_table(
            table, part, compression=_COMPRESSION, compression_level=_LEVEL, row_group_size=_ROWS
        )


def read_chunks(path: Path) -> list[Chunk]:
    """The chunks of a file that ``write_chunks`` wrote, in its order.

    Raises ``IndexError_`` when the file is missing, damaged or of another form.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not path.is_file():
        raise IndexError_(f"{path}: no chunks here; run tam build again")
    try:
        table = pq.read_table(path)
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise IndexError_(f"{path}: damaged ({reason}); run tam build again") from error
    expected = _schema()
    if not table.schema.equals(expected):
        missing = [name for name in expected.names if name not in table.schema.names]
        what = f"no column {missing[0]}" if missing else "other columns than this version writes"
        raise IndexError_(f"{path}: {what}; run tam build again")
    return chunks_of(table)


def chunks_of(table: Any) -> list[Chunk]:
    """The chunks of an Arrow table that has the columns which ``write_chunks`` writes."""
    names = _schema().names
    columns = [table.column(name).to_pylist() for name in names]
    return [_chunk(dict(zip(names, row, strict=True))) for row in zip(*columns, strict=True)]


def chunk_record(chunk: Chunk) -> dict[str, Any]:
    """A chunk as plain values for JSON; dates as ``YYYY-MM-DD``."""
    record = asdict(chunk)
    for name, value in record.items():
        if isinstance(value, date):
            record[name] = value.isoformat()
    return record


def _lines(chunks: Iterable[Chunk]) -> Iterator[str]:
    for chunk in chunks:
        yield json.dumps(chunk_record(chunk), ensure_ascii=False) + "\n"


def write_jsonl(chunks: Iterable[Chunk], path: Path) -> None:
    """Write chunks as JSON lines (UTF-8), complete or not at all."""
    write_text(path, "".join(_lines(chunks)))
