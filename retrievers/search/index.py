"""Search over one built index.

```python
legal = open_index("indexes/legal")
hits = legal.search("felon with a gun whose serial number was ground off", k=8, year=2025)
```
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from functools import lru_cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Unpack

import numpy as np

from indexers.folder.opened import StoredIndex, open_folder
from indexers.legs.model import LEGS, Allowed
from indexers.legs.ranking import RankedRows
from manuals.library.standing import Standing, standing
from retrievers.case.search import (
    SECTIONS,
    CaseHits,
    CaseSearch,
    CaseStep,
    plan_of,
    read_case,
)
from retrievers.ranking.legs import LegCache, Vectors
from retrievers.ranking.links import link_info
from retrievers.ranking.named_span import named_span
from retrievers.ranking.units import UnitTable
from retrievers.search.by_unit import UnitRanker
from retrievers.search.filters import allowed_rows
from retrievers.search.hits import Hit, Leg, Named, Provenance
from retrievers.search.passage import Place, find_passage, query_weights
from retrievers.search.pipeline import Clock, Pipeline, Ranking
from retrievers.search.settings import (
    Filter,
    SearchOptions,
    SearchSettings,
    YearFilter,
)
from tam.errors import BadIndex, BadOption

if TYPE_CHECKING:
    from chunkers.model.chunk import Chunk
    from indexers.folder.manifest import Manifest
    from manuals.library.editions import Library

__all__ = ["DEFAULT_K", "Clock", "Index", "LegCache", "Ranking", "open_index"]

DEFAULT_K = 8


class Index:
    """A built index, ready to search. Parts of it load when a search first needs them."""

    def __init__(self, stored: StoredIndex) -> None:
        self.stored = stored
        # Masks of rows: what a server's last requests asked for is enough.
        self._allowed = lru_cache(maxsize=64)(partial(allowed_rows, stored))
        self.units = UnitTable(stored)

    def __len__(self) -> int:
        """Number of chunks."""
        return len(self.stored)

    @property
    def path(self) -> Path:
        return self.stored.path

    @property
    def corpus(self) -> str:
        return self.stored.manifest.corpus

    @property
    def manifest(self) -> Manifest:
        return self.stored.manifest

    @property
    def library(self) -> Library:
        """The parsed editions behind the chunks."""
        return self.stored.library

    @property
    def sources(self) -> tuple[str, ...]:
        """Sources that have an edition here, in the order of their rows."""
        return self.stored.chunks.sources

    @property
    def years(self) -> tuple[int, ...]:
        """Years of all editions here, ascending."""
        return tuple(sorted({edition.year for edition in self.manifest.editions}))

    def chunk(self, chunk_id: str) -> Chunk:
        """The chunk with this id. Raises ``BadOption``."""
        row = self.stored.chunks.row_of_id.get(chunk_id)
        if row is None:
            raise BadOption(f"{self.path}: no chunk {chunk_id!r} in this index")
        return self.stored.chunks.chunk(row)

    def search(
        self,
        query: str,
        k: int = DEFAULT_K,
        *,
        year: YearFilter | None = None,
        as_of: date | str | None = None,
        source: str | Iterable[str] | None = None,
        under: str | None = None,
        notes: bool = True,
        settings: SearchSettings | None = None,
        **options: Unpack[SearchOptions],
    ) -> list[Hit]:
        """The ``k`` best chunks for a query among those that the filters allow, best first.

        ``year``, ``as_of``, ``source``, ``under`` and ``notes`` are explained at ``Filter``, the options
        (``retriever``, ``fusion``, ``query_mode``, ...) at ``SearchSettings``. Fewer than k come
        back when fewer are allowed or, with BM25 alone, share a term with the query. Raises
        ``BadOption``, ``UnknownYear``, ``UnknownKey``, ``BadReference`` and ``BadIndex``.
        """
        wanted = Filter(year=year, as_of=as_of, source=source, under=under, notes=notes)
        return self.search_many([query], k, filters=wanted, settings=settings, **options)[0]

    def search_many(
        self,
        queries: Sequence[str],
        k: int = DEFAULT_K,
        *,
        filters: Filter | Sequence[Filter] | None = None,
        settings: SearchSettings | None = None,
        cache: LegCache | None = None,
        **options: Unpack[SearchOptions],
    ) -> list[list[Hit]]:
        """``search`` for many queries at once: vectors are encoded in one batch.

        ``filters`` is one for all or one for each query.
        """
        rankings = self.rank_rows(
            queries, k, filters=filters, settings=settings, cache=cache, **options
        )
        return [self.hits(ranking) for ranking in rankings]

    def rank_rows(
        self,
        queries: Sequence[str],
        k: int = DEFAULT_K,
        *,
        filters: Filter | Sequence[Filter] | None = None,
        settings: SearchSettings | None = None,
        cache: LegCache | None = None,
        clock: Clock | None = None,
        **options: Unpack[SearchOptions],
    ) -> list[Ranking]:
        """``search_many`` without the hits' texts: rows of the index, scores and legs.

        A ``LegCache`` given again saves encoding and scoring for searches that share legs;
        ``clock`` collects the seconds of each stage.
        """
        settings = (settings or SearchSettings()).with_options(options)
        clock = Clock() if clock is None else clock
        cache = LegCache() if cache is None else cache
        self._check(queries, k, settings)
        per_query = _per_query(filters, len(queries))
        with clock.stage("filter"):
            allowed = {wanted: self._allow(wanted) for wanted in per_query}
        pipeline = Pipeline(self.stored, settings, k, allowed, cache, clock, self.units)
        return pipeline.run(queries, per_query)

    def search_case(
        self,
        case: str,
        *,
        year: YearFilter | None = None,
        as_of: date | str | None = None,
        source: str | Iterable[str] | None = None,
        sections: int = SECTIONS,
        tokens: int | None = None,
        settings: SearchSettings | None = None,
        **options: Unpack[SearchOptions],
    ) -> CaseHits:
        """The sections that a whole case needs, by the manual's own procedure.

        At most ``sections``, whose passages hold at most ``tokens`` tokens; see
        ``retrievers.case.search``. Of a source with several editions allowed the newest is read.
        Raises as ``search``.
        """
        for name, value in (("sections", sections), ("tokens", tokens)):
            if value is not None and (isinstance(value, bool) or value < 1):
                raise BadOption(f"{name} {value!r} is not allowed; give a whole number from 1")
        settings = (settings or SearchSettings()).with_options(options)
        self._check([case], 1, settings)
        wanted = self._allow(Filter(year=year, as_of=as_of, source=source))
        newest = {edition.source: edition.name for edition in wanted.editions}
        allowed = self._allow(Filter(editions=tuple(newest.values())))
        found = read_case(case, newest)
        steps = plan_of(allowed.editions, self.library, found)
        cache = LegCache()

        def encode(texts: Sequence[str]) -> Vectors:
            encoder = self.stored.encoder()
            return cache.vectors(encoder.fingerprint, texts, encoder.encode_queries)

        ranker = UnitRanker(self.stored, settings, self.units, encode)
        search = CaseSearch(ranker, allowed, self.library, found)
        chosen = search.choose(case, steps, sections, tokens)
        ranking = Ranking(
            np.asarray([each.row for each in chosen], np.int64),
            np.asarray([each.score for each in chosen]),
            {},
            {},
            query=case,
        )
        hits = self.hits(ranking)
        made = [
            CaseStep(
                step.name,
                step.source,
                step.under,
                tuple(h for h, each in zip(hits, chosen, strict=True) if each.step == number),
                tuple(
                    tuple(found[at] for at in each.statements)
                    for each in chosen
                    if each.step == number
                ),
            )
            for number, step in enumerate(steps)
        ]
        return CaseHits(tuple(step for step in made if step.hits))

    def hits(self, ranking: Ranking) -> list[Hit]:
        """The hits of a ranking, with their chunks' texts."""
        chunks = self.stored.chunks
        weights = query_weights(self.stored, ranking.query)
        hits = []
        rows, scores = ranking.rows.tolist(), ranking.scores.tolist()
        for rank, (row, score) in enumerate(zip(rows, scores, strict=True), start=1):
            chunk = chunks.chunk(row)
            legs = _legs_of(row, ranking.legs)
            link = link_info(self.stored, ranking.links[row]) if row in ranking.links else None
            key = ranking.referenced.get(row)
            if key is None and link is not None and ranking.found_by(row) == "link":
                key = link.target
            manual = self.stored.manual(chunk.source, chunk.year)
            found = find_passage(chunk, manual, weights, self.stored.bm25.tokeniser, key, legs)
            passage, place = found or (
                None,
                Place(chunk.citation, chunk.title, chunk.path, chunk.pages),
            )
            hits.append(
                Hit(
                    rank=rank,
                    score=score,
                    chunk_id=chunk.id,
                    section_keys=chunk.keys,
                    citation=place.citation,
                    title=place.title,
                    path=place.path,
                    year=chunk.year,
                    source=chunk.source,
                    pages=place.pages,
                    text=chunk.text,
                    kind=chunk.kind,
                    tokens=chunk.tokens,
                    legs=legs,
                    found_by=ranking.found_by(row),
                    link=link,
                    named=_named(self.stored, chunk, ranking.referenced.get(row)),
                    same_text=ranking.other_years.get(row, ()),
                    provenance=_provenance(self.stored, row, chunk),
                    standing=self._standing(
                        chunk, key or (passage.key if passage else None), ranking.as_of
                    ),
                    passage=passage,
                    covers=chunk.citation,
                    covers_pages=chunk.pages,
                )
            )
        return hits

    def _standing(self, chunk: Chunk, key: str | None, day: date | None) -> Standing | None:
        """What is known of the force of a hit's section."""
        manual = self.stored.manual(chunk.source, chunk.year)
        section = manual.by_key.get(key or chunk.key)
        return standing(self.library, manual, section, day) if section else None

    def describe_allowed(self, wanted: Filter) -> list[str]:
        """The editions that a filter allows, each with its number of allowed chunks."""
        allowed = self._allow(wanted)
        lines = []
        for edition in allowed.editions:
            low, high = np.searchsorted(allowed.rows, [edition.start, edition.stop]).tolist()
            lines.append(f"{edition.name}: {high - low:,} of {edition.chunks:,} chunks")
        return lines

    def _check(self, queries: Sequence[str], k: int, settings: SearchSettings) -> None:
        if isinstance(queries, str):
            raise BadOption("queries: give a list of queries, or use search for one")
        for number, query in enumerate(queries, start=1):
            if not query.strip():
                which = f"query {number} of {len(queries)}" if len(queries) > 1 else "the query"
                raise BadOption(f"{which} is empty; give words, a citation or a code")
        if isinstance(k, bool) or not isinstance(k, int) or k < 1:
            raise BadOption(f"k {k!r} is not allowed; give a whole number from 1")
        if settings.links == "on" and not self.stored.has_links:
            raise BadIndex(
                f"{self.path}: built without a link table; build it again, or leave links off"
            )
        for leg in settings.legs:
            if not self.stored.has(leg):
                raise BadIndex(f"{self.path}: {LEGS[leg].absent(str(settings.retriever))}")

    def _allow(self, wanted: Filter) -> Allowed:
        return self._allowed(wanted)


