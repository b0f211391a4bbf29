"""``manifest.json``: what an index folder holds and how it was made.

Equal inputs and settings give equal bytes: times stand apart in ``build.json``.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any

from manuals.model.sections import Corpus, ManualFile
from tam.errors import BadIndex, BadOption
from tam.files import write_json
from tam.settings import BuildSettings, settings_of

FORMAT = 1
NAME = "manifest.json"


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
        return f"{self.source}/{self.year}"

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
class Manifest:
    """``files`` are the sha256 of the index's own files by path inside the folder. ``inputs`` is
    one sha256 over everything that decides the content: a build whose inputs are the same has
    nothing to do. ``sample`` marks the bundled sample manuals. ``expanded_with`` names what was
    added to the indexed text (``indexers.building.expansion``): ``index_path``, ``abbreviations``."""

    corpus: Corpus
    tool: str
    code: str
    inputs: str
    sample: bool
    settings: BuildSettings
    encoder: EncoderRecord | None
    editions: tuple[EditionRows, ...]
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
    record = asdict(manifest)
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
    if not path.is_file():
        what = "the folder has no manifest.json" if folder.is_dir() else "there is no such folder"
        raise BadIndex(f"{folder}: not an index ({what}); make one with  tam build")
    try:
        record: dict[str, Any] = json.loads(path.read_bytes())
        found = record.pop("format")
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


def _manifest_of(record: dict[str, Any]) -> Manifest:
    encoder = record.pop("encoder")
    return Manifest(
        **{
            **record,
            "settings": settings_of(record["settings"]),
            "encoder": EncoderRecord(**encoder) if encoder else None,
            "expanded_with": tuple(record.get("expanded_with", ())),
            "editions": tuple(_edition_of(edition) for edition in record["editions"]),
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


def _short(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0]
