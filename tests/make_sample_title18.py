"""Write the sample of Title 18: the annual archive's form, our own wording, two years.

    python tests/make_sample_title18.py            # into manuals/sample/title18/<year>/

The text is tests/sample_title18.txt. Its lines are paragraphs, except those that begin with

    = part|chapter|subchapter HEAD     a head
    # HEAD                             a section head; an empty statute is allowed
    ~credit|group|note|foot TEXT       source credit, heading of notes, note's heading, footnote
    ~old TEXT                          an older note, set like the statute but outside its field
    ~table CELL|CELL;CELL|CELL         a table

``@2023`` or ``@2024`` before a line keeps it to that year, ``[[1]]`` is a footnote's anchor, and
``*`` is a run of generated definitions that makes a section longer than one chunk may be. As in
the archive, the indent class follows the form of an enumerator and not its level.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html import escape
from pathlib import Path

YEARS = {2023: "20240103", 2024: "20250106"}
TEXT = Path(__file__).with_name("sample_title18.txt")

_HEAD = """<?xml version='1.0' encoding='UTF-8' ?>
<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">
<html xmlns="http://www.w3.org/1999/xhtml"><head><meta http-equiv="Content-Type" content="text/html; charset=UTF-8" />
<title>U.S.C. Title 18 - CRIMES AND CRIMINAL PROCEDURE ({year})</title></head><body>
<div id="menu"><span class="item_text">Search &amp; Browse</span><p>Go to the help page</p></div>
<!-- documentid:18 currentthrough:{through} documentPDFPage:-1 -->
<!-- itempath:/180 -->
<!-- expcite:TITLE 18-CRIMES AND CRIMINAL PROCEDURE -->
<h1 class="usc-title-head"><strong>TITLE 18&mdash;CRIMES AND CRIMINAL PROCEDURE</strong></h1>
"""
_ENTITIES = {"—": "&mdash;", "–": "&ndash;", "§": "&sect;", "\u00a0": "&nbsp;"}
_INDENTS = (
    (r"\((?:[ivx]+)\)", "-3em"),
    (r"\([a-z]\)", ""),
    (r"\(\d+\)", "-1em"),
    (r"\((?:[IVX]{2,})\)", "-4em"),
    (r"\([A-Z]\)", "-2em"),
)
_THINGS = (
    "a loan", "a lease of land", "a grant of money", "an insurance policy", "a postal parcel",
    "a customs entry", "a passport", "a bank account", "a pension", "a contract of carriage",
)  # fmt: skip
_ACTS = ("forges", "sells", "alters", "hides", "stores", "ships", "copies")


def written(text: str) -> str:
    """A line as HTML: entities for the signs that the archive writes so, anchors as links."""
    html = escape(text, quote=False).replace('"', "&quot;").replace("'", "&apos;")
    for sign, entity in _ENTITIES.items():
        html = html.replace(sign, entity)
    return re.sub(r"\[\[(\d+)\]\]", r"<sup><a>\1</a></sup>", html)


def lines_of(year: int) -> Iterator[str]:
    """The lines of one year, generated ones written out."""
    for line in TEXT.read_text(encoding="utf-8").splitlines():
        found = re.match(r"@(\d{4}) (.*)", line)
        if found:
            if int(found[1]) != year:
                continue
            line = found[2]
        if line == "*":
            for number in range(1, 71):
                thing = _THINGS[number % len(_THINGS)]
                act = _ACTS[number % len(_ACTS)]
                yield (
                    f'({number}) the term "listed act {number}" means the conduct of one who {act} '
                    f"{thing} that another person relies on, knowing that what it says is untrue, "
                    f"and who means to keep the proceeds of that conduct for number {number};"
                )
        elif line.strip() and not line.startswith("//"):
            yield line


class _Writer:
    def __init__(self, through: str) -> None:
        self.through = through
        self.out: list[str] = []
        self.field = ""
        self.path = ["/180"]

    def to(self, field: str) -> None:
        """Close the open field and open another."""
        if field != self.field:
            if self.field:
                self.out.append(f"<!-- field-end:{self.field} -->")
            if field:
                self.out.append(f"<!-- field-start:{field} -->")
            self.field = field

    def unit(self, identity: str, level: int, name: str) -> None:
        self.to("")
        self.path[level:] = [name]
        self.out.append(
            f"\n<!-- documentid:{identity} currentthrough:{self.through} documentPDFPage:-1 -->"
        )
        self.out.append(f"<!-- itempath:{'/'.join(self.path)} -->")

    def line(self, line: str) -> None:
        kind, _, text = line.partition(" ")
        if kind == "=":
            word, _, head = text.partition(" ")
            level = {"part": 1, "chapter": 2, "subchapter": 3}[word]
            self.unit(f"18_-{word}", level, head.split("—")[0])
            self.to("structuralhead")
            self.out.append(f'<h3 class="{word}-head"><strong>{written(head)}</strong></h3>')
            self.to("")
        elif kind == "#":
            number = re.search(r"\d+\w*", text)
            name = number.group() if number else ""
            self.unit(f"18_{name}", 4, f"Sec. {name}")
            self.to("head")
            self.out.append(f'<h3 class="section-head">{written(text)}</h3>')
            self.to("statute")
        elif kind == "~credit":
            self.to("sourcecredit")
            self.out.append(f'<p class="source-credit">{written(text)}</p>')
        elif kind in ("~group", "~note"):
            self.to("notes")
            inner = written(text)
            inner = f"<strong>{inner}</strong>" if kind == "~group" else inner
            self.out.append(f'<h4 class="note-head">{inner}</h4>')
        elif kind == "~foot":
            name = "note-body" if self.field == "notes" else "statutory-body"
            if name == "statutory-body":
                self.to("")
            self.out.append(f'<p class="{name}">{written(text)}</p>')
        elif kind == "~old":
            self.to("")
            self.out.append(f'<p class="statutory-body">{written(text)}</p>')
        elif kind == "~table":
            rows = "".join(
                "<tr>"
                + "".join(f'<td class="left">{written(cell)}</td>' for cell in row.split("|"))
                + "</tr>"
                for row in text.split(";")
            )
            self.out.append(f"<table>{rows}</table>")
        else:
            self.out.append(f'<p class="{self._class(line)}">{written(line)}</p>')

    def _class(self, line: str) -> str:
        if self.field != "statute":
            return "note-body"
        for pattern, indent in _INDENTS:
            if re.match(pattern, line):
                return f"statutory-body{indent}"
        return "statutory-body"


def html_of(year: int) -> str:
    """The file of one year."""
    writer = _Writer(YEARS[year])
    for line in lines_of(year):
        writer.line(line)
    writer.to("")
    head = _HEAD.format(year=year, through=YEARS[year])
    return head + "\n".join(writer.out) + "\n</body></html>\n"


def main(folder: Path) -> None:
    for year in YEARS:
        path = folder / "title18" / str(year) / f"{year}usc18.htm"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(html_of(year), encoding="utf-8")


if __name__ == "__main__":
    default = Path(__file__).parent.parent / "manuals" / "sample"
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else default)
