"""Parsed editions on disk: ``<source>-<year>/`` with JSON, text and Parquet, without pickle.

| file | what |
|---|---|
| ``edition.json`` | the edition's record, page and file starts, the parser's ``meta`` |
| ``text.txt``, ``raw.txt`` | the two texts, UTF-8; ``raw.txt`` only for PDFs |
| ``sections.parquet`` | one row for each section, in document order |
| ``raw_map.parquet`` | the stretches that stand in both texts; only for PDFs |

Equal manuals give equal bytes. Reading 80,000 sections takes about half a second, because the
nested columns are rebuilt from their flat values and lengths.
"""

from __future__ import annotations

import contextlib
import gc
import itertools
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Any, TypeVar

from manuals.model.sections import Edition, Manual, ManualFile, Note, Ref, Section
from tam.errors import DamagedFile
from tam.files import replacing_folder, write_json

FORMAT = 2

#: what reading bytes that were changed can end in; pyarrow's own errors are kinds of these
_DAMAGE = (OSError, ValueError, LookupError, TypeError, AttributeError, RuntimeError)

T = TypeVar("T")


def edition_folder(source: str, year: int) -> str:
    """The name of an edition's folder."""
    return f"{source}-{year}"


def edition_record(edition: Edition) -> dict[str, Any]:
    """The edition as JSON values; ``edition_of`` is the way back."""
    record = asdict(edition)
    record["effective_from"] = edition.effective_from.isoformat()
    record["effective_to"] = edition.effective_to and edition.effective_to.isoformat()
    return record


def edition_of(record: dict[str, Any]) -> Edition:
    """The edition that ``edition_record`` wrote."""
    until = record["effective_to"]
    return Edition(
        source=record["source"],
        year=record["year"],
        title=record["title"],
        release=record["release"],
        files=tuple(ManualFile(**file) for file in record["files"]),
        effective_from=date.fromisoformat(record["effective_from"]),
        effective_to=date.fromisoformat(until) if until else None,
        problems=tuple(record["problems"]),
    )


def save_manual(manual: Manual, folder: Path) -> Path:
    """Write a manual to ``folder/<source>-<year>/``, complete or not at all; returns that path."""
    target = folder / edition_folder(manual.source, manual.year)
    with replacing_folder(target) as part:
        write_json(
            part / "edition.json",
            {
                "format": FORMAT,
                "edition": edition_record(manual.edition),
                "page_starts": list(manual.page_starts),
                "raw_page_starts": list(manual.raw_page_starts),
                "file_starts": list(manual.file_starts),
                "meta": dict(manual.meta),
            },
        )
        (part / "text.txt").write_bytes(manual.text.encode("utf-8"))
        _write_table(_sections_table(manual.sections), part / "sections.parquet")
        if manual.raw:
            (part / "raw.txt").write_bytes(manual.raw.encode("utf-8"))
            _write_table(_raw_map_table(manual.raw_map), part / "raw_map.parquet")
    return target


def load_edition(folder: Path) -> Edition:
    """Only the edition's record of a saved manual."""
    record = _record(folder)
    try:
        return edition_of(record["edition"])
    except _DAMAGE as error:
        raise DamagedFile(
            f"{folder / 'edition.json'}: damaged ({type(error).__name__}: {error}); build it again"
        ) from error


def load_manual(folder: Path) -> Manual:
    """The manual that ``save_manual`` wrote to this folder (``.../<source>-<year>``).

    Raises ``DamagedFile`` when a file of it is missing, damaged or of a newer format.
    """
    record = _record(folder)
    raw_file = folder / "raw.txt"
    has_raw = raw_file.exists()
    try:
        edition = edition_of(record["edition"])
        return Manual(
            edition=edition,
            text=(folder / "text.txt").read_bytes().decode("utf-8"),
            sections=_read_sections(folder / "sections.parquet", edition),
            page_starts=tuple(record["page_starts"]),
            raw=raw_file.read_bytes().decode("utf-8") if has_raw else "",
            raw_page_starts=tuple(record["raw_page_starts"]),
            raw_map=_read_raw_map(folder / "raw_map.parquet") if has_raw else (),
            file_starts=tuple(record["file_starts"]),
            meta=record["meta"],
        )
    except _DAMAGE as error:
        raise DamagedFile(
            f"{folder}: the parsed edition is damaged ({error}); build it again"
        ) from error


