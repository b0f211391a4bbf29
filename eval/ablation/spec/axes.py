"""What a study can vary: each axis with its kind of value and the setting that it stands for.

| axis | values | part |
|---|---|---|
| `preset` | `paper`, `sections` | index |
| `target`, `bound` | chunk sizes in tokens (preset `sections`) | index |
| `encoder` | model name or folder, `hash`, `wordllama`; `none` is BM25 only | index |
| `windows`, `overlap` | on or off; tokens | index |
| `bm25`, `k1`, `b`, `stemmer`, `stopwords` | as `tam build` has them | index |
| `lines`, `expand_documents` | on or off | index |
| `retriever`, `query_mode`, `passage_fusion`, `passage_words` | as `tam search` | search |
| `fusion`, `weights`, `rrf_k`, `depth` | `weights` is a table: `{bm25 = 1.0, dense = 0.5}` | search |
| `references`, `links` | on or off | search |
| `query_terms`, `idf` | `counts` or `distinct`; `index` or `editions` | search |
| `statistics` | `index`, `source`: of what BM25's idf and lengths are | index |
| `reranker`, `rerank_depth` | cross-encoder or `none`; how many it orders | search |
| `filter` | `off`, `year`, or `as_of` (the last day of the query's year) | search |
| `k` | the k of measures written with `@k` | measuring |
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from retrievers.ranking.fusion import FUSIONS
from retrievers.ranking.passages import PASSAGE_FUSIONS
from retrievers.search.settings import (
    DENSE_LEGS,
    IDF,
    LINE_LEGS,
    QUERY_MODES,
    QUERY_TERMS,
    RETRIEVERS,
    SearchSettings,
)
from tam.errors import BadOption
from tam.models import model_folder
from tam.settings import (
    BM25_VARIANTS,
    PRESET_ALIASES,
    PRESETS,
    STATISTICS,
    STEMMERS,
    STOPWORDS,
    BuildSettings,
)

Value = str | int | float | bool | tuple[tuple[str, float], ...] | None
Part = Literal["build", "search", "cell"]
FILTERS = ("off", "year", "as_of")
DEFAULT_K = 8
_SWITCH: Mapping[Any, bool] = {True: True, False: False, "on": True, "off": False}


def _choice(*allowed: str) -> Callable[[Any], Value]:
    def read(value: Any) -> Value:
        if not isinstance(value, str) or value not in allowed:
            raise BadOption(f"{value!r} is not known; choose from {', '.join(allowed)}")
        return value

    return read


def _switch(value: Any) -> Value:
    if not isinstance(value, bool | str) or value not in _SWITCH:
        raise BadOption(f"{value!r} is neither on nor off; write true or false")
    return _SWITCH[value]


def _whole(least: int) -> Callable[[Any], Value]:
    def read(value: Any) -> Value:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= 10**6:
            raise BadOption(f"{value!r} is not a whole number from {least} to 1,000,000")
        return value

    return read


def _number(value: Any) -> Value:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise BadOption(f"{value!r} is not a number")
    return float(value)


def _model(value: Any) -> Value:
    """A model's name, ``None`` for ``none``. A folder that is not there is refused."""
    if not isinstance(value, str) or not value.strip():
        raise BadOption(f"{value!r} is not a model; give a name, a folder or 'none'")
    if value == "none":
        return None
    if value not in ("hash", "wordllama"):
        model_folder(value)
    return value


def _weights(value: Any) -> Value:
    """Pairs of leg and weight; none for ``equal`` and for weights of 1."""
    if value == "equal":
        return ()
    if not isinstance(value, dict) or not value:
        raise BadOption(f"{value!r} are no weights; write {{bm25 = 1.0, dense = 0.5}}")
    pairs = []
    for leg, weight in sorted(value.items()):
        number = _number(weight)
        if not isinstance(number, float) or number < 0:
            raise BadOption(f"weight {weight!r} of {leg} is below 0")
        pairs.append((leg, number))
    return () if all(weight == 1.0 for _, weight in pairs) else tuple(pairs)


@dataclass(frozen=True)
class Axis:
    """One axis. ``read`` takes a TOML value; ``field`` is the setting that it stands for."""

    name: str
    part: Part
    read: Callable[[Any], Value]
    default: Value
    field: str = field(default="")


