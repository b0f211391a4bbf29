"""``tam run`` and ``tam score``: the benchmark's systems end to end, and their scores."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from eval.policy import POLICIES
from tam.errors import BadOption, RunError

if TYPE_CHECKING:
    from eval.systems.runner import Progress

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
@click.option("--gold", type=click.Path(path_type=Path), help="Gold sections for oracle-sections.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The run's folder.")
@click.option("--index", "index_dir", type=click.Path(path_type=Path), help="Index folder.")
@click.option("--model", help="provider:model, such as openai:gpt-5.")
@click.option("--base-url", help="An OpenAI-compatible endpoint, such as a local vLLM.")
@click.option("--temperature", type=float)
@click.option("--seed", type=int)
@click.option("--timeout", type=float, default=300.0, show_default=True, help="Seconds a call.")
@click.option("--retries", type=click.IntRange(0, 20), default=5, show_default=True)
@click.option("--max-output-tokens", type=click.IntRange(1))
@click.option("--streaming", is_flag=True, help="Read answers as a stream.")
@click.option(
    "--structured",
    type=click.Choice(["json_schema", "json_object", "text"]),
    default="json_schema",
    show_default=True,
    help="How the answer's form is asked for; take text where an endpoint knows neither.",
)
@click.option("-k", "hits", type=click.IntRange(1, 100), default=8, show_default=True)
@click.option("--retriever", default="hybrid", show_default=True)
@click.option("--query-mode", type=click.Choice(["whole", "windows"]), default="whole")
@click.option("--rounds", type=click.IntRange(1, 1000), default=40, show_default=True)
@click.option("--case-tokens", type=click.IntRange(1), default=400_000, show_default=True)
@click.option("--repairs", type=click.IntRange(0, 10), default=2, show_default=True)
@click.option("--year-policy", type=click.Choice(list(POLICIES)), default="exact")
@click.option("--concurrency", type=click.IntRange(1, 64), default=1, show_default=True)
@click.option("--requests-per-minute", type=float)
@click.option("--prices", type=click.Path(path_type=Path), help="JSON price table.")
@click.option("--max-cost", type=float, help="Dollars; the run stops cleanly before more.")
@click.option("--max-tokens", type=int, help="Tokens; the run stops cleanly before more.")
@click.option("--cache", type=click.Path(path_type=Path), help="Keep answers by content here.")
@click.option("--retry-failed", is_flag=True, help="Run failed cases again, and only these.")
@click.option("--limit", type=click.IntRange(1), help="Only the first cases of the file.")
@click.option("--allow-remote-phi", is_flag=True, help="Send clinical text to a remote endpoint.")
def run_system(system: str, **options: object) -> None:
    """Run SYSTEM over cases, with a model or (retrieval-only) without.

    The same command goes on where it was ended; a case that is done is not run again.

    \b
    Example:
      tam run retrieval-only --domain legal --cases cases.csv --years years.csv --out runs/floor
      tam run single-pass --domain legal --cases cases.csv --years years.csv \\
          --model openai:gpt-5 --out runs/gpt5-single
    """
    from eval.systems.starting import Start, start

    line = _ProgressLine()
    ended = start(Start(system=system, **options), line.show)  # type: ignore[arg-type]
    line.end()
    for note in ended.notes:
        click.echo(note, err=True)
    said = f"{options['out']}: {ended.done} done ({ended.failed} without a prediction)"
    if ended.left:
        said += f", {ended.left} left"
    click.echo(said)
    if ended.stopped:
        raise RunError(f"stopped, {ended.stopped}; raise it and run the same command to go on")
    click.echo(f"next:  tam score {options['out']}")


class _ProgressLine:
    """One line on a terminal that is written over; elsewhere nothing until the end."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()

    def show(self, progress: Progress) -> None:
        if self._live:
            click.echo(f"\r\033[K{progress.line()}", err=True, nl=False)

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
    from eval.systems.scoring_command import compare_command, score_command

    if runs[0] == "compare":
        if len(runs) != 3:
            raise BadOption(f"tam score compare takes two runs, not {len(runs) - 1}")
        click.echo(compare_command(Path(runs[1]), Path(runs[2]), as_json))
        return
    for path in runs:
        click.echo(score_command(Path(path), report, as_json))
