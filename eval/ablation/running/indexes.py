"""The indexes of a study: each is built once and shared by all cells and studies that need it.

``<root>/<corpus>``, where ``tam build`` puts it, is taken when it has the settings and editions
that a cell needs. Any other is built below ``<root>/studies/<hash of settings and editions>``.
Vectors are kept in ``<root>/.cache`` with those of ``tam build``: no text is encoded twice.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from indexers.building.build import CACHE, build
from indexers.folder.manifest import read_manifest
from manuals.library.editions import Library, load_library, open_manuals
from manuals.library.locate import locate_manuals
from manuals.library.store import edition_record
from manuals.model.sections import Edition
from manuals.model.source import SOURCES
from retrievers.search.index import Index, open_index
from tam.errors import BadIndex, ManualError, StudyError
from tam.files import sha256_text
from tam.settings import BuildSettings

STUDIES = "studies"


@dataclass(frozen=True, slots=True)
class Built:
    """An index and what it cost: ``seconds`` by stage as its build took them, ``encoded`` of
    ``distinct`` texts that had no vector before."""

    index: Index
    new: bool
    seconds: dict[str, float] = field(default_factory=dict)
    distinct: int = 0
    encoded: int = 0


@dataclass
class Indexes:
    """Makes the indexes of one corpus. ``editions`` are those to index."""

    root: Path
    corpus: str
    library: Library
    editions: tuple[Edition, ...]
    sample: bool = False
    _made: dict[BuildSettings, Built] = field(default_factory=dict)

    def of(self, settings: BuildSettings) -> Built:
        """The index with these settings, built when it is not there."""
        if settings not in self._made:
            self._made[settings] = self._find(settings)
        return self._made[settings]

    def _find(self, settings: BuildSettings) -> Built:
        standard = self.root / self.corpus
        if self._fits(standard, settings):
            return _built(standard, new=False)
        folder = self.root / STUDIES / self.name(settings)
        library = self._library()
        made = [standard, *(built.index.path for built in self._made.values())]
        (result,) = build(
            library,
            folder,
            settings,
            (self.corpus,),
            self.sample,
            cache=self.root / CACHE,
            reuse=made,
        )
        return _built(result.path, result.built)

    def name(self, settings: BuildSettings) -> str:
        """The folder of an index: a hash of what it is made of."""
        record = {
            "settings": settings.record(),
            "editions": [edition_record(edition) for edition in self.editions],
            "sample": self.sample,
        }
        return sha256_text(json.dumps(record, sort_keys=True, ensure_ascii=False))[:16]

    def _fits(self, folder: Path, settings: BuildSettings) -> bool:
        try:
            manifest = read_manifest(folder)
        except BadIndex:
            return False
        held = {
            (edition.source, edition.year): tuple(file.sha256 for file in edition.files)
            for edition in manifest.editions
        }
        wanted = {
            (edition.source, edition.year): tuple(file.sha256 for file in edition.files)
            for edition in self.editions
        }
        return manifest.settings == settings and held == wanted and manifest.sample == self.sample

    def _library(self) -> Library:
        """The editions to index, parsed once: an index made before holds them parsed."""
        for built in self._made.values():
            parsed = load_library(built.index.path / "manuals")
            if parsed.editions == self.editions:
                return parsed
        return Library(
            self.editions,
            lambda edition: self.library.manual(edition.source, edition.year, keep=False),
        )


def _built(path: Path, new: bool) -> Built:
    record = json.loads((path / "build.json").read_bytes())
    return Built(open_index(path), new, record["seconds"], record["distinct"], record["encoded"])


def open_study_library(
    root: Path, corpus: str, manuals: Path | None
) -> tuple[Library, bool, list[str]]:
    """The manuals of a study, whether they are the sample, and notes about them.

    ``manuals``, else those that the index at ``root`` was built from, else what ``tam build``
    would take.
    """
    standard = root / corpus
    if manuals is None:
        try:
            return load_library(standard / "manuals"), read_manifest(standard).sample, []
        except (BadIndex, ManualError):
            pass
    located = locate_manuals(manuals)
    library = open_manuals(located.folder)
    notes = [located.note] if located.note else []
    return library, located.is_sample, [*notes, *library.problems]


def chosen_editions(
    library: Library, corpus: str, sources: Sequence[str], years: Iterable[int]
) -> tuple[Edition, ...]:
    """The editions of a corpus that a study indexes. Raises ``StudyError`` when there are none."""
    wanted = set(years)
    found = tuple(
        edition
        for edition in library.editions
        if SOURCES[edition.source].corpus == corpus
        and (not sources or edition.source in sources)
        and (not wanted or edition.year in wanted)
    )
    if not found:
        raise StudyError(
            f"index: the manuals here hold no edition of {corpus}"
            + (f" of {', '.join(sources)}" if sources else "")
            + (f" of {', '.join(map(str, sorted(wanted)))}" if wanted else "")
            + "; name others, or give their folder with --manuals"
        )
    return found
