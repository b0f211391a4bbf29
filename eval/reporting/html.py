"""Self-contained HTML pages: one file, no script, nothing from a network.

Plain ``str`` is escaped wherever it goes in; markup is of the class ``Html``, which every function
here returns. Equal content gives equal bytes: a page has no date of its own.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from tam.files import write_text


class Html(str):
    """Markup; everything else is text and is escaped."""

    __slots__ = ()


CSS = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, "Segoe UI", "DejaVu Sans", Arial, sans-serif; color: #1a1a1a;
  background: #fff; max-width: 68rem; margin: 2rem auto; padding: 0 1.2rem; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 .4rem; }
h2 { font-size: 1.25rem; margin: 2.4rem 0 .6rem; border-bottom: 1px solid #ccc; }
h3 { font-size: 1.05rem; margin: 1.6rem 0 .4rem; }
p, li { max-width: 52rem; }
.lead { color: #444; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; margin: .6rem 0 1rem; }
caption { text-align: left; color: #444; padding-bottom: .3rem; }
th, td { padding: .25rem .7rem; border-bottom: 1px solid #e2e2e2; text-align: left;
  vertical-align: top; }
thead th { border-bottom: 2px solid #888; vertical-align: bottom; }
th.n, td.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
tr.base td, tr.base th { background: #f3f6fa; }
td small { color: #555; }
figure { margin: 1rem 0; }
figure svg, figure img { max-width: 100%; height: auto; }
figcaption { color: #444; font-size: .9rem; max-width: 52rem; }
.warning { border-left: 4px solid #b45309; background: #fff7e8; padding: .5rem .9rem;
  margin: .8rem 0; }
code { font-size: .92em; background: #f3f3f3; padding: .05em .3em; border-radius: 3px; }
nav a { margin-right: 1rem; }
@media print { body { margin: 0; max-width: none; } h2 { break-after: avoid; }
  figure, tr { break-inside: avoid; } }
"""


def escape(text: str) -> Html:
    """Text as markup; quotation marks too, for attributes. Markup stays as it is."""
    return text if isinstance(text, Html) else Html(html.escape(text, quote=True))


def joined(pieces: Iterable[str], between: str = "") -> Html:
    """Texts and markup as one piece of markup."""
    return Html(escape(between).join(map(escape, pieces)))


def element(name: str, *content: str, **attributes: str) -> Html:
    """``<name ...>content</name>``; ``class_`` stands for ``class``, ``aria_label`` for
    ``aria-label``. An empty attribute is left out."""
    pairs = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for key, value in attributes.items()
        if value
    )
    return Html(f"<{name}{pairs}>{joined(content)}</{name}>")


def anchor(text: str) -> str:
    """The fragment that ``heading`` gives a text."""
    return re.sub(r"[^a-z0-9]+", "-", text.casefold()).strip("-")


def heading(text: str, level: int = 2) -> Html:
    """A heading with an anchor made of its words."""
    return element(f"h{level}", text, id=anchor(text))


def paragraph(text: str, class_: str = "") -> Html:
    """A paragraph."""
    return element("p", text, class_=class_)


def warning(text: str) -> Html:
    """A line that a reader must not miss."""
    return element("p", text, class_="warning", role="note")


def items(lines: Iterable[str]) -> Html:
    """A list; nothing for no lines."""
    held = [element("li", line) for line in lines]
    return element("ul", *held) if held else Html()


def table(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    numbers: Iterable[int] = (),
    caption: str = "",
    marked: Iterable[int] = (),
) -> Html:
    """A table. ``numbers`` are the columns set flush right, ``marked`` the rows with a tinted
    ground. The first cell of a row is its head."""
    right, tinted = set(numbers), set(marked)

    def side(at: int) -> str:
        return "n" if at in right else ""

    top = [element("th", text, class_=side(at), scope="col") for at, text in enumerate(head)]
    body = []
    for number, row in enumerate(rows):
        cells = [
            element("td" if at else "th", text, class_=side(at), scope="" if at else "row")
            for at, text in enumerate(row)
        ]
        body.append(element("tr", *cells, class_="base" if number in tinted else ""))
    whole = element(
        "table",
        element("caption", caption) if caption else "",
        element("thead", element("tr", *top)),
        element("tbody", joined(body, "\n")),
    )
    return element("div", whole, class_="scroll")


def figure(svg: str, caption: str) -> Html:
    """An inline SVG with its caption. The head of an SVG file (XML, doctype) is taken off."""
    inside = svg[max(svg.find("<svg"), 0) :].strip()
    return element("figure", Html(inside), element("figcaption", caption))


def contents(titles: Iterable[str]) -> Html:
    """Links to the headings of these titles."""
    links = [element("a", text, href=f"#{anchor(text)}") for text in titles]
    return element("nav", joined(links, "\n"), aria_label="contents")


def page(title: str, body: Iterable[str], lead: str = "", css: str = "") -> str:
    """A whole page; ``body`` are its pieces in order, ``css`` is added to ``CSS``."""
    pieces = [element("h1", title), paragraph(lead, "lead") if lead else "", *body]
    head = [
        Html('<meta charset="utf-8">'),
        Html('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        element("title", title),
        element("style", Html(CSS + css)),
    ]
    inside = [
        element("head", joined(head, "\n")),
        element("body", element("main", joined(pieces, "\n"))),
    ]
    whole = element("html", joined(inside, "\n"), lang="en")
    return f"<!DOCTYPE html>\n{whole}\n"


def write_page(path: Path, title: str, body: Iterable[str], lead: str = "", css: str = "") -> None:
    """Write a page, complete or not at all."""
    write_text(path, page(title, body, lead, css))
