"""``tam ablate``: an ablation study from its file to tables, figures and a report."""

from __future__ import annotations

import time
from pathlib import Path

import click

from retrievers.search.corpora import DEFAULT_ROOT


@click.command()
@click.argument("study", type=click.Path(path_type=Path), metavar="STUDY.TOML")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder for results.  [default: out/studies/NAME]",
)
@click.option(
    "--index-root",
    "root",
    type=click.Path(path_type=Path),
    default=DEFAULT_ROOT,
    show_default=True,
    metavar="DIR",
    help="Where indexes are: those there are used, others are built below its studies/.",
)
@click.option(
    "--manuals",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder of manuals.  [default: those of the index at --index-root]",
)
@click.option(
    "--page",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Put the table into this Markdown page too, between its marks.",
)
def ablate(
    study: Path, out: Path | None, root: Path, manuals: Path | None, page: Path | None
) -> None:
    """Run the ablation study of a file and write its tables, figures and report.

    Finished cells are kept in the results' folder: a study that was stopped goes on.

    \b
    Example:
      tam ablate studies/year-filter.toml --manuals ../manuals
    """
    from eval.ablation.reporting.figures import check_matplotlib
    from eval.ablation.reporting.pages import fill_page
    from eval.ablation.reporting.report import write_study
    from eval.ablation.reporting.tables import about, legend, text_table
    from eval.ablation.running.runner import run_study
    from eval.ablation.running.timings import timing_lines, write_timings
    from eval.ablation.spec.study import read_study

    begin = time.perf_counter()
    check_matplotlib()
    found = read_study(study)
    folder = out or Path("out") / "studies" / found.name
    run = run_study(found, folder, root, manuals, say=lambda line: click.echo(line, err=True))
    computed = time.perf_counter()
    summary = write_study(folder, run)
    run.clock["report"] = time.perf_counter() - computed
    run.clock["all"] = time.perf_counter() - begin
    if page is not None:
        fill_page(page, summary)
    write_timings(folder / "timings.json", run)
    click.echo("\n".join([found.title, *about(summary), "", text_table(summary), ""]))
    click.echo("\n".join(legend(summary)))
    click.echo("\n".join(timing_lines(run)))
    click.echo(f"written to {folder}: report.html, table.md, table.tex, results.parquet, figures/")
