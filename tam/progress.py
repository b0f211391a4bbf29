"""Progress on stderr: bars at a terminal, a line for each stage elsewhere."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from rich.progress import Progress

T = TypeVar("T")


def progress(
    items: Iterable[T], what: str, total: int | None = None, unit: str = "it"
) -> Iterator[T]:
    """Iterate with a bar; ``what`` names the stage, ``unit`` what is counted. Silent when piped:
    ``stage`` says there what is done."""
    if not _at_terminal():
        yield from items
        return
    with _bars(unit) as bars:
        task = bars.add_task(what, total=total)
        for item in items:
            yield item
            bars.advance(task)


def byte_progress(blocks: Iterable[bytes], what: str, total: int | None = None) -> Iterator[bytes]:
    """Iterate over blocks of bytes with a bar that counts bytes; ``total`` in bytes."""
    if not _at_terminal():
        yield from blocks
        return
    with _bars("bytes") as bars:
        task = bars.add_task(what, total=total)
        for block in blocks:
            yield block
            bars.advance(task, len(block))


@contextlib.contextmanager
def stage(what: str) -> Iterator[None]:
    """Say on stderr, when it is no terminal, that a stage is done and how long it took."""
    begin = time.perf_counter()
    yield
    if not _at_terminal():
        print(f"{what}: {time.perf_counter() - begin:.1f} s", file=sys.stderr, flush=True)


def _at_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


def _bars(unit: str) -> Progress:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    counted = (DownloadColumn(),) if unit == "bytes" else (MofNCompleteColumn(), TextColumn(unit))
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        *counted,
        TimeRemainingColumn(),
        console=Console(stderr=True),
    )
