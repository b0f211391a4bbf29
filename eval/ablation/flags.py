"""Measurements that prove less than they seem to.

- **Leak**: documents are expanded with the very texts that the queries are. The index then holds
  the answers; a study refuses it unless its file says ``allow_leak = true``, and marks it then.
- **Circular**: links are on, and the golds were read from these links. That the link finds them
  shows that the mechanism works, not that it helps.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from eval.ablation.cells import Cell
from eval.query_sets import SetInfo
from tam.errors import StudyError

#: what ``expand_documents`` writes into the text of chunks, as ``SetInfo.text_from`` names it
EXPANSION_TEXTS = frozenset({"index_path"})

CIRCULAR_MARK, LEAK_MARK = "c", "L"
MEANING = {
    CIRCULAR_MARK: "circular: the golds were read from the links that are on here; this shows that "
    "the mechanism works, not that it helps",
    LEAK_MARK: "leak: the indexed text holds the queries themselves; not a measurement of retrieval",
}


def leaks(text_from: str, cells: Iterable[Cell]) -> list[Cell]:
    """The cells whose index holds the queries' texts."""
    return [cell for cell in cells if cell.expanded and text_from in EXPANSION_TEXTS]


def refuse_leaks(text_from: str, cells: Iterable[Cell], allowed: bool) -> None:
    """Raises ``StudyError`` when a cell leaks and the study does not allow it."""
    found = leaks(text_from, cells)
    if found and not allowed:
        raise StudyError(
            f"cell {found[0].name!r} leaks: with expand_documents the index holds the queries "
            f"themselves ({text_from}); take other queries, or write allow_leak = true to see "
            f"the number with a mark"
        )


def mark(cell: Cell, info: SetInfo) -> str:
    """The marks of a cell's row: nothing, ``c``, ``L`` or both."""
    found = ""
    if cell.links and info.made_from:
        found += CIRCULAR_MARK
    if leaks(info.text_from, [cell]):
        found += LEAK_MARK
    return found


def meanings(marks: Sequence[str]) -> list[str]:
    """A line for each mark that is used."""
    used = set("".join(marks))
    return [f"[{each}] {words}" for each, words in MEANING.items() if each in used]
