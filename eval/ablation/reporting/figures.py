"""A study's figures, each as SVG and PNG: the same numbers give the same bytes.

Colours are those of Okabe and Ito (Color Universal Design, 2008), which readers with a colour
vision deficiency can tell apart; lines differ in marker and dash too. Bars begin at 0.
"""

from __future__ import annotations

import io
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from eval.ablation.reporting.summary import CellSummary, Summary
from eval.ablation.spec.axes import shown
from eval.ablation.spec.cells import BASELINE
from eval.reporting.report import number
from tam.errors import MissingExtra
from tam.files import replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#000000", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)))
LIGHT, GREY, DARK = "#7DB8E8", "#B8BFC7", "#1a1a1a"
#: lines in the curves and rows in the heat map, at most
LINES, ROWS = len(COLOURS), 30
WIDTH = 7.4
_RC: Any = {
    "svg.hashsalt": "tam",
    "svg.fonttype": "path",
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "hatch.linewidth": 0.6,
    "text.parse_math": False,
}


@dataclass(frozen=True)
class Drawn:
    """One figure: its file name without suffix, its caption, and its bytes."""

    name: str
    caption: str
    svg: str
    png: bytes


def check_matplotlib() -> None:
    """Raises ``MissingExtra`` where figures cannot be drawn: said before a study's work."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise MissingExtra("matplotlib", "eval", "drawing a study's figures") from error


def figures(summary: Summary) -> list[Drawn]:
    """All figures that a study's results give."""
    if not summary.queries:
        return []
    found = [_curves(summary)]
    if len(summary.groups) > 1:
        found.append(_heat_map(summary))
    found += _factors(summary)
    return found


def write_figures(folder: Path, drawn: Sequence[Drawn]) -> None:
    """Write each figure as SVG and PNG."""
    for each in drawn:
        for suffix, data in ((".svg", each.svg.encode()), (".png", each.png)):
            with replacing(folder / f"{each.name}{suffix}") as part:
                part.write_bytes(data)


