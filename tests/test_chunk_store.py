"""Chunks on disk: the same back, equal bytes, errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from icd_files import sample

from chunkers.model.chunk import Chunk
from chunkers.model.presets import chunk_manual
from chunkers.model.store import read_chunks, write_chunks, write_jsonl
from tam.errors import BadIndex


@pytest.fixture(scope="module")
def chunks(sample_manuals: Path) -> list[Chunk]:
    return chunk_manual(sample(sample_manuals, "neoplasm/2025"), "sections") + chunk_manual(
        sample(sample_manuals, "tabular/2024"), "paper"
    )


def test_read_back(chunks: list[Chunk], tmp_path: Path) -> None:
    write_chunks(chunks, tmp_path / "chunks.parquet")
    assert read_chunks(tmp_path / "chunks.parquet") == chunks


def test_equal_chunks_give_equal_bytes(chunks: list[Chunk], tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_chunks(iter(chunks), tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "two"]


def test_no_chunks(tmp_path: Path) -> None:
    write_chunks([], tmp_path / "chunks.parquet")
    assert read_chunks(tmp_path / "chunks.parquet") == []


def test_pages_and_parts(chunks: list[Chunk], tmp_path: Path) -> None:
    import dataclasses

    paged = [dataclasses.replace(chunks[0], pages=(3, 4), part=(1, 2), effective_to=None)]
    write_chunks(paged, tmp_path / "chunks.parquet")
    assert read_chunks(tmp_path / "chunks.parquet") == paged


def test_missing_and_damaged(chunks: list[Chunk], tmp_path: Path) -> None:
    path = tmp_path / "chunks.parquet"
    with pytest.raises(BadIndex, match="no chunks here"):
        read_chunks(path)
    write_chunks(chunks, path)
    path.write_bytes(path.read_bytes()[:500])
    with pytest.raises(BadIndex, match=r"chunks\.parquet: damaged"):
        read_chunks(path)


def test_another_table(tmp_path: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    parquet.write_table(pa.table({"id": ["x"]}), tmp_path / "other.parquet")
    with pytest.raises(BadIndex, match="no column source"):
        read_chunks(tmp_path / "other.parquet")


def test_a_failed_write_leaves_nothing(chunks: list[Chunk], tmp_path: Path) -> None:
    def failing() -> object:
        yield chunks[0]
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        write_chunks(failing(), tmp_path / "chunks.parquet")  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_jsonl(chunks: list[Chunk], tmp_path: Path) -> None:
    write_jsonl(chunks, tmp_path / "chunks.jsonl")
    lines = (tmp_path / "chunks.jsonl").read_text("utf-8").splitlines()
    assert len(lines) == len(chunks)
    record = json.loads(lines[0])
    assert record["id"] == chunks[0].id
    assert record["text"] == chunks[0].text
    assert record["effective_from"] == "2024-10-01"
