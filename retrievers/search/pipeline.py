"""One search, stage by stage: legs, fusion, passages, links, collapse, reranker, references.

A batch goes through each stage as a whole, so that vectors are encoded together and the queries of
one filter are scored together.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date
from itertools import chain
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from indexers.folder.opened import StoredIndex
from indexers.legs.model import LEGS, PLAIN, Allowed, Queries, TermRule
from indexers.legs.ranking import EMPTY, RankedRows, Rows, top_rows
from manuals.model.source import SOURCES
from retrievers.ranking.collapse import Collapse, most_years
from retrievers.ranking.fusion import FUSIONS, rrf
from retrievers.ranking.legs import LegCache, Vectors
from retrievers.ranking.links import LINKS_LEG, Linked, linked, pointing_filter
from retrievers.ranking.passages import PASSAGE_FUSIONS, cut_passages
from retrievers.ranking.references import (
    descending_scores,
    is_long,
    place_references,
    referenced_rows,
)
from retrievers.ranking.rerank import load_reranker
from retrievers.ranking.units import (
    UnitRanking,
    UnitScores,
    UnitTable,
    ranked_units,
    without_units_of,
)
from retrievers.search.by_unit import UnitRanker
from retrievers.search.filters import allowed_rows
from retrievers.search.hits import FoundBy
from retrievers.search.settings import Filter, SearchSettings

#: name under which a hit keeps its rank and score from before the reranker
BEFORE_RERANKING = "search"


class Ranking(NamedTuple):
    """The answer to one query without texts.

    ``rows`` (n,) best first, n at most k; ``scores`` (n,) never ascend; ``referenced`` are the
    rows found by reference, each with the key of the section named; ``legs`` the full list of each
    leg, one for each passage searched. ``linked`` are the rows found by a link; ``links`` are for each row that a link leads to the
    link's number in the index's table. ``other_years`` are, for a row that stands for the same
    text in other years, those years. ``query`` chooses the passages of the hits, ``as_of`` is the day that was asked for. In a search by
    units a row stands for its unit; ``parts`` are all rows of that unit, itself first and the others
    by what they score.
    """

    rows: Rows
    scores: npt.NDArray[np.float64]
    referenced: Mapping[int, str]
    legs: Mapping[str, tuple[RankedRows, ...]]
    linked: frozenset[int] = frozenset()
    links: Mapping[int, int] = MappingProxyType({})
    other_years: Mapping[int, tuple[int, ...]] = MappingProxyType({})
    query: str = ""
    as_of: date | None = None
    parts: Mapping[int, tuple[int, ...]] = MappingProxyType({})

    def found_by(self, row: int) -> FoundBy:
        """What brought a row."""
        if row in self.referenced:
            return "reference"
        return "link" if row in self.linked else "search"


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


@dataclass(frozen=True)
class Pipeline:
    """A search under some settings; ``allowed`` holds the rows of every filter of the batch."""

    stored: StoredIndex
    settings: SearchSettings
    k: int
    allowed: Mapping[Filter, Allowed]
    cache: LegCache
    clock: Clock
    table: UnitTable

    @property
    def depth(self) -> int:
        """How far down each leg is read: to k texts at least, whatever of them stand for one."""
        if self.settings.collapse == "off":
            return max(self.k, self.settings.depth)
        return max(self.k * most_years(self.stored.manifest.editions), self.settings.depth)

    def run(self, queries: Sequence[str], filters: Sequence[Filter]) -> list[Ranking]:
        """The ranking of each query under its filter."""
        tasks = [
            _tasks(query, wanted, self.settings)
            for query, wanted in zip(queries, filters, strict=True)
        ]
        by_unit = self.settings.group == "unit"
        legs: dict[tuple[str, _Task], RankedRows] = {}
        if not by_unit or self.settings.links == "on":
            legs = self._run_legs(chain.from_iterable(tasks))
        parts: list[Mapping[int, tuple[int, ...]]] = [{}] * len(tasks)
        if by_unit:
            with self.clock.stage("units"):
                ranked = self._rank_units(tasks)
            found = [each.found for each in ranked]
            by_leg = [dict(each.legs) for each in ranked]
            parts = [each.parts for each in ranked]
        else:
            with self.clock.stage("fusion"):
                found = [self._fuse(each, legs) for each in tasks]
            by_leg = [
                {leg: tuple(legs[leg, task] for task in each) for leg in self.settings.legs}
                for each in tasks
            ]
        links: Sequence[Linked | None] = [None] * len(found)
        if self.settings.links == "on":
            with self.clock.stage("links"):
                links = self._link(tasks, filters, legs, found)
            found = [each.found for each in links if each is not None]
            for lists, each in zip(by_leg, links, strict=True):
                if each is not None:
                    lists[LINKS_LEG] = (each.targets,)
        if self.settings.collapse != "off":
            found = [
                collapse.collapsed(each) if collapse else each
                for collapse, each in zip(map(self._collapse, filters), found, strict=True)
            ]
        if self.settings.reranker is not None:
            with self.clock.stage("rerank"):
                before = [each.top(max(self.k, self.settings.rerank_depth)) for each in found]
                found = self._rerank(queries, before, self.settings.reranker)
                for lists, ranking in zip(by_leg, before, strict=True):
                    lists[BEFORE_RERANKING] = (ranking,)
        with self.clock.stage("references"):
            return [
                self._finish(query, wanted, ranking, lists, by_link, own)
                for query, wanted, ranking, lists, by_link, own in zip(
                    queries, filters, found, by_leg, links, parts, strict=True
                )
            ]

    def _rank_units(self, tasks: Sequence[Sequence[_Task]]) -> list[UnitRanking]:
        """The units of each query, each at its best row: of several passages by the best."""
        ranker = UnitRanker(self.stored, self.settings, self.table, self._vectors)
        by_filter: dict[Filter, list[_Task]] = {}
        for task in dict.fromkeys(chain.from_iterable(tasks)):
            by_filter.setdefault(task.wanted, []).append(task)
        scored: dict[_Task, tuple[UnitScores, Mapping[str, RankedRows]]] = {}
        wider: dict[Filter, Allowed] = {}
        for wanted, group in by_filter.items():
            wider[wanted] = self._beside(wanted)
            found = ranker.scores([task.text for task in group], wider[wanted])
            scored.update(zip(group, found, strict=True))
        return [
            ranked_units(
                ranker.units(wider[each[0].wanted]),
                [scored[task] for task in each],
                self.allowed[each[0].wanted],
                self._leads_only(each[0].wanted),
                self.stored.chunks.id_ranks,
                self.depth,
            )
            for each in tasks
        ]

    def _beside(self, wanted: Filter) -> Allowed:
        """The allowed editions with those of the same time whose units are tied to theirs."""
        allowed = self.allowed[wanted]
        inside = {edition.source for edition in allowed.editions}
        kinds = {kind for name in inside for kind in SOURCES[name].ties}
        tied = {name for name, source in SOURCES.items() if source.ties & kinds} - inside
        years = {edition.year for edition in allowed.editions}
        editions = self.stored.manifest.editions
        names = [
            edition.name
            for edition in editions
            if (edition.source in inside and edition in allowed.editions)
            or (edition.source in tied and edition.year in years)
        ]
        if len(names) == len(allowed.editions) and allowed.mask is None:
            return allowed
        return allowed_rows(self.stored, Filter(editions=tuple(names)))

    def _leads_only(self, wanted: Filter) -> frozenset[int]:
        """Places of the editions whose entries only name the units of another that is searched:
        an entry of the Alphabetic Index is a way to its code. None that was asked for by name."""
        allowed = self.allowed[wanted]
        here = {edition.source for edition in allowed.editions}
        named = set(wanted.sources or ())
        return frozenset(
            number
            for number, edition in enumerate(self.stored.manifest.editions)
            if edition.source not in named and SOURCES[edition.source].way_to in here
        )

    def _collapse(self, wanted: Filter) -> Collapse | None:
        """What makes one of a text's years, where a filter allows several years of a source."""
        allowed = self.allowed[wanted]
        if self.settings.collapse == "off" or most_years(allowed.editions) == 1:
            return None
        return Collapse(self.stored.chunks, allowed)

    def _link(
        self,
        tasks: Sequence[Sequence[_Task]],
        filters: Sequence[Filter],
        legs: Mapping[tuple[str, _Task], RankedRows],
        found: Sequence[RankedRows],
    ) -> list[Linked]:
        """Each query's ranking with the sections that the chunks found for it point to."""
        wider = {
            wanted: pointing_filter(self.stored, wanted, self.allowed[wanted])
            for wanted in dict.fromkeys(filters)
        }
        allowed = {each: allowed_rows(self.stored, each) for each in wider.values() if each}
        inner = replace(self, allowed=allowed)
        pointing = [
            [_Task(task.text, wider[wanted] or wanted) for task in each]
            for wanted, each in zip(filters, tasks, strict=True)
        ]
        more = (task for each in pointing for task in each if task.wanted in allowed)
        lists = {**legs, **inner._run_legs(more)}
        return [
            linked(
                self.stored,
                [task.text for task in each],
                [self._fuse_legs(task, lists).top(self.settings.depth) for task in each],
                self.allowed[wanted],
                ranking,
                self.settings.depth,
            )
            for wanted, each, ranking in zip(filters, pointing, found, strict=True)
        ]

    def _run_legs(self, tasks: Iterable[_Task]) -> dict[tuple[str, _Task], RankedRows]:
        """Each leg's list for each distinct task; the tasks of one filter go together."""
        by_filter: dict[Filter, list[_Task]] = {}
        for task in dict.fromkeys(tasks):
            by_filter.setdefault(task.wanted, []).append(task)
        self._encode(by_filter)
        found: dict[tuple[str, _Task], RankedRows] = {}
        for leg in self.settings.legs:
            with self.clock.stage(leg):
                for wanted, group in by_filter.items():
                    found.update(self._run_leg(leg, wanted, group))
        return found

    def _run_leg(
        self, leg: str, wanted: Filter, tasks: Sequence[_Task]
    ) -> Iterator[tuple[tuple[str, _Task], RankedRows]]:
        """One leg's lists for the tasks of one filter: those kept, then those missing."""
        index = self.stored.manifest.inputs
        name, rule = self._under_rule(leg)
        missing: list[_Task] = []
        for task in tasks:
            kept = self.cache.get(index, name, wanted, task.text, self.depth)
            if kept is None:
                missing.append(task)
            else:
                yield (leg, task), kept
        if missing:
            queries = Queries([task.text for task in missing], rule, self._vectors)
            ranker = self.stored.ranker(leg)
            lists = ranker.rank(queries, self.allowed[wanted], self.depth)
            for task, each in zip(missing, lists, strict=True):
                self.cache.put(index, name, wanted, task.text, self.depth, each)
                yield (leg, task), each

    def _under_rule(self, leg: str) -> tuple[str, TermRule]:
        """How a leg's terms count, and the name of its lists under that rule in the cache."""
        rule = self.settings.term_rule if "terms" in LEGS[leg].needs else PLAIN
        return f"{leg} {rule}", rule

    def _vectors(self, texts: Sequence[str]) -> Vectors:
        encoder = self.stored.encoder()
        return self.cache.vectors(encoder.fingerprint, texts, encoder.encode_queries)

    def _encode(self, by_filter: Mapping[Filter, Sequence[_Task]]) -> None:
        """All vectors that legs will want, in one batch over all filters."""
        index = self.stored.manifest.inputs
        names = [
            self._under_rule(leg)[0] for leg in self.settings.legs if "vector" in LEGS[leg].needs
        ]
        texts = [
            task.text
            for wanted, group in by_filter.items()
            for task in group
            if any(
                self.cache.get(index, name, wanted, task.text, self.depth) is None for name in names
            )
        ]
        if texts:
            with self.clock.stage("encoder"):
                self.stored.encoder()
            with self.clock.stage("encode"):
                self._vectors(texts)

    def _fuse(
        self, tasks: Sequence[_Task], legs: Mapping[tuple[str, _Task], RankedRows]
    ) -> RankedRows:
        """One list for a query: its legs fused for each passage, then the passages."""
        places = self.stored.chunks.id_ranks
        lists = [self._fuse_legs(task, legs) for task in tasks]
        if len(lists) == 1:
            return lists[0]
        if not lists:
            return EMPTY
        fused = PASSAGE_FUSIONS[self.settings.passage_fusion](lists, [1.0] * len(lists))
        return top_rows(fused.rows, fused.scores, places, self.depth)

    def _fuse_legs(self, task: _Task, legs: Mapping[tuple[str, _Task], RankedRows]) -> RankedRows:
        """One list for a text."""
        per_leg = [legs[leg, task] for leg in self.settings.legs]
        if len(per_leg) == 1:
            return per_leg[0]
        if self.settings.fusion == "rrf":
            fused = rrf(per_leg, self.settings.leg_weights, self.settings.rrf_k)
        else:
            fused = FUSIONS[self.settings.fusion](per_leg, self.settings.leg_weights)
        return top_rows(fused.rows, fused.scores, self.stored.chunks.id_ranks, self.depth)

    def _rerank(
        self, queries: Sequence[str], lists: Sequence[RankedRows], reranker: str
    ) -> list[RankedRows]:
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
            found.append(top_rows(each.rows, own, chunks.id_ranks, len(own)))
            at += len(own)
        return found

    def _finish(
        self,
        query: str,
        wanted: Filter,
        found: RankedRows,
        legs: Mapping[str, tuple[RankedRows, ...]],
        by_link: Linked | None,
        parts: Mapping[int, tuple[int, ...]],
    ) -> Ranking:
        """References put in their places, cut to k."""
        collapse = self._collapse(wanted)
        named: Mapping[int, str] = {}
        if self.settings.references:
            allowed = self.allowed[wanted]
            named = referenced_rows(self.stored, query, allowed, found.rows, collapse)
            found, parts, named = without_units_of(found, parts, named)
        found = found.top(self.k + len(named))
        if named:
            rows = place_references(list(named), found.rows.tolist(), is_long(query))
            scores = descending_scores(rows, list(named), found)[: self.k]
            rows = rows[: self.k]
        else:
            rows, scores = found.rows.tolist(), found.scores.astype(np.float64)
        ranking = Ranking(
            np.asarray(rows, np.int64),
            scores,
            {row: named[row] for row in rows if row in named},
            legs,
            other_years=collapse.other_years(rows) if collapse else {},
            query=query,
            as_of=wanted.day,
            parts={row: parts[row] for row in rows if row in parts},
        )
        if by_link is None:
            return ranking
        return ranking._replace(linked=by_link.brought, links=by_link.links)


def _tasks(query: str, wanted: Filter, settings: SearchSettings) -> tuple[_Task, ...]:
    if settings.query_mode == "whole":
        return (_Task(query, wanted),)
    return tuple(_Task(text, wanted) for text in cut_passages(query, settings.passage_words))
