"""Editions parsed, saved and chunked, by several processes where that is safe."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from chunkers.model.chunk import Chunk
from chunkers.model.cut import Sizes
from chunkers.model.presets import chunk_manual
from indexers.encoders.base import tokenizer_name
from manuals.library.editions import Library
from manuals.library.store import save_manual
from manuals.model.sections import Edition
from tam.errors import ManualError
from tam.settings import BuildSettings

#: processes that parse and chunk; a forked one finds all as it was, which is safe on Linux only
WORKERS = min(os.cpu_count() or 1, 3) if sys.platform == "linux" else 1


class Failed(NamedTuple):
    """An edition that could not be parsed."""

    edition: Edition
    error: ManualError


@dataclass(frozen=True, slots=True)
class Parse:
    """Parses one edition, saves it below ``folder``, and chunks it."""

    library: Library
    settings: BuildSettings
    folder: Path

    def __call__(self, edition: Edition) -> tuple[Edition, list[Chunk]] | Failed:
        settings = self.settings
        try:
            manual = self.library.manual(edition.source, edition.year, keep=False)
        except ManualError as error:
            return Failed(edition, error)
        save_manual(manual, self.folder)
        sizes = Sizes(settings.target, settings.bound)
        tokenizer = tokenizer_name(settings.encoder)
        return manual.edition, chunk_manual(manual, settings.preset, sizes, tokenizer)


_worker: list[Parse] = []


def _start_worker(parse: Parse) -> None:
    # Ctrl-C reaches every process of the terminal: this one ends at once and says nothing.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # One process for each core is enough, and the tokenizers' threads do not outlive a fork.
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    _worker[:] = [parse]
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()


def _end_with(parent: int) -> None:
    """End this process when its parent is gone: killed, it cannot tell its workers."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def _parse_in_worker(edition: Edition) -> tuple[Edition, list[Chunk]] | Failed:
    return _worker[0](edition)


def parse_all(
    parse: Parse, editions: Sequence[Edition]
) -> Iterator[tuple[Edition, list[Chunk]] | Failed]:
    """Each edition with its chunks, in the order given."""
    workers = min(WORKERS, len(editions))
    if workers < 2:
        yield from map(parse, editions)
        return
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(workers, context, _start_worker, (parse,)) as pool:
        try:
            yield from pool.map(_parse_in_worker, editions)
        except BrokenProcessPool as error:
            raise OSError("a parsing process was killed, perhaps for want of memory") from error
        finally:
            pool.shutdown(cancel_futures=True)
