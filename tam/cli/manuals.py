"""``tam manuals``: status, fetch, list."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from tam.tables import columns

if TYPE_CHECKING:
    from manuals.library.editions import Library
    from manuals.library.status import EditionStatus
    from manuals.model.sections import Edition

FOLDER = click.Path(path_type=Path, file_okay=False)

manuals_option = click.option(
    "--manuals",
    "folder",
    type=FOLDER,
    metavar="DIR",
    help="Folder of manuals. Default: TAM_MANUALS, built indexes, manuals/data, the sample.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group()
def manuals() -> None:
    """Find, fetch and check the official manuals.

    \b
    tam manuals status --manuals ../shared/manuals
    tam manuals fetch ussg/2021 title18/2023
    """


@manuals.command()
@manuals_option
@json_option
@click.option("--quick", is_flag=True, help="Do not parse the manuals: no counts.")
@click.option("--strict", is_flag=True, help="Stop at the first file that is not right.")
def status(folder: Path | None, as_json: bool, quick: bool, strict: bool) -> None:
    """List the editions with their files, sha256, counts and problems.

    \b
    tam manuals status --manuals ../shared/manuals --quick
    """
    from manuals.library.choose import choose_library
    from manuals.library.status import library_status
    from tam.progress import progress

    chosen = choose_library(folder, strict=strict)
    library = chosen.library
    if chosen.warning:
        click.echo(f"tam: {chosen.warning}", err=True)
    rows = list(
        progress(library_status(library, not quick), "parsing", len(library.editions), "editions")
    )
    if as_json:
        _print_json(rows, library)
        return
    click.echo(f"{len(rows)} editions in {chosen.origin}\n")
    click.echo(_table(rows))
    _print_lines("problems", _problems(rows, library))
    _print_lines("notes", library.notes)


def _print_json(rows: Sequence[EditionStatus], library: Library) -> None:
    value = {
        "editions": [row.record() for row in rows],
        "problems": _problems(rows, library),
        "notes": list(library.notes),
    }
    click.echo(json.dumps(value, ensure_ascii=False, indent=2))


def _problems(rows: Sequence[EditionStatus], library: Library) -> list[str]:
    """Each line once: of files that were left out, and of the editions themselves."""
    lines = [*library.problems, *(line for row in rows for line in row.problems)]
    return [line for line in dict.fromkeys(lines) if line not in library.notes]


def _table(rows: Sequence[EditionStatus]) -> str:
    from manuals.model.years import in_force

    lines = [("edition", "dates", "sections", "pages", "sha256", "file")]
    for row in rows:
        edition = row.edition
        for number, file in enumerate(edition.files):
            first = number == 0
            lines.append(
                (
                    edition.name if first else "",
                    in_force(edition) if first else "",
                    f"{row.sections:,}" if first and row.kinds is not None else "",
                    f"{row.pages:,}" if first and row.pages else "",
                    file.sha256[:12],
                    file.path,
                )
            )
    return columns(lines, right=(2, 3))


def _print_lines(head: str, lines: Sequence[str]) -> None:
    if lines:
        click.echo(f"\n{head}:")
        for line in lines:
            click.echo(f"  {line}")


@manuals.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option(
    "--to",
    type=FOLDER,
    metavar="DIR",
    help="Where to. Default: manuals/data, or your data folder outside a checkout.",
)
def fetch(names: tuple[str, ...], to: Path | None) -> None:
    """Fetch editions from their publishers, or the benchmark's bundle.

    NAME is an edition of the catalogue (``tam manuals list``), or tam-benchmarks for all manuals
    of the benchmark.

    \b
    tam manuals fetch icd10cm/2019
    tam manuals fetch title18/2023 ussg/2021 --to my-manuals
    """
    from manuals.acquire.fetch import fetch as fetch_edition
    from manuals.library.discover import discover
    from manuals.library.locate import DATA

    for name in names:
        target = fetch_edition(name, to or DATA)
        held = ", ".join(edition.name for edition in discover(target).editions)
        click.echo(f"{name}: {held}, in {target}")


@manuals.command("list")
@json_option
def list_catalogue(as_json: bool) -> None:
    """List the editions that can be fetched, and from where.

    \b
    tam manuals list
    """
    from manuals.acquire.catalogue import load_catalogue
    from manuals.acquire.fetch import BUNDLE, BUNDLE_REPOSITORY

    files = load_catalogue()
    if as_json:
        bundle = {"edition": BUNDLE, "repository": BUNDLE_REPOSITORY}
        records: list[dict[str, Any]] = [bundle, *({**_record(file)} for file in files)]
        click.echo(json.dumps(records, ensure_ascii=False, indent=2))
        return
    lines = [("name", "holds", "from", "tried")]
    lines.append((BUNDLE, "all manuals of the benchmark", f"hub dataset {BUNDLE_REPOSITORY}", "no"))
    for file in files:
        host = urlsplit(file.urls[0]).hostname or ""
        tried = "yes" if file.checked else "no"
        lines.append((file.edition, ", ".join(file.gives), host, tried))
    click.echo(columns(lines))
    click.echo("\ntried: whether this address has been fetched from before (else by pattern only)")


def _record(file: Any) -> dict[str, Any]:
    from dataclasses import asdict

    return {"edition": file.edition, **asdict(file)}


def edition_line(edition: Edition) -> str:
    """``ICD-10-CM Tabular List, FY 2025 (2025); in force 2024-10-01 to 2025-09-30``."""
    from manuals.model.years import in_force

    return f"{edition.title} ({edition.release}); {in_force(edition)}"
