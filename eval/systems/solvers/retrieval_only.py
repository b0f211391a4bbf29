"""Control without a model: an answer from the retrieved sections by the domain's stated rule.

It is a floor, not a system: what a table's numbers must beat to show that a model adds something.
"""

from __future__ import annotations

from eval.systems.solvers.case_state import CaseOutcome, CaseState


def solve(state: CaseState) -> CaseOutcome:
    """Retrieve with the whole case, then answer by the rule."""
    hits = state.retrieve()
    domain = state.domain
    if domain.answer_from_hits is None:
        raise ValueError(f"domain {domain.name} has no rule for hits")
    if domain.core_source and domain.core_source not in state.editions.years:
        detail = f"no edition of {domain.core_source} for the case's year"
        return CaseOutcome("unparsed", None, detail=detail)
    with state.editions.lock:
        found = domain.answer_from_hits(state.case, state.editions, hits)
    if found.prediction is None:
        return CaseOutcome("unparsed", None, detail=found.detail)
    return CaseOutcome("ok", found.prediction, cited=found.cited)
