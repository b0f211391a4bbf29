"""Damage to an index folder: one kind of error for all that reading changed bytes can end in."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
import numpy.typing as npt

from tam.errors import BadIndex, TamError

# numpy reads a file's head as Python source and lets through what its tokeniser raises.
_DAMAGE = (OSError, ValueError, EOFError, TokenError, SyntaxError, OverflowError, MemoryError)


def load_array(path: Path, mapped: bool = False) -> npt.NDArray[Any]:
    """The array of a ``.npy`` file, without pickle; ``mapped`` leaves it on disk.

    Raises ``BadIndex`` when the file is missing or damaged.
    """
    try:
        array: npt.NDArray[Any] = np.load(
            path, mmap_mode="r" if mapped else None, allow_pickle=False
        )
    except _DAMAGE as error:
        raise BadIndex(f"{path}: missing or damaged ({error}); build the index again") from error
    return array


@contextlib.contextmanager
def blaming(*folders: Path) -> Iterator[None]:
    """Say that an index is damaged when that is why the block fails as nobody foresaw.

    Opening an index checks no sha256, which would read all of it. Only when something breaks are
    the files checked; raises ``BadIndex`` naming the first one that is not as it was written.
    """
    try:
        yield
    except (TamError, BrokenPipeError):
        raise
    except Exception as error:
        from indexers.folder.verify import changed_files

        for folder in folders:
            fault = next(changed_files(folder), None)
            if fault is not None:
                raise BadIndex(
                    f"{folder}: damaged ({fault}); build it again with  tam build"
                ) from error
        raise
