"""Running a system over cases: resume, retries of failures, budget, concurrency, progress."""

from __future__ import annotations

import contextlib
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval.golds.coverage import parts_of
from eval.golds.gold import Gold
from eval.queries.cases import Case
from eval.queries.trec import section_id
from eval.systems.model.calls import Cache
from eval.systems.model.pacing import Pace
from eval.systems.model.privacy import kept_private
from eval.systems.model.spending import BudgetReached, Meter
from eval.systems.model.stops import ModelStop
from eval.systems.running.folder import RunFolder
from eval.systems.solvers.outcome import Domain, Limits, Outcome, Structured, Work
from eval.systems.tools.tool import Books
from tam.errors import RunError, TamError, UnknownKey, UnknownYear

if TYPE_CHECKING:
    from eval.systems.model.metering import CaseCalls, ModelFactory

#: system -> (module, function, whether it needs a model)
SYSTEMS: dict[str, tuple[str, str, bool]] = {
    "single-pass": ("eval.systems.solvers.single_pass", "solve", True),
    "agentic": ("eval.systems.solvers.conversing", "agentic", True),
    "react": ("eval.systems.solvers.conversing", "react", True),
    "harness": ("eval.systems.solvers.harness", "solve", True),
    "retrieval-only": ("eval.systems.solvers.retrieval_only", "solve", False),
    "oracle-sections": ("eval.systems.solvers.oracle", "solve", True),
}

Report = Callable[["Progress"], None]

#: characters of what went wrong that a record keeps
DETAIL_CHARACTERS = 500


@dataclass(frozen=True, slots=True)
class Job:
    """One case with the books of its year and, where known, its gold sections."""

    case: Case
    books: Books
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
            pace = (time.monotonic() - self.started) / self.ended_here
            left = f", {pace * (self.total - self.done) / 60:.1f} min left"
        cost = f", ${self.cost:.2f}" if self.cost is not None else ""
        return (
            f"{self.done}/{self.total} done, {self.failed} failed, "
            f"{self.tokens:,} tokens{cost}{left}"
        )


@dataclass(frozen=True, slots=True)
class Plan:
    """What stays the same over the cases of a run."""

    system: str
    domain: Domain
    limits: Limits
    structured: Structured
    solve: Callable[[Work], Outcome]
    model_for: ModelFactory | None
    meter: Meter
    pace: Pace
    cache: Cache | None = None
    concurrency: int = 1


@dataclass(frozen=True, slots=True)
class Ended:
    """How a start of a run ended. ``stopped`` says why it did not go through, if so."""

    done: int
    failed: int
    left: int
    stopped: str = ""


def run(
    folder: RunFolder,
    jobs: Sequence[Job],
    plan: Plan,
    retry_failed: bool = False,
    report: Report | None = None,
) -> Ended:
    """Run what is missing. A case that has a line is not run again, unless it failed and
    ``retry_failed`` is given. The folder is opened by the caller.

    Ends early, with the folder whole, when the budget is used up; ``Ended.stopped`` says so.
    Raises ``RunError`` when the endpoint would refuse every call or the folder takes no more.
    """
    failed = {case_id: record["status"] != "ok" for case_id, record in folder.records().items()}
    todo = [
        job
        for job in jobs
        if failed.get(job.case.case_id, True) and (retry_failed or job.case.case_id not in failed)
    ]
    again = {job.case.case_id for job in todo}
    kept = [job.case.case_id for job in jobs if job.case.case_id not in again]
    progress = Progress(total=len(jobs), done=len(kept), failed=sum(failed[c] for c in kept))
    lock = threading.Lock()

    def show() -> None:
        progress.tokens = plan.meter.usage.total
        progress.cost = plan.meter.cost
        if report is not None:
            report(progress)

    def work_on(job: Job) -> None:
        record, steps = solve_one(folder, job, plan)
        with lock:
            folder.add(record, steps)
            progress.done += 1
            progress.ended_here += 1
            progress.failed += record["status"] != "ok"
            show()

    show()
    stopped = _all(work_on, todo, plan)
    return Ended(progress.done, progress.failed, progress.total - progress.done, stopped)


def _all(work_on: Callable[[Job], None], jobs: Iterable[Job], plan: Plan) -> str:
    """Run jobs on threads; the reason when the budget ended it early.

    The first error stops the others at their next call: what they asked so far is in their
    journals, and the next start goes on from there.
    """
    waiting = iter(jobs)
    running: set[Future[None]] = set()
    reason = ""
    workers = max(1, plan.concurrency)
    with ThreadPoolExecutor(max_workers=workers) as pool:
        try:
            while True:
                while len(running) < workers and not reason:
                    job = next(waiting, None)
                    if job is None:
                        break
                    running.add(pool.submit(work_on, job))
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
            plan.pace.stop()


