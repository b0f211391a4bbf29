"""Stored model calls: a journal of the case at hand, and a cache that outlives the run.

A request is known by the sha256 of its canonical JSON (model, messages, tools, options); the n-th
equal request within a case is a call of its own. The journal makes a killed case go on without
paying again for the calls that it had made; the cache, when asked for, makes a whole rerun free.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import astuple
from pathlib import Path
from typing import Any

from eval.systems.model.budget import Usage
from tam.files import write_text
from tam.records import append_record, cut_partial_line, json_bytes, whole_lines


def request_key(request: Mapping[str, Any]) -> str:
    """The sha256 of a request's canonical JSON."""
    text = json.dumps(request, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Journal:
    """The calls of one case that were paid for, one JSON line each; replayed after a kill."""

    def __init__(self, path: Path, mode: int = 0o644) -> None:
        self._path = path
        self._mode = mode
        self._stored: dict[str, list[Any]] = {}
        self._used: Counter[str] = Counter()
        self._lock = threading.Lock()
        #: what all calls of the journal used, those too that a replay did not ask for again
        self.usage = Usage()
        cut_partial_line(path)
        for line in whole_lines(path):
            with contextlib.suppress(ValueError, KeyError, TypeError):
                entry = json.loads(line)
                self._stored.setdefault(entry["key"], []).append(entry["response"])
                self.usage = self.usage + Usage(*entry["usage"])

    def take(self, key: str) -> Any | None:
        """The stored response of the next call with this key, or ``None``."""
        with self._lock:
            stored = self._stored.get(key, [])
            position = self._used[key]
            if position >= len(stored):
                return None
            self._used[key] += 1
            return stored[position]

    def put(self, key: str, response: Any, usage: Usage) -> None:
        """Store the response of a call that was just made."""
        entry = {"key": key, "response": response, "usage": astuple(usage)}
        with self._lock:
            append_record(self._path, entry, self._mode)
            self._stored.setdefault(key, []).append(response)
            self._used[key] += 1
            self.usage = self.usage + usage


class Cache:
    """Responses by content in a folder, one file each, shared by runs that ask for it.

    The n-th equal request of a case has its own entry, so that repeated sampling stays repeated.
    ``fresh`` asks anew and keeps what comes: a retry must not get the answer that failed.
    """

    def __init__(self, folder: Path, private: bool = False, fresh: bool = False) -> None:
        self._folder = folder
        self._mode = 0o600 if private else 0o644
        self._fresh = fresh
        folder.mkdir(parents=True, exist_ok=True)
        if private:
            folder.chmod(0o700)

    def _path(self, key: str, repeat: int) -> Path:
        return self._folder / key[:2] / f"{key}-{repeat}.json"

    def get(self, key: str, repeat: int) -> Any | None:
        """A stored response, or ``None``; a damaged entry counts as absent."""
        if self._fresh:
            return None
        try:
            return json.loads(self._path(key, repeat).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None

    def put(self, key: str, repeat: int, response: Any) -> None:
        """Store a response, complete or not at all."""
        path = self._path(key, repeat)
        write_text(path, json_bytes(response).decode("utf-8"))
        path.chmod(self._mode)
