"""Records on disk: JSONL files that a kill or a full disk leaves whole, and records from their types.

A line is written whole and is on disk when ``append`` returns. A partial last line, as a kill
leaves one, is no line: readers pass over it, and the one process that writes the file cuts it off.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from pydantic import TypeAdapter

T = TypeVar("T")


def json_bytes(value: Any) -> bytes:
    """One line of JSON as UTF-8, its keys sorted; half characters stay as JSON's escapes."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True) + "\n"
    return text.encode("utf-8", "backslashreplace")


def append(path: Path, data: bytes, mode: int = 0o644) -> int:
    """Append bytes and have them on disk when this returns; where they begin is returned.

    What a full disk left of them is taken away again, so that no later line joins to it.
    """
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, mode)
    try:
        start = os.fstat(handle).st_size
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(handle, view) :]
            os.fsync(handle)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(handle, start)
            # os.write knows no name: the message must say which file it was.
            error.filename = str(path)
            raise
    finally:
        os.close(handle)
    return start


def append_record(path: Path, value: Any, mode: int = 0o644) -> int:
    """Append a value as one line of JSON; where it begins is returned."""
    return append(path, json_bytes(value), mode)


def whole_lines(path: Path) -> list[str]:
    """The complete lines of a file, without a partial one at its end; none of a missing file."""
    if not path.is_file():
        return []
    data = path.read_bytes()
    return [line for line in data[: data.rfind(b"\n") + 1].decode("utf-8").split("\n") if line]


def read_records(path: Path) -> Iterator[tuple[int, Any]]:
    """The values of a JSONL file with their line numbers from 1.

    Raises ``ValueError`` that begins with file and line for one that is not JSON.
    """
    for number, line in enumerate(whole_lines(path), start=1):
        try:
            yield number, json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{path}:{number}: not JSON ({error})") from error


def cut_partial_line(path: Path) -> None:
    """Take a partial last line off the file. Only for the one process that writes it."""
    if path.is_file():
        data = path.read_bytes()
        end = data.rfind(b"\n") + 1
        if end < len(data):
            os.truncate(path, end)


@lru_cache(maxsize=64)
def _adapter(kind: Any) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def to_json(record: Any) -> Any:
    """A record (dataclass, NamedTuple or pydantic model) as JSON values, by its types."""
    kind: Any = type(record)
    return _adapter(kind).dump_python(record, mode="json", warnings=False)


def from_json(kind: type[T], value: Any) -> T:
    """The record that ``to_json`` gave. Raises ``pydantic.ValidationError``, a ``ValueError``."""
    wanted: Any = kind
    return cast(T, _adapter(wanted).validate_python(value))
