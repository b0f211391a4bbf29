"""``tam eval``: the recall of gold sections, comparisons, and why a gold was missed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from manuals.model.source import SOURCES, corpora
from retrievers.search.corpora import DEFAULT_ROOT
from retrievers.search.settings import SearchSettings
from tam.cli.columns import case_columns, column_options, year_table_columns
from tam.errors import BadOption
from tam.options import click_options

POLICY_NAMES = ("exact", "nearest", "in-force", "latest")
ORIGIN_NAMES = ("given", "code", "cited", "mapped")


class Numbers(click.ParamType):  # type: ignore[type-arg]
    """Whole numbers from 1, parted by commas: ``1,5,8,20``."""

    name = "numbers"

    def __init__(self, most: int) -> None:
        self.most = most

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[int, ...]:
        if isinstance(value, tuple):
            return value
        parts = [part.strip() for part in str(value).split(",")]
        if not all(part.isdecimal() and 1 <= int(part) <= self.most for part in parts):
            self.fail(f"{value!r}: give whole numbers from 1 to {self.most:,}, such as 1,5,8")
        return tuple(sorted({int(part) for part in parts}))


@click.group("eval", invoke_without_command=True)
@click.option("--queries", type=click.Path(path_type=Path), help="Cases (CSV) or queries (JSONL).")
@click.option("--years", type=click.Path(path_type=Path), help="CSV of case ids and years.")
@click.option(
    "--gold",
    "golds",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Given golds: JSONL of case_id and gold_sections, or TREC qrels.",
)
@click.option("--corpus", type=click.Choice(corpora()), help="Which index.")
@click.option(
    "--index",
    "folder",
    type=click.Path(path_type=Path),
    default=DEFAULT_ROOT,
    show_default=True,
    help="An index, or the folder that holds icd/ and legal/.",
)
@click.option("-k", "ks", type=Numbers(10_000), default="1,5,8,20", show_default=True)
@click.option("--budget", type=Numbers(10_000_000), default="4000,8000,16000", show_default=True)
@click.option(
    "--view",
    type=click.Choice(["sections", "chunks", "both"]),
    default="both",
    show_default=True,
    help="Results collapsed to sections, or chunks as retrieved.",
)
@click.option("--source", multiple=True, type=click.Choice(list(SOURCES)), help="Only this manual.")
@click.option("--year-policy", type=click.Choice(POLICY_NAMES), default="exact", show_default=True)
@click.option("--no-year-filter", is_flag=True, help="Search all years' editions.")
@click.option(
    "--origin", multiple=True, type=click.Choice(ORIGIN_NAMES), help="Only golds of this origin."
)
@click.option("--min-grade", type=click.IntRange(1), default=1, show_default=True)
@click.option("--tables", is_flag=True, help="Drug and neoplasm tables count as index entries.")
@column_options
@click.option("--depth", type=click.IntRange(1, 10_000), help="Chunks retrieved for each query.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the intervals.")
# Measuring has a depth of its own, and no text stands for those of other years.
@click_options(SearchSettings, but=("collapse", "depth"))
@click.option("--out", type=click.Path(path_type=Path), help="Folder for run, qrels and report.")
@click.option("--json", "as_json", is_flag=True, help="Print report.json instead of the table.")
@click.pass_context
def evaluate(ctx: click.Context, /, **options: Any) -> None:
    """Measure the recall of gold sections.

    \b
    Example:
      tam eval --corpus legal --queries cases.csv --years years.csv --gold gold.jsonl -k 1,5,8,20
      tam eval --queries index-to-tabular-2025.jsonl --corpus icd --retriever bm25 --out out/bm25
      tam eval compare out/bm25 out/hybrid
      tam eval explain 9000001 --out out/hybrid
    """
    if ctx.invoked_subcommand is None:
        if options["queries"] is None:
            raise BadOption(
                "no queries; give --queries FILE (cases as CSV or queries as JSONL), or one of "
                f"the sub-commands {', '.join(evaluate.list_commands(ctx))}"
            )
        _evaluate(**options)


def _evaluate(
    queries: Path,
    years: Path | None,
    golds: tuple[Path, ...],
    corpus: str | None,
    folder: Path,
    ks: tuple[int, ...],
    budget: tuple[int, ...],
    view: str,
    source: tuple[str, ...],
    year_policy: str,
    no_year_filter: bool,
    origin: tuple[Any, ...],
    min_grade: int,
    tables: bool,
    column: tuple[str, ...],
    year_columns: str,
    depth: int | None,
    seed: int,
    out: Path | None,
    as_json: bool,
    **chosen: Any,
) -> None:
    from eval.golds.coverage import Coverage
    from eval.measuring.evaluate import EvalSettings
    from eval.measuring.evaluate import evaluate as run_evaluation
    from eval.measuring.judged import VIEWS
    from eval.queries.preparation import Wanted, prepare
    from eval.reporting.report import report_of, table_lines, write_evaluation
    from indexers.folder.verify import naming_damage

    settings = EvalSettings(
        ks=ks,
        budgets=budget,
        views=tuple(name for name in VIEWS if view in (name, "both")),
        search=SearchSettings(**chosen),
        policy=year_policy,
        year_filter=not no_year_filter,
        sources=source or None,
        seed=seed,
        depth=depth,
    )
    wanted = Wanted(
        year_policy=year_policy,
        origins=origin,
        min_grade=min_grade,
        tables=tables,
        columns=case_columns(column),
        year_columns=year_table_columns(year_columns),
    )
    if out is not None:
        _writable(out)
    index = _open(folder, corpus)
    query_set = prepare(index, queries, years, golds, wanted)
    with naming_damage(index.path):
        coverage = Coverage(index.stored)
        evaluation = run_evaluation(index, query_set, settings, coverage=coverage)
    inputs = {"queries": queries}
    if years is not None:
        inputs["years"] = years
    inputs |= {f"gold {number}": path for number, path in enumerate(golds, 1)}
    if as_json:
        report = report_of(evaluation, index, inputs)
        click.echo(json.dumps(report, ensure_ascii=False, indent=2, sort_keys=True))
    else:
        click.echo("\n".join(table_lines(evaluation)))
    if out is not None:
        write_evaluation(out, evaluation, index, coverage, inputs)
        click.echo(f"written to {out}", err=as_json)


def _writable(out: Path) -> None:
    """Refuse, before any work, a place that cannot hold the results."""
    if (out / "manifest.json").is_file():
        raise BadOption(f"--out {out}: holds an index; give a folder of its own for the results")
    if out.exists() and not out.is_dir():
        raise BadOption(f"--out {out}: is a file; give a folder for the results")


def _open(folder: Path, corpus: str | None) -> Any:
    from retrievers.search.corpora import open_indexes

    indexes = open_indexes(folder, corpus)
    if len(indexes) > 1:
        built = ", ".join(index.corpus for index in indexes)
        raise BadOption(f"{folder} holds several indexes; choose with --corpus: {built}")
    return indexes[0]


def _text_options(command: Any) -> Any:
    """What ``compare`` and ``explain`` need to show texts."""
    for option in (
        click.option("--show-private", is_flag=True, help="Print the text of private queries too."),
        click.option(
            "--queries", type=click.Path(path_type=Path), help="The file that was evaluated."
        ),
        click.option("--column", multiple=True, metavar="FIELD=NAME", help="A case file's column."),
        click.option(
            "--index",
            "root",
            type=click.Path(path_type=Path),
            default=DEFAULT_ROOT,
            show_default=True,
            help="An index with the golds' texts, or the folder that holds icd/ and legal/.",
        ),
    ):
        command = option(command)
    return command


def _texts(
    folder: Path,
    report: Mapping[str, Any],
    root: Path,
    queries: Path | None,
    show_private: bool,
    column: tuple[str, ...],
) -> Any:
    from eval.reporting.texts import read_texts

    return read_texts(folder, report, root, queries, show_private, case_columns(column))


@evaluate.command("compare")
@click.argument("a", type=click.Path(path_type=Path))
@click.argument("b", type=click.Path(path_type=Path))
@click.option("--measure", "measures", multiple=True, help="Such as recall@8, chunks.mrr.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--show", type=click.IntRange(0), default=10, show_default=True, help="Queries.")
@_text_options
def compare(
    a: Path, b: Path, measures: tuple[str, ...], seed: int, show: int, **asked: Any
) -> None:
    """Tell which of two evaluations is better, and whether by more than chance.

    Paired bootstrap interval, paired randomisation test, Holm's correction over the measures; the
    queries behind wins and losses are those of the first measure, with their golds' ranks in both.

    \b
    Example:
      tam eval compare out/bm25 out/hybrid --measure recall@8
    """
    from eval.reporting.comparison import compare_folders, comparison_lines

    found = compare_folders(a, b, measures, seed)
    texts = _texts(b, found.b.report, **asked) if show else None
    click.echo("\n".join(comparison_lines(found, show, texts)))


@evaluate.command("explain")
@click.argument("query_id", metavar="CASE")
@click.option("--out", "folder", type=click.Path(path_type=Path), required=True, help="Its folder.")
@click.option("-k", type=click.IntRange(1), default=8, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, without texts.")
@_text_options
def explain(query_id: str, folder: Path, k: int, as_json: bool, **asked: Any) -> None:
    """Show for one case each gold: what found it, or why it was missed.

    \b
    Example:
      tam eval explain 9000001 --out out/hybrid
    """
    from eval.reporting.explain import explain_lines, read_diagnoses
    from eval.reporting.report import read_report

    found = read_diagnoses(folder, query_id)
    if as_json:
        rows = [each.to_json() for each in found]
        click.echo(json.dumps(rows, ensure_ascii=False, indent=2))
    else:
        texts = _texts(folder, read_report(folder), **asked)
        click.echo("\n".join(explain_lines(found, k, texts)))


@evaluate.command("fuse")
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--method", default="rrf", show_default=True, help="One of ranx's fusion methods.")
@click.option("--tune", type=click.Path(path_type=Path), help="Tune its parameters on these qrels.")
@click.option("--metric", default="ndcg@10", show_default=True, help="What to tune for.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The fused run.")
def fuse(runs: tuple[Path, ...], method: str, tune: Path | None, metric: str, out: Path) -> None:
    """Fuse run files with ranx (compiles for a minute at its first use).

    \b
    Example:
      tam eval fuse out/bm25/run.trec out/dense/run.trec --method rrf --out fused.trec
    """
    from eval.measuring.ranx_tools import fuse as fuse_runs
    from eval.queries.trec import write_run

    _say_that_it_compiles()
    rows, params = fuse_runs(runs, method, tune, metric)
    write_run(out, rows)
    tuned = f", tuned to {params}" if params else ""
    click.echo(f"{out}: {len(rows):,} rows by {method}{tuned}")


@evaluate.command("significance")
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--qrels", type=click.Path(path_type=Path), required=True)
@click.option("--metric", "metrics", multiple=True, default=("recall@8", "mrr", "ndcg@8"))
@click.option("--test", default="fisher", show_default=True, help="student, fisher or tukey.")
@click.option("--max-p", type=float, default=0.05, show_default=True)
def significance(
    runs: tuple[Path, ...], qrels: Path, metrics: tuple[str, ...], test: str, max_p: float
) -> None:
    """Print ranx's report over runs, each against each (compiles for a minute at its first use).

    \b
    Example:
      tam eval significance out/bm25/run.trec out/dense/run.trec --qrels out/bm25/qrels.trec
    """
    from eval.measuring.ranx_tools import significance_report

    _say_that_it_compiles()
    click.echo(significance_report(runs, qrels, metrics, test, max_p))


def _say_that_it_compiles() -> None:
    click.echo("ranx compiles itself first: about a minute the first time, then seconds", err=True)
