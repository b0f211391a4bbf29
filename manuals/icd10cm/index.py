"""ICD-10-CM Alphabetic Index, External Cause Index, Table of Drugs and Neoplasm Table.

The four files share one form: letters, main terms, and terms below them to any depth. The text
has one line for each entry, indented by two blanks a level,
``title (code=..., see=..., see_also=...)`` with the parts that it has; in the tables the parts
are ``column head: code``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from lxml import etree

from manuals.icd10cm.codes import is_code, normalise_code
from manuals.icd10cm.outline import TextOutline
from manuals.icd10cm.tabular import full_text, squeeze
from manuals.model.sections import Edition, Manual, Ref
from manuals.model.source import SOURCES
from manuals.model.xmlsafe import parse_xml

UNTITLED = "(untitled)"

#: element -> (name of the part in the text, kind of reference), in the order of the parts.
#: ``seecat`` and ``subcat`` say "see category" and "see subcategory" with its number.
_PARTS = {
    "code": ("code", "code"),
    "manif": ("manif", "manifestation"),
    "see": ("see", "see"),
    "seeAlso": ("see_also", "see_also"),
    "seecat": ("see", "see"),
    "subcat": ("see", "see"),
}


def parse_index(paths: Sequence[Path], edition: Edition) -> Manual:
    """One of the four files of one edition; ``edition.source`` tells which.

    Raises ``DamagedFile`` for XML that is not whole.
    """
    outline = TextOutline(edition)
    title = ""
    for path in paths:
        root = parse_xml(path)
        title = title or squeeze(root.findtext("title")) or SOURCES[edition.source].title
        heads = {
            head.get("col", ""): full_text(head) for head in root.iterfind("indexHeading/head")
        }
        outline.line(title)
        if heads:
            outline.line(" | ".join(heads.values()))
        outline.line("")
        for letter in root.findall("letter"):
            _letter(outline, letter, heads)
    return outline.manual({"title": title})


def _letter(outline: TextOutline, letter: etree._Element, heads: Mapping[str, str]) -> None:
    name = f"Letter {squeeze(letter.findtext('title'))}".strip()
    outline.open(name, "letter", name, title=name)
    outline.line("")
    for term in letter.findall("mainTerm"):
        _entry(outline, term, heads, ())
        outline.line("")
    outline.close()


def _entry(
    outline: TextOutline, entry: etree._Element, heads: Mapping[str, str], above: tuple[str, ...]
) -> None:
    """One main term or term with all below it; ``above`` are the short titles on the way."""
    short, title = entry_titles(entry.find("title"))
    path = (*above, short)
    refs: list[Ref] = []
    parts: list[str] = []
    for part, ref in _pointers(entry, heads):
        parts.append(part)
        if ref is not None:
            refs.append(ref)
    line = f"{title} ({', '.join(parts)})" if parts else title
    outline.open(
        " > ".join(path),
        "term" if above else "main_term",
        "  " * len(above) + line,
        citation=" > ".join(path),
        title=title,
        step=title,
        refs=refs,
    )
    for child in entry.iterchildren("term"):
        _entry(outline, child, heads, path)
    outline.close()


def entry_titles(title: etree._Element | None) -> tuple[str, str]:
    """An entry's title without and with its nonessential words (``nemod``).

    An entry that has only such words goes by them; one without any words is ``(untitled)``.
    """
    if title is None:
        return UNTITLED, UNTITLED
    short = full = title.text or ""
    for words in title:
        tail = words.tail or ""
        if tail[:1].isalnum():
            tail = f" {tail}"
        short += tail
        full += f" {full_text(words)}{tail}"
    short, full = squeeze(short), squeeze(full)
    return short or full.strip("()") or UNTITLED, full or UNTITLED


def _pointers(entry: etree._Element, heads: Mapping[str, str]) -> Iterator[tuple[str, Ref | None]]:
    """The parts of an entry's line, each with the reference that it stands for."""
    found: dict[str, list[etree._Element]] = {}
    for element in entry:
        found.setdefault(element.tag, []).append(element)
    for tag, (name, kind) in _PARTS.items():
        for element in found.get(tag, ()):
            text = full_text(element)
            if not text:
                continue
            ref = None
            if is_code(text):
                ref = Ref(kind, normalise_code(text))
            elif kind != "manifestation":
                ref = Ref(kind, text)
            yield f"{name}={text}", ref
    for cell in found.get("cell", ()):
        text = full_text(cell)
        # A dash in a cell says that there is no code.
        if is_code(text):
            head = heads.get(cell.get("col", ""), f"column {cell.get('col', '?')}")
            yield f"{head}: {text}", Ref("cell", normalise_code(text), head)
