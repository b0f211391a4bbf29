"""An index folder, opened: its parts load when first used.

| path | what |
|---|---|
| `manifest.json` | what it holds and how it was made; sha256 of every other file |
| `build.json` | when and how long; not compared |
| `chunks.parquet` | one row for each chunk, in small row groups |
| `bm25/` | `data`, `indices`, `counts`, `starts`, `blocks` (.npy), `vocabulary.txt` |
| `dense/` | `vectors.faiss`; `starts`, `spans` (.npy); absent without an encoder |
| `lines/` | the chunks' lines, of an index built with them; see `lines.py` |
| `links.parquet` | which chunk points to which sections |
| `manuals/` | the parsed editions |
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indexers.building.lines import LINES, LineRows
from indexers.folder.link_table import LINKS, LinkTable
from indexers.folder.manifest import NAME, Manifest, read_manifest
from indexers.folder.table import CHUNKS, ChunkTable
from indexers.legs.bm25 import Bm25, RankBm25
from indexers.legs.dense import DenseRows
from indexers.legs.tokenise import TokenOptions
from tam.errors import BadIndex

if TYPE_CHECKING:
    from indexers.encoders.base import Encoder
    from manuals.library.editions import Library
    from manuals.model.sections import Manual


#: what opening the parts needs
BM25_FILES = ("starts.npy", "blocks.npy", "data.npy", "indices.npy", "vocabulary.txt")
DENSE_FILES = ("vectors.faiss", "starts.npy", "spans.npy")


class StoredIndex:
    """One corpus's index. Open it with ``open_folder``."""

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path = path
        self.manifest = manifest
        self._stamp = _stamp(path)
        self.chunks = ChunkTable(path / CHUNKS, manifest.editions)
        self._manuals: dict[tuple[str, int], Manual] = {}

    def __len__(self) -> int:
        return len(self.chunks)

    @cached_property
    def bm25(self) -> Bm25:
        self._check_unchanged()
        self._check_format(f"bm25/{name}" for name in BM25_FILES)
        settings = self.manifest.settings
        options = TokenOptions(stemmer=settings.stemmer, stopwords=settings.stopwords)
        return Bm25(self.path / "bm25", options)

    @cached_property
    def rank_bm25(self) -> RankBm25:
        """The slow reference back end over the same terms."""
        return RankBm25(self.bm25, self.manifest.settings.k1, self.manifest.settings.b)

    @property
    def has_lines(self) -> bool:
        return self.manifest.settings.lines

    @cached_property
    def lines(self) -> LineRows:
        """The chunks' lines, of an index that was built with them."""
        return LineRows(self.path / LINES)

    @property
    def has_links(self) -> bool:
        return LINKS in self.manifest.files

    @cached_property
    def links(self) -> LinkTable:
        """The links between the chunks."""
        return LinkTable(self.path / LINKS, self.bm25.idf, len(self))

    @property
    def has_dense(self) -> bool:
        return self.manifest.encoder is not None

    @cached_property
    def dense(self) -> DenseRows:
        """The vectors; ``BadIndex`` when the index was built without an encoder."""
        self._encoder_record()
        self._check_unchanged()
        self._check_format(f"dense/{name}" for name in DENSE_FILES)
        return DenseRows(self.path / "dense")

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

    def _check_format(self, files: Iterable[str]) -> None:
        """A file that the build never made is no damage."""
        for file in files:
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
