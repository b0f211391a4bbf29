"""Control with a model: the gold sections in place of retrieved ones.

It separates retrieval from reasoning: what is still wrong here, no retriever can mend.
"""

from __future__ import annotations

from eval.golds.gold import Gold
from eval.systems.solvers.case_state import CaseOutcome, CaseState
from eval.systems.solvers.single_pass import ShownSection, ask_with
from eval.systems.tools.tool import ToolResult
from tam.errors import TamError

#: characters of one gold section, and of all together, that are shown; the paper's eight hits are
#: at most as much
SECTION_CHARACTERS, ALL_CHARACTERS = 12_000, 96_000


def solve(state: CaseState) -> CaseOutcome:
    """Ask once with the gold sections, direct ones first, as many as there is room for; a gold
    that no edition here holds is left out."""
    shown: list[ShownSection] = []
    names = []
    room = ALL_CHARACTERS
    for gold in sorted(state.golds, key=lambda gold: -gold.grade):
        try:
            with state.editions.lock:
                found = _section(state, gold)
        except TamError:
            continue
        room -= len(found.text)
        if room < 0:
            break
        shown.append(found)
        names.append(gold.section)
    state.record("gold_sections", {}, ToolResult("", tuple(names)), query="(the golds)")
    return ask_with(state, shown)


def _section(state: CaseState, gold: Gold) -> ShownSection:
    """A gold section as the prompt shows it. Raises ``UnknownKey`` and ``UnknownYear``."""
    manual = state.editions.library.manual(gold.source, gold.year)
    section = manual.get(gold.key)
    text = state.domain.show(manual, section)
    if len(text) > SECTION_CHARACTERS:
        text = text[:SECTION_CHARACTERS].rsplit(" ", 1)[0] + " [...]"
    return ShownSection(section.citation, section.title, gold.source, gold.year, gold.key, text)
