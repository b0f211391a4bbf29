"""Measurements that prove less than they seem to.

- **Leak**: documents are expanded with the very texts that the queries are. The index then holds
  the answers; a study refuses it unless its file says ``allow_leak = true``, and marks it then.
- **Circular**: links are on, and the golds were read from these links. That the link finds them
  shows that the mechanism works, not that it helps.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from eval.ablation.spec.cells import Cell
from eval.queries.query_sets import SetInfo
from indexers.building.expansion import EXPANDED_WITH
from tam.errors import StudyError

#: manuals whose entries' paths expand the Tabular List's chunks, when they are indexed
INDEX_SOURCES = frozenset({"index", "eindex"})

CIRCULAR_MARK, LEAK_MARK = "c", "L"
MEANING = {
    CIRCULAR_MARK: "circular: the golds were read from the links that are on here; this shows that "
    "the mechanism works, not that it helps",
    LEAK_MARK: "leak: the indexed text holds the queries themselves; not a measurement of retrieval",
}


def leaks(text_from: str, cells: Iterable[Cell], sources: Collection[str] = ()) -> list[Cell]:
    """The cells whose index holds the queries' texts; ``sources`` are those indexed (none: all)."""
    if text_from not in EXPANDED_WITH or (sources and INDEX_SOURCES.isdisjoint(sources)):
        return []
    return [cell for cell in cells if cell.expanded]


def refuse_leaks(
    text_from: str, cells: Iterable[Cell], allowed: bool, sources: Collection[str] = ()
) -> None:
    """Raises ``StudyError`` when a cell leaks and the study does not allow it."""
    found = leaks(text_from, cells, sources)
    if found and not allowed:
        raise StudyError(
            f"cell {found[0].name!r} leaks: with expand_documents the index holds the queries "
            f"themselves ({text_from}); take other queries, or write allow_leak = true to see "
            f"the number with a mark"
        )


def mark(cell: Cell, info: SetInfo, sources: Collection[str] = ()) -> str:
    """The marks of a cell's row: nothing, ``c``, ``L`` or both."""
    found = ""
    if cell.links and info.made_from:
        found += CIRCULAR_MARK
    if leaks(info.text_from, [cell], sources):
        found += LEAK_MARK
    return found


def meanings(marks: Sequence[str]) -> list[str]:
    """A line for each mark that is used."""
    used = set("".join(marks))
    return [f"[{each}] {words}" for each, words in MEANING.items() if each in used]
