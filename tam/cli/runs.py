"""``tam run`` and ``tam score``: systems over cases end to end, and their scores."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from eval.domains.model import DOMAINS
from eval.systems.running.request import RunRequest
from eval.systems.system import SYSTEMS
from retrievers.search.settings import SearchSettings
from tam.cli.columns import case_columns, column_options, year_table_columns
from tam.errors import BadOption
from tam.options import click_options, declared

if TYPE_CHECKING:
    from eval.systems.running.runner import Progress

_SYSTEM_LINES = "\b\nSystems:\n" + "\n".join(
    f"  {system.name:<16} {system.title}" for system in SYSTEMS.values()
)


@click.command("run", epilog=_SYSTEM_LINES)
@click.argument("system", type=click.Choice(list(SYSTEMS)))
@click.option("--domain", type=click.Choice(list(DOMAINS)), required=True)
@click.option("--cases", type=click.Path(path_type=Path), required=True, help="CSV of cases.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The run's folder.")
@column_options
@click_options(RunRequest)
@click_options(SearchSettings)
def run_system(system: str, **options: Any) -> int:
    """Run SYSTEM over cases, with a model or (retrieval-only) without.

    The same command goes on where it was ended; a case that is done is not run again. Exits with
    3 when the budget ended it before the last case.

    \b
    Example:
      tam run retrieval-only --domain legal --cases cases.csv --years years.csv --out runs/floor
      tam run single-pass --domain legal --cases cases.csv --years years.csv \\
          --model openai:gpt-5 --out runs/gpt5-single
    """
    from eval.systems.running.launch import run_request

    options["columns"] = case_columns(options.pop("column"))
    options["year_columns"] = year_table_columns(options["year_columns"])
    chosen = {name: options.pop(name) for name in declared(SearchSettings)}
    request = RunRequest(system=system, search=SearchSettings(**chosen), **options)
    line = _ProgressLine()
    try:
        ended = run_request(request, line.show)
    finally:
        line.end()
    for note in ended.notes:
        click.echo(note, err=True)
    used = f", {ended.usage.total:,} tokens" if ended.usage.total else ""
    used += f", ${ended.cost:.2f}" if ended.cost is not None else ""
    left = f", {ended.left} left" if ended.left else ""
    click.echo(f"{request.out}: {ended.done} done, {ended.failed} of them failed{left}{used}")
    if ended.stopped:
        click.echo(
            f"tam: stopped by the budget, {ended.stopped}; raise it and run the same command to "
            f"go on",
            err=True,
        )
        return 3
    if ended.failed:
        click.echo("the failed ones again:  the same command with --retry-failed", err=True)
    click.echo(f"next:  tam score {request.out}")
    return 0


class _ProgressLine:
    """One line on a terminal that is written over; elsewhere a line once a minute."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()
        self._written = time.monotonic()

    def show(self, progress: Progress) -> None:
        if self._live:
            click.echo(f"\r\033[K{progress.line()}", err=True, nl=False)
        elif time.monotonic() - self._written >= 60:
            self._written = time.monotonic()
            click.echo(progress.line(), err=True)

    def end(self) -> None:
        if self._live:
            click.echo("", err=True)


@click.command("score")
@click.argument("runs", nargs=-1, required=True)
@click.option("--report", is_flag=True, help="Write report.html with a viewer of every case.")
@click.option("--json", "as_json", is_flag=True, help="Print the metrics as JSON.")
def score(runs: tuple[str, ...], report: bool, as_json: bool) -> None:
    """Score runs; or compare two:  tam score compare A B.

    \b
    Example:
      tam score runs/gpt5-single --report
      tam score compare runs/gpt5-single runs/gpt5-react
    """
    from eval.systems.scoring.commands import compare_command, score_command

    if runs[0] == "compare":
        if len(runs) != 3:
            raise BadOption(f"tam score compare takes two runs, not {len(runs) - 1}")
        click.echo(compare_command(Path(runs[1]), Path(runs[2]), as_json))
        return
    for path in runs:
        click.echo(score_command(Path(path), report, as_json))
