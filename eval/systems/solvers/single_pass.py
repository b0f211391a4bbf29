"""System 1: one retrieval, one answer."""

from __future__ import annotations

from langchain_core.messages import HumanMessage

from eval.systems.solvers.answering import ask
from eval.systems.solvers.outcome import Outcome, Work
from eval.systems.solvers.prompting import render
from eval.systems.tools.search import shown_by
from eval.systems.tools.tool import ToolResult


def solve(work: Work) -> Outcome:
    """Retrieve the top sections with the whole case as the query and ask once."""
    if work.books.search is None:
        raise ValueError("single-pass needs an index")
    hits = list(work.books.search(work.case.text, work.limits.hits, None))
    work.record("retrieve", {}, ToolResult("", shown_by(hits)))
    prompt = render(
        "single_pass",
        domain=work.domain,
        year=work.books.years_text(),
        sections=[
            {
                "citation": hit.covers or hit.citation,
                "title": hit.title,
                "source": hit.source,
                "year": hit.year,
                "key": hit.section_keys[0] if hit.section_keys else hit.chunk_id,
                "text": hit.text,
            }
            for hit in hits
        ],
        case=work.case.text,
    )
    work.say("user", prompt)
    return ask(work, [HumanMessage(prompt)])