def _draw(name: str, caption: str, height: float, paint: Any) -> Drawn:
    """``paint(figure, axes)`` on a new figure of this height in inches."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_RC):
        figure = Figure(figsize=(WIDTH, height), layout="constrained")
        paint(figure, figure.subplots())
        svg, png = io.BytesIO(), io.BytesIO()
        nothing = {"Date": None, "Creator": None, "Format": None, "Type": None}
        figure.savefig(svg, format="svg", metadata=nothing)
        figure.savefig(png, format="png", dpi=160, metadata={"Software": None})
    return Drawn(name, caption, svg.getvalue().decode(), png.getvalue())


def _label(row: CellSummary, width: int = 34) -> str:
    name = row.cell.name + "".join(f" [{mark}]" for mark in row.mark)
    return "\n".join(textwrap.wrap(name, width)) or name


# -- recall against k


def _curves(summary: Summary) -> Drawn:
    ks = summary.study.ks
    rows = [summary.rows[at] for at in _chosen(summary, LINES, _distinct(summary))]

    def paint(figure: Figure, axes: Axes) -> None:
        for at, row in enumerate(rows):
            mean, low, high = row.curve
            # Side by side, so that whiskers at one k do not hide one another.
            places = np.array(ks) * 1.02 ** (at - (len(rows) - 1) / 2)
            axes.errorbar(
                places,
                mean,
                yerr=[np.maximum(mean - low, 0), np.maximum(high - mean, 0)],
                color=COLOURS[at],
                marker=MARKERS[at],
                linestyle=DASHES[at],
                markersize=4,
                linewidth=1.5,
                elinewidth=0.8,
                capsize=1.5,
                label=_label(row),
            )
        axes.set_xscale("log")
        axes.set_xticks(list(_ticks(ks)), [str(k) for k in _ticks(ks)])
        axes.minorticks_off()
        axes.set_xlabel("k (sections, log scale)")
        axes.set_ylabel("recall@k")
        bottom = min(float(row.curve[1].min()) for row in rows)
        axes.set_ylim(max(0.0, np.floor(bottom * 10) / 10), 1.01)
        axes.grid(axis="y", color="#e3e3e3", linewidth=0.8)
        figure.legend(loc="outside right upper", frameon=False, fontsize=8)

    caption = "Recall against k over sections, with 95 % intervals."
    if len(rows) < len(summary.rows):
        caption += (
            f" Shown are the baseline, named cells and the best by {summary.study.labels[0]}, of "
            f"cells with equal curves the first; the table has all {len(summary.rows)}."
        )
    return _draw("recall-at-k", caption, 3.8, paint)


def _distinct(summary: Summary) -> list[int]:
    """The rows whose curves are not those of a row before."""
    seen: set[tuple[float, ...]] = set()
    found = []
    for at, row in enumerate(summary.rows):
        curve = tuple(np.round(row.curve[0], 9).tolist())
        if curve not in seen:
            seen.add(curve)
            found.append(at)
    return found


def _ticks(ks: Sequence[int]) -> Iterator[int]:
    """Values of k far enough from one another for their labels."""
    last = 0.0
    for k in ks:
        if k >= last * 1.25:
            yield k
            last = k


def _chosen(summary: Summary, most: int, among: Sequence[int]) -> list[int]:
    """Of some rows the baseline, named cells and then the best rows, in the order of the table."""
    better = summary.scores[0].measure.better

    def rank(at: int) -> tuple[bool, bool, float, int]:
        row = summary.rows[at]
        return at > 0, not row.cell.named, -better * float(row.means[0]), at

    return sorted(sorted(among, key=rank)[:most])


# -- by source and year


def _heat_map(summary: Summary) -> Drawn:
    rows = _chosen(summary, ROWS, range(len(summary.rows)))
    table = np.array([[group.recall[at] for group in summary.groups] for at in rows])

    def paint(figure: Figure, axes: Axes) -> None:
        image = axes.imshow(table, cmap="cividis", vmin=0, vmax=1, aspect="auto")
        axes.set_xticks(
            range(len(summary.groups)),
            [f"{group.source}\n{group.year}\nn = {group.golds:,}" for group in summary.groups],
            fontsize=8,
        )
        axes.set_yticks(range(len(rows)), [_label(summary.rows[at]) for at in rows], fontsize=8)
        axes.tick_params(length=0)
        for (y, x), value in np.ndenumerate(table):
            colour = "white" if value < 0.55 else "black"
            axes.text(x, y, f"{value:.2f}", ha="center", va="center", color=colour, fontsize=8)
        for side in axes.spines.values():
            side.set_visible(False)
        figure.colorbar(image, ax=axes, label=f"recall@{summary.at}", shrink=0.8)

    caption = (
        f"Recall@{summary.at} over the golds of each source and year (n golds); rows are cells."
    )
    return _draw("by-source-and-year", caption, 1.3 + 0.36 * len(rows), paint)


# -- one figure for each factor


@dataclass(frozen=True)
class _Bar:
    label: str
    mean: float
    low: float
    high: float
    is_baseline: bool = False
    marked: bool = False
    dots: tuple[float, ...] = ()


def _factors(summary: Summary) -> Iterator[Drawn]:
    study = summary.study
    first = study.labels[0]
    for axis in study.axes:
        bars = _grid_bars(summary, axis) if study.mode == "grid" else _bars(summary, axis)
        if len(bars) < 2:
            continue
        caption = f"{first} by {axis}. "
        if study.mode == "grid":
            caption += "Bars are means over the cells with this value, dots the single cells"
            marked = any(row.mark for row in summary.rows)
            caption += ", marked cells only where there are no others." if marked else "."
        else:
            caption += "The other settings are the baseline's; whiskers are 95 % intervals."
        caption += " Grey is the baseline's value."
        yield _bar_figure(f"factor-{axis}", caption, axis, first, bars)
    named = [row for at, row in enumerate(summary.rows) if row.cell.named or not at]
    if len(named) > 1:
        caption = f"{first} of the named cells; whiskers are 95 % intervals."
        bars = [_bar(row, row.cell.name) for row in named]
        yield _bar_figure("named-cells", caption, "cell", first, bars)


def _bar(row: CellSummary, label: str) -> _Bar:
    label += "".join(f" [{mark}]" for mark in row.mark)
    numbers = float(row.means[0]), float(row.low[0]), float(row.high[0])
    return _Bar(label, *numbers, row.cell.name == BASELINE, bool(row.mark))


def _bars(summary: Summary, axis: str) -> list[_Bar]:
    """The baseline's value and each value that was tried alone, in the order of the study."""
    rows = [row for row in summary.rows if row.cell.factor == axis]
    base = summary.rows[0]
    return [
        _bar(base, f"{shown(base.cell.by_axis[axis])} (baseline)"),
        *(_bar(row, shown(row.cell.by_axis[axis])) for row in rows),
    ]


