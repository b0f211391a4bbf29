"""Where the manuals say to go next: the pointers that each section carries.

| kind | from | to | words |
|---|---|---|---|
| `index_entry_to_code` | entry of an index | Tabular section of its code | the entry's path |
| `table_cell_to_code` | entry of the drug or neoplasm table | the same | path and column head |
| `see`, `see_also` | entry of an index | the entry named; its codes' sections | the entry's path |
| `code_first`, `use_additional_code`, `code_also`, `excludes` | note of the Tabular List | codes and ranges it names | title and note |
| `guideline_to_code` | coding guideline | codes and ranges it names | title and paragraph |
| `appendix_a` | statute in Title 18, and its row | guidelines of the row | the statute's title |
| `cross_reference` | paragraph of any manual | section it names | the paragraph |

The words of a pointer are what a query must share to follow it: of a main term with 200 entries
only the entries whose path looks like the query point anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, partial
from typing import NamedTuple

from manuals.model.keys import Reference, find_references
from manuals.model.sections import Manual, Section
from manuals.model.source import SOURCES
from manuals.model.units import is_apparatus

#: characters of a paragraph on either side of a reference that count as its words
AROUND = 300


class Target(NamedTuple):
    """A section by source and key; the table finds the edition."""

    source: str
    key: str


class Pointer(NamedTuple):
    """``section`` points to ``targets``; ``offset`` is a place in the manual's text where it
    does, by which the chunk is found. With ``whole`` every chunk of the section points."""

    kind: str
    section: Section
    offset: int
    targets: tuple[Target, ...]
    words: str
    whole: bool = False


#: source -> the manual of the edition that pointers of this manual mean, if there is one
Others = Callable[[str], Manual | None]
#: a reference in a text -> kind of pointer and what it points to
Resolve = Callable[[Reference], tuple[str, tuple[Target, ...]]]


def pointers_of(manual: Manual, others: Others) -> Iterable[Pointer]:
    """All pointers of one manual, in document order of the sections for each kind of rule."""
    found: Iterable[Pointer] = SOURCES[manual.source].pointers(manual, others)
    return found


def pointers(manual: Manual, others: Others) -> Iterator[Pointer]:
    """The rule of a source that has none of its own: sections that the running text names."""
    return in_text(manual, partial(named, manual, others))


def in_text(
    manual: Manual, resolve: Resolve, skip: Callable[[Section], bool] | None = None
) -> Iterator[Pointer]:
    """References in the own text of each section, but for the apparatus and what is skipped.

    Notes, credits and footnotes tell of the law's history, not where to go.
    """
    for section in manual.sections:
        if is_apparatus(manual.source, section.key) or (skip is not None and skip(section)):
            continue
        for start, end in manual.own_spans(section):
            text = manual.text[start:end]
            for reference in _references(text):
                kind, targets = resolve(reference)
                if targets and Target(manual.source, section.key) not in targets:
                    at = start + reference.span[0]
                    yield Pointer(kind, section, at, targets, _around(text, reference))


def named(manual: Manual, others: Others, reference: Reference) -> tuple[str, tuple[Target, ...]]:
    """The section that a reference names, in this manual or another."""
    for source in reference.sources:
        held = manual if source == manual.source else others(source)
        if held is None:
            continue
        for key in reference.candidates:
            if key in held.by_key:
                return "cross_reference", (Target(source, key),)
    return "cross_reference", ()


@lru_cache(maxsize=16_384)
def _references(text: str) -> tuple[Reference, ...]:
    # The same paragraphs stand in several editions.
    return tuple(find_references(text))


def _around(text: str, reference: Reference) -> str:
    """The paragraph that holds a reference, at most ``AROUND`` characters on either side."""
    start, end = reference.span
    first = max(text.rfind("\n", 0, start) + 1, start - AROUND)
    last = text.find("\n", end)
    return text[first : min(len(text) if last < 0 else last, end + AROUND)]
