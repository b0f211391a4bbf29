"""Control with a model: the gold sections in place of retrieved ones.

It separates retrieval from reasoning: what is still wrong here, no retriever can mend.
"""

from __future__ import annotations

from typing import Any

from langchain_core.messages import HumanMessage

from eval.golds.gold import Gold
from eval.systems.solvers.answering import ask
from eval.systems.solvers.outcome import Outcome, Work
from eval.systems.solvers.prompting import render
from eval.systems.tools.icd import INDEXES, render_code
from eval.systems.tools.rendering import entries
from eval.systems.tools.tool import ToolResult
from manuals.icd10cm.code_view import look_up_code
from tam.errors import TamError

#: characters of one gold section, and of all together, that are shown; the paper's eight hits are
#: at most as much
SECTION_CHARACTERS, ALL_CHARACTERS = 12_000, 96_000


def solve(work: Work) -> Outcome:
    """Ask once with the gold sections, direct ones first, as many as there is room for; a gold
    that no edition here holds is left out. Codes come with all that they inherit."""
    shown: list[dict[str, Any]] = []
    names = []
    room = ALL_CHARACTERS
    for gold in sorted(work.golds, key=lambda gold: -gold.grade):
        try:
            with work.books.lock:
                found = _section(work, gold)
        except TamError:
            continue
        room -= len(found["text"])
        if room < 0:
            break
        shown.append(found)
        names.append(gold.section)
    work.record("gold_sections", {}, ToolResult("", tuple(names)), query="(the golds)")
    prompt = render(
        "single_pass",
        domain=work.domain,
        year=work.books.years_text(),
        sections=shown,
        case=work.case.text,
    )
    work.say("user", prompt)
    return ask(work, [HumanMessage(prompt)])


def _section(work: Work, gold: Gold) -> dict[str, Any]:
    """A gold section as the prompt shows it. Raises ``UnknownKey`` and ``UnknownYear``."""
    manual = work.books.library.manual(gold.source, gold.year)
    section = manual.get(gold.key)
    if gold.source == "tabular" and section.kind in ("category", "code"):
        text = render_code(manual, look_up_code(manual, gold.key))
    elif gold.source in INDEXES:
        text = entries(manual, section)[0]
    else:
        text = manual.subtree_text(section)
    if len(text) > SECTION_CHARACTERS:
        text = text[:SECTION_CHARACTERS].rsplit(" ", 1)[0] + " [...]"
    return {
        "citation": section.citation,
        "title": section.title,
        "source": gold.source,
        "year": gold.year,
        "key": gold.key,
        "text": text,
    }
