"""Which folder of manuals to read when none is given."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_data_path

from manuals.acquire.fetch import fetch_bundle
from manuals.library.discover import recognised_files
from tam.errors import FetchError

HERE = Path(__file__).resolve().parents[1]
SAMPLE = HERE / "sample"


def data_folder(here: Path = HERE) -> Path:
    """Where fetched manuals lie: ``manuals/data`` in a checkout, else the user's data folder."""
    if (here.parent / "pyproject.toml").is_file():
        return here / "data"
    return user_data_path("tam", appauthor=False) / "manuals"


DATA = data_folder()


def shown(folder: Path) -> str:
    """A folder as messages name it: ``manuals/data`` for that of a checkout."""
    return "manuals/data" if folder == HERE / "data" else str(folder)


@dataclass(frozen=True, slots=True)
class Located:
    """A folder of official files. ``note`` is one line to say when it was not given."""

    folder: Path
    is_sample: bool
    note: str = ""


def is_filled(folder: Path) -> bool:
    """Whether a folder holds at least one manual; looks no further than the first."""
    return folder.is_dir() and any(recognised_files(folder))


def locate_manuals(
    given: Path | None = None, offline: bool = False, data: Path = DATA, sample: Path = SAMPLE
) -> Located:
    """The folder to build from.

    In this order: ``given``; ``data`` when it is filled; the benchmark's bundle, fetched into
    ``data`` (not when ``offline``); the bundled sample. Never fails for want of a network.
    """
    if given is not None:
        return Located(given, given.resolve() == sample.resolve())
    if is_filled(data):
        return Located(data, False, f"manuals: {shown(data)}")
    reason = "offline"
    if not offline:
        try:
            fetch_bundle(data)
        except FetchError as error:
            reason = str(error)
        else:
            return Located(data, False, "manuals: the benchmark's bundle, fetched now")
    return Located(
        sample,
        True,
        f"no manuals here: using the small bundled SAMPLE ({reason})",
    )
