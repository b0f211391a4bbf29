"""What a build gives to its legs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from chunkers.model.chunk import Chunk
from indexers.building.expansion import expansions
from indexers.building.lines import lines_of
from indexers.building.names import names_by_row
from indexers.encoders.base import Encoder, Floats
from indexers.encoders.vectors import VectorCache
from indexers.folder.manifest import EditionRows
from indexers.folder.table import CHUNKS, ChunkTable
from manuals.apply.names import UnitName
from manuals.library.editions import Library, load_library
from tam.errors import BadOption
from tam.progress import progress
from tam.settings import BuildSettings


@dataclass
class Context:
    """The ``BuildContext`` of an index that is being built in ``folder``.

    What several legs want is made once, when the first one asks. ``distinct`` and ``encoded``
    count the texts whose vectors were asked for, and those that had none yet.
    """

    folder: Path
    settings: BuildSettings
    chunks: Sequence[Chunk]
    editions: Sequence[EditionRows]
    encoder: Encoder | None
    cache: VectorCache | None
    stage: Callable[[str], AbstractContextManager[None]]
    distinct: set[str] = field(default_factory=set)
    encoded: int = 0

    @cached_property
    def library(self) -> Library:
        return load_library(self.folder / "manuals")

    @cached_property
    def table(self) -> ChunkTable:
        return ChunkTable(self.folder / CHUNKS, self.editions)

    @cached_property
    def texts(self) -> Sequence[str]:
        """What is indexed of each chunk."""
        texts = [chunk.text for chunk in self.chunks]
        if not self.settings.expand_documents:
            return texts
        with self.stage("expansion"):
            added = expansions(self.library, self.table, self.chunks)
        return [
            f"{text}\n{more}" if more else text for text, more in zip(texts, added, strict=True)
        ]

    @cached_property
    def lines(self) -> Sequence[Sequence[str]]:
        """The lines of each chunk."""
        lines: list[list[str]] = []
        with self.stage("lines"):
            for edition in self.editions:
                manual = self.library.manual(edition.source, edition.year)
                lines.extend(lines_of(manual, self.chunks[edition.start : edition.stop]))
        return lines

    @cached_property
    def names(self) -> Sequence[Sequence[UnitName]]:
        """What the unit that each row begins is called."""
        with self.stage("names"):
            return names_by_row(self.library, self.table, self.editions)

    def vectors(self, texts: Sequence[str]) -> Floats:
        """(n, dim): the texts' vectors, from the cache where it has them, zero for an empty one."""
        if self.encoder is None or self.cache is None:
            raise BadOption("a leg needs vectors, but the encoder is none; name an encoder")
        places = [place for place, text in enumerate(texts) if text]
        wanted = dict.fromkeys(texts[place] for place in places)
        self.distinct.update(wanted)
        with self.stage("encoding"):
            todo = len(self.cache.missing(wanted))
            for _ in progress(self.cache.fill(wanted), "encoding", todo, "texts"):
                self.encoded += 1
        with self.stage("vectors"):
            known = self.cache.vectors([texts[place] for place in places])
            if len(places) == len(texts):
                return known
            vectors = np.zeros((len(texts), known.shape[1]), np.float32)
            vectors[places] = known
            return vectors
