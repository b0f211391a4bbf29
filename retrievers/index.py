"""Search over one built index.

```python
legal = open_index("indexes/legal")
hits = legal.search("felon with a gun whose serial number was ground off", k=8, year=2025)
```
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, Unpack

import numpy as np
import numpy.typing as npt

from indexers.folder import StoredIndex, open_folder
from retrievers.filters import Allowed, allowed_rows
from retrievers.fusion import FUSIONS, rrf
from retrievers.hits import Hit, Leg
from retrievers.legs import LEGS, LegCache
from retrievers.passages import PASSAGE_FUSIONS, cut_passages
from retrievers.ranks import EMPTY, Ranked, Rows, ranked
from retrievers.references import is_long, place_references, referenced_rows
from retrievers.rerank import load_reranker
from retrievers.settings import Filter, SearchOptions, SearchSettings, YearFilter
from tam.errors import BadOption, IndexError_

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chunkers.chunk import Chunk
    from indexers.manifest import Manifest
    from manuals.library import Library

DEFAULT_K = 8
#: name under which a hit keeps its rank and score from before the reranker
BEFORE_RERANKING = "search"


class Ranking(NamedTuple):
    """The answer to one query without texts.

    ``rows`` (n,) best first, n at most k; ``scores`` (n,) never ascend; ``referenced`` are the
    rows found by reference; ``legs`` the full list of each leg, one for each passage searched.
    """

    rows: Rows
    scores: npt.NDArray[np.float64]
    referenced: frozenset[int]
    legs: Mapping[str, tuple[Ranked, ...]]


@dataclass(frozen=True, slots=True)
class _Task:
    """One text to search: a query, or a passage of one."""

    text: str
    wanted: Filter


class Clock(dict[str, float]):
    """Seconds spent in each stage of a search."""

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self[name] = self.get(name, 0.0) + time.perf_counter() - start


class Index:
    """A built index, ready to search. Parts of it load when a search first needs them."""

    def __init__(self, stored: StoredIndex) -> None:
        self.stored = stored
        self._allowed: dict[Filter, Allowed] = {}

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
        settings: SearchSettings | None = None,
        **options: Unpack[SearchOptions],
    ) -> list[Hit]:
        """The ``k`` best chunks for a query among those that the filters allow, best first.

        ``year``, ``as_of``, ``source`` and ``under`` are explained at ``Filter``, the options
        (``retriever``, ``fusion``, ``query_mode``, ...) at ``SearchSettings``. Fewer than k come
        back when fewer are allowed or, with BM25 alone, share a term with the query. Raises
        ``BadOption``, ``UnknownYear``, ``UnknownKey``, ``BadReference`` and ``IndexError_``.
        """
        wanted = Filter(year=year, as_of=as_of, source=source, under=under)
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
        depth = max(k, settings.depth)
        with clock.stage("filter"):
            for wanted in dict.fromkeys(per_query):
                self._allow(wanted)
        tasks = [
            _tasks(query, each, settings) for query, each in zip(queries, per_query, strict=True)
        ]
        legs = self._run_legs(chain.from_iterable(tasks), settings, depth, cache, clock)
        with clock.stage("fusion"):
            found = [self._fuse(each, legs, settings, depth) for each in tasks]
        by_leg = [
            {leg: tuple(legs[leg, task] for task in each) for leg in settings.legs}
            for each in tasks
        ]
        if settings.reranker is not None:
            with clock.stage("rerank"):
                before = [each.top(max(k, settings.rerank_depth)) for each in found]
                found = self._rerank(queries, before, settings.reranker)
                for lists, ranking in zip(by_leg, before, strict=True):
                    lists[BEFORE_RERANKING] = (ranking,)
        with clock.stage("references"):
            return [
                self._finish(query, each, ranking, lists, k, settings)
                for query, each, ranking, lists in zip(
                    queries, per_query, found, by_leg, strict=True
                )
            ]

    def hits(self, ranking: Ranking) -> list[Hit]:
        """The hits of a ranking, with their chunks' texts."""
        chunks = self.stored.chunks
        hits = []
        rows, scores = ranking.rows.tolist(), ranking.scores.tolist()
        for rank, (row, score) in enumerate(zip(rows, scores, strict=True), start=1):
            chunk = chunks.chunk(row)
            hits.append(
                Hit(
                    rank=rank,
                    score=score,
                    chunk_id=chunk.id,
                    section_keys=chunk.keys,
                    citation=chunk.citation,
                    title=chunk.title,
                    path=chunk.path,
                    year=chunk.year,
                    source=chunk.source,
                    pages=chunk.pages,
                    text=chunk.text,
                    kind=chunk.kind,
                    tokens=chunk.tokens,
                    legs=_legs_of(self.stored, row, ranking.legs),
                    found_by="reference" if row in ranking.referenced else "search",
                )
            )
        return hits

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
        if settings.links != "off":
            raise BadOption("links 'on': this index has no link table; leave links off")
        if "dense" in settings.legs and not self.stored.has_dense:
            raise IndexError_(
                f"{self.path}: built without vectors, which the retriever "
                f"{settings.retriever} needs; use bm25, or build the index with an encoder"
            )

    def _allow(self, wanted: Filter) -> Allowed:
        if wanted not in self._allowed:
            self._allowed[wanted] = allowed_rows(self.stored, wanted)
        return self._allowed[wanted]

    def _run_legs(
        self,
        tasks: Iterable[_Task],
        settings: SearchSettings,
        depth: int,
        cache: LegCache,
        clock: Clock,
    ) -> dict[tuple[str, _Task], Ranked]:
        """Each leg's list for each distinct task; the tasks of one filter go together."""
        by_filter: dict[Filter, list[_Task]] = {}
        for task in dict.fromkeys(tasks):
            by_filter.setdefault(task.wanted, []).append(task)
        name = self.manifest.inputs
        found: dict[tuple[str, _Task], Ranked] = {}
        if "dense" in settings.legs:
            self._encode(by_filter, depth, cache, clock)
        for leg in settings.legs:
            with clock.stage(leg):
                for wanted, group in by_filter.items():
                    missing: list[_Task] = []
                    for task in group:
                        kept = cache.get(name, leg, wanted, task.text, depth)
                        if kept is None:
                            missing.append(task)
                        else:
                            found[leg, task] = kept
                    if not missing:
                        continue
                    texts = [task.text for task in missing]
                    lists = LEGS[leg](self.stored, texts, self._allow(wanted), depth, cache)
                    for task, each in zip(missing, lists, strict=True):
                        cache.put(name, leg, wanted, task.text, depth, each)
                        found[leg, task] = each
        return found

    def _encode(
        self,
        by_filter: Mapping[Filter, Sequence[_Task]],
        depth: int,
        cache: LegCache,
        clock: Clock,
    ) -> None:
        """All vectors that the dense leg will want, in one batch over all filters."""
        name = self.manifest.inputs
        texts = [
            task.text
            for wanted, group in by_filter.items()
            for task in group
            if cache.get(name, "dense", wanted, task.text, depth) is None
        ]
        if texts:
            with clock.stage("encoder"):
                encoder = self.stored.encoder()
            with clock.stage("encode"):
                cache.vectors(encoder.fingerprint, texts, encoder.encode_queries)

    def _fuse(
        self,
        tasks: Sequence[_Task],
        legs: Mapping[tuple[str, _Task], Ranked],
        settings: SearchSettings,
        depth: int,
    ) -> Ranked:
        """One list for a query: its legs fused for each passage, then the passages."""
        places = self.stored.chunks.id_ranks
        lists: list[Ranked] = []
        for task in tasks:
            per_leg = [legs[leg, task] for leg in settings.legs]
            if len(per_leg) == 1:
                lists.append(per_leg[0])
                continue
            if settings.fusion == "rrf":
                fused = rrf(per_leg, settings.leg_weights, settings.rrf_k)
            else:
                fused = FUSIONS[settings.fusion](per_leg, settings.leg_weights)
            lists.append(ranked(fused.rows, fused.scores, places, depth))
        if len(lists) == 1:
            return lists[0]
        if not lists:
            return EMPTY
        fused = PASSAGE_FUSIONS[settings.passage_fusion](lists, [1.0] * len(lists))
        return ranked(fused.rows, fused.scores, places, depth)

    def _rerank(
        self, queries: Sequence[str], lists: Sequence[Ranked], reranker: str
    ) -> list[Ranked]:
        chunks = self.stored.chunks
        pairs = [
            (query, chunks.chunk(row).text)
            for query, each in zip(queries, lists, strict=True)
            for row in each.rows.tolist()
        ]
        scores = load_reranker(reranker).scores(pairs)
        found = []
        at = 0
        for each in lists:
            own = scores[at : at + len(each.rows)]
            found.append(ranked(each.rows, own, chunks.id_ranks, len(own)))
            at += len(own)
        return found

    def _finish(
        self,
        query: str,
        wanted: Filter,
        found: Ranked,
        legs: Mapping[str, tuple[Ranked, ...]],
        k: int,
        settings: SearchSettings,
    ) -> Ranking:
        """References put in their places, cut to k."""
        named: tuple[int, ...] = ()
        if settings.references:
            named = referenced_rows(self.stored, query, self._allow(wanted), found.rows)
        if not named:
            top = found.top(k)
            return Ranking(top.rows, top.scores.astype(np.float64), frozenset(), legs)
        found = found.top(k + len(named))
        rows = place_references(named, found.rows.tolist(), is_long(query))
        scores = _descending(rows, named, found)
        return Ranking(
            np.asarray(rows[:k], np.int64), scores[:k], frozenset(named) & set(rows[:k]), legs
        )


