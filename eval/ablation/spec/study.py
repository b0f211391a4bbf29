"""A study's file (TOML), read and checked before any work.

```toml
title = "What a year filter is worth"
corpus = "legal"                  # a domain's, such as icd or legal
mode = "one-factor"               # or "grid"
seed = 7                          # of intervals and tests
measures = ["recall@1", "mrr"]    # the first is that of the figures; recall@k takes the cell's k
k = [1, 2, 5, 8, 20]              # of the recall curves

[queries]
set = "title18-heading"           # a known-item set, with year or years, n and seed; or
# cases = "cases.csv"             # cases, with years = "years.csv" and gold = ["gold.jsonl"]; or
# file = "queries.jsonl"          # queries of one's own, as `tam queries make` writes them

[index]                           # optional: only these editions are indexed
sources = ["title18"]
years = [2021, 2022, 2023, 2024, 2025]

[baseline]                        # any axis of `axes.py`; what is not named has its default
retriever = "bm25"
encoder = "none"

[axes]
filter = ["year", "off"]

[[cells]]                         # optional: further cells of several settings
name = "ours"
filter = "year"
retriever = "hybrid"
```

Paths are relative to the study's file.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from eval.ablation.spec.axes import AXES, Value, Values
from eval.ablation.spec.cells import MODES, Cell, Mode, make_cells
from eval.ablation.spec.validity import refuse_leaks
from eval.domains.model import DOMAINS
from eval.measuring.evaluate import EvalSettings
from eval.measuring.measures import Score, parse_score
from eval.queries.known_items.sets import known_item_sets
from eval.queries.year_policy import POLICIES
from manuals.model.source import SOURCES, in_corpus
from tam.errors import BadOption, StudyError

MEASURES = ("recall@k", "all@k", "mrr", "ndcg@k", "chunks.tokens@k")
KS = (1, 2, 3, 5, 8, 10, 15, 20, 30, 50)
TOP = ("title", "about", "corpus", "mode", "seed", "measures", "k", "allow_leak", "year_policy")
TABLES = ("queries", "index", "baseline", "axes", "cells")
#: largest k, and largest number of queries, that a study takes
MOST_K, MOST_QUERIES = 1_000, 1_000_000


@dataclass(frozen=True)
class Queries:
    """What is asked: a known-item set by name, a file of queries, or cases."""

    name: str = ""
    years: tuple[int, ...] = ()
    n: int | None = None
    seed: int = 7
    file: Path | None = None
    year_table: Path | None = None
    gold: tuple[Path, ...] = ()

    @property
    def files(self) -> tuple[Path, ...]:
        """The user's files among it."""
        return tuple(path for path in (self.file, self.year_table, *self.gold) if path is not None)


@dataclass(frozen=True)
class Study:
    """A study that can be run. ``index_sources`` and ``index_years`` limit what is indexed (empty:
    everything of the corpus); ``cells`` begin with the baseline."""

    name: str
    title: str
    corpus: str
    queries: Queries
    cells: tuple[Cell, ...]
    axes: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    mode: Mode = "one-factor"
    measures: tuple[str, ...] = MEASURES
    ks: tuple[int, ...] = KS
    seed: int = 7
    about: str = ""
    year_policy: str = "exact"
    index_sources: tuple[str, ...] = ()
    index_years: tuple[int, ...] = ()
    allow_leak: bool = False

    def scores(self, cell: Cell) -> list[Score]:
        """The study's measures for one cell, ``@k`` with the cell's k."""
        return [parse_score(_with_k(text, cell.k)) for text in self.measures]

    @cached_property
    def deepest(self) -> int:
        """Chunks to retrieve for each query: the same for all cells, so that legs are shared."""
        ks = [
            score.at
            for cell in self.cells
            for score in self.scores(cell)
            if score.measure.parameter == "k"
        ]
        return EvalSettings(ks=(*self.ks, *ks)).chunks

    @cached_property
    def needs_years(self) -> bool:
        """Whether some cell filters by the query's year: then a query without one is left out of
        all cells, so that all have the same queries."""
        return any(cell.filter != "off" for cell in self.cells)

    @property
    def labels(self) -> tuple[str, ...]:
        """The measures' names as tables print them; the view is named where it is the other one."""
        return tuple(text.removeprefix("sections.") for text in self.measures)


def _with_k(text: str, k: int) -> str:
    return f"{text[:-1]}{k}" if text.endswith("@k") else text