def _record(folder: Path) -> dict[str, Any]:
    path = folder / "edition.json"
    try:
        record: dict[str, Any] = json.loads(path.read_bytes())
        found = record["format"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DamagedFile(f"{path}: not a parsed edition ({error}); build it again") from error
    if found != FORMAT:
        raise DamagedFile(
            f"{path}: format {found}, but this version of tam reads format {FORMAT}; build it again"
        )
    return record


def _write_table(table: Any, path: Path) -> None:
    from pyarrow import parquet

    parquet.write_table(table, path, compression="zstd", write_statistics=False)


def _sections_table(sections: tuple[Section, ...]) -> Any:
    import pyarrow as pa

    strings = pa.list_(pa.string())
    columns: dict[str, tuple[Any, list[Any]]] = {
        "key": (pa.string(), [s.key for s in sections]),
        "kind": (pa.string(), [s.kind for s in sections]),
        "level": (pa.int32(), [s.level for s in sections]),
        "citation": (pa.string(), [s.citation for s in sections]),
        "title": (pa.string(), [s.title for s in sections]),
        "parent": (pa.string(), [s.parent for s in sections]),
        "path": (strings, [s.path for s in sections]),
        "start": (pa.int64(), [s.span[0] for s in sections]),
        "end": (pa.int64(), [s.span[1] for s in sections]),
        "first_page": (pa.int32(), [s.pages and s.pages[0] for s in sections]),
        "last_page": (pa.int32(), [s.pages and s.pages[1] for s in sections]),
        "note_kind": (strings, [[n.kind for n in s.notes] for s in sections]),
        "note_text": (strings, [[n.text for n in s.notes] for s in sections]),
        "ref_kind": (strings, [[r.kind for r in s.refs] for s in sections]),
        "ref_target": (strings, [[r.target for r in s.refs] for s in sections]),
        "ref_condition": (strings, [[r.condition for r in s.refs] for s in sections]),
        "seventh_character": (strings, [[c for c, _ in s.seventh] for s in sections]),
        "seventh_meaning": (strings, [[m for _, m in s.seventh] for s in sections]),
        "version": (pa.int32(), [s.version for s in sections]),
    }
    return pa.table({name: pa.array(values, kind) for name, (kind, values) in columns.items()})


def _raw_map_table(raw_map: tuple[tuple[int, int, int], ...]) -> Any:
    import pyarrow as pa

    names = ("raw", "text", "length")
    columns = [[row[position] for row in raw_map] for position in range(3)]
    return pa.table(
        {name: pa.array(column, pa.int64()) for name, column in zip(names, columns, strict=True)}
    )


def _read_table(path: Path) -> Any:
    from pyarrow import parquet

    # ``read_table`` would import pandas for it.
    return parquet.ParquetFile(path, memory_map=True).read().combine_chunks()


def _read_raw_map(path: Path) -> tuple[tuple[int, int, int], ...]:
    table = _read_table(path)
    columns = [table.column(name).to_pylist() for name in ("raw", "text", "length")]
    return tuple(zip(*columns, strict=True))


def _read_sections(path: Path, edition: Edition) -> tuple[Section, ...]:
    table = _read_table(path)

    def flat(name: str) -> list[Any]:
        values: list[Any] = table.column(name).to_pylist()
        return values

    # in the order of Section's fields
    rows = zip(
        flat("key"),
        itertools.repeat(edition.source),
        itertools.repeat(edition.year),
        *(flat(name) for name in ("kind", "level", "citation", "title", "parent")),
        _lists(table, "path", tuple),
        zip(flat("start"), flat("end"), strict=True),
        (
            None if pair[0] is None else pair
            for pair in zip(flat("first_page"), flat("last_page"), strict=True)
        ),
        _records(table, Note, "note_kind", "note_text"),
        _records(table, Ref, "ref_kind", "ref_target", "ref_condition"),
        _records(table, _pair, "seventh_character", "seventh_meaning"),
        flat("version"),
    )
    with collector_paused():
        return tuple(Section(*row) for row in rows)


def _pair(character: str, meaning: str) -> tuple[str, str]:
    return character, meaning


def _lists(table: Any, name: str, make: Callable[[Sequence[Any]], T]) -> Iterator[T]:
    """Each row's list of a column, given to ``make``; one shared value for all empty lists."""
    empty = make(())
    for chunk in table.column(name).chunks:
        values = chunk.flatten().to_pylist()
        at = 0
        for length in chunk.value_lengths().to_pylist():
            yield make(values[at : at + length]) if length else empty
            at += length


def _records(table: Any, make: Callable[..., T], *names: str) -> Iterator[tuple[T, ...]]:
    """For each row the records made of parallel list columns; most rows have none."""
    for parts in zip(*(_lists(table, name, list) for name in names), strict=True):
        yield tuple(map(make, *parts)) if parts[0] else ()


@contextlib.contextmanager
def collector_paused() -> Iterator[None]:
    """Python's cycle collector off: it takes half the time while 100,000 records are made."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
