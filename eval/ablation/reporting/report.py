"""A study's report: one HTML file with tables and figures, and the files beside it.

| file | what |
|---|---|
| `report.html` | everything on one page, self-contained |
| `table.md`, `table.tex` | the table, for a page and for a paper |
| `results.parquet` | a row for each cell and query (`results.py`) |
| `figures/` | each figure as SVG and PNG |
| `study.json` | the cells with their settings, means, intervals and tests |
| `timings.json` | seconds of this run and of the indexes' builds; not compared |
| `cells/` | finished cells, from which a killed study goes on |

Texts of queries are shown for sets made from the manuals only, never those of cases.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from eval.ablation.reporting.figures import Drawn, figures, write_figures
from eval.ablation.reporting.results import write_results
from eval.ablation.reporting.summary import Row, Summary, Worst, summarise
from eval.ablation.reporting.tables import (
    ARROWS,
    about,
    entry,
    interval,
    latex,
    legend,
    markdown,
)
from eval.ablation.running.runner import StudyRun
from eval.ablation.spec.axes import AXES, shown
from eval.reporting.html import (
    Html,
    contents,
    element,
    figure,
    heading,
    items,
    joined,
    paragraph,
    table,
    warning,
    write_page,
)
from eval.reporting.report import number
from tam._version import __version__
from tam.files import write_json, write_text

#: longest text of a query that is shown
SHOWN = 100
#: golds of a query that are named before it is said how many more there are
GOLDS = 6


def write_study(folder: Path, run: StudyRun) -> Summary:
    """Write all files of a study's results; returns the numbers behind them."""
    folder.mkdir(parents=True, exist_ok=True)
    summary = summarise(run)
    drawn = figures(summary)
    write_results(folder / "results.parquet", run)
    write_text(folder / "table.md", markdown(summary))
    write_text(folder / "table.tex", latex(summary))
    write_json(folder / "study.json", record(summary))
    write_figures(folder / "figures", drawn)
    write_page(
        folder / "report.html",
        run.study.title,
        body(summary, drawn),
        run.study.about or "An ablation study of retrieval over application manuals.",
    )
    return summary


def body(summary: Summary, drawn: Sequence[Drawn]) -> Iterator[Html]:
    """The pieces of the page in order."""
    titles = ["Result", "Against the baseline", "Recall against k", "By source and year"]
    titles += ["Factors", "Worst queries", "Settings"]
    yield contents(titles)
    notes = list(legend(summary))
    for line in summary.notes():
        if line.startswith("[") or "repeat text" in line:
            yield warning(line)
    if not summary.queries:
        yield warning("No query could be measured in every cell; the notes below say why.")
        yield items(notes)
        return
    yield heading("Result")
    yield from map(paragraph, about(summary))
    yield _result_table(summary)
    yield items(notes)
    yield heading("Against the baseline")
    yield from _against(summary)
    by_name = {each.name: each for each in drawn}
    yield heading("Recall against k")
    yield _figure(by_name["recall-at-k"])
    yield _curve_table(summary)
    yield heading("By source and year")
    yield from _by_group(summary, by_name.get("by-source-and-year"))
    yield heading("Factors")
    factors = [each for each in drawn if each.name.startswith(("factor-", "named-"))]
    yield from map(_figure, factors)
    if not factors:
        yield paragraph("No axis has more than one value.")
    yield heading("Worst queries")
    yield from _worst(summary)
    yield heading("Settings")
    yield from _settings(summary)


def _figure(drawn: Drawn) -> Html:
    return figure(inline(drawn.svg, drawn.caption), drawn.caption)


