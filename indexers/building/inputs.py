"""What a build is made from beside its manuals and settings, and what need not be built again."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from typing import Any

from indexers.folder.manifest import Part, check_part, read_manifest
from indexers.legs.model import Leg
from manuals.model.source import SOURCES, Source
from tam.errors import BadIndex
from tam.files import sha256_file
from tam.fingerprints import code_around, code_of, versions
from tam.plugins import Hook

#: packages whose code decides the content of every index
_SHARED = (
    "manuals.model",
    "manuals.library",
    "manuals.pdf",
    "chunkers.model",
    "indexers.building",
    "indexers.folder",
    "indexers.legs.model",
)
#: distributions that read manuals and count tokens
_READERS = ("lxml", "pypdfium2", "tokenizers")


def shared_code() -> dict[str, str]:
    """sha256 of the code of each shared package, with all that is below it."""
    return {name: code_of(name) for name in _SHARED}


def sources_record(sources: Iterable[str]) -> dict[str, Any]:
    """The code of the sources that an index holds, and the versions of what reads them."""
    return {
        "code": {name: source_code(SOURCES[name]) for name in sorted(sources)},
        "libraries": versions(_READERS),
    }


def source_code(source: Source) -> dict[str, str]:
    """sha256 of the code around each function that a source names, by its package."""
    named = [getattr(source, field.name) for field in fields(source)]
    functions = [*named, *source.chunk_rules.values()]
    modules = {
        each.target.partition(":")[0] if isinstance(each, Hook) else str(each.__module__)
        for each in functions
        if isinstance(each, Hook) or (callable(each) and hasattr(each, "__module__"))
    }
    return {module: code_around(module) for module in sorted(modules)}


def taken_part(index: Path, leg: Leg, key: str, place: Path) -> Part | None:
    """A leg's part linked or copied from another index; ``None`` when that has no part with the
    key, or one that is not as it was written."""
    try:
        manifest = read_manifest(index)
        part = manifest.parts.get(leg.name)
        if part is None or part.key != key:
            return None
        check_part(index / leg.place, part)
    except BadIndex:
        return None
    inside = f"{leg.place}/"
    files = {name: digest for name, digest in manifest.files.items() if name.startswith(inside)}
    try:
        if any(sha256_file(index / name) != digest for name, digest in files.items()):
            return None
        for name in files:
            target = place / name.removeprefix(inside)
            target.parent.mkdir(parents=True, exist_ok=True)
            _link(index / name, target)
    except OSError:
        shutil.rmtree(place, ignore_errors=True)
        return None
    return part


def _link(file: Path, target: Path) -> None:
    """One file under two names, where the file system can; files of an index never change."""
    try:
        os.link(file, target)
    except OSError:
        shutil.copyfile(file, target)