def _descending(
    rows: Sequence[int], named: Sequence[int], found: Ranked
) -> npt.NDArray[np.float64]:
    """Scores that never ascend: the search's own; before its first hit one more for each place,
    and a reference between two hits gets the least number above the lower one, at most the
    upper one's."""
    own = dict(zip(found.rows.tolist(), found.scores.tolist(), strict=True))
    by_name = set(named)
    scores = np.empty(len(rows), np.float64)
    above = math.inf
    for at, row in enumerate(rows):
        if row not in by_name:
            above = scores[at] = own[row]
        else:
            scores[at] = above
    below = 0.0
    for at in range(len(rows) - 1, -1, -1):
        if rows[at] in by_name:
            before = scores[at]
            raised = below + 1.0 if math.isinf(before) else math.nextafter(below, math.inf)
            scores[at] = raised if math.isinf(before) else min(raised, before)
        below = scores[at]
    return scores


def _per_query(filters: Filter | Sequence[Filter] | None, queries: int) -> list[Filter]:
    if filters is None or isinstance(filters, Filter):
        return [filters or Filter()] * queries
    if len(filters) != queries:
        raise BadOption(f"{len(filters)} filters for {queries} queries; give one, or one each")
    return list(filters)


def _tasks(query: str, wanted: Filter, settings: SearchSettings) -> tuple[_Task, ...]:
    if settings.query_mode == "whole":
        return (_Task(query, wanted),)
    return tuple(_Task(text, wanted) for text in cut_passages(query, settings.passage_words))


def _legs_of(
    stored: StoredIndex, row: int, legs: Mapping[str, tuple[Ranked, ...]]
) -> Mapping[str, Leg]:
    """Where each leg ranked a row: of several passages the best rank, of equal ones the first."""
    found: dict[str, Leg] = {}
    for name, lists in legs.items():
        for each in lists:
            at = np.flatnonzero(each.rows == row)
            if len(at) and (name not in found or int(at[0]) + 1 < found[name].rank):
                place = int(at[0])
                span = None if each.vector is None else stored.dense.best_window(each.vector, row)
                found[name] = Leg(place + 1, float(each.scores[place]), span)
    return MappingProxyType(found)


def open_index(path: Path | str) -> Index:
    """Open an index folder, such as ``indexes/legal``.

    Raises ``IndexError_`` when it is missing, damaged, of another format or (at the first search
    that encodes a query) built with another encoder.
    """
    return Index(open_folder(path))
