"""What can be chosen for a search: one record for how, one for where."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from types import MappingProxyType
from typing import Any, TypedDict

from indexers.legs.bm25 import QueryRule
from retrievers.ranking.fusion import FUSIONS, RRF_K
from retrievers.ranking.passages import PASSAGE_FUSIONS, PASSAGE_WORDS
from tam.errors import BadOption

#: retriever -> its legs, in the order in which they are fused and listed
RETRIEVERS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "hybrid": ("bm25", "dense"),
        "bm25": ("bm25",),
        "dense": ("dense",),
        "rank_bm25": ("rank_bm25",),
        "bm25_lines": ("bm25", "grams"),
        "hybrid_lines": ("bm25", "dense", "grams", "lines"),
    }
)
#: legs that need the lines of an index, and those that need vectors
LINE_LEGS = frozenset({"grams", "lines"})
DENSE_LEGS = frozenset({"dense", "lines"})
QUERY_TERMS = ("counts", "distinct")
IDF = ("index", "editions")
QUERY_MODES = ("whole", "windows")
LINKS = ("off", "on")
COLLAPSE = ("off", "years")

#: How far down each leg is read before fusion. Fixed, so that the first places do not change with k.
DEPTH = 500

#: one year, a range ``"2021-2023"`` or ``(2021, 2023)``, or a list or set of years
YearFilter = int | str | tuple[int, int] | list[int] | set[int] | frozenset[int] | range
Weights = Mapping[str, float] | Iterable[tuple[str, float]]


class SearchOptions(TypedDict, total=False):
    """The keyword options of ``Index.search``: the fields of ``SearchSettings``."""

    retriever: str
    query_mode: str
    passage_fusion: str
    passage_words: int
    references: bool
    collapse: str
    links: str
    query_terms: str
    idf: str
    fusion: str
    weights: Weights
    rrf_k: int
    depth: int
    reranker: str | None
    rerank_depth: int


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """How to search.

    - ``retriever``: ``bm25``, ``dense``, ``hybrid`` (both, fused) or ``rank_bm25`` (that package
      as a slow reference); ``bm25_lines`` and ``hybrid_lines`` add each chunk's best line, by
      character n-grams and by vector (see ``indexers.building.lines``; an index built with ``lines``).
    - ``query_mode``: ``whole`` (the query at once; the encoder reads what fits into its window)
      or ``windows`` (cut into passages of ``passage_words`` words, each searched, fused by
      ``passage_fusion``: ``max``, the best rank, or ``rrf``).
    - ``references``: sections that the query names come first (see ``references.py``).
    - ``collapse``: ``years`` gives a text that stands word for word in several of the years
      searched once, from the newest of them (see ``collapse.py``); ``off`` each by itself.
    - ``links``: ``on`` lets hits bring the sections that they point to (see ``links.py``).
    - ``query_terms``: BM25 counts a term as often as the query holds it (``counts``) or once
      (``distinct``).
    - ``idf``: of BM25, over the whole index (``index``) or over the editions searched
      (``editions``).
    - ``fusion`` of the legs: ``rrf`` (with ``rrf_k``), ``minmax`` or ``zscore``, with ``weights``
      by leg (1 where none is given), over the first ``depth`` of each leg (at least k).
    - ``reranker``: name or folder of a cross-encoder that orders the first ``rerank_depth``
      (at least k) anew.

    Raises ``BadOption``, naming what is allowed.
    """

    retriever: str = "hybrid"
    query_mode: str = "whole"
    passage_fusion: str = "max"
    passage_words: int = PASSAGE_WORDS
    references: bool = True
    collapse: str = "off"
    links: str = "off"
    query_terms: str = "counts"
    idf: str = "index"
    fusion: str = "rrf"
    weights: Weights = ()
    rrf_k: int = RRF_K
    depth: int = DEPTH
    reranker: str | None = None
    rerank_depth: int = 50

    def __post_init__(self) -> None:
        _one_of("retriever", self.retriever, RETRIEVERS)
        _one_of("query mode", self.query_mode, QUERY_MODES)
        _one_of("passage fusion", self.passage_fusion, PASSAGE_FUSIONS)
        _one_of("collapse", self.collapse, COLLAPSE)
        _one_of("links", self.links, LINKS)
        _one_of("query terms", self.query_terms, QUERY_TERMS)
        _one_of("idf", self.idf, IDF)
        _one_of("fusion", self.fusion, FUSIONS)
        _count("passage words", self.passage_words, 8)
        _count("rrf_k", self.rrf_k, 0)
        _count("depth", self.depth, 1)
        _count("rerank depth", self.rerank_depth, 1)
        pairs = self.weights.items() if isinstance(self.weights, Mapping) else self.weights
        object.__setattr__(self, "weights", tuple(sorted(pairs)))
        for leg, weight in dict(self.weights).items():
            _one_of("weights: leg", leg, self.legs)
            if not (isinstance(weight, int | float) and 0 <= weight < float("inf")):
                raise BadOption(f"weights: {leg} has {weight!r}; give a number of 0 or more")

    @property
    def legs(self) -> tuple[str, ...]:
        """Names of the legs, in the order in which they are fused."""
        return RETRIEVERS[self.retriever]

    @property
    def leg_weights(self) -> tuple[float, ...]:
        """The weight of each of ``legs``."""
        given = dict(self.weights)
        return tuple(float(given.get(leg, 1.0)) for leg in self.legs)

    @property
    def query_rule(self) -> QueryRule:
        """How BM25 counts the query's terms."""
        return QueryRule(self.query_terms == "distinct", self.idf == "editions")

    def with_options(self, options: Mapping[str, Any]) -> SearchSettings:
        """These settings with some fields replaced. Raises ``BadOption`` for an unknown one."""
        for name in options:
            _one_of("search option", name, SearchSettings.__dataclass_fields__)
        return replace(self, **options)


