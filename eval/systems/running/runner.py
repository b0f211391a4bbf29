"""Running a system over cases: resume, retries of failures, budget, concurrency, progress."""

from __future__ import annotations

import contextlib
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval.domains.model import Domain
from eval.golds.coverage import parts_of
from eval.golds.gold import Gold
from eval.queries.case_files import Case
from eval.queries.trec import section_id
from eval.systems.model.budget import BudgetMeter, BudgetReached, Usage
from eval.systems.model.calls import Cache
from eval.systems.model.failures import CallFailed
from eval.systems.model.privacy import kept_private
from eval.systems.model.rate_limit import RateLimiter
from eval.systems.running.folder import RunFolder
from eval.systems.solvers.case_state import CaseOutcome, CaseState, Limits, Structured
from eval.systems.system import System
from eval.systems.tools.tool import CaseEditions
from tam.errors import TamError, UnknownKey, UnknownYear
from tam.records import to_json

if TYPE_CHECKING:
    from eval.systems.model.metering import CaseCalls, ModelFactory

Report = Callable[["Progress"], None]

#: characters of what went wrong that a record keeps
DETAIL_CHARACTERS = 500


@dataclass(frozen=True, slots=True)
class PreparedCase:
    """One case with the editions of its year and, where known, its gold sections."""

    case: Case
    editions: CaseEditions
    golds: tuple[Gold, ...] = ()


@dataclass
class Progress:
    """What a progress line shows."""

    total: int
    done: int = 0
    failed: int = 0
    cost: float | None = None
    tokens: int = 0
    started: float = field(default_factory=time.monotonic)
    ended_here: int = 0

    def line(self) -> str:
        """Done, failed, tokens, cost and time left."""
        left = ""
        if self.ended_here and self.done < self.total:
            each = (time.monotonic() - self.started) / self.ended_here
            left = f", {each * (self.total - self.done) / 60:.1f} min left"
        cost = f", ${self.cost:.2f}" if self.cost is not None else ""
        return (
            f"{self.done}/{self.total} done, {self.failed} failed, "
            f"{self.tokens:,} tokens{cost}{left}"
        )


@dataclass(frozen=True, slots=True)
class RunPlan:
    """What stays the same over the cases of a run."""

    system: System
    domain: Domain
    limits: Limits
    structured: Structured
    model_for: ModelFactory | None
    budget: BudgetMeter
    limiter: RateLimiter
    cache: Cache | None = None
    concurrency: int = 1


@dataclass(frozen=True, slots=True)
class RunSummary:
    """How a start of a run ended. ``stopped`` says why it did not go through, if so; ``notes`` are
    lines for the user, ``usage`` and ``cost`` (dollars) are of all starts together."""

    done: int
    failed: int
    left: int
    stopped: str = ""
    notes: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    cost: float | None = None


def run_cases(
    folder: RunFolder,
    cases: Sequence[PreparedCase],
    plan: RunPlan,
    retry_failed: bool = False,
    report: Report | None = None,
) -> RunSummary:
    """Run what is missing. A case that has a line is not run again, unless it failed and
    ``retry_failed`` is given. The folder is opened by the caller.

    Ends early, with the folder whole, when the budget is used up; ``stopped`` says so.
    Raises ``RunError`` when the endpoint would refuse every call or the folder takes no more.
    """
    failed = {case_id: record["status"] != "ok" for case_id, record in folder.records().items()}
    todo = [
        each
        for each in cases
        if failed.get(each.case.case_id, True) and (retry_failed or each.case.case_id not in failed)
    ]
    again = {each.case.case_id for each in todo}
    kept = [each.case.case_id for each in cases if each.case.case_id not in again]
    progress = Progress(total=len(cases), done=len(kept), failed=sum(failed[c] for c in kept))
    lock = threading.Lock()

    def show() -> None:
        progress.tokens = plan.budget.usage.total
        progress.cost = plan.budget.cost
        if report is not None:
            report(progress)

    def work_on(prepared: PreparedCase) -> None:
        record, steps = solve_one(folder, prepared, plan)
        with lock:
            folder.add(record, steps)
            progress.done += 1
            progress.ended_here += 1
            progress.failed += record["status"] != "ok"
            show()

    show()
    stopped = _all(work_on, todo, plan)
    left = progress.total - progress.done
    summary = RunSummary(progress.done, progress.failed, left, stopped)
    return replace(summary, usage=plan.budget.usage, cost=plan.budget.cost)


