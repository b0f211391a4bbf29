"""The leg ``bm25``, whose part also holds the terms of an index and their idf."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from indexers.folder.manifest import EditionRows, Manifest
from indexers.legs.bm25.matrix import build_bm25
from indexers.legs.bm25.scores import Bm25
from indexers.legs.model import Allowed, BuildContext, Leg, OpenedIndex, Queries, blocks_of
from indexers.legs.ranking import RankedRows, Rows, top_rows
from indexers.legs.tokenise import TokenOptions
from tam.settings import BuildSettings


class Bm25Ranker:
    """BM25; rows that share no term with the query are not ranked."""

    def __init__(self, bm25: Bm25, places: Rows) -> None:
        self.bm25 = bm25
        self._places = places

    def rank(self, queries: Queries, allowed: Allowed, depth: int) -> Iterator[RankedRows]:
        rows, slices, rule = allowed.rows, allowed.slices, queries.rule
        for query in queries.texts:
            scores = allowed.keep(self.bm25.scores(query, slices, rule))
            floor = np.float32(self.bm25.floor(query, slices, rule))
            matching = np.flatnonzero(scores != floor)
            yield top_rows(rows[matching], scores[matching], self._places, depth)


class Bm25Leg(Leg):
    name = "bm25"
    title = "BM25 over the terms of chunks"
    order = 10
    weight = 0.5
    needs = frozenset({"terms"})
    folder = "bm25"
    files = ("starts.npy", "blocks.npy", "data.npy", "indices.npy", "vocabulary.txt")
    build_settings = frozenset(
        {"variant", "k1", "b", "stemmer", "stopwords", "statistics", "expand_documents"}
    )
    libraries = ("numpy", "bm25s", "PyStemmer")
    uses = ("indexers.building.expansion",)
    lacking = ("terms", "or build it again")

    def wanted(self, settings: BuildSettings) -> bool:
        return True

    def token_options(self, settings: BuildSettings) -> TokenOptions:
        return TokenOptions(settings.stemmer, settings.stopwords)

    def build(self, context: BuildContext, folder: Path) -> Mapping[str, Any]:
        settings, editions = context.settings, context.editions
        terms = build_bm25(
            context.texts,
            blocks_of(editions),
            folder,
            self.token_options(settings),
            settings.variant,
            settings.k1,
            settings.b,
            _sources(editions) if settings.statistics == "source" else (),
        )
        return {"rows": len(context.chunks), "terms": terms}

    def open(self, index: OpenedIndex, folder: Path) -> Bm25Ranker:
        return Bm25Ranker(
            Bm25(folder, self.token_options(index.manifest.settings)), index.chunks.id_ranks
        )

    def faults(self, ranker: Bm25Ranker, manifest: Manifest) -> Iterator[str]:
        if len(ranker.bm25) != manifest.chunks:
            yield f"bm25: {len(ranker.bm25)} rows for {manifest.chunks} chunks"


def _sources(editions: Sequence[EditionRows]) -> list[int]:
    """The rows at which sources begin, with the number of rows at the end."""
    begins = {edition.source: edition.start for edition in reversed(editions)}
    return [*sorted(begins.values()), editions[-1].stop]


LEG = Bm25Leg()