def _per_query(filters: Filter | Sequence[Filter] | None, queries: int) -> list[Filter]:
    if filters is None or isinstance(filters, Filter):
        return [filters or Filter()] * queries
    if len(filters) != queries:
        raise BadOption(f"{len(filters)} filters for {queries} queries; give one, or one each")
    return list(filters)


def _named(stored: StoredIndex, chunk: Chunk, key: str | None) -> Named | None:
    if key is None:
        return None
    return Named(key, named_span(chunk, stored.manual(chunk.source, chunk.year), key))


def _provenance(stored: StoredIndex, row: int, chunk: Chunk) -> Provenance:
    edition = stored.chunks.edition(row)
    hashes = {file.path: file.sha256 for file in edition.files}
    return Provenance(
        file=chunk.file,
        file_sha256=hashes.get(chunk.file),
        release=edition.release,
        effective_from=chunk.effective_from,
        effective_to=chunk.effective_to,
        span=chunk.text_span,
        part=chunk.part,
        text_sha256=chunk.sha256,
    )


def _legs_of(row: int, legs: Mapping[str, tuple[RankedRows, ...]]) -> Mapping[str, Leg]:
    """Where each leg ranked a row: of several passages the best rank, of equal ones the first."""
    found: dict[str, Leg] = {}
    for name, lists in legs.items():
        for each in lists:
            at = np.flatnonzero(each.rows == row)
            if len(at) and (name not in found or int(at[0]) + 1 < found[name].rank):
                place = int(at[0])
                span = None if each.span_of is None else each.span_of(row)
                found[name] = Leg(place + 1, float(each.scores[place]), span)
    return MappingProxyType(found)


def open_index(path: Path | str) -> Index:
    """Open an index folder, such as ``indexes/legal``.

    Raises ``BadIndex`` when it is missing, damaged, of another format or (at the first search
    that encodes a query) built with another encoder.
    """
    return Index(open_folder(path))
