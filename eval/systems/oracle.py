"""Control with a model: the gold sections in place of retrieved ones.

It separates retrieval from reasoning: what is still wrong here, no retriever can mend.
"""

from __future__ import annotations

from langchain_core.messages import HumanMessage

from eval.systems.answering import ask
from eval.systems.outcome import Outcome, Work
from eval.systems.prompting import render
from eval.systems.tooling import ToolResult
from tam.errors import TamError

#: characters of one gold section that are shown
SECTION_CHARACTERS = 12_000


def solve(work: Work) -> Outcome:
    """Ask once with the gold sections; a gold that no edition here holds is left out."""
    shown = []
    names = []
    for gold in work.golds:
        try:
            manual = work.books.library.manual(gold.source, gold.year)
            section = manual.get(gold.key)
        except TamError:
            continue
        text = manual.subtree_text(section)
        if len(text) > SECTION_CHARACTERS:
            text = text[:SECTION_CHARACTERS].rsplit(" ", 1)[0] + " [...]"
        shown.append(
            {
                "citation": section.citation,
                "title": section.title,
                "source": gold.source,
                "year": gold.year,
                "key": gold.key,
                "text": text,
            }
        )
        names.append(gold.section)
    work.record("gold_sections", {}, ToolResult("", tuple(names)))
    prompt = render(
        "single_pass",
        domain=work.domain,
        year=work.books.years_text(),
        sections=shown,
        case=work.case.text,
    )
    work.say("user", prompt)
    return ask(work, [HumanMessage(prompt)])