@dataclass(frozen=True, slots=True)
class Filter:
    """Where to search; all that is given must hold.

    - ``year``: one edition's year; several as a list or set; a range, both ends included, as
      ``"2021-2023"``, ``(2021, 2023)`` or a ``range``.
    - ``as_of``: a date; of each source the edition in force on that day. Not together with year.
    - ``source``: one or several of ``manuals.model.sections.SOURCES``.
    - ``under``: a key as a person types it; only what stands in or below that section.
    - ``notes``: false leaves out chunks that hold nothing but an editor's apparatus: notes, source
      credits and footnotes of Title 18, historical notes of the Guidelines Manual.
    - ``editions``: names such as ``title18/2021``; for a case that needs another year of one
      source than of another. Not together with year or as_of.

    Equal filters compare and hash equal, however they were written. Raises ``BadOption``.
    """

    year: YearFilter | None = None
    as_of: date | str | None = None
    source: str | Iterable[str] | None = None
    under: str | None = None
    editions: Iterable[str] | None = None
    notes: bool = True

    def __post_init__(self) -> None:
        if self.editions is not None:
            if self.year is not None or self.as_of is not None:
                raise BadOption(
                    "a filter takes editions or a year or date, not both; leave one out"
                )
            object.__setattr__(self, "editions", tuple(sorted(set(self.editions))))
        if self.year is not None and self.as_of is not None:
            raise BadOption("a filter takes a year or a date (as of), not both; leave one out")
        object.__setattr__(self, "year", None if self.year is None else _years(self.year))
        object.__setattr__(self, "as_of", None if self.as_of is None else _date(self.as_of))
        if self.source is not None:
            names = [self.source] if isinstance(self.source, str) else list(self.source)
            object.__setattr__(self, "source", tuple(sorted({name.strip() for name in names})))
        if self.under is not None and not self.under.strip():
            raise BadOption("under: the key is empty; give one such as E11 or 18 USC chapter 44")

    @property
    def years(self) -> frozenset[int] | tuple[int, int] | None:
        """Years that must all be there, or a range of which some must."""
        return self.year  # type: ignore[return-value]

    @property
    def sources(self) -> tuple[str, ...] | None:
        return self.source  # type: ignore[return-value]

    def describe(self) -> str:
        """The filter in words, for messages: ``year 2025, source ussg``."""
        parts = []
        if isinstance(self.years, tuple):
            parts.append(f"years {self.years[0]} to {self.years[1]}")
        elif self.years is not None:
            listed = ", ".join(map(str, sorted(self.years)))
            parts.append(f"year{'s' if len(self.years) > 1 else ''} {listed}")
        if self.as_of is not None:
            parts.append(f"in force on {self.as_of}")
        if self.editions is not None:
            parts.append(f"editions {', '.join(self.editions)}")
        if self.sources is not None:
            parts.append(f"source {', '.join(self.sources)}")
        if self.under is not None:
            parts.append(f"under {self.under.strip()}")
        if not self.notes:
            parts.append("no notes")
        return ", ".join(parts) or "everything"


def _years(year: YearFilter) -> frozenset[int] | tuple[int, int]:
    if isinstance(year, str):
        ends = [end.strip() for end in year.replace("–", "-").split("-")]
        if not (1 <= len(ends) <= 2 and all(len(end) == 4 and end.isdecimal() for end in ends)):
            raise BadOption(f"year {year!r} is not a year or a range; write 2025 or 2021-2023")
        if len(ends) == 1:
            return frozenset({int(ends[0])})
        year = (int(ends[0]), int(ends[1]))
    if isinstance(year, range):
        return frozenset(_whole_year(each) for each in year)
    if isinstance(year, tuple):
        if len(year) != 2:
            raise BadOption(f"year {year!r}: a range has two ends; give several years as a list")
        low, high = _whole_year(year[0]), _whole_year(year[1])
        if low > high:
            raise BadOption(f"years {low}-{high}: the range ends before it begins; turn it round")
        return low, high
    if isinstance(year, list | set | frozenset):
        if not year:
            raise BadOption("year: the list of years is empty; leave the filter out for all years")
        return frozenset(_whole_year(each) for each in year)
    return frozenset({_whole_year(year)})


def _whole_year(year: Any) -> int:
    if isinstance(year, bool) or not hasattr(year, "__index__"):
        raise BadOption(f"year {year!r} is not a whole number; write 2025 or '2021-2023'")
    return int(year)


def _date(day: date | str) -> date:
    if isinstance(day, str):
        try:
            return date.fromisoformat(day.strip())
        except ValueError:
            raise BadOption(
                f"as of {day!r}: not a date; write it as 2024-03-15 (year-month-day)"
            ) from None
    # A datetime is a date too, but compares with none.
    return date(day.year, day.month, day.day)


def _one_of(what: str, value: object, allowed: Iterable[str]) -> None:
    if not isinstance(value, str) or value not in allowed:
        raise BadOption(f"{what} {value!r} is not known; choose one of {', '.join(allowed)}")


def _count(what: str, value: int, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise BadOption(f"{what} {value!r} is not allowed; give a whole number from {least}")
