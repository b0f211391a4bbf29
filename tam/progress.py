"""One progress bar for each stage: on a terminal a bar, elsewhere silence."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def progress(
    items: Iterable[T], what: str, total: int | None = None, unit: str = "it"
) -> Iterator[T]:
    """Iterate with a bar on stderr; ``what`` names the stage, ``unit`` what is counted."""
    from tqdm import tqdm

    yield from tqdm(
        items, desc=what, total=total, unit=unit, file=sys.stderr, leave=True, disable=None
    )


def byte_progress(blocks: Iterable[bytes], what: str, total: int | None = None) -> Iterator[bytes]:
    """Iterate over blocks of bytes with a bar that counts bytes; ``total`` in bytes."""
    from tqdm import tqdm

    with tqdm(
        desc=what, total=total, unit="B", unit_scale=True, file=sys.stderr, disable=None
    ) as bar:
        for block in blocks:
            yield block
            bar.update(len(block))
