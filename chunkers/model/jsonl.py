"""Chunks as JSON lines, for people and for other tools."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from chunkers.model.chunk import Chunk
from chunkers.model.cut import Sizes
from chunkers.model.presets import chunk_manual
from chunkers.model.report import select_editions
from manuals.library.editions import Library
from tam.files import replacing
from tam.progress import progress


def record(chunk: Chunk) -> dict[str, Any]:
    """A chunk as JSON values; dates as ``YYYY-MM-DD``, what is absent as ``null``."""
    values = asdict(chunk)
    values["effective_from"] = chunk.effective_from.isoformat()
    values["effective_to"] = chunk.effective_to.isoformat() if chunk.effective_to else None
    return values


def write_jsonl(
    path: Path,
    library: Library,
    sources: Sequence[str],
    years: Sequence[int],
    preset: str,
    sizes: Sizes,
    encoder: str,
) -> int:
    """Write the chunks of these sources and years, complete or not at all; how many there are.

    Raises as ``select_editions``, and ``ManualError`` for an edition that cannot be parsed.
    """
    editions = select_editions(library, sources, years)
    count = 0
    with replacing(path) as part, part.open("w", encoding="utf-8", newline="\n") as stream:
        for edition in progress(editions, "chunking", len(editions), "editions"):
            manual = library.manual(edition.source, edition.year, keep=False)
            for chunk in chunk_manual(manual, preset, sizes, encoder):
                stream.write(json.dumps(record(chunk), ensure_ascii=False) + "\n")
                count += 1
    return count
