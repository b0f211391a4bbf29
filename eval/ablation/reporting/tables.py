"""A study's table, as text, Markdown and LaTeX.

The best mean of each measure is bold. ``↑`` and ``↓`` say that a mean is above or below the
baseline's by more than chance (p < 0.05 after Holm's correction). Marked cells (circular, leak) are
never the best. The interval, the difference from the baseline and its p-value are those of the
first measure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from eval.ablation.reporting.summary import CellSummary, Summary
from eval.ablation.spec.axes import AXES, shown
from eval.reporting.report import number
from tam.tables import columns

ARROWS = {1: "↑", -1: "↓", 0: ""}
#: settings of the baseline that are said even when no cell changes them
TOLD = ("preset", "encoder", "windows", "retriever", "query_mode", "fusion", "k", "filter")


@dataclass(frozen=True)
class Entry:
    """One number of the table: its text, whether it is the best, and -1, 0 or 1 against the
    baseline."""

    text: str
    best: bool = False
    sign: int = 0


@dataclass(frozen=True)
class Line:
    """One row of the table; ``mark`` stands behind the name."""

    name: str
    mark: str
    entries: tuple[Entry, ...]


def head(summary: Summary) -> list[str]:
    """The names of the columns."""
    first, *others = summary.study.labels
    return ["cell", first, "95 % interval", "difference", "p (Holm)", *others]


def lines(summary: Summary) -> Iterator[Line]:
    """The rows of the table, the baseline first."""
    for at, row in enumerate(summary.rows):
        entries = [entry(summary, at, measure) for measure in range(len(row.means))]
        entries[1:1] = [Entry(text) for text in _of_first(row)]
        yield Line(row.cell.name, row.mark, tuple(entries))


def entry(summary: Summary, row: int, measure: int) -> Entry:
    """The mean of one measure in one row."""
    each = summary.rows[row]
    return Entry(
        number(float(each.means[measure])), summary.is_best(row, measure), each.sign(measure)
    )


def interval(row: CellSummary, measure: int) -> str:
    """The interval of a mean."""
    return f"[{number(float(row.low[measure]))}, {number(float(row.high[measure]))}]"


def _of_first(row: CellSummary) -> tuple[str, str, str]:
    if not row.against:
        return interval(row, 0), "", ""
    first = row.against[0]
    return interval(row, 0), f"{first.difference:+.3f}", f"{first.adjusted:.4f}"


def about(summary: Summary) -> Iterator[str]:
    """What was asked and how: the lines above a table."""
    info = summary.run.info
    years = f", {', '.join(map(str, info.years))}" if info.years else ""
    seed = "" if info.seed is None else f", seed {info.seed}"
    yield f"{len(summary.queries):,} queries of {info.name}{years}{seed}."
    yield f"Baseline: {baseline(summary)}."


def baseline(summary: Summary) -> str:
    """The settings of the baseline in words."""
    cells = summary.study.cells
    changed = {axis for cell in cells for axis, _ in cell.changed}
    values = cells[0].by_axis
    told = [axis for axis in AXES if axis in changed or axis in TOLD]
    return ", ".join(f"{axis} {shown(values[axis])}" for axis in told)


def legend(summary: Summary) -> Iterator[str]:
    """The lines below a table."""
    if len(summary.rows) > 1:
        yield (
            "↑ and ↓: above or below the baseline by more than chance (paired randomisation test, "
            "p < 0.05 after Holm's correction over the cells of each measure)."
        )
    yield from summary.notes()


def text_table(summary: Summary) -> str:
    """The table for a terminal; ``*`` is the best of a column."""
    rows: list[Sequence[str]] = [head(summary)]
    for line in lines(summary):
        cells = [f"{e.text}{ARROWS[e.sign]}{'*' if e.best else ' '}" for e in line.entries]
        rows.append([_name(line), *cells])
    return columns(rows, right=range(1, len(rows[0])))


def _name(line: Line) -> str:
    return line.name + "".join(f" [{mark}]" for mark in line.mark)


def markdown_table(summary: Summary) -> str:
    """The table alone, in Markdown."""
    rows: list[Sequence[str]] = [[_markdown(name) for name in head(summary)]]
    for line in lines(summary):
        cells = [
            (f"**{each.text}**" if each.best else each.text)
            + (f" {ARROWS[each.sign]}" if each.sign else "")
            for each in line.entries
        ]
        rows.append([_markdown(_name(line)), *cells])
    return columns(rows, range(1, len(rows[0])), "pipe") + "\n"


def _markdown(text: str) -> str:
    for sign in "\\|*_`<":
        text = text.replace(sign, f"\\{sign}")
    return text


def details(summary: Summary) -> str:
    """The table with what a reader must know, in Markdown."""
    below = "\n".join(f"- {_markdown(line)}" for line in legend(summary))
    parts = [*map(_markdown, about(summary)), markdown_table(summary).rstrip(), below]
    return "\n\n".join(parts).rstrip() + "\n"


def markdown(summary: Summary) -> str:
    """``table.md``: the same under the study's title."""
    return f"# {_markdown(summary.study.title)}\n\n{details(summary)}"


_TEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "§": r"\S{}",
}


def tex(text: str) -> str:
    """Text with everything escaped that LaTeX would read."""
    return "".join(_TEX.get(sign, sign) for sign in text)


def latex(summary: Summary) -> str:
    """A ``table`` environment for a paper; needs the package booktabs."""
    rows: list[Sequence[str]] = [list(map(tex, head(summary)))]
    for line in lines(summary):
        cells = []
        for each in line.entries:
            shown_text = f"\\textbf{{{tex(each.text)}}}" if each.best else tex(each.text)
            cells.append(shown_text + (tex(ARROWS[each.sign]) if each.sign else ""))
        rows.append([tex(_name(line)), *cells])
    return "\n".join(
        [
            "% \\usepackage{booktabs}",
            "\\begin{table}",
            "\\centering",
            "\\small",
            f"\\caption{{{tex(' '.join([summary.study.title + '.', *about(summary)]))}}}",
            f"\\label{{tab:{summary.study.name}}}",
            columns(rows, range(1, len(rows[0])), "latex_raw"),
            "\\par\\smallskip\\footnotesize",
            *(tex(text) + r" \par" for text in legend(summary)),
            "\\end{table}\n",
        ]
    )
