"""An index folder, opened: its parts load when first used.

| path | what |
|---|---|
| `manifest.json` | what it holds and how it was made; sha256 of every other file |
| `build.json` | when and how long; not compared |
| `chunks.parquet` | one row for each chunk, in small row groups |
| `bm25/` | `data`, `indices`, `counts`, `starts`, `blocks` (.npy), `vocabulary.txt` |
| `dense/` | `vectors.faiss`; `starts`, `spans` (.npy); absent without an encoder |
| `lines/` | `ngrams/` and `dense/` of the chunks' lines, of an index built with them |
| `legs/` | the parts of other legs by name |
| `links.parquet` | which chunk points to which sections |
| `manuals/` | the parsed editions |
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indexers.folder.link_table import LINKS, LinkTable
from indexers.folder.manifest import NAME, Manifest, check_part, read_manifest
from indexers.folder.table import CHUNKS, ChunkTable
from indexers.legs.bm25.leg import LEG as TERMS
from indexers.legs.bm25.scores import Bm25
from indexers.legs.model import Leg, Ranker, leg_of
from tam.errors import BadIndex

if TYPE_CHECKING:
    from indexers.encoders.base import Encoder
    from manuals.library.editions import Library
    from manuals.model.sections import Manual


class StoredIndex:
    """One corpus's index. Open it with ``open_folder``."""

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path = path
        self.manifest = manifest
        self._stamp = _stamp(path)
        self.chunks = ChunkTable(path / CHUNKS, manifest.editions)
        self._rankers: dict[str, Ranker] = {}
        self._manuals: dict[tuple[str, int], Manual] = {}

    def __len__(self) -> int:
        return len(self.chunks)

    def ranker(self, name: str) -> Any:
        """A leg by name, opened. Raises ``BadIndex`` when the index was built without its part,
        and ``BadOption`` for a name that is not known."""
        leg = leg_of(name)
        if leg.name not in self._rankers:
            part = self.manifest.parts.get(leg.part)
            if part is None:
                raise BadIndex(f"{self.path}: {leg.absent(leg.name)}")
            self._check_unchanged()
            folder = self.path / leg_of(leg.part).place
            self._check_format(leg, folder)
            check_part(folder, part)
            self._rankers[leg.name] = leg.open(self, folder)
        return self._rankers[leg.name]

    def has(self, name: str) -> bool:
        """Whether the index was built with what a leg ranks by."""
        return leg_of(name).part in self.manifest.parts

    @property
    def bm25(self) -> Bm25:
        """The terms of the index with their idf, which links, references and excerpts go by."""
        bm25: Bm25 = self.ranker(TERMS.name).bm25
        return bm25

    @property
    def has_links(self) -> bool:
        return LINKS in self.manifest.files

    @cached_property
    def links(self) -> LinkTable:
        """The links between the chunks."""
        self._check_unchanged()
        key = self.manifest.parts[TERMS.name].key
        return LinkTable(self.path / LINKS, self.bm25.idf, len(self), key)

    def encoder(self) -> Encoder:
        """The encoder that built the vectors, for queries. torch loads when it first encodes.

        Raises ``BadIndex`` when the model here is not the one that built the index.
        """
        return self._encoder

    @cached_property
    def _encoder(self) -> Encoder:
        from indexers.encoders.base import open_encoder

        record = self._encoder_record()
        encoder = open_encoder(record.name, dtype=record.dtype, batch_size=record.batch_size)
        if encoder.fingerprint != record.fingerprint:
            raise BadIndex(
                f"{self.path}: built with {record.name} of fingerprint "
                f"{record.fingerprint[:12]}, but the model here has {encoder.fingerprint[:12]}; "
                f"build the index again or bring back that model"
            )
        return encoder

    def _encoder_record(self) -> Any:
        record = self.manifest.encoder
        if record is None:
            raise BadIndex(
                f"{self.path}: built without vectors; search it with the retriever bm25, "
                f"or build it again with an encoder"
            )
        return record

    @cached_property
    def library(self) -> Library:
        """The parsed editions that the chunks were cut from."""
        from manuals.library.editions import load_library

        self._check_unchanged()
        return load_library(self.path / "manuals")

    def manual(self, source: str, year: int) -> Manual:
        """One parsed edition, without opening the library, which loads the parsers.

        Raises ``DamagedFile`` when it is missing or damaged.
        """
        if "library" in self.__dict__:
            return self.library.manual(source, year)
        if (source, year) not in self._manuals:
            from manuals.library.store import edition_folder, load_manual

            self._check_unchanged()
            folder = self.path / "manuals" / edition_folder(source, year)
            self._manuals[source, year] = load_manual(folder)
        return self._manuals[source, year]

    def _check_format(self, leg: Leg, folder: Path) -> None:
        """A file that the build never made is no damage."""
        inside = folder.relative_to(self.path).as_posix()
        for file in (f"{inside}/{name}" for name in leg.files):
            if self.manifest.files and file not in self.manifest.files:
                raise BadIndex(
                    f"{self.path}: of an older format (built by tam {self.manifest.tool} without "
                    f"{file}); build it again"
                )

    def _check_unchanged(self) -> None:
        """Parts that load late must be of the same build as those before."""
        if _stamp(self.path) != self._stamp:
            raise BadIndex(f"{self.path}: built anew while it was open; open it again")


def _stamp(folder: Path) -> tuple[int, int]:
    try:
        status = (folder / NAME).stat()
    except OSError:
        return 0, 0
    return status.st_ino, status.st_mtime_ns


def open_folder(path: Path | str) -> StoredIndex:
    """Open an index folder.

    Raises ``BadIndex`` when it is missing, damaged or of another format.
    """
    folder = Path(path)
    return StoredIndex(folder, read_manifest(folder))
