"""``tam tool``: call one browsing or retrieval tool as a model would."""

from __future__ import annotations

import json
from pathlib import Path

import click

from tam.errors import BadOption


@click.command()
@click.argument("name", required=False)
@click.argument("arguments", default="{}")
@click.option("--year", type=int, help="Edition's year; the newest when not given.")
@click.option(
    "--year-policy",
    default="in-force",
    show_default=True,
    help="Which edition to take when a manual has none of that year: exact, nearest, in-force, latest.",
)
@click.option("--index", "index_dir", type=click.Path(path_type=Path), help="Index folder to use.")
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
) -> None:
    """Call the tool NAME with its ARGUMENTS, a JSON object.

    \b
    Example:
      tam tool open_tabular_code '{"code": "E11.22"}' --year 2025
      tam tool --list
    """
    from eval.systems.books import Shelf
    from eval.systems.tooling import tool_named, tools

    if as_list or name is None:
        rows = [
            {
                "name": found.name,
                "domain": found.domain,
                "group": found.group,
                "description": found.description,
                "parameters": found.schema,
            }
            for found in tools()
        ]
        click.echo(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    found = tool_named(name)
    try:
        values = json.loads(arguments)
    except ValueError as error:
        raise BadOption(
            f"{arguments!r} is not JSON ({error}); give an object of arguments"
        ) from error
    if not isinstance(values, dict):
        raise BadOption(f"{arguments!r} is not a JSON object of arguments")
    library, index = _open(found.domain, index_dir, manuals, found.group == "search")
    shelf = Shelf(library, found.domain, year_policy if year else "latest", index)
    result = found.call(shelf.books(year), values)
    if as_json:
        click.echo(
            json.dumps(
                {"text": result.text, "sections": result.sections, "error": result.error},
                indent=2,
                ensure_ascii=False,
            )
        )
    else:
        click.echo(result.text)


def _open(domain: str, index_dir: Path | None, manuals: Path | None, searching: bool):  # type: ignore[no-untyped-def]
    """The library and, where there is one, the index."""
    from manuals.library import open_manuals
    from retrievers.index import open_index

    if manuals is not None:
        if searching:
            raise BadOption("a search tool needs an index; give --index instead of --manuals")
        return open_manuals(manuals), None
    index = open_index(index_dir or Path("indexes") / domain)
    return index.library, index