def solve_one(
    folder: RunFolder, job: Job, plan: Plan
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """One case: its record and its steps.

    Only ``BudgetReached`` and what a user can mend come out as exceptions; all that a model or
    an endpoint does wrong is a status, and so is a fault of ours, so that one case does not end
    a run of hundreds.
    """
    begun = time.monotonic()
    work = Work(
        case=job.case,
        domain=plan.domain,
        books=job.books,
        limits=plan.limits,
        structured=plan.structured,
        golds=job.golds,
        gold_parts=_gold_parts(job),
    )
    calls: CaseCalls | None = None
    if plan.model_for is not None:
        from eval.systems.model.metering import CaseCalls
        from eval.systems.solvers.answering import listener

        calls = own = CaseCalls(journal=folder.journal(job.case.case_id), cache=plan.cache)
        work.model = plan.model_for(own)
        work.used_tokens = lambda: own.usage.total
        own.listener = listener(work)
    try:
        with kept_private(plan.domain == "icd" and plan.model_for is not None):
            outcome = plan.solve(work)
    except ModelStop as stop:
        outcome = Outcome(stop.status, None, detail=stop.detail)
    except (BudgetReached, TamError):
        raise
    except Exception as error:
        outcome = Outcome("fault", None, detail=_place(error))
    record = _record(job, plan, work, outcome) | {"seconds": round(time.monotonic() - begun, 3)}
    return record | _spending(calls, plan.meter), work.steps


def _gold_parts(job: Job) -> dict[str, frozenset[str]]:
    """What a look must show for a gold to be seen: by the rule of ``eval.golds.coverage``."""
    parts: dict[str, frozenset[str]] = {}
    for gold in job.golds:
        shown = {gold.section}
        with job.books.lock, contextlib.suppress(UnknownKey, UnknownYear):
            manual = job.books.library.manual(gold.source, gold.year)
            below = parts_of(manual, manual.get(gold.key))
            shown |= {section_id(gold.source, gold.year, part.key) for part in below}
        parts[gold.section] = frozenset(shown)
    return parts


def _place(error: Exception) -> str:
    """An exception's kind and place, without its message: that may quote a case."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} in {Path(last.filename).name}, line {last.lineno}"


def _record(job: Job, plan: Plan, work: Work, outcome: Outcome) -> dict[str, Any]:
    return {
        "case_id": job.case.case_id,
        "year": job.case.year,
        "editions": dict(job.books.years),
        "status": outcome.status,
        "detail": outcome.detail[:DETAIL_CHARACTERS],
        "prediction": outcome.prediction,
        "reference": list(job.case.codes) if plan.domain == "icd" else job.case.level,
        "golds": [{"id": gold.section, "grade": gold.grade} for gold in job.golds],
        "answer": outcome.answer,
        "cited": list(outcome.cited),
        "looks": [look.to_json() for look in work.looks],
        "tool_calls": work.tool_calls,
    }


def _spending(calls: CaseCalls | None, meter: Meter) -> dict[str, Any]:
    """``usage`` of all calls, ``paid`` without those that the cache answered, and its cost."""
    if calls is None:
        return {"usage": {}, "paid": {}, "cost": None, "retries": 0}
    used, paid = calls.usage, calls.journal.usage
    return {
        "usage": {"input": used.input, "output": used.output, "calls": used.calls},
        "paid": {
            "input": paid.input,
            "output": paid.output,
            "cached_input": paid.cached_input,
            "calls": paid.calls,
        },
        "cost": meter.cost_of(paid),
        "retries": calls.retries,
    }


def system_named(name: str) -> tuple[Callable[[Work], Outcome], bool]:
    """A system's function and whether it needs a model. Raises ``RunError`` listing the names."""
    import importlib

    if name not in SYSTEMS:
        raise RunError(f"no system {name!r}; systems are {', '.join(SYSTEMS)}")
    module, function, needs_model = SYSTEMS[name]
    try:
        return getattr(importlib.import_module(module), function), needs_model
    except ModuleNotFoundError as error:
        if error.name and error.name.split(".")[0] in ("langchain_core", "pydantic", "langchain"):
            from tam.errors import MissingExtra

            raise MissingExtra(error.name, "llm", f"the system {name}") from error
        raise
