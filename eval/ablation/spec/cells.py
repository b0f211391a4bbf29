"""The cells of a study: which settings are tried together.

``grid`` tries every combination of the axes' values; ``one-factor`` the baseline and, for each
value of each axis, the baseline with that value alone changed. Both have the baseline as their
first cell; cells named in ``[[cells]]`` come last. Combinations that would search alike (fusions of
a retriever with one leg, for example) count once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Literal

from eval.ablation.spec.axes import (
    AXES,
    Value,
    Values,
    build_settings,
    canonical,
    search_settings,
    shown,
)
from retrievers.search.settings import SearchSettings
from tam.errors import BadOption, StudyError
from tam.settings import BuildSettings

Mode = Literal["grid", "one-factor"]
MODES: tuple[Mode, ...] = ("grid", "one-factor")
MOST = 10_000
BASELINE = "baseline"


@dataclass(frozen=True)
class Cell:
    """One cell: a name, all its settings by axis, those that differ from the baseline's, and the
    axis that it stands for in a one-factor study (empty for others). ``named``: from ``[[cells]]``."""

    name: str
    values: tuple[tuple[str, Value], ...]
    changed: tuple[tuple[str, Value], ...]
    factor: str = ""
    named: bool = False

    @cached_property
    def by_axis(self) -> Values:
        return dict(self.values)

    @property
    def build(self) -> BuildSettings:
        return build_settings(self.by_axis)

    @property
    def search(self) -> SearchSettings:
        return search_settings(self.by_axis)

    @property
    def k(self) -> int:
        return int(str(self.by_axis["k"]))

    @property
    def filter(self) -> str:
        return str(self.by_axis["filter"])

    @property
    def links(self) -> bool:
        return bool(self.by_axis["links"])

    @property
    def expanded(self) -> bool:
        return bool(self.by_axis["expand_documents"])


def count(axes: Mapping[str, Sequence[Value]], mode: Mode) -> int:
    """How many cells there are at most, before equal ones are joined."""
    sizes = [len(values) for values in axes.values()]
    return math.prod(sizes) if mode == "grid" else 1 + sum(sizes)


def make_cells(
    baseline: Values,
    axes: Mapping[str, Sequence[Value]],
    mode: Mode,
    named: Mapping[str, Values] | None = None,
) -> list[Cell]:
    """All cells, the baseline first. Raises ``StudyError``: too many, or settings that do not go
    together (named by cell)."""
    most = count(axes, mode) + len(named or {})
    if most > MOST:
        raise StudyError(
            f"{most:,} cells are too many (at most {MOST:,}); take fewer values, "
            f'or mode = "one-factor" ({count(axes, "one-factor"):,} cells)'
        )
    base = canonical(baseline, baseline)
    cells: dict[tuple[tuple[str, Value], ...], Cell] = {}
    for given, factor, values in _wanted(baseline, axes, mode, named or {}):
        found = canonical(values, base)
        changed = tuple((axis, found[axis]) for axis in AXES if found[axis] != base[axis])
        name = given or describe(changed) or BASELINE
        settings = tuple((axis, found[axis]) for axis in AXES)
        cell = Cell(name, settings, changed, factor, given not in ("", BASELINE))
        _check(cell)
        cells.setdefault(cell.values, cell)
    return list(cells.values())


def _wanted(
    baseline: Values,
    axes: Mapping[str, Sequence[Value]],
    mode: Mode,
    named: Mapping[str, Values],
) -> Iterator[tuple[str, str, Values]]:
    """Name (empty: to be made of what changed), factor and values of each cell wanted."""
    yield BASELINE, "", baseline
    if mode == "grid":
        for combination in product(*axes.values()):
            yield "", "", {**baseline, **dict(zip(axes, combination, strict=True))}
    else:
        for axis, axis_values in axes.items():
            for value in axis_values:
                yield "", axis, {**baseline, axis: value}
    for name, settings in named.items():
        yield name, "", {**baseline, **settings}


def describe(changed: Sequence[tuple[str, Value]]) -> str:
    """A cell's name from what differs: ``retriever = bm25, k1 = 1.2``."""
    return ", ".join(f"{axis} = {shown(value)}" for axis, value in changed)


def _check(cell: Cell) -> None:
    try:
        _ = cell.build, cell.search
    except (BadOption, TypeError) as error:
        raise StudyError(f"cell {cell.name!r}: {error}") from error
