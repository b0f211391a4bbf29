"""A system of one's own: the same level for every case, a floor without any retrieval."""

from eval.systems.solvers.case_state import CaseOutcome, CaseState
from eval.systems.system import System


def solve(state: CaseState) -> CaseOutcome:
    """The most common answer, whatever the case says."""
    state.say("note", "the same answer for every case")
    return CaseOutcome("ok", 6)


SYSTEM = System(
    name="constant",
    order=1000,
    title="one answer to every case",
    solve=solve,
    needs_model=False,
)