def _axes() -> Mapping[str, Axis]:
    build, search = BuildSettings(), SearchSettings()

    def of_build(name: str, read: Callable[[Any], Value], setting: str = "") -> Axis:
        setting = setting or name
        return Axis(name, "build", read, getattr(build, setting), setting)

    def of_search(name: str, read: Callable[[Any], Value]) -> Axis:
        default = getattr(search, name)
        return Axis(name, "search", read, _SWITCH[default] if name == "links" else default, name)

    axes = (
        of_build("preset", lambda value: _choice(*PRESETS)(PRESET_ALIASES.get(str(value), value))),
        of_build("target", _whole(1)),
        of_build("bound", _whole(1)),
        of_build("encoder", _model),
        of_build("windows", _switch),
        of_build("overlap", _whole(0)),
        of_build("bm25", _choice(*BM25_VARIANTS), "variant"),
        of_build("k1", _number),
        of_build("b", _number),
        of_build("stemmer", _choice(*STEMMERS)),
        of_build("stopwords", _choice(*STOPWORDS)),
        of_build("lines", _switch),
        of_build("statistics", _choice(*STATISTICS)),
        of_build("expand_documents", _switch),
        of_search("retriever", _choice(*RETRIEVERS)),
        of_search("query_mode", _choice(*QUERY_MODES)),
        of_search("query_terms", _choice(*QUERY_TERMS)),
        of_search("idf", _choice(*IDF)),
        of_search("passage_fusion", _choice(*PASSAGE_FUSIONS)),
        of_search("passage_words", _whole(1)),
        of_search("fusion", _choice(*FUSIONS)),
        of_search("weights", _weights),
        of_search("rrf_k", _whole(0)),
        of_search("depth", _whole(1)),
        of_search("references", _switch),
        of_search("links", _switch),
        of_search("reranker", _model),
        of_search("rerank_depth", _whole(1)),
        Axis("filter", "cell", _choice(*FILTERS), "year"),
        Axis("k", "cell", _whole(1), DEFAULT_K),
    )
    return MappingProxyType({axis.name: axis for axis in axes})


#: every axis by name, in the order in which a cell's settings are listed
AXES = _axes()
Values = Mapping[str, Value]


def shown(value: Value) -> str:
    """A value as tables and figures print it."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, tuple):
        return ", ".join(f"{leg} {weight:g}" for leg, weight in value) or "equal"
    if isinstance(value, float):
        return f"{value:g}"
    # A model's folder is this machine's business.
    return str(value).rstrip("/").rsplit("/", 1)[-1]


def canonical(values: Values, baseline: Values) -> dict[str, Value]:
    """The values with those that have no effect set to the baseline's, so that two cells which
    would search alike are equal."""
    found = dict(values)

    def same(*names: str) -> None:
        found.update((name, baseline[name]) for name in names)

    legs = RETRIEVERS[str(found["retriever"])]
    if len(legs) == 1:
        same("fusion", "rrf_k", "weights")
    elif found["fusion"] != "rrf":
        same("rrf_k")
    if DENSE_LEGS.isdisjoint(legs):
        same("windows", "overlap")
    if LINE_LEGS.isdisjoint(legs):
        same("lines")
    if legs == ("dense",) and not found["links"]:
        same("query_terms", "expand_documents")
    if not found["windows"]:
        same("overlap")
    if legs == ("dense",):
        same("bm25", "k1", "b", "stemmer", "stopwords")
    if found["preset"] != "sections":
        same("target", "bound")
    if found["query_mode"] == "whole":
        same("passage_fusion", "passage_words")
    if found["reranker"] is None:
        same("rerank_depth")
    return found


def build_settings(values: Values) -> BuildSettings:
    """The index that a cell needs. Raises ``BadOption``."""
    chosen: dict[str, Any] = {
        axis.field: values[axis.name] for axis in AXES.values() if axis.part == "build"
    }
    return BuildSettings(**chosen)


def search_settings(values: Values) -> SearchSettings:
    """How a cell searches. Raises ``BadOption``."""
    chosen: dict[str, Any] = {
        axis.field: values[axis.name] for axis in AXES.values() if axis.part == "search"
    }
    chosen["links"] = "on" if chosen["links"] else "off"
    if len(RETRIEVERS[str(chosen["retriever"])]) == 1:
        chosen["weights"] = ()
    settings = SearchSettings(**chosen)
    if not values["lines"] and not LINE_LEGS.isdisjoint(settings.legs):
        raise BadOption(f"retriever {settings.retriever!r} needs lines = true")
    if values["encoder"] is None and not DENSE_LEGS.isdisjoint(settings.legs):
        raise BadOption(
            f"retriever {settings.retriever!r} needs vectors, but the encoder is none; "
            f"name an encoder or take the retriever bm25"
        )
    return settings
