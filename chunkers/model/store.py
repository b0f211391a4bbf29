"""Chunks on disk: one Parquet file, in row groups small enough to read a single hit's from.

Equal chunks give equal bytes. JSON lines are for people.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chunkers.model.chunk import Chunk
from tam.errors import BadIndex
from tam.files import replacing, write_text

if TYPE_CHECKING:
    import pyarrow as pa

#: chunks in a row group
GROUP = 128


def schema() -> pa.Schema:
    """The columns: the fields of ``Chunk``, pairs as two columns."""
    import pyarrow as pa

    text, number, strings = pa.string(), pa.int32(), pa.list_(pa.string())
    fields: dict[str, Any] = {
        "id": text,
        "source": text,
        "year": number,
        "kind": text,
        "key": text,
        "keys": strings,
        "citation": text,
        "title": text,
        "path": strings,
        "context": text,
        "text": text,
        "view": text,
        "start": pa.int64(),
        "end": pa.int64(),
        "text_start": pa.int64(),
        "text_end": pa.int64(),
        "first_page": number,
        "last_page": number,
        "part": number,
        "parts": number,
        "file": text,
        "sha256": text,
        "tokens": number,
        "effective_from": pa.date32(),
        "effective_to": pa.date32(),
    }
    return pa.schema(list(fields.items()))


class ChunkWriter:
    """Writes a file edition by edition, so that never all chunks need be in memory."""

    def __init__(self, path: Path) -> None:
        from pyarrow import parquet

        self._schema = schema()
        self._writer = parquet.ParquetWriter(path, self._schema, compression="zstd")

    def write(self, chunks: Iterable[Chunk]) -> None:
        """Append chunks in their order; a row group never crosses two calls."""
        import pyarrow as pa

        table = pa.Table.from_pylist([_row(chunk) for chunk in chunks], schema=self._schema)
        if table.num_rows:
            self._writer.write_table(table, row_group_size=GROUP)

    def close(self) -> None:
        self._writer.close()


def write_chunks(chunks: Iterable[Chunk], path: Path) -> None:
    """Write all chunks to a file, complete or not at all."""
    with replacing(path) as part:
        writer = ChunkWriter(part)
        try:
            writer.write(chunks)
        finally:
            writer.close()


def read_chunks(path: Path) -> list[Chunk]:
    """All chunks of a file, in order.

    Raises ``BadIndex`` when the file is missing, damaged or of another form.
    """
    import pyarrow as pa
    from pyarrow import parquet

    if not path.is_file():
        raise BadIndex(f"{path}: no chunks here; build the index again")
    try:
        table = parquet.read_table(path)
    except (pa.ArrowException, OSError) as error:
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise BadIndex(f"{path}: damaged ({reason}); build the index again") from error
    missing = [name for name in schema().names if name not in table.schema.names]
    if missing:
        raise BadIndex(
            f"{path}: not a file of chunks (no column {missing[0]}); build the index again"
        )
    return chunks_of(table)


def chunks_of(table: pa.Table) -> list[Chunk]:
    """The chunks of a table with the columns of ``schema``."""
    return [_chunk(row) for row in table.to_pylist()]


def chunk_record(chunk: Chunk) -> dict[str, Any]:
    """A chunk as plain values for JSON: dates as ``YYYY-MM-DD``, spans as pairs."""
    record = asdict(chunk)
    for name, value in record.items():
        if isinstance(value, date):
            record[name] = value.isoformat()
    return record


def write_jsonl(chunks: Iterable[Chunk], path: Path) -> None:
    """Write chunks as JSON lines (UTF-8), complete or not at all."""
    lines = (json.dumps(chunk_record(chunk), ensure_ascii=False) for chunk in chunks)
    write_text(path, "".join(f"{line}\n" for line in lines))


def _row(chunk: Chunk) -> dict[str, Any]:
    pages, part = chunk.pages or (None, None), chunk.part or (None, None)
    row = {name: getattr(chunk, name) for name in _SAME}
    return row | {
        "start": chunk.span[0],
        "end": chunk.span[1],
        "text_start": chunk.text_span[0],
        "text_end": chunk.text_span[1],
        "first_page": pages[0],
        "last_page": pages[1],
        "part": part[0],
        "parts": part[1],
    }


def _chunk(row: dict[str, Any]) -> Chunk:
    same = {name: row[name] for name in _SAME}
    same["keys"], same["path"] = tuple(row["keys"]), tuple(row["path"])
    return Chunk(
        **same,
        span=(row["start"], row["end"]),
        text_span=(row["text_start"], row["text_end"]),
        pages=None if row["first_page"] is None else (row["first_page"], row["last_page"]),
        part=None if row["part"] is None else (row["part"], row["parts"]),
    )


_PAIRS = {"span", "text_span", "pages", "part"}
_SAME = tuple(name for name in Chunk.__dataclass_fields__ if name not in _PAIRS)
