"""From the options of ``tam run`` to a run: cases, books, model, folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from eval.golds.coverage import by_query
from eval.queries.cases import Case, read_cases
from eval.queries.preparation import Wanted, listed, prepare
from eval.systems.model.calls import Cache
from eval.systems.model.chat import ModelSettings, open_model
from eval.systems.model.pacing import Pace
from eval.systems.model.privacy import endpoint, guard
from eval.systems.model.spending import Meter, Price, Usage, read_prices
from eval.systems.running.asked import Start, run_config, structured_by
from eval.systems.running.folder import RunFolder
from eval.systems.running.runner import Job, Plan, Report, run, system_named
from eval.systems.solvers.outcome import Limits
from eval.systems.tools.books import Shelf
from retrievers.search.corpora import DEFAULT_ROOT, open_indexes
from tam.errors import RunError, UnknownYear

__all__ = ["Start", "StartEnded", "start"]

if TYPE_CHECKING:
    from langchain_core.language_models.chat_models import BaseChatModel

    from eval.systems.model.metering import ModelFactory
    from retrievers.search.index import Index


@dataclass(frozen=True, slots=True)
class StartEnded:
    """How the start ended; ``notes`` are lines for the user, ``usage`` and ``cost`` (dollars) are
    of all starts together."""

    done: int
    failed: int
    left: int
    stopped: str
    notes: tuple[str, ...]
    usage: Usage = field(default_factory=Usage)
    cost: float | None = None


def start(asked: Start, report: Report | None = None) -> StartEnded:
    """Run or go on with a run. Raises ``RunError``, ``BadCases`` and the errors of the index."""
    try:
        return _start(asked, report)
    except OSError as error:
        raise RunError(
            f"{error.filename or asked.out}: {error.strerror or error}; make room or give rights "
            f"and run the same command to go on"
        ) from error


def _start(asked: Start, report: Report | None) -> StartEnded:
    solve, needs_model = system_named(asked.system)
    base_url = endpoint(asked.base_url) if needs_model else None
    if needs_model and not asked.model:
        raise RunError(
            f"the system {asked.system} needs --model, such as --model openai:gpt-5, or a local "
            f"one with --base-url"
        )
    if needs_model:
        guard(asked.domain, asked.model or "", base_url, asked.allow_remote_phi)
    cases = _cases(asked)
    [index] = open_indexes(asked.index_dir or DEFAULT_ROOT, asked.domain)
    if asked.system in ("single-pass", "agentic", "retrieval-only"):
        # Before anything is written or paid for: that the index can be searched like this.
        index.search("a", 1, settings=asked.search)
    jobs, notes = _jobs(asked, cases, index)
    private = asked.domain == "icd"
    price = _price(asked)
    settings = _model_settings(asked, base_url)
    inner = open_model(settings) if needs_model else None
    folder = RunFolder(asked.out, private)
    with folder.opened():
        folder.prepare(run_config(asked, index, base_url, len(jobs), len(cases) - len(jobs)))
        # The cache may hold the very answer that failed: a retry asks again.
        cache = Cache(asked.cache, private, asked.retry_failed) if asked.cache else None
        meter = Meter(price, asked.max_cost, asked.max_tokens, folder.spent())
        pace = Pace(asked.requests_per_minute)
        plan = Plan(
            system=asked.system,
            domain=asked.domain,
            limits=Limits(asked.rounds, asked.case_tokens, asked.repairs, asked.hits),
            structured=structured_by(asked),
            solve=solve,
            model_for=_metered(inner, settings, meter, pace, private),
            meter=meter,
            pace=pace,
            cache=cache,
            concurrency=asked.concurrency,
        )
        ended = run(folder, jobs, plan, asked.retry_failed, report)
    return StartEnded(
        ended.done, ended.failed, ended.left, ended.stopped, notes, meter.usage, meter.cost
    )


def _cases(asked: Start) -> list[Case]:
    """The cases. Raises ``BadCases``, and ``RunError`` for the other domain's."""
    corpus, cases = read_cases(asked.cases, asked.columns)
    if corpus != asked.domain:
        raise RunError(f"{asked.cases}: these are {corpus} cases; say --domain {corpus}")
    return cases if asked.limit is None else cases[: asked.limit]


def _jobs(asked: Start, cases: Sequence[Case], index: Index) -> tuple[list[Job], tuple[str, ...]]:
    """A job for each case whose year has editions, with the golds that ``tam eval`` would measure
    on; the others are told of, never dropped silently."""
    wanted = Wanted(
        policy=asked.year_policy,
        origins=asked.origins,
        columns=asked.columns,
        year_columns=asked.year_columns,
    )
    given = [asked.gold] if asked.gold else []
    prepared = prepare(index, asked.cases, asked.years, given, wanted)
    years = {query.query_id: query.year for query in prepared.queries}
    golds = by_query(prepared.golds)
    shelf = Shelf(index.library, asked.domain, asked.year_policy, index, asked.search)
    jobs: list[Job] = []
    left_out: list[str] = []
    reason = ""
    for case in cases:
        case = replace(case, year=years[case.case_id])
        try:
            books = shelf.books(case.year)
        except UnknownYear as error:
            left_out.append(case.case_id)
            reason = str(error)
            continue
        jobs.append(Job(case, books, tuple(golds.get(case.case_id, ()))))
    if not jobs:
        raise RunError(f"{asked.cases}: no case has an edition of its year; {reason}")
    notes = prepared.notes
    if left_out:
        notes += (f"{len(left_out)} of {len(cases)} cases left out ({listed(left_out)}): {reason}",)
    return jobs, notes


def _price(asked: Start) -> Price | None:
    if asked.prices is None:
        return None
    price = read_prices(asked.prices).get(asked.model or "")
    if price is None:
        raise RunError(f"{asked.prices}: no price for {asked.model}; add an entry for it")
    return price


def _model_settings(asked: Start, base_url: str | None) -> ModelSettings:
    return ModelSettings(
        name=asked.model or "",
        base_url=base_url,
        temperature=asked.temperature,
        seed=asked.seed,
        timeout=asked.timeout,
        retries=asked.retries,
        max_output_tokens=asked.max_output_tokens,
        streaming=asked.streaming,
    )


def _metered(
    inner: BaseChatModel | None, settings: ModelSettings, meter: Meter, pace: Pace, private: bool
) -> ModelFactory | None:
    if inner is None:
        return None
    from eval.systems.model.metering import metered

    return metered(inner, settings, meter, pace, private)
