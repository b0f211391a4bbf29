"""How a coder goes through a note: each problem from the index to the list, then what the list and
the guidelines add."""

from __future__ import annotations

from collections.abc import Sequence

from manuals.apply.plan import PlanStep, Statement
from manuals.model.sections import Manual

#: categories that each problem may bring of 25 sections
_PER_PROBLEM = 2


def steps(manual: Manual | None, found: Sequence[Statement]) -> tuple[PlanStep, ...]:
    """A step for each problem of the note, then what the rest of it adds: status and history
    (chapter 21), external causes (chapter 20), other conditions, guidelines."""
    problems = [number for number, each in enumerate(found) if each.problem]
    rest = tuple(number for number, each in enumerate(found) if not each.problem)
    share = max(1, min(_PER_PROBLEM + 1, 14 // max(len(problems), 1)))
    planned = [
        PlanStep(found[number].text, "tabular", share, statements=(number,)) for number in problems
    ]
    if rest:
        planned += [
            PlanStep("Other conditions", "tabular", 4 if problems else 14, statements=rest),
            PlanStep("Status and history", "tabular", 3, ("Chapter 21",), statements=rest),
            PlanStep("External causes", "tabular", 1, ("Chapter 20",), statements=rest),
        ]
    return (*planned, PlanStep("Guidelines", "guidelines", 3))
