"""Precision and recall of the citation reader on the labelled list, beside eyecite's.

``python -m benchmarks.citations`` prints, for each kind of text and half of the list, how many of
the labelled statutes and guidelines (with their title, without subdivisions below the section) the
reader finds, and how much of what it finds is labelled; then the same with subdivisions, notes and
ends of ranges. ``--misses dev`` lists the texts of a half that are not read as labelled. eyecite
(https://github.com/freelawproject/eyecite) is read when it is installed.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from manuals.model.keys import find_references

LIST = Path(__file__).parent.parent / "tests" / "data" / "citations.jsonl"


class Citation(NamedTuple):
    """One labelled or found citation: key of the section, and what is named of it."""

    key: str
    subdivisions: tuple[str, ...] = ()
    part: str = ""
    through: str = ""


class Labelled(NamedTuple):
    """A text of the list; ``split`` is ``dev`` (to tune on) or ``held`` (to measure on)."""

    text: str
    kind: str
    expected: tuple[Citation, ...]
    split: str


class Score(NamedTuple):
    """Counts over texts: labelled, found, and both; ``title_18`` are false Title 18 sections."""

    labelled: int
    found: int
    both: int
    title_18: int

    @property
    def precision(self) -> float:
        return self.both / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        return self.both / self.labelled if self.labelled else 1.0


Reader = Callable[[str], Iterable[Citation]]


def read_list(path: Path = LIST) -> list[Labelled]:
    """The labelled texts."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [
        Labelled(
            row["text"],
            row["kind"],
            tuple(
                Citation(e["key"], tuple(e["subdivisions"]), e["part"], e["through"])
                for e in row["expected"]
            ),
            row["split"],
        )
        for row in rows
    ]


def our_reader(text: str) -> list[Citation]:
    """What ``find_references`` reads in a person's text: statutes, guidelines and codes."""
    return [
        Citation(each.key, each.subdivisions, each.part, each.through)
        for each in find_references(text, typed=True)
        if each.kind in ("statute", "guideline", "code", "code_range")
    ]


def eyecite_reader() -> Reader:
    """eyecite's statutes of the United States Code; it knows no guidelines and no codes."""
    from eyecite import get_citations
    from eyecite.models import FullLawCitation

    def read(text: str) -> list[Citation]:
        found = []
        for each in get_citations(text):
            groups = each.groups
            if not isinstance(each, FullLawCitation) or "title" not in groups:
                continue
            if not re.fullmatch(r"U\.\s?S\.\s?C\.(?:A\.|S\.)?", groups["reporter"]):
                continue
            names = tuple(re.findall(r"\(([^)]+)\)", each.metadata.pin_cite or ""))
            found.append(Citation(f"{groups['title']} U.S.C. § {groups['section']}", names))
        return found

    return read


def score(rows: Iterable[Labelled], read: Reader, deep: bool = False) -> Score:
    """Counts over texts; ``deep`` compares subdivisions, parts and ranges too."""
    labelled = found = both = title_18 = 0
    for row in rows:
        wanted = Counter(each if deep else each.key for each in row.expected)
        given = Counter(each if deep else each.key for each in read(row.text))
        labelled += wanted.total()
        found += given.total()
        both += (wanted & given).total()
        wrong = set(given) - set(wanted)
        keys = (each if isinstance(each, str) else each.key for each in wrong)
        title_18 += sum(key.startswith("18 U.S.C. §") for key in keys)
    return Score(labelled, found, both, title_18)


def table(rows: Sequence[Labelled], readers: dict[str, Reader], deep: bool = False) -> str:
    """Markdown: kinds down, halves and readers across, precision / recall in each cell."""
    heads = [f"{name} {split}" for name in readers for split in ("dev", "held")]
    lines = [
        f"| kind | texts | citations | {' | '.join(heads)} |",
        "|---|---|---|" + "---|" * len(heads),
    ]
    kinds = [*dict.fromkeys(row.kind for row in rows), "all"]
    for kind in kinds:
        own = [row for row in rows if kind in (row.kind, "all")]
        cells = [kind, str(len(own)), str(sum(len(row.expected) for row in own))]
        for read in readers.values():
            for split in ("dev", "held"):
                each = score([row for row in own if row.split == split], read, deep)
                false = f" ({each.title_18} false)" if each.title_18 else ""
                cells.append(f"{each.precision:.3f} / {each.recall:.3f}{false}")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables, or the texts that are not read as labelled."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--misses", choices=("dev", "held"))
    chosen = parser.parse_args(arguments)
    rows = read_list()
    if chosen.misses:
        for row in rows:
            found = tuple(our_reader(row.text))
            if row.split == chosen.misses and Counter(found) != Counter(row.expected):
                print(f"{row.kind}: {row.text!r}\n  labelled {_show(row.expected)}")
                print(f"  found    {_show(found)}")
        return
    readers: dict[str, Reader] = {"tam": our_reader}
    try:
        readers["eyecite"] = eyecite_reader()
    except ImportError:
        print("eyecite is not installed; its columns are left out\n")
    print("Precision / recall of sections, and false sections of Title 18\n")
    print(table(rows, readers))
    print("\nThe same with subdivisions, notes and ends of ranges\n")
    print(table(rows, readers, deep=True))


def _show(citations: Iterable[Citation]) -> str:
    shown = []
    for each in citations:
        names = "".join(f"({name})" for name in each.subdivisions)
        tail = f" {each.part}" if each.part else ""
        end = f" .. {each.through}" if each.through else ""
        shown.append(f"{each.key}{names}{tail}{end}")
    return "; ".join(shown) or "nothing"


if __name__ == "__main__":
    main()
