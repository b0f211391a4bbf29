"""``manifest.json``: what an index folder holds and how it was made.

Equal inputs and settings give equal bytes: times stand apart in ``build.json``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from types import MappingProxyType
from typing import Any

from indexers.folder.damage import unreadable
from manuals.model.section_id import edition_name
from manuals.model.sections import ManualFile
from tam.errors import BadIndex, BadOption
from tam.files import sha256_file, write_json
from tam.settings import BuildSettings, settings_of

FORMAT = 3
NAME = "manifest.json"
#: files of an index folder that no sha256 is kept of
_OWN = (NAME, "build.json")


@dataclass(frozen=True, slots=True)
class EditionRows:
    """One edition in an index: its rows ``[start, stop)`` and counts.

    ``tokens`` are word pieces over all chunks, ``windows`` vectors (0 without a dense index).
    """

    source: str
    year: int
    title: str
    release: str
    effective_from: date
    effective_to: date | None
    files: tuple[ManualFile, ...]
    problems: tuple[str, ...]
    start: int
    stop: int
    windows: int
    tokens: int

    @property
    def name(self) -> str:
        return edition_name(self.source, self.year)

    @property
    def rows(self) -> slice:
        return slice(self.start, self.stop)

    @property
    def chunks(self) -> int:
        return self.stop - self.start


@dataclass(frozen=True, slots=True)
class EncoderRecord:
    """The encoder that made the vectors. ``dtype`` is the one used, never ``auto``."""

    name: str
    fingerprint: str
    dim: int
    window: int | None
    dtype: str
    batch_size: int


@dataclass(frozen=True, slots=True)
class Part:
    """A leg's part of an index. ``key`` is one sha256 over all that decides its content, which the
    part's own ``part.json`` repeats; ``counts`` are those that the leg's build gave."""

    key: str
    counts: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Manifest:
    """``inputs``, the id of a build, is one sha256 over everything that decides the content: a
    build whose inputs are the same has nothing to do. ``content`` is one over its manuals and
    chunks, and what made them. ``parts`` are the legs' by name. ``files`` are the sha256 of the index's own
    files by path inside the folder. ``sample`` marks the bundled sample manuals.
    ``expanded_with`` names what was added to the indexed text (``indexers.building.expansion``):
    ``index_path``, ``abbreviations``."""

    corpus: str
    tool: str
    inputs: str
    content: str
    sample: bool
    settings: BuildSettings
    encoder: EncoderRecord | None
    editions: tuple[EditionRows, ...]
    parts: dict[str, Part]
    files: dict[str, str]
    expanded_with: tuple[str, ...] = ()

    @property
    def chunks(self) -> int:
        return sum(edition.chunks for edition in self.editions)

    @property
    def windows(self) -> int:
        return sum(edition.windows for edition in self.editions)


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write ``manifest.json`` into an index folder."""
    record = {**asdict(manifest), "settings": manifest.settings.record()}
    for edition in record["editions"]:
        edition["effective_from"] = edition["effective_from"].isoformat()
        until = edition["effective_to"]
        edition["effective_to"] = until.isoformat() if until else None
    write_json(folder / NAME, {"format": FORMAT, **record})


def read_manifest(folder: Path) -> Manifest:
    """The manifest of an index folder.

    Raises ``BadIndex`` when it is missing, damaged or of another format.
    """
    path = folder / NAME
    if not _is_file(path):
        what = "the folder has no manifest.json" if folder.is_dir() else "there is no such folder"
        raise BadIndex(f"{folder}: not an index ({what}); make one with  tam build")
    try:
        record: dict[str, Any] = json.loads(path.read_bytes())
        found = record.pop("format")
    except PermissionError as error:
        raise unreadable(path, error) from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadIndex(f"{path}: damaged ({_short(error)}); build it again") from error
    if found != FORMAT:
        age = "newer" if isinstance(found, int) and found > FORMAT else "older"
        raise BadIndex(
            f"{folder}: index format {found}, but this version of tam reads format {FORMAT}; "
            + ("update tam" if age == "newer" else "build it again")
        )
    try:
        return _manifest_of(record)
    except (KeyError, TypeError, ValueError, BadOption) as error:
        # Readable, and yet not what this version writes.
        raise BadIndex(
            f"{path}: built by another version of tam, or damaged ({_short(error)}); build it again"
        ) from error


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except PermissionError as error:
        raise unreadable(path, error) from error


def _manifest_of(record: dict[str, Any]) -> Manifest:
    encoder = record.pop("encoder")
    return Manifest(
        **{
            **record,
            "settings": settings_of(record["settings"]),
            "encoder": EncoderRecord(**encoder) if encoder else None,
            "expanded_with": tuple(record.get("expanded_with", ())),
            "editions": tuple(_edition_of(edition) for edition in record["editions"]),
            "parts": {name: Part(**part) for name, part in record["parts"].items()},
        },
    )


def _edition_of(record: dict[str, Any]) -> EditionRows:
    numbers = [record[name] for name in ("year", "start", "stop", "windows", "tokens")]
    if not all(isinstance(number, int) for number in numbers) or not (
        0 <= record["start"] <= record["stop"]
    ):
        raise ValueError(f"year, rows and counts of an edition are {numbers}")
    until = record["effective_to"]
    return EditionRows(
        **{
            **record,
            "effective_from": date.fromisoformat(record["effective_from"]),
            "effective_to": date.fromisoformat(until) if until else None,
            "files": tuple(ManualFile(**file) for file in record["files"]),
            "problems": tuple(record["problems"]),
        }
    )


def file_hashes(folder: Path, known: Mapping[str, str] = MappingProxyType({})) -> dict[str, str]:
    """sha256 of every file of an index but the manifest and the times, by path inside it; those
    that are ``known`` are taken from there."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    paths = {path.relative_to(folder).as_posix(): path for path in files}
    return {
        name: known.get(name) or sha256_file(path)
        for name, path in paths.items()
        if name not in _OWN
    }


#: the file that repeats a part's key and counts inside its folder
PART = "part.json"


def write_part(folder: Path, part: Part) -> None:
    """Write ``part.json`` into a leg's folder."""
    write_json(folder / PART, asdict(part))


def check_part(folder: Path, expected: Part) -> None:
    """Raises ``BadIndex`` when a leg's folder is missing or not the one that its index was built
    with."""
    path = folder / PART
    try:
        found = Part(**json.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError) as error:
        raise unreadable(path, error) from error
    if found != expected:
        raise BadIndex(
            f"{folder}: of another index (build {found.key[:12]}, {found.counts.get('rows')} rows; "
            f"the manifest says {expected.key[:12]}, {expected.counts.get('rows')} rows); "
            f"build the index again"
        )


def _short(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0]
