"""Checking an index folder: its files, its tables, and its chunks against the manuals."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from chunkers.model.store import read_chunks
from indexers.folder.manifest import file_hashes
from indexers.folder.opened import StoredIndex, open_folder
from indexers.folder.table import CHUNKS
from indexers.legs.model import LEGS
from tam.errors import BadIndex, TamError
from tam.files import sha256_text

# A damaged index can have as many faults as chunks: the first ones tell.
_SHOWN = 20


def verify(path: Path | str) -> list[str]:
    """The faults of an index, one line each; none for a sound one.

    Raises ``BadIndex`` when the folder is no index at all or its manifest cannot be read.
    """
    index = open_folder(path)
    faults = list(changed_files(index.path))
    if faults:
        # What the files hold can only be trusted when they are those that were written.
        return faults
    try:
        for check in (_tables, _legs, _chunks):
            for fault in check(index):
                faults.append(fault)
                if len(faults) == _SHOWN:
                    return [*faults, "and perhaps more"]
    except (TamError, OSError, ValueError) as error:
        faults.append(str(error))
    return faults


def changed_files(path: Path) -> Iterator[str]:
    """A line for each file of an index that is not as it was written. Raises as ``open_folder``."""
    wanted, found = open_folder(path).manifest.files, file_hashes(path)
    for name in sorted(wanted.keys() | found.keys()):
        if name not in found:
            yield f"{name}: missing"
        elif name not in wanted:
            yield f"{name}: not in the manifest"
        elif wanted[name] != found[name]:
            yield f"{name}: sha256 is {found[name][:12]}..., the manifest says {wanted[name][:12]}..."


def _tables(index: StoredIndex) -> Iterator[str]:
    row = 0
    for edition in index.manifest.editions:
        if edition.start != row:
            yield f"manifest: rows of {edition.name} begin at {edition.start}, not {row}"
        row = edition.stop


def _legs(index: StoredIndex) -> Iterator[str]:
    for name in index.manifest.parts:
        yield from LEGS[name].faults(index.ranker(name), index.manifest)


def _chunks(index: StoredIndex) -> Iterator[str]:
    chunks = read_chunks(index.path / CHUNKS)
    if len(chunks) != len(index):
        yield f"{CHUNKS}: {len(chunks)} chunks, the manifest says {len(index)}"
        return
    seen: set[str] = set()
    for edition in index.manifest.editions:
        manual = index.library.manual(edition.source, edition.year, keep=False)
        for chunk in chunks[edition.start : edition.stop]:
            if (chunk.source, chunk.year) != (edition.source, edition.year):
                yield f"{chunk.id}: stands among the rows of {edition.name}"
            if chunk.id in seen:
                yield f"{chunk.id}: the id is there twice"
            seen.add(chunk.id)
            if sha256_text(chunk.text) != chunk.sha256:
                yield f"{chunk.id}: the text is not the one of its sha256"
            if not same_words(chunk.body(manual), chunk.text[len(chunk.context) :]):
                yield f"{chunk.id}: the body is not the slice of {edition.name} that it names"


@contextlib.contextmanager
def naming_damage(*folders: Path) -> Iterator[None]:
    """Say that an index is damaged when that is why the block fails as nobody foresaw.

    Opening an index checks no sha256, which would read all of it. Only when something breaks are
    the files checked; raises ``BadIndex`` naming the first one that is not as it was written.
    """
    try:
        yield
    except (TamError, BrokenPipeError):
        raise
    except Exception as error:
        for folder in folders:
            fault = next(changed_files(folder), None)
            if fault is not None:
                raise BadIndex(
                    f"{folder}: damaged ({fault}); build it again with  tam build"
                ) from error
        raise


def same_words(body: str, text: str) -> bool:
    """Whether the text holds the body's characters in order; presets change white space only."""
    return "".join(body.split()) in "".join(text.split())