def read_study(path: Path) -> Study:
    """Read and check a study's file. Raises ``StudyError`` naming file and entry."""
    try:
        found = tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise StudyError(f"{path}: cannot be read ({error.strerror}); check the path") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise StudyError(f"{path}: not TOML ({error})") from error
    try:
        return _study(path, found)
    except StudyError as error:
        raise StudyError(f"{path}: {error}") from error
    except BadOption as error:
        raise StudyError(f"{path}: {error}") from error


def _study(path: Path, found: Mapping[str, Any]) -> Study:
    _known(found, (*TOP, *TABLES), "")
    corpora = tuple(dict.fromkeys(domain.corpus for domain in DOMAINS.values()))
    corpus = _one_of("corpus", found.get("corpus"), corpora)
    mode: Mode = MODES[MODES.index(_one_of("mode", found.get("mode", "one-factor"), MODES))]
    baseline = _baseline(_table(found, "baseline"))
    axes = _axes(_table(found, "axes"))
    named = _named(found.get("cells", []))
    measures = _measures(found.get("measures", list(MEASURES)), axes, named)
    index = _table(found, "index")
    _known(index, ("sources", "years"), "index")
    sources = _sources(index.get("sources", []), corpus)
    study = Study(
        name=path.stem,
        title=_text(found, "title", path.stem),
        about=_text(found, "about", ""),
        corpus=corpus,
        queries=_queries(path.parent, _table(found, "queries"), corpus),
        cells=tuple(make_cells(baseline, axes, mode, named)),
        axes=axes,
        mode=mode,
        measures=measures,
        ks=_ks(found.get("k", list(KS))),
        seed=_whole("seed", found.get("seed", 7), 0, 2**32 - 1),
        year_policy=_one_of("year_policy", found.get("year_policy", "exact"), tuple(POLICIES)),
        index_sources=sources,
        index_years=_years("index.years", index.get("years", [])),
        allow_leak=_flag("allow_leak", found.get("allow_leak", False)),
    )
    if study.queries.name:
        text_from = known_item_sets()[study.queries.name].text_from
        refuse_leaks(text_from, study.cells, study.allow_leak, study.index_sources)
    return study


def _known(table: Mapping[str, Any], allowed: Iterable[str], where: str) -> None:
    allowed = list(allowed)
    for name in table:
        if name not in allowed:
            place = f"[{where}] " if where else ""
            raise StudyError(f"{place}{name}: not known; choose from {', '.join(allowed)}")


