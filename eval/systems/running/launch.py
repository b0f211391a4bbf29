"""From a request to a run: cases, editions, model, folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from eval.domains.model import DOMAINS, Domain
from eval.golds.coverage import by_query
from eval.queries.case_files import Case, listed
from eval.queries.cases import read_cases
from eval.queries.preparation import Wanted, prepare
from eval.systems.model.budget import BudgetMeter, Price, read_prices
from eval.systems.model.calls import Cache
from eval.systems.model.chat import ModelSettings, open_model
from eval.systems.model.privacy import endpoint, guard
from eval.systems.model.rate_limit import RateLimiter
from eval.systems.running.folder import RunFolder
from eval.systems.running.request import RunRequest, run_config
from eval.systems.running.runner import PreparedCase, Report, RunPlan, RunSummary, run_cases
from eval.systems.solvers.case_state import Limits
from eval.systems.system import SYSTEMS
from eval.systems.tools.editions import EditionChooser
from retrievers.search.corpora import DEFAULT_ROOT, open_indexes
from retrievers.search.index import Index
from tam.errors import RunError, UnknownYear


def run_request(request: RunRequest, report: Report | None = None) -> RunSummary:
    """Run or go on with a run. Raises ``BadOption``, ``RunError``, ``BadCases`` and the errors of
    the index."""
    try:
        return _run(request, report)
    except OSError as error:
        raise RunError(
            f"{error.filename or request.out}: {error.strerror or error}; make room or give rights "
            f"and run the same command to go on"
        ) from error


def _run(request: RunRequest, report: Report | None) -> RunSummary:
    system, domain = SYSTEMS[request.system], DOMAINS[request.domain]
    system.check(domain)
    base_url = endpoint(request.base_url) if system.needs_model else None
    if system.needs_model:
        if not request.model:
            raise RunError(
                f"the system {system.name} needs --model, such as --model openai:gpt-5, or a local "
                f"one with --base-url"
            )
        guard(domain, request.model, base_url, request.allow_remote_phi)
    cases = _cases(request)
    [index] = open_indexes(request.index_dir or DEFAULT_ROOT, domain.corpus)
    if "search" in system.options:
        # Before anything is written or paid for: that the index can be searched like this.
        index.search("a", 1, settings=request.search)
    prepared, notes = _prepared(request, domain, cases, index)
    price = _price(request)
    settings = _model_settings(request, base_url)
    inner = open_model(settings) if system.needs_model else None
    folder = RunFolder(request.out, domain.private)
    with folder.opened():
        left_out = len(cases) - len(prepared)
        folder.prepare(run_config(request, index, base_url, len(prepared), left_out))
        budget = BudgetMeter(price, request.max_cost, request.max_tokens, folder.spent())
        limiter = RateLimiter(request.requests_per_minute)
        model_for = None
        if inner is not None:
            from eval.systems.model.metering import metered

            model_for = metered(inner, settings, budget, limiter, domain.private)
        # The cache may hold the very answer that failed: a retry asks again.
        cache = (
            Cache(request.cache, domain.private, request.retry_failed) if request.cache else None
        )
        plan = RunPlan(
            system=system,
            domain=domain,
            limits=Limits(request.rounds, request.case_tokens, request.repairs, request.hits),
            structured=request.structured_by,
            model_for=model_for,
            budget=budget,
            limiter=limiter,
            cache=cache,
            concurrency=request.concurrency,
        )
        ended = run_cases(folder, prepared, plan, request.retry_failed, report)
    return replace(ended, notes=notes)


def _cases(request: RunRequest) -> list[Case]:
    """The cases. Raises ``BadCases``, and ``RunError`` for another domain's."""
    found, cases = read_cases(request.cases, request.columns, request.domain)
    if found.name != request.domain:
        raise RunError(f"{request.cases}: these are {found.name} cases; say --domain {found.name}")
    return cases if request.limit is None else cases[: request.limit]


def _prepared(
    request: RunRequest, domain: Domain, cases: Sequence[Case], index: Index
) -> tuple[list[PreparedCase], tuple[str, ...]]:
    """Each case whose year has editions, with the golds that ``tam eval`` would measure on; the
    others are told of, never dropped silently."""
    wanted = Wanted(
        year_policy=request.year_policy,
        origins=request.origins,
        columns=request.columns,
        year_columns=request.year_columns,
        domain=domain.name,
    )
    given = [request.gold] if request.gold else []
    found = prepare(index, request.cases, request.years, given, wanted)
    years = {query.query_id: query.year for query in found.queries}
    golds = by_query(found.golds)
    chooser = EditionChooser(index.library, domain, request.year_policy, index, request.search)
    prepared: list[PreparedCase] = []
    left_out: list[str] = []
    reason = ""
    for case in cases:
        case = replace(case, year=years[case.case_id])
        try:
            editions = chooser.choose(case.year)
        except UnknownYear as error:
            left_out.append(case.case_id)
            reason = str(error)
            continue
        prepared.append(PreparedCase(case, editions, tuple(golds.get(case.case_id, ()))))
    if not prepared:
        raise RunError(f"{request.cases}: no case has an edition of its year; {reason}")
    notes = found.notes
    if left_out:
        notes += (f"{len(left_out)} of {len(cases)} cases left out ({listed(left_out)}): {reason}",)
    return prepared, notes


def _price(request: RunRequest) -> Price | None:
    if request.prices is None:
        return None
    price = read_prices(request.prices).get(request.model or "")
    if price is None:
        raise RunError(f"{request.prices}: no price for {request.model}; add an entry for it")
    return price


def _model_settings(request: RunRequest, base_url: str | None) -> ModelSettings:
    return ModelSettings(
        name=request.model or "",
        base_url=base_url,
        temperature=request.temperature,
        seed=request.seed,
        timeout=request.timeout,
        retries=request.retries,
        max_output_tokens=request.max_output_tokens,
        streaming=request.streaming,
    )
