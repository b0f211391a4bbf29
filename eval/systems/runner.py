"""Running a system over cases: resume, retries of failures, budget, concurrency, progress."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from eval.cases import Case
from eval.golds import Gold
from eval.systems.calls import Cache
from eval.systems.folder import RunFolder
from eval.systems.outcome import Domain, Limits, Outcome, Structured, Work
from eval.systems.spending import BudgetReached, Meter
from eval.systems.stages import gold_record
from eval.systems.tooling import Books
from tam.errors import RunError

if TYPE_CHECKING:
    from eval.systems.model import ModelFactory

#: system -> (module, function, whether it needs a model)
SYSTEMS: dict[str, tuple[str, str, bool]] = {
    "single-pass": ("eval.systems.single_pass", "solve", True),
    "agentic": ("eval.systems.conversing", "agentic", True),
    "react": ("eval.systems.conversing", "react", True),
    "harness": ("eval.systems.harness", "solve", True),
    "retrieval-only": ("eval.systems.retrieval_only", "solve", False),
    "oracle-sections": ("eval.systems.oracle", "solve", True),
}

Report = Callable[["Progress"], None]


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
    ``retry_failed`` is given.

    Ends early, with the folder whole, when the budget is used up or the endpoint refuses every
    call; ``Ended.stopped`` says so.
    """
    folder.trim_transcripts()
    records = folder.records()
    todo = [
        job
        for job in jobs
        if job.case.case_id not in records
        or (retry_failed and records[job.case.case_id]["status"] != "ok")
    ]
    kept = [job for job in jobs if job not in todo]
    for job in jobs:
        if job.case.case_id in records:
            # Left by a kill between the case's line and the end of its journal.
            folder.journal(job.case.case_id).close()
    progress = Progress(
        total=len(jobs),
        done=len(kept),
        failed=sum(records[job.case.case_id]["status"] != "ok" for job in kept),
    )
    lock = threading.Lock()
    stop = threading.Event()

    def work_on(job: Job) -> None:
        if stop.is_set():
            return
        record, steps = solve_one(folder, job, plan)
        with lock:
            folder.add(record, steps)
            folder.journal(job.case.case_id).close()
            progress.done += 1
            progress.ended_here += 1
            progress.failed += record["status"] != "ok"
            progress.tokens = plan.meter.usage.total
            progress.cost = plan.meter.cost
            if report is not None:
                report(progress)

    stopped = _all(work_on, todo, plan.concurrency, stop)
    return Ended(progress.done, progress.failed, progress.total - progress.done, stopped)


def _all(
    work_on: Callable[[Job], None], jobs: Iterable[Job], workers: int, stop: threading.Event
) -> str:
    """Run jobs on threads; the reason when the budget or the endpoint ended it early."""
    waiting = iter(jobs)
    running: set[Future[None]] = set()
    reason = ""
    with ThreadPoolExecutor(max_workers=max(1, workers)) as pool:
        try:
            while True:
                while len(running) < max(1, workers) and not stop.is_set():
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
                        reason = reason or f"budget: {error}"
                        stop.set()
                    elif error is not None:
                        raise error
        except BaseException:
            stop.set()
            raise


def solve_one(
    folder: RunFolder, job: Job, plan: Plan
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """One case: its record and its steps. Only ``BudgetReached``, ``RunError`` and faults of ours
    come out as exceptions; all that a model or endpoint does wrong is a status."""
    begun = time.monotonic()
    work = Work(
        case=job.case,
        domain=plan.domain,
        books=job.books,
        limits=plan.limits,
        structured=plan.structured,
        golds=job.golds,
    )
    usage: dict[str, int] = {}
    paid: dict[str, int] = {}
    cost: float | None = None
    if plan.model_for is None:
        outcome = plan.solve(work)
    else:
        from eval.systems.model import CaseCalls, ModelStop

        calls = CaseCalls(journal=folder.journal(job.case.case_id), cache=plan.cache)
        work.model = plan.model_for(calls)
        try:
            outcome = plan.solve(work)
        except ModelStop as error:
            outcome = Outcome(error.status, None, detail=error.detail)
        used = calls.usage
        usage = {"input": used.input, "output": used.output, "calls": used.calls}
        free = calls.from_cache
        paid = {
            "input": used.input - free.input,
            "output": used.output - free.output,
            "cached_input": used.cached_input - free.cached_input,
            "calls": used.calls - free.calls,
        }
        cost = plan.meter.cost_of(used - free)
    record = {
        "case_id": job.case.case_id,
        "year": job.case.year,
        "editions": dict(job.books.years),
        "status": outcome.status,
        "detail": outcome.detail[:500],
        "prediction": outcome.prediction,
        "reference": list(job.case.codes) if plan.domain == "icd" else job.case.level,
        "golds": [gold_record(gold, job.books.library) for gold in job.golds],
        "answer": outcome.answer,
        "cited": list(outcome.cited),
        "looks": [look.to_json() for look in work.looks],
        "tool_calls": work.tool_calls,
        "usage": usage,
        "paid": paid,
        "cost": cost,
        "seconds": round(time.monotonic() - begun, 3),
    }
    return record, work.steps


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
