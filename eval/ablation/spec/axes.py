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

from indexers.legs.model import LEGS, Leg
from retrievers.search.settings import SearchSettings, legs_of, retriever_names
from tam.errors import BadOption
from tam.models import model_folder
from tam.options import Declared, chosen
from tam.settings import BuildSettings

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


def _retriever(value: Any) -> Value:
    if not isinstance(value, str):
        raise BadOption(f"{value!r} is not known; choose from {', '.join(retriever_names())}")
    legs_of(value)
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


def _reader(option: Declared) -> Callable[[Any], Value]:
    """How the values of an option are read from a study's file."""
    name, known = option.name, option.option
    if name in ("encoder", "reranker"):
        return _model
    if name == "weights":
        return _weights
    if name == "retriever":
        return _retriever
    if option.kind is bool or set(known.allowed) == {"on", "off"}:
        return _switch
    if known.choices:
        read = _choice(*known.allowed)
        aliases = known.aliases or {}
        return lambda value: read(aliases.get(str(value), value))
    # Numbers out of range are refused by the settings, with the two that disagree.
    return _number if option.kind is float else _whole(min(1, int(known.low or 0)))


#: settings that a study does not vary: what cannot change a measurement, or is of no one cell
_FIXED = frozenset({"dtype", "batch_size", "legs", "collapse"})


def _axes() -> Mapping[str, Axis]:
    axes = []
    for part, model in (("build", BuildSettings), ("search", SearchSettings)):
        for option in chosen(model, but=_FIXED):
            name = option.option.flag.removeprefix("--") or option.name
            default = option.default
            if default in ("on", "off"):
                default = _SWITCH[default]
            axes.append(Axis(name, part, _reader(option), default, option.name))  # type: ignore[arg-type]
    axes.append(Axis("filter", "cell", _choice(*FILTERS), "year"))
    axes.append(Axis("k", "cell", _whole(1), DEFAULT_K))
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

    legs = [LEGS[name] for name in legs_of(str(found["retriever"]))]
    parts = [LEGS[leg.part] for leg in legs]
    if len(legs) == 1:
        same("fusion", "rrf_k", "weights")
    elif found["fusion"] != "rrf":
        same("rrf_k")
    decisive = {name for part in parts for name in part.build_settings}
    for axis in AXES.values():
        # Links go by the index's words, but for the formula that scores them.
        if axis.field in _of_legs() - decisive and not (
            found["links"] and axis.field == "expand_documents"
        ):
            same(axis.name)
    if not any("terms" in leg.needs for leg in legs) and not found["links"]:
        same("query_terms", "idf")
    if not found["windows"]:
        same("overlap")
    if found["preset"] != "sections":
        same("target", "bound")
    if found["query_mode"] == "whole":
        same("passage_fusion", "passage_words")
    if found["reranker"] is None:
        same("rerank_depth")
    return found


def _of_legs() -> frozenset[str]:
    """Settings of a build that decide nothing but parts of legs."""
    return frozenset(name for leg in LEGS.values() for name in leg.build_settings)


def build_settings(values: Values) -> BuildSettings:
    """The index that a cell needs. Raises ``BadOption``."""
    made: dict[str, Any] = {
        axis.field: values[axis.name] for axis in AXES.values() if axis.part == "build"
    }
    return BuildSettings(**made)


def search_settings(values: Values) -> SearchSettings:
    """How a cell searches. Raises ``BadOption``."""
    made: dict[str, Any] = {
        axis.field: values[axis.name] for axis in AXES.values() if axis.part == "search"
    }
    made["links"] = "on" if made["links"] else "off"
    if len(legs_of(str(made["retriever"]))) == 1:
        made["weights"] = ()
    # Golds are of one year: no other year's text stands for theirs.
    settings = SearchSettings(**made, collapse="off")
    build = build_settings(values)
    for name in settings.legs:
        leg = LEGS[LEGS[name].part]
        if not leg.wanted(build):
            raise BadOption(_lacking(str(settings.retriever), leg, values))
    return settings


def _lacking(retriever: str, leg: Leg, values: Values) -> str:
    if "vector" in leg.needs and values["encoder"] is None:
        return (
            f"retriever {retriever!r} needs vectors, but the encoder is none; "
            f"name an encoder or take the retriever bm25"
        )
    if "lines" in leg.build_settings:
        return f"retriever {retriever!r} needs lines = true"
    return f"retriever {retriever!r}: {leg.absent(retriever)}"
