"""What can be chosen for a search: one record for how, one for where."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from types import MappingProxyType
from typing import Annotated, Any, TypedDict

from pydantic import SkipValidation

from indexers.legs.model import LEGS, TermRule, leg_of
from manuals.model.source import SOURCES
from manuals.model.years import read_day
from retrievers.ranking.fusion import FUSIONS, RRF_K
from retrievers.ranking.passages import PASSAGE_FUSIONS, PASSAGE_WORDS
from tam.errors import BadOption
from tam.options import Option, options

#: names for the usual lists of legs; a leg's own name stands for that leg alone
RETRIEVERS: Mapping[str, str] = MappingProxyType(
    {
        "hybrid": "bm25+dense",
        "bm25_lines": "bm25+bm25_lines_ngrams",
        "hybrid_lines": "bm25+dense+bm25_lines_ngrams+dense_lines",
    }
)
QUERY_TERMS = ("counts", "distinct")
IDF = ("index", "editions")
QUERY_MODES = ("whole", "windows")
LINKS = ("off", "on")
GROUPS = ("unit", "chunk")
COLLAPSE = ("off", "years")

#: How far down each leg is read before fusion. Fixed, so that the first places do not change with k.
DEPTH = 500

#: one year, a range ``"2021-2023"`` or ``(2021, 2023)``, or a list or set of years
YearFilter = int | str | tuple[int, int] | list[int] | set[int] | frozenset[int] | range
Weights = Mapping[str, float] | Iterable[tuple[str, float]]


def retriever_names() -> tuple[str, ...]:
    """The names that a retriever can be given by, the legs' own after the first."""
    first, *others = RETRIEVERS
    return (first, *LEGS, *others)


def source_names() -> tuple[str, ...]:
    """The sources that a filter can name."""
    return tuple(SOURCES)


def legs_of(retriever: str) -> tuple[str, ...]:
    """The names of a retriever's legs, in the order in which they are fused and listed.

    ``retriever`` is a name of ``RETRIEVERS``, or one or several legs as ``bm25+dense``. Raises
    ``BadOption``.
    """
    try:
        legs = [leg_of(name.strip()) for name in RETRIEVERS.get(retriever, retriever).split("+")]
    except BadOption:
        raise BadOption(
            f"retriever {retriever!r} is not known; choose one of {', '.join(retriever_names())}, "
            f"or several legs as bm25+dense"
        ) from None
    return tuple(leg.name for leg in LEGS.values() if leg in legs)


def read_weights(text: str) -> dict[str, float]:
    """The weights that ``bm25=1,dense=0.5`` says. Raises ``BadOption``."""
    found = {}
    for pair in text.split(","):
        leg, sign, number = pair.partition("=")
        try:
            found[leg.strip()] = float(number)
        except ValueError:
            sign = ""
        if not sign or not leg.strip():
            raise BadOption(f"weights {text!r}: write them as bm25=1,dense=0.5")
    return found


class SearchOptions(TypedDict, total=False):
    """The keyword options of ``Index.search``: the fields of ``SearchSettings``."""

    retriever: str | Sequence[str]
    group: str
    expand: bool
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