def _grid_bars(summary: Summary, axis: str) -> list[_Bar]:
    bars = []
    for value in summary.study.axes[axis]:
        cells = [row for row in summary.rows if row.cell.by_axis[axis] == value]
        # A circular or leaking number must not lift the mean of another factor's value.
        plain = [row for row in cells if not row.mark]
        marks = "" if plain else "".join(sorted({mark for row in cells for mark in row.mark}))
        means = tuple(float(row.means[0]) for row in plain or cells)
        if means:
            mean = float(np.mean(means))
            own = summary.rows[0].cell.by_axis[axis] == value
            label = shown(value) + (" (baseline)" if own else "")
            label += "".join(f" [{mark}]" for mark in marks)
            bars.append(_Bar(label, mean, mean, mean, own, bool(marks), means))
    return bars


def _bar_figure(name: str, caption: str, axis: str, measure: str, bars: Sequence[_Bar]) -> Drawn:
    def paint(figure: Figure, axes: Axes) -> None:
        places = list(range(len(bars)))
        axes.barh(
            places,
            [bar.mean for bar in bars],
            color=[GREY if bar.is_baseline else LIGHT for bar in bars],
            hatch=["////" if bar.marked else "" for bar in bars],
            edgecolor="white",
            linewidth=0,
            height=0.6,
        )
        top = max([bar.high for bar in bars] + [dot for bar in bars for dot in bar.dots])
        for place, bar in zip(places, bars, strict=True):
            if bar.dots:
                axes.plot(bar.dots, [place] * len(bar.dots), "o", color=DARK, alpha=0.5, ms=3)
            else:
                # Intervals are rounded and can end a hair's breadth inside the mean.
                error = [[max(bar.mean - bar.low, 0.0)], [max(bar.high - bar.mean, 0.0)]]
                axes.errorbar(bar.mean, place, xerr=error, color=DARK, capsize=3, linewidth=1)
            end = max([bar.high, *bar.dots])
            said = ("mean " if bar.dots else "") + number(bar.mean)
            axes.text(end + 0.015 * top, place, said, va="center", fontsize=8.5)
        wrapped = ["\n".join(textwrap.wrap(bar.label, 30)) for bar in bars]
        axes.set_yticks(places, wrapped)
        axes.invert_yaxis()
        axes.tick_params(axis="y", length=0)
        axes.set_xlim(0, top * (1.2 if any(bar.dots for bar in bars) else 1.12))
        axes.set_xlabel(measure)
        axes.set_title(axis)
        axes.grid(axis="x", color="#e3e3e3", linewidth=0.8)
        axes.set_axisbelow(True)

    return _draw(name, caption, 1.05 + 0.36 * len(bars), paint)
