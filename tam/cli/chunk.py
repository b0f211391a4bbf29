"""``tam chunk``: cut manuals into chunks, count them, write them for people."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tam.cli.manuals import manuals_option
from tam.models import DEFAULT_ENCODER
from tam.settings import PRESET_ALIASES, PRESETS


class _Preset(click.Choice[str]):
    """A preset by its name or an older one."""

    def convert(
        self, value: Any, param: click.Parameter | None, context: click.Context | None
    ) -> str:
        return super().convert(PRESET_ALIASES.get(value, value), param, context)


PRESET = _Preset(PRESETS)


@click.command()
@manuals_option
@click.option(
    "--preset",
    type=PRESET,
    default=PRESETS[0],
    show_default=True,
    help="paper: the paper's rules; sections: along the manuals' own sections.",
)
@click.option("--report", "as_report", is_flag=True, help="Print ours beside the paper's numbers.")
@click.option(
    "--jsonl",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the chunks, one JSON object a line.",
)
@click.option(
    "--source",
    "sources",
    multiple=True,
    metavar="NAME",
    help="Only this source (repeat for more): guidelines, tabular, title18, ...",
)
@click.option(
    "--year",
    "years",
    multiple=True,
    type=int,
    metavar="YEAR",
    help="Only editions of this year (repeat for more).",
)
@click.option(
    "--target",
    default=256,
    show_default=True,
    metavar="TOKENS",
    help="Preset sections: size to fill chunks up to.",
)
@click.option(
    "--bound",
    default=512,
    show_default=True,
    metavar="TOKENS",
    help="Preset sections: size that no chunk passes.",
)
@click.option(
    "--encoder",
    default=DEFAULT_ENCODER,
    show_default=True,
    metavar="NAME",
    help="Model whose tokenizer counts.",
)
def chunk(
    folder: Path | None,
    preset: str,
    as_report: bool,
    jsonl: Path | None,
    sources: tuple[str, ...],
    years: tuple[int, ...],
    target: int,
    bound: int,
    encoder: str,
) -> None:
    """Cut manuals into chunks and print how many there are.

    \b
    tam chunk --manuals ../shared/manuals --report
    tam chunk --manuals ../shared/manuals --preset sections --source ussg --jsonl ussg.jsonl
    """  # fmt: skip
    from chunkers.model.cut import Sizes
    from chunkers.model.jsonl import write_jsonl
    from chunkers.model.report import count_chunks, format_counts, format_report
    from manuals.library.choose import choose_library
    from manuals.library.locate import SAMPLE

    chosen = choose_library(folder)
    if chosen.warning:
        click.echo(f"tam: {chosen.warning}", err=True)
    sizes = Sizes(target, bound)
    if jsonl is not None:
        count = write_jsonl(jsonl, chosen.library, sources, years, preset, sizes, encoder)
        click.echo(f"{count:,} chunks in {jsonl}")
    if as_report or jsonl is None:
        report = count_chunks(chosen.library, sources, years, preset, sizes, encoder)
        official = not chosen.warning and Path(chosen.origin).resolve() != SAMPLE.resolve()
        click.echo(format_report(report, official) if as_report else format_counts(report))