@options
class SearchSettings:
    """How to search.

    - ``retriever``: one or several legs, fused: a name of ``RETRIEVERS``, or legs as
      ``bm25+dense`` or a list. Which legs there are says ``indexers.legs.model.LEGS``; those of
      lines need an index built with ``lines``.
    - ``group``: ``unit`` gives one hit for what people cite as a whole (a guideline, a section of
      the Code, a category), by what its parts and its names say together (see
      ``retrievers.ranking.units``); the legs are then fused by z-scores, and those over names that
      the index has are added. ``chunk`` ranks chunks by themselves.
    - ``expand``: abbreviations and lay words of the query are said in the manuals' words too
      (see ``retrievers.ranking.vocabulary``).
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

    retriever: Annotated[
        str | Sequence[str],
        Option(
            "What ranks: hybrid, one leg, or several as bm25+dense.",
            retriever_names,
            unchecked=True,
            metavar="LEGS",
        ),
    ] = "hybrid"
    group: Annotated[
        str, Option("One hit for each section that people cite, or for each chunk.", GROUPS)
    ] = "chunk"
    expand: Annotated[
        bool,
        Option(
            "Say abbreviations and lay words in the manuals' words too.",
            off="Do not add the manuals' words for abbreviations and lay words.",
        ),
    ] = True
    query_mode: Annotated[
        str, Option("A long query whole, or in windows of a few sentences.", QUERY_MODES)
    ] = "whole"
    passage_fusion: Annotated[
        str, Option("How the windows' lists become one.", tuple(PASSAGE_FUSIONS))
    ] = "max"
    passage_words: Annotated[int, Option("Words of a window.", low=8)] = PASSAGE_WORDS
    references: Annotated[
        bool,
        Option(
            "Sections named in a query come first.",
            off="Do not put sections named in a query first.",
        ),
    ] = True
    collapse: Annotated[
        str,
        Option("Give a text that is the same in several years once, from the newest.", COLLAPSE),
    ] = "years"
    links: Annotated[str, Option("Let hits bring the sections that they point to.", LINKS)] = "off"
    query_terms: Annotated[
        str,
        Option("BM25 counts a repeated word of the query as often, or once.", QUERY_TERMS),
    ] = "counts"
    idf: Annotated[
        str, Option("Rarity of a word in the whole index, or in the editions searched.", IDF)
    ] = "index"
    fusion: Annotated[str, Option("How the legs' lists become one.", tuple(FUSIONS))] = "rrf"
    weights: Annotated[
        Weights,
        Option(
            "What each leg counts: bm25=1,dense=0.5.",
            metavar="LEG=N",
            read=read_weights,
            unchecked=True,
        ),
    ] = ()
    rrf_k: Annotated[int, Option("Constant of reciprocal rank fusion.", low=0, title="rrf_k")] = (
        RRF_K
    )
    depth: Annotated[int, Option("How far down each leg is read.", low=1)] = DEPTH
    reranker: Annotated[
        str | None, Option("A cross-encoder: a name or a folder.", metavar="MODEL")
    ] = None
    rerank_depth: Annotated[int, Option("How many hits the reranker orders.", low=1)] = 50

    def __post_init__(self) -> None:
        given = self.retriever
        if isinstance(given, list | tuple):
            object.__setattr__(self, "retriever", "+".join(map(str, given)))
        pairs = self.weights.items() if isinstance(self.weights, Mapping) else self.weights
        weighable = (*self.legs, *(name for name in LEGS if LEGS[name].level == "unit"))
        by_name = {name: name for name in weighable}
        by_name |= {alias: name for name in weighable for alias in leg_of(name).aliases}
        weights = {}
        for leg, weight in pairs:
            if leg not in by_name:
                raise BadOption(
                    f"weights: leg {leg!r} is not known; choose one of {', '.join(weighable)}"
                )
            number = isinstance(weight, int | float) and not isinstance(weight, bool)
            if not (number and 0 <= weight < float("inf")):
                raise BadOption(f"weights: {leg} has {weight!r}; give a number of 0 or more")
            weights[by_name[leg]] = float(weight)
        object.__setattr__(self, "weights", tuple(sorted(weights.items())))

    @property
    def legs(self) -> tuple[str, ...]:
        """Names of the legs, in the order in which they are fused."""
        return legs_of(str(self.retriever))

    @property
    def leg_weights(self) -> tuple[float, ...]:
        """The weight of each of ``legs``."""
        given = dict(self.weights)
        return tuple(float(given.get(leg, 1.0)) for leg in self.legs)

    def unit_weight(self, leg: str) -> float:
        """What a leg counts in a search by units."""
        return float(dict(self.weights).get(leg, LEGS[leg].weight))

    @property
    def term_rule(self) -> TermRule:
        """How BM25 counts the query's terms."""
        return TermRule(self.query_terms == "distinct", self.idf == "editions")

    def with_options(self, options: Mapping[str, Any]) -> SearchSettings:
        """These settings with some fields replaced. Raises ``BadOption`` for an unknown one."""
        known = SearchOptions.__annotations__
        for name in options:
            if name not in known:
                raise BadOption(
                    f"search option {name!r} is not known; choose one of {', '.join(known)}"
                )
        return replace(self, **options)


@options
class Filter:
    """Where to search; all that is given must hold.

    - ``year``: one edition's year; several as a list or set; a range, both ends included, as
      ``"2021-2023"``, ``(2021, 2023)`` or a ``range``.
    - ``as_of``: a date; of each source the edition that holds for that day (of Title 18 the last
      one current on or before it). Not together with year.
    - ``source``: one or several of ``manuals.model.sections.SOURCES``.
    - ``under``: a key as a person types it; only what stands in or below that section.
    - ``notes``: false leaves out chunks that hold nothing but an editor's apparatus: notes, source
      credits and footnotes of Title 18, historical notes of the Guidelines Manual.
    - ``editions``: names such as ``title18/2021``; for a case that needs another year of one
      source than of another. Not together with year or as_of.

    Equal filters compare and hash equal, however they were written. Raises ``BadOption``.
    """

    year: Annotated[
        YearFilter | None,
        Option("Edition: 2025, or a range 2021-2023.", metavar="YEAR", unchecked=True),
    ] = None
    as_of: Annotated[
        date | str | None,
        Option("The edition of each manual that holds for a day.", metavar="DATE", unchecked=True),
    ] = None
    source: Annotated[
        str | Iterable[str] | None,
        Option("Only this manual.", source_names, unchecked=True, many=True),
    ] = None
    under: Annotated[
        str | None,
        Option("Only at or below a key: E11, 18 USC chapter 44.", metavar="KEY"),
    ] = None
    editions: Annotated[Iterable[str] | None, SkipValidation] = None
    notes: Annotated[
        bool,
        Option(
            "Search editors' notes, source credits and historical notes too.",
            off="Leave out editors' notes, source credits, historical notes.",
        ),
    ] = True

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
        object.__setattr__(self, "as_of", None if self.as_of is None else read_day(self.as_of))
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
    def day(self) -> date | None:
        """The date of ``as_of``."""
        return self.as_of  # type: ignore[return-value]

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
            parts.append(f"as of {self.as_of}")
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
