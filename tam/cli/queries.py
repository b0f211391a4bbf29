"""``tam queries``: known-item query sets from the manuals."""

from __future__ import annotations

from pathlib import Path

import click

from retrievers.search.corpora import DEFAULT_ROOT


@click.group("queries")
def queries() -> None:
    """Make known-item query sets from the manuals.

    \b
    Example:
      tam queries list
      tam queries make index-to-tabular --year 2025 -n 2000 --seed 7
    """


@queries.command("list")
def list_sets() -> None:
    """List the sets that can be made.

    \b
    Example:
      tam queries list
    """
    from eval.queries.known_items.sets import known_item_sets
    from tam.tables import columns

    rows = [("set", "needs", "what")]
    for kind in known_item_sets().values():
        flag = " (repeats text of its golds)" if kind.repeats_gold_text else ""
        rows.append((kind.name, ", ".join(kind.needs), kind.sentence + flag))
    click.echo(columns(rows))


@queries.command("make")
@click.argument("name")
@click.option("--year", "years", required=True, help="2025, or several: 2021-2025, 2021,2025.")
@click.option("-n", "count", type=click.IntRange(1), help="So many queries.  [default: all]")
@click.option("--seed", type=int, default=7, show_default=True)
@click.option(
    "--out", type=click.Path(path_type=Path), help="File to write.  [default: NAME-YEAR.jsonl]"
)
@click.option(
    "--manuals", type=click.Path(path_type=Path), help="Folder of manuals, instead of an index."
)
@click.option(
    "--index",
    "folder",
    type=click.Path(path_type=Path),
    default=DEFAULT_ROOT,
    show_default=True,
    help="An index, or the folder that holds icd/ and legal/.",
)
def make(
    name: str,
    years: str,
    count: int | None,
    seed: int,
    out: Path | None,
    manuals: Path | None,
    folder: Path,
) -> None:
    """Make the set NAME: queries as JSONL, and beside them their qrels.

    The same seed gives the same queries everywhere, and fewer are the beginning of more.

    \b
    Example:
      tam queries make index-to-tabular --year 2025 -n 2000 --seed 7
      tam queries make title18-heading --year 2021-2025 -n 1000 --out headings.jsonl
    """
    from eval.queries.known_items.sets import make_queries
    from eval.queries.query_sets import write_query_set
    from manuals.library.editions import Library, load_library, open_manuals
    from manuals.model.years import parse_years
    from retrievers.search.corpora import open_indexes

    library: Library
    if manuals is not None:
        library = open_manuals(manuals)
    else:
        library = load_library(*(index.path / "manuals" for index in open_indexes(folder, None)))
    query_set = make_queries(name, library, parse_years(years), count, seed)
    out = out or Path(f"{name}-{years.replace(',', '-')}.jsonl")
    qrels = write_query_set(out, query_set)
    info = query_set.info
    click.echo(f"{out}: {len(query_set.queries):,} of {info.population:,} queries, seed {seed}")
    click.echo(f"{qrels}: {len(query_set.golds):,} golds")
    if info.dropped:
        left = ", ".join(f"{number:,} {why}" for why, number in info.dropped.items())
        click.echo(f"left out: {left}")
    for line in (*query_set.notes, *info.warnings(links=True)):
        click.echo(line)
