"""Damage to an index folder: one kind of error for all that reading changed bytes can end in."""

from __future__ import annotations

from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
import numpy.typing as npt

from tam.errors import BadIndex

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
        raise unreadable(path, error) from error
    return array


def unreadable(path: Path, error: BaseException) -> BadIndex:
    """What to raise when a file of an index cannot be read: why, and what to do."""
    if isinstance(error, PermissionError):
        return BadIndex(f"{path}: no permission to read it; give yourself that, or use a copy")
    return BadIndex(f"{path}: missing or damaged ({error}); build the index again")
