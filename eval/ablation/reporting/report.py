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

from markupsafe import Markup

from eval.ablation.reporting.figures import Drawn, figures, write_figures
from eval.ablation.reporting.results import write_results
from eval.ablation.reporting.summary import CellSummary, Summary, Worst, summarise
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
from eval.measuring.significance import Paired
from eval.reporting.html import write_page
from eval.reporting.report import number
from tam._version import __version__
from tam.files import write_json, write_text

SECTIONS = (
    *("Result", "Against the baseline", "Recall against k", "By source and year"),
    *("Factors", "Worst queries", "Settings"),
)
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
    write_page(folder / "report.html", "study.html.j2", **page(summary, drawn))
    return summary


def page(summary: Summary, drawn: Sequence[Drawn]) -> dict[str, Any]:
    """The values of the page."""
    run, study = summary.run, summary.study
    shown_figures = {
        each.name: {"svg": inline(each.svg, each.caption), "caption": each.caption}
        for each in drawn
    }
    base = study.cells[0].by_axis
    texts = _texts(run)
    values: dict[str, Any] = {
        "title": study.title,
        "lead": study.about or "An ablation study of retrieval over application manuals.",
        "sections": SECTIONS,
        "summary": summary,
        "warnings": [
            line for line in summary.notes() if line.startswith("[") or "repeat text" in line
        ],
        "notes": list(legend(summary)),
        "about": list(about(summary)),
        "labels": list(study.labels),
        "arrows": ARROWS,
        "result": [
            [row, *((entry(summary, at, m), interval(row, m)) for m in range(len(study.labels)))]
            for at, row in enumerate(summary.rows)
        ],
        "against": [[row, *_difference(row.against[0])] for row in summary.rows if row.against],
        "ks": [f"@{k}" for k in study.ks],
        "curves": [[row, *map(number, row.curve[0].tolist())] for row in summary.rows],
        "figures": shown_figures,
        "factors": [
            each for name, each in shown_figures.items() if name.startswith(("factor-", "named-"))
        ],
        "best": summary.rows[summary.best].cell.name if summary.best else "",
        "worst_head": [
            "query",
            *(["text"] if texts else []),
            f"mean {study.labels[0]}",
            "golds: ranks",
        ],
        "worst": [
            [
                each.query_id,
                *([texts[each.query_id]] if texts else []),
                number(each.mean),
                _golds(each),
            ]
            for each in summary.worst
        ],
        "most_golds": GOLDS,
        "baseline": ", ".join(f"{axis} {shown(base[axis])}" for axis in AXES),
        "indexes": list(_indexes(summary)),
        "sample": any(built.index.manifest.sample for built in run.built.values()),
    }
    return values


def inline(svg: str, label: str) -> Markup:
    """An SVG for a page: without XML head, namespaces and ids that only repeat on the page."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"\s*<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\sxmlns(?::\w+)?="[^"]*"', "", svg)
    svg = re.sub(r'<g id="[A-Za-z0-9.]+_\d+"', "<g", svg)
    return Markup('<svg role="img" aria-label="{}"').format(label) + Markup(svg[len("<svg") :])


def _difference(first: Paired) -> tuple[str, ...]:
    return (
        f"{first.difference:+.4f}",
        f"[{first.low:+.4f}, {first.high:+.4f}]",
        f"{first.p:.4f}",
        f"{first.adjusted:.4f}",
        f"{first.wins:,}",
        f"{first.ties:,}",
        f"{first.losses:,}",
    )


def _golds(worst: Worst) -> list[tuple[str, str]]:
    """Each gold with its rank in the baseline, and in the best cell where that differs."""
    same = worst.ranks[0] == worst.ranks[1]
    return [
        (gold, _rank(before) if same else f"{_rank(before)} → {_rank(after)}")
        for gold, before, after in zip(worst.golds, *worst.ranks, strict=True)
    ]


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


def _indexes(summary: Summary) -> Iterator[list[str]]:
    for settings, built in summary.run.built.items():
        manifest = built.index.manifest
        yield [
            manifest.inputs[:12],
            settings.preset,
            shown(manifest.encoder.name if manifest.encoder else None),
            f"{len(manifest.editions):,}",
            f"{manifest.chunks:,}",
            f"{manifest.windows:,}",
            f"{sum(cell.build == settings for cell in summary.study.cells):,}",
        ]


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


def _cell(summary: Summary, at: int, row: CellSummary) -> dict[str, Any]:
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
