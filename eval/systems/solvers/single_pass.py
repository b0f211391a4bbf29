"""One question: the case with sections, retrieved or (the oracle) the gold ones."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from langchain_core.messages import HumanMessage

from eval.systems.solvers.answering import ask
from eval.systems.solvers.case_state import CaseOutcome, CaseState
from eval.systems.solvers.prompting import render


class ShownSection(NamedTuple):
    """A section as the prompt shows it."""

    citation: str
    title: str
    source: str
    year: int
    key: str
    text: str


def solve(state: CaseState) -> CaseOutcome:
    """Retrieve the top sections with the whole case as the query and ask once."""
    return ask_with(
        state,
        (
            ShownSection(
                hit.covers or hit.citation,
                hit.title,
                hit.source,
                hit.year,
                hit.section_keys[0] if hit.section_keys else hit.chunk_id,
                hit.text,
            )
            for hit in state.retrieve()
        ),
    )


def ask_with(state: CaseState, sections: Iterable[ShownSection]) -> CaseOutcome:
    """Ask once, with the sections before the case."""
    prompt = render(
        state.domain,
        "single_pass",
        year=state.editions.years_text(),
        sections=list(sections),
        case=state.case.text,
    )
    state.say("user", prompt)
    return ask(state, [HumanMessage(prompt)])
