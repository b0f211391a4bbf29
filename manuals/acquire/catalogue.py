"""The catalogue of official downloads (``catalogue.toml``)."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from manuals.model.source import SOURCES
from tam.errors import FetchError

CATALOGUE = Path(__file__).with_name("catalogue.toml")

Kind = Literal["pdf", "html", "xml", "zip"]


@dataclass(frozen=True, slots=True)
class CatalogueFile:
    """One download of one edition.

    ``gives`` are the sources that its content must turn out to be, each of ``year``; ``urls`` are
    tried in order; of a zip only ``members`` are taken. ``size`` (bytes) and ``sha256`` are those
    of the file, where they are known. ``checked`` says that somebody has fetched it.
    """

    corpus: str
    year: int
    gives: tuple[str, ...]
    kind: Kind
    urls: tuple[str, ...]
    save_as: str = ""
    members: tuple[str, ...] = ()
    size: int | None = None
    sha256: str = ""
    checked: bool = False

    @property
    def edition(self) -> str:
        """``icd10cm/2019``: what ``tam manuals fetch`` takes."""
        return f"{self.corpus}/{self.year}"


def load_catalogue(path: Path = CATALOGUE) -> tuple[CatalogueFile, ...]:
    """All downloads, by corpus and year. Raises ``FetchError`` for a catalogue that is wrong."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        files = [file for entry in table["file"] for file in _files(entry, table.get("known", {}))]
    except (OSError, tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        raise FetchError(f"{path.name}: not a catalogue ({error}); mend it") from error
    return tuple(sorted(files, key=lambda file: (file.corpus, file.year, file.gives)))


def _files(entry: dict[str, Any], known: dict[str, Any]) -> list[CatalogueFile]:
    entry = dict(entry)
    years, urls = entry.pop("years"), entry.pop("urls")
    unknown = set(entry["gives"]) - set(SOURCES)
    if unknown:
        raise KeyError(f"gives {sorted(unknown)}")
    files = []
    for year in years:
        facts = known.get(f"{entry['corpus']}/{year}/{'+'.join(entry['gives'])}", {})
        fields = {name: _frozen(value) for name, value in {**entry, **facts}.items()}
        shown = tuple(url.replace("{year}", str(year)) for url in urls)
        files.append(CatalogueFile(**fields, year=year, urls=shown))
    return files


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def files_of(name: str, catalogue: tuple[CatalogueFile, ...]) -> tuple[CatalogueFile, ...]:
    """The downloads of one edition; ``FetchError`` with the names there are."""
    files = tuple(file for file in catalogue if file.edition == name)
    if files:
        return files
    corpus, _, year = name.partition("/")
    years = sorted({file.year for file in catalogue if file.corpus == corpus})
    if not years:
        names = ", ".join(sorted({file.corpus for file in catalogue}))
        raise FetchError(f"{name!r} is not in the catalogue: give one of {names}, then /YEAR")
    official = SOURCES[corpus].official_years if corpus in SOURCES and year.isdigit() else ()
    before = [known for known in official if known < int(year)]
    if before and int(year) not in official:
        raise FetchError(
            f"there is no {SOURCES[corpus].short} of {year}: the one of {max(before)} stayed in "
            f"force; fetch {corpus}/{max(before)}"
        )
    raise FetchError(f"{name!r} is not in the catalogue: {corpus} has {', '.join(map(str, years))}")
