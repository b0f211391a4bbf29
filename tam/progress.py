"""One progress bar for each stage: on a terminal a bar, elsewhere silence."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def progress(items: Iterable[T], what: str, total: int | None = None, unit: str = "it") -> Iterator[T]:
    """Iterate with a bar on stderr; ``what`` names the stage, ``unit`` what is counted."""
    from tqdm import tqdm

    yield from tqdm(
        items, desc=what, total=total, unit=unit, file=sys.stderr, leave=True, disable=None
    )