def _all(
    work_on: Callable[[PreparedCase], None], cases: Iterable[PreparedCase], plan: RunPlan
) -> str:
    """Run cases on threads; the reason when the budget ended it early.

    The first error stops the others at their next call: what they asked so far is in their
    journals, and the next start goes on from there.
    """
    waiting = iter(cases)
    running: set[Future[None]] = set()
    reason = ""
    workers = max(1, plan.concurrency)
    with ThreadPoolExecutor(max_workers=workers) as pool:
        try:
            while True:
                while len(running) < workers and not reason:
                    prepared = next(waiting, None)
                    if prepared is None:
                        break
                    running.add(pool.submit(work_on, prepared))
                if not running:
                    return reason
                ended, running = wait(running, return_when=FIRST_COMPLETED)
                for future in ended:
                    error = future.exception()
                    if isinstance(error, BudgetReached):
                        reason = reason or str(error)
                    elif error is not None:
                        raise error
        finally:
            plan.limiter.stop()


def solve_one(
    folder: RunFolder, prepared: PreparedCase, plan: RunPlan
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """One case: its record and its steps.

    Only ``BudgetReached`` and what a user can mend come out as exceptions; all that a model or
    an endpoint does wrong is a status, and so is a fault of ours, so that one case does not end
    a run of hundreds.
    """
    begun = time.monotonic()
    state = CaseState(
        case=prepared.case,
        domain=plan.domain,
        editions=prepared.editions,
        limits=plan.limits,
        structured=plan.structured,
        golds=prepared.golds,
        gold_parts=_gold_parts(prepared),
    )
    calls: CaseCalls | None = None
    if plan.model_for is not None:
        from eval.systems.model.metering import CaseCalls
        from eval.systems.solvers.answering import listener

        journal = folder.journal(prepared.case.case_id)
        calls = own = CaseCalls(journal, plan.cache, listener=listener(state))
        state.model = plan.model_for(own)
        state.used_tokens = lambda: own.usage.total
    try:
        with kept_private(plan.domain.private and plan.model_for is not None):
            outcome = plan.system.solve(state)
    except CallFailed as failure:
        outcome = CaseOutcome(failure.status, None, detail=failure.detail)
    except (BudgetReached, TamError):
        raise
    except Exception as error:
        outcome = CaseOutcome("fault", None, detail=_place(error))
    record = _record(prepared, state, outcome) | {"seconds": round(time.monotonic() - begun, 3)}
    return record | _spending(calls, plan.budget), state.steps


def _gold_parts(prepared: PreparedCase) -> dict[str, frozenset[str]]:
    """What must be shown for a gold to be seen: by the rule of ``eval.golds.coverage``."""
    parts: dict[str, frozenset[str]] = {}
    for gold in prepared.golds:
        shown = {gold.section}
        with prepared.editions.lock, contextlib.suppress(UnknownKey, UnknownYear):
            manual = prepared.editions.library.manual(gold.source, gold.year)
            below = parts_of(manual, manual.get(gold.key))
            shown |= {section_id(gold.source, gold.year, part.key) for part in below}
        parts[gold.section] = frozenset(shown)
    return parts


def _place(error: Exception) -> str:
    """An exception's kind and place, without its message: that may quote a case."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} in {Path(last.filename).name}, line {last.lineno}"


def _record(prepared: PreparedCase, state: CaseState, outcome: CaseOutcome) -> dict[str, Any]:
    answer = prepared.case.answer
    return {
        "case_id": prepared.case.case_id,
        "year": prepared.case.year,
        "editions": dict(prepared.editions.years),
        "status": outcome.status,
        "detail": outcome.detail[:DETAIL_CHARACTERS],
        "prediction": outcome.prediction,
        "reference": list(answer) if isinstance(answer, tuple) else answer,
        "golds": [{"id": gold.section, "grade": gold.grade} for gold in prepared.golds],
        "answer": outcome.answer,
        "cited": list(outcome.cited),
        "looks": [to_json(retrieval) for retrieval in state.retrievals],
        "tool_calls": state.tool_calls,
    }


def _spending(calls: CaseCalls | None, budget: BudgetMeter) -> dict[str, Any]:
    """``usage`` of all calls, ``paid`` without those that the cache answered, and its cost."""
    if calls is None:
        return {"usage": {}, "paid": {}, "cost": None, "retries": 0}
    used, paid = calls.usage, calls.journal.usage
    return {
        "usage": {"input": used.input, "output": used.output, "calls": used.calls},
        "paid": to_json(paid),
        "cost": budget.cost_of(paid),
        "retries": calls.retries,
    }