def inline(svg: str, label: str) -> str:
    """An SVG for a page: without XML head, namespaces and ids that only repeat on the page."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"\s*<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\sxmlns(?::\w+)?="[^"]*"', "", svg)
    svg = re.sub(r'<g id="[A-Za-z0-9.]+_\d+"', "<g", svg)
    name = element("svg", role="img", aria_label=label)
    return name[: name.index(">")] + svg[len("<svg") :]


def _name(row: Row) -> Html:
    marks = [element("small", f" [{mark}]") for mark in row.mark]
    # A setting is not torn from its value at a line's end.
    return joined([row.cell.name.replace(" = ", "\u00a0=\u00a0"), *marks])


def _result_table(summary: Summary) -> Html:
    labels = summary.study.labels
    rows = []
    for at, row in enumerate(summary.rows):
        cells: list[str] = [_name(row)]
        for measure in range(len(labels)):
            each = entry(summary, at, measure)
            text: str = element("b", each.text) if each.best else each.text
            between = element("small", interval(row, measure))
            cells.append(joined([text, f" {ARROWS[each.sign]} ", between]))
        rows.append(cells)
    return table(
        ["cell", *labels],
        rows,
        numbers=range(1, len(labels) + 1),
        caption="Means over queries with 95 % bootstrap intervals; the best of each column is bold.",
        marked=[0],
    )


def _against(summary: Summary) -> Iterator[Html]:
    rows = []
    for row in summary.rows[1:]:
        first = row.against[0]
        rows.append(
            [
                _name(row),
                f"{first.difference:+.4f}",
                f"[{first.low:+.4f}, {first.high:+.4f}]",
                f"{first.p:.4f}",
                f"{first.adjusted:.4f}",
                f"{first.wins:,}",
                f"{first.ties:,}",
                f"{first.losses:,}",
            ]
        )
    if not rows:
        yield paragraph("The study has no cell but the baseline.")
        return
    yield table(
        ["cell", "difference", "95 % interval", "p", "p (Holm)", "wins", "ties", "losses"],
        rows,
        numbers=range(1, 8),
        caption=f"{summary.study.labels[0]}: each cell less the baseline, over queries in pairs.",
    )


def _curve_table(summary: Summary) -> Html:
    ks = summary.study.ks
    rows = [[_name(row), *(number(float(mean)) for mean in row.curve[0])] for row in summary.rows]
    return table(
        ["cell", *(f"@{k}" for k in ks)],
        rows,
        numbers=range(1, len(ks) + 1),
        caption="Recall over sections at each k.",
        marked=[0],
    )


def _by_group(summary: Summary, drawn: Drawn | None) -> Iterator[Html]:
    if drawn is not None:
        yield _figure(drawn)
        return
    for group in summary.groups:
        yield paragraph(
            f"All {group.golds:,} golds are of {group.source} {group.year}: there is nothing to "
            f"compare by source and year."
        )


def _worst(summary: Summary) -> Iterator[Html]:
    measure = summary.study.labels[0]
    if not summary.worst:
        yield paragraph("Every cell answers every query in full.")
        return
    best = summary.rows[summary.best].cell.name if summary.best else ""
    yield paragraph(
        f"Lowest {measure} on average over the cells. {summary.unfound:,} of "
        f"{len(summary.queries):,} queries have {measure} 0 in every cell. Behind each gold stands "
        "its rank among sections in the baseline"
        + (f", then in the cell {best}" if best else "")
        + "; a dash is a gold that was not found."
    )
    texts = _texts(summary.run)
    rows = [
        [each.query_id, *([texts[each.query_id]] if texts else []), number(each.mean), _golds(each)]
        for each in summary.worst
    ]
    head = ["query", *(["text"] if texts else []), f"mean {measure}", "golds: ranks"]
    yield table(head, rows, numbers=[len(head) - 2])


def _golds(worst: Worst) -> Html:
    """The first golds with their ranks, and how many more there are."""
    shown_golds = []
    same = worst.ranks[0] == worst.ranks[1]
    for gold, before, after in zip(worst.golds, *worst.ranks, strict=True):
        ranks = _rank(before) if same else f"{_rank(before)} → {_rank(after)}"
        shown_golds.append(joined([f"{gold}: ", element("b", ranks)]))
    more = len(shown_golds) - GOLDS
    held = joined(shown_golds[:GOLDS], "; ")
    return joined([held, f" and {more} more"]) if more > 0 else held


def _rank(rank: int) -> str:
    return str(rank) if rank else "–"


def _texts(run: StudyRun) -> dict[str, str]:
    """Texts that may be shown: those of sets made from the manuals."""
    if run.study.queries.file is not None:
        return {}
    return {
        query.query_id: query.text if len(query.text) <= SHOWN else query.text[: SHOWN - 1] + "…"
        for query in run.query_set.queries
    }


def _settings(summary: Summary) -> Iterator[Html]:
    base = summary.study.cells[0].by_axis
    told = ", ".join(f"{axis} {shown(base[axis])}" for axis in AXES)
    yield paragraph(f"All settings of the baseline: {told}.")
    rows = []
    for settings, built in summary.run.built.items():
        manifest = built.index.manifest
        encoder = manifest.encoder.name if manifest.encoder else "none"
        rows.append(
            [
                manifest.inputs[:12],
                settings.preset,
                shown(encoder),
                f"{len(manifest.editions):,}",
                f"{manifest.chunks:,}",
                f"{manifest.windows:,}",
                f"{sum(cell.build == settings for cell in summary.study.cells):,}",
            ]
        )
    yield table(
        ["index", "preset", "encoder", "editions", "chunks", "vectors", "cells"],
        rows,
        numbers=range(3, 7),
        caption="Indexes, by the beginning of their fingerprint.",
    )
    samples = any(built.index.manifest.sample for built in summary.run.built.values())
    if samples:
        yield warning("These indexes are of the small bundled sample, not of the official manuals.")


def record(summary: Summary) -> dict[str, Any]:
    """``study.json``: equal inputs give equal content, so no times and no paths."""
    study = summary.study
    built = summary.run.built
    info = summary.run.info
    return {
        "tam": __version__,
        "title": study.title,
        "mode": study.mode,
        "seed": study.seed,
        "query_set": {
            "name": info.name,
            "years": list(info.years),
            "seed": info.seed,
            "population": info.population,
            "repeats_gold_text": info.repeats_gold_text,
            "made_from": list(info.made_from),
        },
        "queries": len(summary.queries),
        "left_out": summary.left_out,
        "measures": list(study.labels),
        "k": list(study.ks),
        "notes": list(summary.notes()),
        "indexes": {
            each.index.manifest.inputs: {
                "editions": [edition.name for edition in each.index.manifest.editions],
                "chunks": each.index.manifest.chunks,
                "vectors": each.index.manifest.windows,
                "sample": each.index.manifest.sample,
            }
            for each in built.values()
        },
        "cells": [_cell(summary, at, row) for at, row in enumerate(summary.rows)],
    }


def _cell(summary: Summary, at: int, row: Row) -> dict[str, Any]:
    labels = summary.study.labels
    scores: dict[str, Any] = {}
    for place, label in enumerate(labels):
        scores[label] = {
            "mean": float(row.means[place]),
            "low": float(row.low[place]),
            "high": float(row.high[place]),
            "best": summary.is_best(at, place),
        }
        if row.against:
            paired = row.against[place]
            scores[label] |= {
                "difference": paired.difference,
                "p": paired.p,
                "p_holm": paired.adjusted,
                "wins": paired.wins,
                "losses": paired.losses,
            }
    return {
        "name": row.cell.name,
        "factor": row.cell.factor,
        "mark": row.mark,
        "settings": {axis: shown(value) for axis, value in row.cell.values},
        "index": summary.run.built[row.cell.build].index.manifest.inputs,
        "scores": scores,
        "curve": {
            str(k): float(mean) for k, mean in zip(summary.study.ks, row.curve[0], strict=True)
        },
    }
