"""``tam case``: what a whole case needs, step by step."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from indexers.folder.verify import naming_damage
from manuals.model.source import corpora
from retrievers.case.search import SECTIONS
from retrievers.search.corpora import DEFAULT_ROOT, open_indexes
from retrievers.search.settings import Filter, SearchSettings
from tam.cli.search import read_query
from tam.errors import BadOption
from tam.options import click_options, declared

#: characters of a statement that the text form shows
_SHOWN = 90


@click.command("case")
@click.argument("words", metavar="CASE", nargs=-1)
@click.option("--query-file", type=click.Path(path_type=Path), help="Read the case from a file.")
@click.option("--corpus", type=click.Choice(corpora()), help="The index to search.")
@click.option(
    "--index",
    "folder",
    type=click.Path(path_type=Path),
    default=DEFAULT_ROOT,
    show_default=True,
    help="An index, or the folder that holds icd/ and legal/.",
)
@click_options(Filter)
@click.option("--sections", type=click.IntRange(1, 1000), default=SECTIONS, show_default=True)
@click.option("--tokens", type=click.IntRange(1), help="At most so many tokens of passages.")
@click_options(SearchSettings)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def case(
    words: tuple[str, ...],
    query_file: Path | None,
    corpus: str | None,
    folder: Path,
    sections: int,
    tokens: int | None,
    as_json: bool,
    **chosen: Any,
) -> None:
    """Find the sections that a whole case needs, by the manual's own steps. CASE - reads standard
    input.

    \b
    Example:
      tam case - --corpus legal --year 2025 < case.txt
    """
    text = read_query(words, query_file)
    where = {name: chosen.pop(name) for name in declared(Filter)}
    for name in ("under", "editions"):
        if where.get(name) is not None:
            raise BadOption(f"{name}: a case is searched in all of its manuals; leave it out")
    indexes = open_indexes(folder, corpus)
    if len(indexes) != 1:
        names = ", ".join(index.corpus for index in indexes)
        raise BadOption(f"{folder}: several indexes here ({names}); say --corpus")
    [index] = indexes
    with naming_damage(index.path):
        found = index.search_case(
            text,
            year=where["year"],
            as_of=where["as_of"],
            source=where["source"],
            sections=sections,
            tokens=tokens,
            settings=SearchSettings(**chosen),
        )
    if as_json:
        click.echo(json.dumps(found.to_json(), ensure_ascii=False, indent=2))
        return
    for step in found.steps:
        click.echo(f"{step.name}  ({step.source})")
        for hit, brought in zip(step.hits, step.statements, strict=True):
            click.echo(f"  {hit.name}")
            for statement in brought[:1]:
                words_of = " ".join(statement.text.split())
                click.echo(f"      {words_of[:_SHOWN]}{'…' if len(words_of) > _SHOWN else ''}")
    click.echo(f"{len(found.hits)} sections, {found.tokens:,} tokens")
