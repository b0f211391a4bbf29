"""``tam tool``: call one browsing or retrieval tool as a model would."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from eval.queries.year_policy import POLICIES
from retrievers.search.settings import SearchSettings
from tam.errors import BadOption
from tam.options import click_options

if TYPE_CHECKING:
    from eval.domains.model import Domain
    from eval.systems.tools.editions import EditionChooser
    from eval.systems.tools.tool import Tool


@click.command()
@click.argument("name", required=False)
@click.argument("arguments", default="{}")
@click.option("--year", type=int, help="Edition's year; the newest when not given.")
@click.option(
    "--year-policy",
    type=click.Choice(list(POLICIES)),
    default="in-force",
    show_default=True,
    help="Which edition to take when a manual has none of that year.",
)
@click_options(SearchSettings, ("retriever",))
@click.option(
    "--index",
    "index_dir",
    type=click.Path(path_type=Path),
    help="An index, or the folder that holds the indexes.  [default: indexes]",
)
@click.option(
    "--manuals", type=click.Path(path_type=Path), help="Folder of official files instead."
)
@click.option("--json", "as_json", is_flag=True, help="Print text, sections and error as JSON.")
@click.option("--list", "as_list", is_flag=True, help="List the tools with their JSON schemas.")
def tool(
    name: str | None,
    arguments: str,
    year: int | None,
    year_policy: str,
    index_dir: Path | None,
    manuals: Path | None,
    as_json: bool,
    as_list: bool,
    retriever: str,
) -> int:
    """Call the tool NAME with its ARGUMENTS, a JSON object, as a model would.

    Exits with 1 when the tool answers with an error.

    \b
    Example:
      tam tool open_tabular_code '{"code": "E11.22"}' --year 2025
      tam tool --list
    """
    from eval.systems.tools.registry import all_tools, tool_named

    if as_list or name is None:
        rows = [
            {
                "name": found.name,
                "domain": domain.name,
                "group": found.group,
                "description": found.description,
                "parameters": found.schema,
            }
            for domain, found in all_tools()
        ]
        click.echo(json.dumps(rows, indent=2, ensure_ascii=False))
        return 0
    domain, found = tool_named(name)
    try:
        values = json.loads(arguments)
    except (ValueError, RecursionError) as error:
        raise BadOption(
            f"{arguments[:200]!r} is not JSON ({error}); give an object of arguments"
        ) from error
    if not isinstance(values, dict):
        raise BadOption(f"{arguments[:200]!r} is not a JSON object; give an object of arguments")
    chooser = _chooser(
        domain, found, index_dir, manuals, year_policy if year else "latest", retriever
    )
    result = found.call(chooser.choose(year), values)
    said: dict[str, object] = {
        "text": result.text,
        "sections": result.sections,
        "error": result.error,
    }
    click.echo(json.dumps(said, indent=2, ensure_ascii=False) if as_json else result.text)
    return int(result.error)


def _chooser(
    domain: Domain,
    found: Tool,
    index_dir: Path | None,
    manuals: Path | None,
    year_policy: str,
    retriever: str,
) -> EditionChooser:
    """The editions of the tool's domain, from an index folder or from the official files."""
    from eval.systems.tools.editions import EditionChooser
    from manuals.library.editions import open_manuals
    from retrievers.search.corpora import DEFAULT_ROOT, open_indexes

    if manuals is not None:
        if found.group == "search":
            raise BadOption("a search tool needs an index; give --index instead of --manuals")
        return EditionChooser(open_manuals(manuals), domain, year_policy)
    [index] = open_indexes(index_dir or DEFAULT_ROOT, domain.corpus)
    settings = SearchSettings(retriever=retriever)
    return EditionChooser(index.library, domain, year_policy, index, settings)
