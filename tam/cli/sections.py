"""``tam open`` and ``tam diff``: one section, in one edition or in two."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from manuals.model.source import SOURCES
from tam.cli.manuals import edition_line, json_option, manuals_option

if TYPE_CHECKING:
    from manuals.library.editions import Found, Library

#: characters of text, and children, that are shown without ``--full``
TEXT_SHOWN = 4000
CHILDREN_SHOWN = 20
REFS_SHOWN = 20

source_option = click.option("--source", type=click.Choice(list(SOURCES)), help="Only this manual.")


def _library(folder: Path | None) -> Library:
    from manuals.library.choose import choose_library

    chosen = choose_library(folder)
    if chosen.warning:
        click.echo(f"tam: {chosen.warning}", err=True)
    return chosen.library


@click.command("open")
@click.argument("reference", metavar="REF")
@click.option("--year", type=int, help="The edition's year. Default: the newest that has it.")
@click.option("--as-of", metavar="DATE", help="The edition that holds for a day.")
@source_option
@manuals_option
@json_option
@click.option("--full", is_flag=True, help="All of the text and all children.")
def open_section(
    reference: str,
    year: int | None,
    as_of: str | None,
    source: str | None,
    folder: Path | None,
    as_json: bool,
    full: bool,
) -> None:
    """Print one section: path, text, notes, children, and where it stands.

    REF is a code, a citation, a guideline number or an index path.

    \b
    tam open "18 USC 924" --year 2021
    tam open "18 USC 924(a)(2)" --as-of 2022-05-01
    tam open E11.22 --year 2025
    tam open "Abscess > brain"
    """
    from manuals.library.view import section_record

    found = _library(folder).look_up(reference, year=year, source=source, as_of=as_of)
    if as_json:
        click.echo(json.dumps(section_record(found), ensure_ascii=False, indent=2))
        return
    click.echo("\n".join(fold(section_lines(found, full))))


def section_lines(found: Found, full: bool = False) -> list[str]:
    """What ``tam open`` prints, one paragraph an entry, not yet folded to a width."""
    from manuals.library.view import binding_notes, children_lines, citation, remark, section_title

    manual, section = found.manual, found.section
    title = section_title(found)
    head = citation(found) if title in ("", citation(found)) else f"{citation(found)}  {title}"
    lines = [click.style(head, bold=True), edition_line(manual.edition)]
    lines += [f"note: {line}" for line in (remark(found), *found.standing.lines()) if line]
    if section.path:
        lines.append(" > ".join(section.path))
    lines += ["", *_text(found, full)]
    notes = binding_notes(found)
    lines += _block(
        "notes",
        [
            f"{placed.note.kind}: {placed.note.text}"
            + (f"  [from {placed.at}]" if placed.at != section.key else "")
            for placed in notes
        ],
    )
    lines += _block("code", _code_lines(found))
    children = manual.children(section)
    most = len(children) if full else CHILDREN_SHOWN
    lines += _block(f"below ({len(children)})", children_lines(children, most))
    lines += _block("points to", _ref_lines(found, full))
    lines += _block("see also", [other.heading for other in found.also])
    file = manual.file_at(section.span[0])
    place = f"characters {section.span[0]}-{section.span[1]}"
    lines += ["", f"{file.path}{_pages(section.pages)}, {place}"]
    return lines


def _pages(pages: tuple[int, int] | None) -> str:
    if pages is None:
        return ""
    first, last = pages
    return f", PDF page {first}" if first == last else f", PDF pages {first}-{last}"


def _text(found: Found, full: bool) -> list[str]:
    """The text with all below it when that is short or asked for, else the section's own."""
    manual, section = found.manual, found.section
    text = manual.subtree_text(section).strip()
    if full or len(text) <= TEXT_SHOWN:
        return text.split("\n")
    own = manual.own_text(section)
    shown = own if len(own) > TEXT_SHOWN // 10 else text
    if len(shown) > TEXT_SHOWN:
        shown = shown[:TEXT_SHOWN].rsplit("\n", 1)[0]
    return [*shown.split("\n"), "", f"... {len(text) - len(shown):,} more characters: --full"]


def _code_lines(found: Found) -> list[str]:
    code = found.code
    if code is None:
        return []
    lines = ["valid" if code.valid else "not valid as it is: more characters are needed"]
    if code.sevenths:
        shown = "; ".join(f"{character} {meaning}" for character, meaning in code.sevenths)
        lines.append(f"seventh character (from {code.sevenths_from}): {shown}")
    return lines


def _ref_lines(found: Found, full: bool) -> list[str]:
    refs = found.section.refs
    most = len(refs) if full else REFS_SHOWN
    lines = [
        f"{ref.kind}: {ref.target}" + (f" ({ref.condition})" if ref.condition else "")
        for ref in refs[:most]
    ]
    return [*lines, f"... and {len(refs) - most} more"] if len(refs) > most else lines


def _block(head: str, lines: list[str]) -> list[str]:
    return ["", f"{head}:", *(f"  {line}" for line in lines)] if lines else []


def fold(lines: Iterable[str]) -> list[str]:
    """Lines folded to the terminal's width; as they are when the output goes to a file or pipe."""
    if not sys.stdout.isatty():
        return list(lines)
    width = max(shutil.get_terminal_size().columns, 40)
    folded = []
    for line in lines:
        indent = line[: len(line) - len(line.lstrip())]
        folded += textwrap.wrap(
            line, width, subsequent_indent=indent + "  ", break_on_hyphens=False
        ) or [""]
    return folded


@click.command()
@click.argument("reference", metavar="REF")
@click.argument("year1", type=int)
@click.argument("year2", type=int)
@source_option
@manuals_option
def diff(reference: str, year1: int, year2: int, source: str | None, folder: Path | None) -> None:
    """Show, word by word, what changed in a section between two editions.

    \b
    tam diff "18 USC 924" 2021 2022
    """
    from manuals.library.diff import diff_sections, render_diff

    library = _library(folder)
    one = library.look_up(reference, year=year1, source=source)
    two = library.look_up(reference, year=year2, source=source)
    result = diff_sections(one.manual, one.section, two.manual, two.section)
    click.echo(render_diff(result, colour=sys.stdout.isatty()))
