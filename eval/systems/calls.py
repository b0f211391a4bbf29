"""Stored model calls: a journal of the case at hand, and a cache that outlives the run.

A request is known by the sha256 of its canonical JSON (model, messages, tools, options); the n-th
equal request within a case is a call of its own. The journal makes a killed case go on without
paying again for the calls that it had made; the cache, when asked for, makes a whole rerun free.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import threading
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

Origin = Literal["journal", "cache"]


def request_key(request: Mapping[str, Any]) -> str:
    """The sha256 of a request's canonical JSON."""
    text = json.dumps(request, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def append_line(path: Path, text: str, mode: int = 0o644) -> None:
    """Append one line and have it on disk when this returns."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, mode)
    try:
        os.write(handle, (text + "\n").encode("utf-8"))
        os.fsync(handle)
    finally:
        os.close(handle)


def whole_lines(path: Path) -> list[str]:
    """The complete lines of a file; a partial one that a kill left at its end is cut off."""
    if not path.is_file():
        return []
    data = path.read_bytes()
    end = data.rfind(b"\n") + 1
    if end < len(data):
        with path.open("r+b") as stream:
            stream.truncate(end)
    return [line for line in data[:end].decode("utf-8").split("\n") if line]


class Journal:
    """The calls of one case, one JSON line each; replayed in order after a kill."""

    def __init__(self, path: Path, mode: int = 0o644) -> None:
        self._path = path
        self._mode = mode
        self._stored: dict[str, list[Any]] = {}
        self._used: Counter[str] = Counter()
        self._lock = threading.Lock()
        for line in whole_lines(path):
            with contextlib.suppress(ValueError, KeyError, TypeError):
                entry = json.loads(line)
                self._stored.setdefault(entry["key"], []).append(entry["response"])

    def take(self, key: str) -> Any | None:
        """The stored response of the next call with this key, or ``None``."""
        with self._lock:
            stored = self._stored.get(key, [])
            position = self._used[key]
            if position >= len(stored):
                return None
            self._used[key] += 1
            return stored[position]

    def put(self, key: str, response: Any) -> None:
        """Store the response of a call that was just made."""
        with self._lock:
            line = json.dumps({"key": key, "response": response}, ensure_ascii=False)
            append_line(self._path, line, self._mode)
            self._stored.setdefault(key, []).append(response)
            self._used[key] += 1

    def close(self) -> None:
        """The case is done: the journal has served."""
        self._path.unlink(missing_ok=True)


class Cache:
    """Responses by content in a folder, one file each, shared by runs that ask for it.

    The n-th equal request of a case has its own entry, so that repeated sampling stays repeated.
    """

    def __init__(self, folder: Path, mode: int = 0o644) -> None:
        self._folder = folder
        self._mode = mode
        folder.mkdir(parents=True, exist_ok=True, mode=0o700 if mode == 0o600 else 0o777)

    def _path(self, key: str, repeat: int) -> Path:
        return self._folder / key[:2] / f"{key}-{repeat}.json"

    def get(self, key: str, repeat: int) -> Any | None:
        """A stored response, or ``None``; a damaged entry counts as absent."""
        try:
            return json.loads(self._path(key, repeat).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None

    def put(self, key: str, repeat: int, response: Any) -> None:
        """Store a response, complete or not at all."""
        from tam.files import write_text

        path = self._path(key, repeat)
        write_text(path, json.dumps(response, ensure_ascii=False, sort_keys=True) + "\n")
        path.chmod(self._mode)