def _table(found: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = found.get(name, {})
    if not isinstance(value, dict):
        raise StudyError(f"{name}: not a table; write it under a line [{name}]")
    return value


def _one_of(name: str, value: Any, allowed: Sequence[str]) -> str:
    if not isinstance(value, str) or value not in allowed:
        what = "is missing" if value is None else f"{value!r} is not known"
        raise StudyError(f"{name}: {what}; choose from {', '.join(allowed)}")
    return value


def _text(found: Mapping[str, Any], name: str, default: str) -> str:
    value = found.get(name, default)
    if not isinstance(value, str):
        raise StudyError(f"{name}: {value!r} is not a text; put it in quotation marks")
    return value.strip()


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise StudyError(f"{name}: {value!r} is neither true nor false")
    return value


def _whole(name: str, value: Any, low: int, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise StudyError(f"{name}: {value!r} is not a whole number from {low} to {high:,}")
    return value


def _listed(name: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise StudyError(f"{name}: {value!r} is not a list; write [{value!r}]")
    return value


def _years(name: str, value: Any) -> tuple[int, ...]:
    values = value if isinstance(value, list) else [value]
    return tuple(sorted({_whole(name, year, 1900, 2100) for year in values}))


def _ks(value: Any) -> tuple[int, ...]:
    ks = tuple(sorted({_whole("k", each, 1, MOST_K) for each in _listed("k", value)}))
    if not ks:
        raise StudyError("k: the list is empty; give for example [1, 5, 8, 20]")
    return ks


def _sources(value: Any, corpus: str) -> tuple[str, ...]:
    allowed = in_corpus(corpus)
    for source in _listed("index.sources", value):
        _one_of("index.sources", source, allowed)
    return tuple(source for source in allowed if source in value)


def _axis_value(where: str, name: str, value: Any) -> Value:
    axis = AXES.get(name)
    if axis is None:
        raise StudyError(f"{where}{name}: no such axis; choose from {', '.join(AXES)}")
    try:
        return axis.read(value)
    except BadOption as error:
        raise StudyError(f"{where}{name}: {error}") from error


def _baseline(table: Mapping[str, Any]) -> Values:
    given = {name: _axis_value("baseline.", name, value) for name, value in table.items()}
    return {axis.name: given.get(axis.name, axis.default) for axis in AXES.values()}


def _axes(table: Mapping[str, Any]) -> dict[str, tuple[Value, ...]]:
    axes: dict[str, tuple[Value, ...]] = {}
    for name, values in table.items():
        if not _listed(f"axes.{name}", values):
            raise StudyError(f"axes.{name}: the list is empty; give its values")
        found = [_axis_value("axes.", name, value) for value in values]
        axes[name] = tuple(dict.fromkeys(found))
    return axes


def _named(tables: Any) -> dict[str, Values]:
    named: dict[str, Values] = {}
    for table in _listed("cells", tables):
        if not isinstance(table, dict):
            raise StudyError("cells: write each cell under a line [[cells]]")
        name = table.get("name")
        if not isinstance(name, str) or not name.strip() or name in named or name == "baseline":
            raise StudyError(f"cells: name {name!r} is missing or comes twice; name every cell")
        named[name.strip()] = {
            axis: _axis_value(f"cell {name!r}: ", axis, value)
            for axis, value in table.items()
            if axis != "name"
        }
    return named


def _measures(
    value: Any, axes: Mapping[str, Sequence[Value]], named: Mapping[str, Values]
) -> tuple[str, ...]:
    names: list[str] = []
    for text in _listed("measures", value):
        if not isinstance(text, str):
            raise StudyError(f'measures: {text!r} is not a text; write it as "recall@8"')
        try:
            score = parse_score(_with_k(text.strip(), 1))
        except BadOption as error:
            raise StudyError(f"measures: {error}") from error
        if score.at > (10**7 if score.measure.parameter == "budget" else MOST_K):
            raise StudyError(f"measures: {text}: the number is too large (at most {MOST_K:,})")
        ending = "k" if text.strip().endswith("@k") else ""
        if ending and score.measure.parameter == "budget":
            raise StudyError(f"measures: {text}: a budget is in tokens; write it as a number")
        label = score.label if not ending else f"{score.measure.name}@k"
        # The view is named only where the measure has a choice and it is the other one.
        other = score.view != "sections" and len(score.measure.views) > 1
        names.append(f"{score.view}.{label}" if other else label)
    if not names:
        raise StudyError('measures: the list is empty; give for example ["recall@8", "mrr"]')
    if len(set(names)) < len(names):
        raise StudyError(f"measures: {', '.join(names)}: one comes twice")
    varies = "k" in axes or any("k" in values for values in named.values())
    if varies and not any(name.endswith("@k") for name in names):
        raise StudyError('axes.k: no measure depends on it; write one as "recall@k"')
    return tuple(names)


def _queries(folder: Path, table: Mapping[str, Any], corpus: str) -> Queries:
    kinds = [kind for kind in ("set", "cases", "file") if kind in table]
    if len(kinds) != 1:
        raise StudyError("queries: give one of set (a known-item set), cases or file")
    if kinds == ["set"]:
        return _known_items(table, corpus)
    (kind,) = kinds
    _known(table, (kind, "years", "gold"), "queries")
    gold = table.get("gold", [])
    paths = [_file(folder, "gold", each) for each in (gold if isinstance(gold, list) else [gold])]
    return Queries(
        file=_file(folder, kind, table[kind]),
        year_table=_file(folder, "years", table["years"]) if "years" in table else None,
        gold=tuple(paths),
    )


def _file(folder: Path, name: str, value: Any) -> Path:
    if not isinstance(value, str) or not value:
        raise StudyError(f"queries.{name}: {value!r} is not a path")
    path = folder / value
    if not path.is_file():
        raise StudyError(f"queries.{name}: no file {value!r} beside the study; check the path")
    return path


def _known_items(table: Mapping[str, Any], corpus: str) -> Queries:
    _known(table, ("set", "year", "years", "n", "seed"), "queries")
    known = known_item_sets()
    kind = known.get(table["set"]) if isinstance(table["set"], str) else None
    if kind is None or SOURCES[kind.needs[0]].corpus != corpus:
        sets = [name for name, each in known.items() if SOURCES[each.needs[0]].corpus == corpus]
        raise StudyError(
            f"queries.set: {table['set']!r} is no query set of {corpus}; choose from "
            f"{', '.join(sets)}"
        )
    if ("year" in table) == ("years" in table):
        raise StudyError("queries: give the edition's year (or years, as a list)")
    years = _years("queries.years", table.get("years", table.get("year")))
    if not years:
        raise StudyError("queries.years: the list is empty; give for example [2025]")
    n = table.get("n")
    return Queries(
        name=kind.name,
        years=years,
        n=None if n is None else _whole("queries.n", n, 1, MOST_QUERIES),
        seed=_whole("queries.seed", table.get("seed", 7), 0, 2**63),
    )
