"""``tam run`` and ``tam score``: the benchmark's systems end to end, and their scores."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from eval.golds.gold import ORIGINS
from eval.queries.year_policy import POLICIES
from retrievers.search.settings import SearchSettings
from tam.cli.columns import case_columns, column_options, year_table_columns
from tam.errors import BadOption
from tam.options import click_options, declared

if TYPE_CHECKING:
    from eval.systems.running.runner import Progress

SYSTEM_NAMES = (
    "single-pass",
    "agentic",
    "react",
    "harness",
    "retrieval-only",
    "oracle-sections",
)


@click.command("run")
@click.argument("system", type=click.Choice(SYSTEM_NAMES))
@click.option("--domain", type=click.Choice(["icd", "legal"]), required=True)
@click.option("--cases", type=click.Path(path_type=Path), required=True, help="CSV of cases.")
@click.option("--years", type=click.Path(path_type=Path), help="CSV of docket ids and years.")
@column_options
@click.option(
    "--gold",
    type=click.Path(path_type=Path),
    help="Given gold sections: JSONL or qrels.",
)
@click.option(
    "--origin",
    "origins",
    multiple=True,
    type=click.Choice(list(ORIGINS)),
    help="Only golds of this origin; all that tam eval would measure on otherwise.",
)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The run's folder.")
@click.option(
    "--index",
    "index_dir",
    type=click.Path(path_type=Path),
    help="An index, or the folder that holds icd/ and legal/.  [default: indexes]",
)
@click.option("--model", help="provider:model, such as openai:gpt-5.")
@click.option("--base-url", help="An OpenAI-compatible endpoint, such as a local vLLM.")
@click.option("--temperature", type=click.FloatRange(0), help="The provider's own when not given.")
@click.option("--seed", type=int, help="Sent to the endpoint, where it knows seeds.")
@click.option(
    "--timeout",
    type=click.FloatRange(0, min_open=True),
    default=300.0,
    show_default=True,
    help="Seconds a call.",
)
@click.option(
    "--retries",
    type=click.IntRange(0, 20),
    default=5,
    show_default=True,
    help="Further tries of a call that was refused for now, timed out or lost its connection.",
)
@click.option("--max-output-tokens", type=click.IntRange(1), help="Tokens of one answer.")
@click.option("--streaming", is_flag=True, help="Read answers as a stream.")
@click.option(
    "--structured",
    type=click.Choice(["json_schema", "json_object", "text"]),
    help="How the answer's form is asked for: by default by schema of OpenAI-compatible endpoints, "
    "in words of others. Take text where an endpoint knows no schemas.",
)
@click.option(
    "-k",
    "hits",
    type=click.IntRange(1, 100),
    default=8,
    show_default=True,
    help="Hits of the one retrieval of single-pass and retrieval-only.",
)
@click_options(SearchSettings)
@click.option(
    "--rounds",
    type=click.IntRange(1, 1000),
    default=40,
    show_default=True,
    help="Tool calls of one case.",
)
@click.option(
    "--case-tokens",
    type=click.IntRange(1),
    default=400_000,
    show_default=True,
    help="Tokens in and out after which a case's model must answer.",
)
@click.option(
    "--repairs",
    type=click.IntRange(0, 10),
    default=2,
    show_default=True,
    help="Times that an answer of the wrong form is asked for again.",
)
@click.option(
    "--year-policy",
    type=click.Choice(list(POLICIES)),
    default="exact",
    show_default=True,
    help="Which edition to take when a manual has none of the case's year.",
)
@click.option(
    "--concurrency",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="Cases at a time.",
)
@click.option(
    "--requests-per-minute",
    type=click.FloatRange(0, min_open=True),
    help="Of all cases together.",
)
@click.option("--prices", type=click.Path(path_type=Path), help="JSON price table.")
@click.option(
    "--max-cost", type=click.FloatRange(0), help="Dollars; no call goes out once they are spent."
)
@click.option(
    "--max-tokens", type=click.IntRange(0), help="Tokens; no call goes out once they are used."
)
@click.option("--cache", type=click.Path(path_type=Path), help="Keep answers by content here.")
@click.option("--retry-failed", is_flag=True, help="Run the cases that failed again too.")
@click.option("--limit", type=click.IntRange(1), help="Only the first cases of the file.")
@click.option("--allow-remote-phi", is_flag=True, help="Send clinical text to a remote endpoint.")
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
    from eval.systems.running.starting import Start, start

    options["columns"] = case_columns(options.pop("column"))
    options["year_columns"] = year_table_columns(options["year_columns"])
    chosen = {name: options.pop(name) for name in declared(SearchSettings)}
    line = _ProgressLine()
    try:
        ended = start(Start(system=system, search=SearchSettings(**chosen), **options), line.show)
    finally:
        line.end()
    for note in ended.notes:
        click.echo(note, err=True)
    used = f", {ended.usage.total:,} tokens" if ended.usage.total else ""
    used += f", ${ended.cost:.2f}" if ended.cost is not None else ""
    left = f", {ended.left} left" if ended.left else ""
    click.echo(f"{options['out']}: {ended.done} done, {ended.failed} of them failed{left}{used}")
    if ended.stopped:
        click.echo(
            f"tam: stopped by the budget, {ended.stopped}; raise it and run the same command to "
            f"go on",
            err=True,
        )
        return 3
    if ended.failed:
        click.echo("the failed ones again:  the same command with --retry-failed", err=True)
    click.echo(f"next:  tam score {options['out']}")
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
    from eval.systems.scoring.scoring_command import compare_command, score_command

    if runs[0] == "compare":
        if len(runs) != 3:
            raise BadOption(f"tam score compare takes two runs, not {len(runs) - 1}")
        click.echo(compare_command(Path(runs[1]), Path(runs[2]), as_json))
        return
    for path in runs:
        click.echo(score_command(Path(path), report, as_json))
