"""``tam build`` and ``tam verify``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from manuals.model.source import corpora
from tam.errors import BadIndex
from tam.options import click_options
from tam.settings import BuildSettings

if TYPE_CHECKING:
    from indexers.building.build import BuildResult


@click.command()
@click.option(
    "--manuals", type=click.Path(path_type=Path), metavar="DIR", help="Folder of manuals."
)
@click.option(
    "--out", type=click.Path(path_type=Path), default="indexes", show_default=True, metavar="DIR"
)
@click.option(
    "--corpus",
    "corpora",
    multiple=True,
    type=click.Choice(corpora()),
    help="Build only this one; may be given twice.  [default: what the manuals hold]",
)
@click_options(BuildSettings)
@click.option("--no-dense", is_flag=True, help="BM25 only, without vectors.")
@click.option("--offline", is_flag=True, help="Do not fetch manuals.")
@click.option("--strict", is_flag=True, help="Stop at the first file that is not right.")
def build(
    manuals: Path | None,
    out: Path,
    corpora: tuple[str, ...],
    no_dense: bool,
    offline: bool,
    strict: bool,
    **choices: Any,
) -> None:
    """Build the indexes from a folder of manuals.

    Without --manuals: those in manuals/data, else the benchmark's bundle is fetched, else the
    bundled sample is used. Target and bound are chunk sizes of preset 'sections'. A second build
    with the same manuals and options does nothing.

    \b
    Example:
      tam build --manuals ../manuals --preset sections --corpus legal
    """
    settings = BuildSettings(**{**choices, **({"encoder": None} if no_dense else {})})
    from indexers.building.build import build as build_indexes
    from manuals.library.editions import open_manuals
    from manuals.library.locate import locate_manuals

    located = locate_manuals(manuals, offline=offline)
    if located.note:
        click.echo(located.note, err=True)
    library = open_manuals(located.folder, strict)
    for line in library.problems:
        click.echo(f"tam: {line}", err=True)
    results = build_indexes(library, out, settings, corpora or None, located.is_sample, strict)
    click.echo("\n".join(_report(results)))


@click.command()
@click.argument(
    "folders", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="DIR..."
)
def verify(folders: tuple[Path, ...]) -> None:
    """Check index folders: files, tables, and chunks against the parsed manuals.

    \b
    Example:
      tam verify indexes/icd indexes/legal
    """
    from indexers.folder.opened import open_folder
    from indexers.folder.verify import verify as faults_of

    bad = 0
    for folder in folders:
        faults = faults_of(folder)
        for fault in faults:
            click.echo(f"{folder}: {fault}")
        if not faults:
            manifest = open_folder(folder).manifest
            click.echo(
                f"{folder}: sound ({len(manifest.editions)} editions, {manifest.chunks:,} chunks, "
                f"{manifest.windows:,} vectors, {len(manifest.files)} files)"
            )
        bad += bool(faults)
    if bad:
        raise BadIndex(f"{bad} of {len(folders)} indexes have faults; build again with  tam build")


def _report(results: list[BuildResult]) -> Iterator[str]:
    from manuals.model.source import SOURCES
    from tam.tables import columns

    rows = [("edition", "release", "chunks", "vectors", "reference")]
    for result in results:
        preset = result.manifest.settings.preset
        for edition in result.manifest.editions:
            counts = SOURCES[edition.source].counts
            expected = counts.measured.get(edition.year) if counts else None
            shown = ""
            if expected and preset == "paper" and not result.manifest.sample:
                low, high = expected
                shown = f"{low:,}" if low == high else f"{low:,}-{high:,}"
            vectors = f"{edition.windows:,}" if result.manifest.encoder else "-"
            rows.append((edition.name, edition.release, f"{edition.chunks:,}", vectors, shown))
        total = f"{result.manifest.windows:,}" if result.manifest.encoder else "-"
        rows.append((result.manifest.corpus, "", f"{result.manifest.chunks:,}", total, ""))
    yield columns(rows, right=(2, 3, 4))
    yield ""
    for result in results:
        yield _line(result)
        yield from (f"  left out: {problem}" for problem in result.problems)
    if any(result.manifest.sample for result in results):
        yield "This is the small bundled SAMPLE, not the official manuals."
    yield f"Try:  {_command()} search {_example(results[-1])}"


def _line(result: BuildResult) -> str:
    manifest = result.manifest
    by = f"{manifest.encoder.name}, {manifest.encoder.dtype}" if manifest.encoder else "BM25 only"
    if not result.built:
        return f"{result.path}: nothing to do ({by})"
    seconds = sum(result.seconds.values())
    slow = "encoding" if result.seconds.get("encoding", 0) > seconds / 2 else ""
    line = f"{result.path}: preset {manifest.settings.preset}; {by}; built in {seconds:.0f} s"
    if manifest.encoder:
        line += f"; {result.encoded:,} of {result.distinct:,} distinct texts encoded"
        line += f" in {result.seconds['encoding']:.0f} s" if slow else ""
    return line


def _command() -> str:
    """``tam`` as this shell finds it: by name, else as it was called just now."""
    import shutil
    import sys

    called = Path(sys.argv[0])
    return "tam" if called.name != "tam" or shutil.which("tam") else str(called)


def _example(result: BuildResult) -> str:
    import shlex

    from eval.domains.model import example_query

    manifest = result.manifest
    query = example_query(manifest.corpus)
    words = f"{shlex.quote(query)} --corpus {manifest.corpus}"
    years = [edition.year for edition in manifest.editions]
    if result.path.parent != Path("indexes"):
        words += f" --index {shlex.quote(str(result.path))}"
    return f"{words} --year {max(years)}"
