"""``tam search``: search the built indexes from the shell."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import click

from indexers.folder.verify import naming_damage
from manuals.model.source import corpora
from retrievers.search.corpora import DEFAULT_ROOT, open_indexes, search_all, search_record
from retrievers.search.index import DEFAULT_K, Clock, Index
from retrievers.search.passage import query_weights
from retrievers.search.settings import Filter, SearchSettings
from tam.cli.hits import explain_lines, hit_lines, terminal_width
from tam.errors import BadOption, TamError
from tam.options import click_options, declared

#: far above any case, far below what would fill the memory
LONGEST_QUERY = 1_000_000


@click.command("search")
@click.argument("words", metavar="QUERY", nargs=-1)
@click.option("--query-file", type=click.Path(path_type=Path), help="Read the query from a file.")
@click.option("--corpus", type=click.Choice(corpora()), help="Only this index. Default: all built.")
@click.option(
    "--index",
    "folder",
    type=click.Path(path_type=Path),
    default=DEFAULT_ROOT,
    show_default=True,
    help="An index, or the folder that holds icd/ and legal/.",
)
@click_options(Filter)
@click.option("-k", type=click.IntRange(1, 10_000), default=DEFAULT_K, show_default=True)
@click_options(SearchSettings)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--explain", is_flag=True, help="Print legs, ranks, scores, filters and timing.")
def search(
    words: tuple[str, ...],
    query_file: Path | None,
    corpus: str | None,
    folder: Path,
    k: int,
    as_json: bool,
    explain: bool,
    **chosen: Any,
) -> None:
    """Search the built indexes. QUERY - reads standard input.

    Without --corpus the results of all built indexes take turns, each with its corpus named.

    \b
    tam search "felon with a gun whose serial number was ground off" --year 2025 --source ussg
    tam search "diabetes with kidney failure" --corpus icd --under E08-E13 --retriever bm25
    tam search - --corpus legal --as-of 2022-05-01 --query-mode windows < case.txt
    """
    started = time.perf_counter()
    query = read_query(words, query_file)
    wanted = Filter(**{name: chosen.pop(name) for name in declared(Filter)})
    settings = SearchSettings(**chosen)
    indexes = open_indexes(folder, corpus)
    clock = Clock(open=time.perf_counter() - started)
    with naming_damage(*(index.path for index in indexes)):
        found = search_all(indexes, query, k, wanted, settings, clock)
    if as_json:
        click.echo(json.dumps(search_record(query, k, wanted, found), ensure_ascii=False, indent=2))
        return
    several = len(indexes) > 1
    width = terminal_width()
    weights = {id(index): query_weights(index.stored, query) for index in indexes}
    for each in found:
        click.echo("\n".join(hit_lines(each, weights[id(each.index)], width, several)))
        if explain:
            click.echo("\n".join(explain_lines(each.hit)))
        click.echo()
    if not found:
        click.echo("nothing found: no chunk shares a word with the query", err=True)
    if explain:
        _explain(indexes, wanted, settings, clock, time.perf_counter() - started)


def read_query(words: tuple[str, ...], file: Path | None) -> str:
    """The query from the arguments, a file, or standard input (``-``)."""
    if file is not None and words:
        raise BadOption("give the query as words or with --query-file, not both")
    if file is not None:
        try:
            data = file.read_bytes()
        except OSError as error:
            raise BadOption(
                f"{file}: cannot be read ({error.strerror}); check --query-file"
            ) from error
        name = str(file)
    elif words == ("-",):
        data, name = read_standard_input(), "standard input"
    else:
        data, name = " ".join(words).encode("utf-8", "surrogateescape"), "the query"
    if len(data) > LONGEST_QUERY:
        raise BadOption(f"{name}: longer than {LONGEST_QUERY:,} bytes; give one case at a time")
    try:
        query = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadOption(f"{name}: not UTF-8 text; convert it first") from error
    if not query.strip():
        raise BadOption(
            f"{name} is empty; give words, a citation or a code, such as  tam search E11.22"
        )
    return query


def read_standard_input() -> bytes:
    """Standard input, one byte further than the longest query. ``BadOption`` when it is closed."""
    try:
        return sys.stdin.buffer.read(LONGEST_QUERY + 1)
    except (OSError, AttributeError) as error:  # ``<&-``: no descriptor, or no sys.stdin at all
        raise BadOption(
            "standard input is closed; pipe the query in or give it as words"
        ) from error


def _explain(
    indexes: list[Index], wanted: Filter, settings: SearchSettings, clock: Clock, total: float
) -> None:
    legs = ", ".join(
        f"{leg} (weight {weight:g})"
        for leg, weight in zip(settings.legs, settings.leg_weights, strict=True)
    )
    click.echo(f"retriever {settings.retriever}: {legs}; query {settings.query_mode}")
    if len(settings.legs) > 1:
        constant = f", k {settings.rrf_k}" if settings.fusion == "rrf" else ""
        click.echo(f"fusion {settings.fusion}{constant}, depth {settings.depth}")
    click.echo(f"filter: {wanted.describe()}")
    for index in indexes:
        try:
            lines = index.describe_allowed(wanted)
        except TamError as error:
            lines = [f"left out: {error}"]
        for line in lines:
            click.echo(f"  {index.corpus}: {line}")
    stages = ", ".join(f"{name} {seconds * 1000:.0f} ms" for name, seconds in clock.items())
    click.echo(f"time: {stages}; all {total * 1000:.0f} ms")
