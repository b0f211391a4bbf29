"""Files: hashes, and writes that are complete or absent."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def sha256_file(path: Path) -> str:
    """Lower-case hex sha256 of a file's bytes."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def sha256_text(text: str) -> str:
    """Lower-case hex sha256 of a text's UTF-8 bytes."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path beside ``path``; it takes the place of ``path`` when the block succeeds.

    Nothing is left behind when it fails.
    """
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "a folder is there, not a file", str(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    name = ""
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
        os.close(handle)
        part = Path(name)
        yield part
        with part.open("rb") as stream:
            os.fsync(stream.fileno())
        umask = os.umask(0)
        os.umask(umask)
        part.chmod(0o666 & ~umask)
        part.replace(path)
    except OSError as error:
        if error.errno is None or Path(error.filename or path).parent != path.parent:
            raise
        # A full disk names no file, and the temporary one says nothing to the user.
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        if name:
            Path(name).unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a UTF-8 text file with ``\\n`` line ends, complete or not at all."""
    with replacing(path) as part:
        part.write_bytes(text.encode("utf-8"))


def write_json(path: Path, value: Any) -> None:
    """Write JSON with sorted keys and a line end, so that equal values give equal bytes."""
    write_text(path, json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True) + "\n")


@contextlib.contextmanager
def replacing_folder(path: Path) -> Iterator[Path]:
    """A temporary folder beside ``path``; it takes the place of ``path`` when the block succeeds.

    Nothing is left behind when it fails. A folder cannot be swapped in one step everywhere: the
    old one is moved aside first, so that ``path`` is at no time half old and half new.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent))
    old = part.with_suffix(".old")
    try:
        yield part
        umask = os.umask(0)
        os.umask(umask)
        part.chmod(0o777 & ~umask)
        if path.exists():
            path.rename(old)
        part.rename(path)
    finally:
        if old.exists() and not path.exists():
            old.rename(path)
        for left in (part, old):
            shutil.rmtree(left, ignore_errors=True)
