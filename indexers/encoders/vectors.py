"""The cache of vectors: a text is encoded once, whatever indexes, years and builds it stands in.

A folder for each way of encoding holds append-only segments: NumPy files of (sha256 of the text,
vector), each complete or absent, so that a build that was killed goes on where it stopped. Only
one process at a time encodes for one folder; a second waits and finds the work done.
"""

from __future__ import annotations

import contextlib
import hashlib
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from filelock import FileLock, Timeout

from indexers.encoders.base import Encoder, Floats
from tam.files import replacing

#: texts encoded between two writes; about half a minute of a small model
FLUSH = 2048

# More segments than this are joined into one when next written to.
_SEGMENTS = 64


def text_key(text: str) -> bytes:
    """The sha256 of a text, by which its vector is kept."""
    return hashlib.sha256(text.encode("utf-8")).digest()


class VectorCache:
    """Vectors of one encoder below ``folder``.

    The key of a folder is the encoder's fingerprint, dtype and batch size: equal keys give equal
    vectors on one machine.
    """

    def __init__(self, folder: Path, encoder: Encoder) -> None:
        self.encoder = encoder
        settings = f"{encoder.fingerprint} {encoder.dtype} {encoder.batch_size}"
        self.folder = folder / hashlib.sha256(settings.encode()).hexdigest()[:24]
        self._segments: dict[str, npt.NDArray[np.void]] = {}
        self._places: dict[bytes, tuple[str, int]] = {}

    def __len__(self) -> int:
        """Number of vectors known so far in this process."""
        return len(self._places)

    def missing(self, texts: Iterable[str]) -> list[str]:
        """The distinct texts without a vector, in a fixed order: longest first, then by sha256."""
        self._read()
        keys = {text_key(text): text for text in texts}
        new = [(-len(text), key, text) for key, text in keys.items() if key not in self._places]
        return [text for _, _, text in sorted(new)]

    def fill(self, texts: Iterable[str], flush: int = FLUSH) -> Iterator[str]:
        """Encode the texts without a vector, none of which may be blank; yields each when done.

        Vectors are written after every ``flush`` texts and when the iterator ends.
        """
        todo = self.missing(texts)
        if not todo:
            return
        with waiting_lock(self.folder / "lock", "another build, which encodes"):
            # What another process wrote while this one waited need not be encoded again.
            todo = self.missing(todo)
            self._join()
            for first in range(0, len(todo), flush):
                part = todo[first : first + flush]
                vectors: list[Floats] = []
                # In pieces for the progress bar: a vector does not depend on its neighbours.
                step = max(self.encoder.batch_size * 8, 64)
                for begin in range(0, len(part), step):
                    piece = part[begin : begin + step]
                    vectors.append(self.encoder.encode_documents(piece))
                    if begin + step >= len(part):
                        self._write(part, np.concatenate(vectors))
                    yield from piece

    def vectors(self, texts: Sequence[str]) -> Floats:
        """(n, dim): the vectors of texts that are all here (``fill`` sees to that)."""
        keys = [text_key(text) for text in texts]
        if not keys:
            return np.empty((0, self.encoder.dim), np.float32)
        places = [self._places[key] for key in keys]
        width = next(iter(self._segments.values()))["vector"].shape[1]
        result = np.empty((len(texts), width), np.float32)
        rows_of: dict[str, tuple[list[int], list[int]]] = {}
        for row, (segment, place) in enumerate(places):
            into, taken = rows_of.setdefault(segment, ([], []))
            into.append(row)
            taken.append(place)
        for segment, (into, taken) in rows_of.items():
            result[into] = self._segments[segment]["vector"][taken]
        return result

    def _write(self, texts: Sequence[str], vectors: Floats) -> None:
        segment = np.empty(len(texts), _record(vectors.shape[1]))
        segment["key"] = np.frombuffer(b"".join(map(text_key, texts)), np.uint8).reshape(-1, 32)
        segment["vector"] = vectors
        self._save(segment)

    def _save(self, segment: npt.NDArray[np.void]) -> None:
        name = hashlib.sha256(segment["key"].tobytes()).hexdigest()[:32] + ".npy"
        with replacing(self.folder / name) as part, part.open("wb") as stream:
            np.save(stream, segment, allow_pickle=False)
        self._add(name, segment)

    def _read(self) -> None:
        """Take in the segments that are new since the last look."""
        for path in sorted(self.folder.glob("*.npy")):
            if path.name not in self._segments:
                segment = _load(path)
                if segment is not None:
                    self._add(path.name, segment)

    def _add(self, name: str, segment: npt.NDArray[np.void]) -> None:
        self._segments[name] = segment
        keys = segment["key"].tobytes()
        for place in range(len(segment)):
            self._places.setdefault(keys[32 * place : 32 * place + 32], (name, place))

    def _join(self) -> None:
        """Make one segment of many small ones. The lock is held."""
        if len(self._segments) <= _SEGMENTS:
            return
        old = sorted(self._segments)
        joined = np.concatenate([self._segments[name] for name in old])
        _, first = np.unique(joined["key"], axis=0, return_index=True)
        self._segments, self._places = {}, {}
        self._save(joined[first])
        for name in old:
            if name not in self._segments:
                (self.folder / name).unlink(missing_ok=True)


def _record(dim: int) -> np.dtype[np.void]:
    return np.dtype([("key", np.uint8, (32,)), ("vector", "<f4", (dim,))])


def _load(path: Path) -> npt.NDArray[np.void] | None:
    """A segment, mapped; ``None`` for a damaged one, which is removed: it is made again."""
    try:
        segment: Any = np.load(path, mmap_mode="r", allow_pickle=False)
        names = segment.dtype.names
    except FileNotFoundError:
        # Joined into another by a process that encodes at this moment.
        return None
    except (ValueError, EOFError):
        names = None
    if names != ("key", "vector"):
        print(f"tam: {path}: damaged, removed; its texts are encoded again", file=sys.stderr)
        path.unlink(missing_ok=True)
        return None
    found: npt.NDArray[np.void] = segment
    return found


@contextlib.contextmanager
def waiting_lock(path: Path, holder: str) -> Iterator[None]:
    """Hold a lock file; says on stderr what it waits for when another process has it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path)
    try:
        lock.acquire(timeout=0.2)
    except Timeout:
        print(f"tam: waiting for {holder} ...", file=sys.stderr)
        lock.acquire()
    try:
        yield
    finally:
        lock.release()
