"""From the options of ``tam run`` to a run: cases, books, model, folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import FileLock, Timeout

from eval.cases import Case, read_cases, read_years, with_years
from eval.golds import Gold, given_golds, read_given
from eval.systems.books import Shelf
from eval.systems.calls import Cache
from eval.systems.folder import RunFolder
from eval.systems.outcome import Domain, Limits, Structured
from eval.systems.privacy import guard
from eval.systems.prompting import prompt_hashes
from eval.systems.runner import Job, Plan, Report, run, system_named
from eval.systems.spending import Meter, Price, read_prices
from manuals.library import Library
from tam import __version__
from tam.errors import RunError, UnknownYear
from tam.files import sha256_file

if TYPE_CHECKING:
    from eval.systems.model import ModelFactory
    from retrievers.index import Index


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """What ``tam run`` was asked for; the names are its options'."""

    system: str
    domain: Domain
    cases: Path
    out: Path
    years: Path | None = None
    gold: Path | None = None
    index_dir: Path | None = None
    model: str | None = None
    base_url: str | None = None
    temperature: float | None = None
    seed: int | None = None
    timeout: float = 300.0
    retries: int = 5
    max_output_tokens: int | None = None
    streaming: bool = False
    structured: Structured = "json_schema"
    hits: int = 8
    retriever: str = "hybrid"
    query_mode: str = "whole"
    rounds: int = 40
    case_tokens: int = 400_000
    repairs: int = 2
    year_policy: str = "exact"
    concurrency: int = 1
    requests_per_minute: float | None = None
    prices: Path | None = None
    max_cost: float | None = None
    max_tokens: int | None = None
    cache: Path | None = None
    retry_failed: bool = False
    limit: int | None = None
    allow_remote_phi: bool = False


@dataclass(frozen=True, slots=True)
class StartEnded:
    """How the start ended; ``notes`` are lines for the user."""

    done: int
    failed: int
    left: int
    stopped: str
    notes: tuple[str, ...]


def start(asked: Start, report: Report | None = None) -> StartEnded:
    """Run or go on with a run. Raises ``RunError``, ``BadCases`` and the errors of the index."""
    solve, needs_model = system_named(asked.system)
    if needs_model and not asked.model:
        raise RunError(
            f"the system {asked.system} needs --model, such as --model openai:gpt-5, or a local "
            f"one with --base-url"
        )
    if needs_model:
        guard(asked.domain, asked.base_url, asked.allow_remote_phi)
    cases = read_run_cases(asked.cases, asked.years, asked.domain)
    if asked.limit is not None:
        cases = cases[: asked.limit]
    index = _open_index(asked)
    jobs, notes = _jobs(asked, cases, index)
    folder = RunFolder(asked.out, private=asked.domain == "icd")
    folder.prepare(_config(asked, index))
    lock = FileLock(asked.out / ".lock")
    try:
        with lock.acquire(timeout=0):
            # The cache may hold the very answer that failed: a retry asks again.
            cache = Cache(asked.cache, 0o600 if folder.private else 0o644) if asked.cache else None
            meter = Meter(_price(asked), asked.max_cost, asked.max_tokens, folder.spent())
            plan = Plan(
                system=asked.system,
                domain=asked.domain,
                limits=Limits(asked.rounds, asked.case_tokens, asked.repairs, asked.hits),
                structured=asked.structured,
                solve=solve,
                model_for=_model(asked, meter) if needs_model else None,
                meter=meter,
                cache=None if asked.retry_failed else cache,
                concurrency=asked.concurrency,
            )
            ended = run(folder, jobs, plan, asked.retry_failed, report)
    except Timeout as error:
        raise RunError(f"{asked.out}: another process is at this run; wait for it") from error
    return StartEnded(ended.done, ended.failed, ended.left, ended.stopped, notes)


def read_run_cases(path: Path, years: Path | None, domain: str) -> list[Case]:
    """The cases with their years. Raises ``BadCases``, and ``RunError`` for the other domain's."""
    corpus, cases = read_cases(path)
    if corpus != domain:
        raise RunError(f"{path}: these are {corpus} cases; say --domain {corpus}")
    return with_years(cases, read_years(years)) if years is not None else cases


def _open_index(asked: Start) -> Index:
    from retrievers.index import open_index

    return open_index(asked.index_dir or Path("indexes") / asked.domain)


def _jobs(asked: Start, cases: Sequence[Case], index: Index) -> tuple[list[Job], tuple[str, ...]]:
    """A job for each case whose year has editions; the others are told of, never dropped
    silently."""
    from retrievers.settings import SearchSettings

    settings = SearchSettings(retriever=asked.retriever, query_mode=asked.query_mode)
    shelf = Shelf(index.library, asked.domain, asked.year_policy, index, settings)
    jobs: list[Job] = []
    left_out: list[str] = []
    reason = ""
    for case in cases:
        try:
            books = shelf.books(case.year)
        except UnknownYear as error:
            left_out.append(case.case_id)
            reason = str(error)
            continue
        jobs.append(Job(case, books))
    if not jobs:
        raise RunError(f"{asked.cases}: no case has an edition of its year; {reason}")
    notes: tuple[str, ...] = ()
    if left_out:
        shown = ", ".join(left_out[:5]) + (", ..." if len(left_out) > 5 else "")
        notes = (f"{len(left_out)} of {len(cases)} cases left out ({shown}): {reason}",)
    return _with_golds(asked, jobs, index), notes


def _with_golds(asked: Start, jobs: Sequence[Job], index: Index) -> list[Job]:
    """The jobs with their gold sections: given ones, else those that the rules of golds find."""
    editions = {job.case.case_id: dict(job.books.years) for job in jobs}
    cases = [job.case for job in jobs]
    by_case: dict[str, list[Gold]] = {}
    for gold in case_golds(asked.domain, cases, editions, index.library, asked.gold):
        by_case.setdefault(gold.query_id, []).append(gold)
    return [Job(job.case, job.books, tuple(by_case.get(job.case.case_id, ()))) for job in jobs]


def case_golds(
    domain: str,
    cases: Sequence[Case],
    editions: dict[str, dict[str, int]],
    library: Library,
    given: Path | None,
) -> list[Gold]:
    """Gold sections of cases: those of a file, else by the rules of ``icd_golds`` (the codes'
    own sections and what leads to them) or ``legal_golds``."""
    if given is not None:
        return given_golds(read_given(given), editions, library)
    if domain == "icd":
        from eval.icd_golds import IcdGolds

        icd = IcdGolds(library)
        return [
            gold
            for case in cases
            for gold in icd.golds(case.case_id, case.codes, editions[case.case_id])
        ]
    from eval.legal_golds import LegalGolds

    legal = LegalGolds(library)
    return [
        gold
        for case in cases
        for gold in legal.golds(case.case_id, case.text, editions[case.case_id]).golds
    ]


def _config(asked: Start, index: Index) -> dict[str, Any]:
    """What a run is known by. Paths and keys stay out."""
    return {
        "tool_version": __version__,
        "system": asked.system,
        "domain": asked.domain,
        "cases": asked.cases.name,
        "cases_sha256": sha256_file(asked.cases),
        "years_sha256": sha256_file(asked.years) if asked.years else None,
        "gold_sha256": sha256_file(asked.gold) if asked.gold else None,
        "limit": asked.limit,
        "model": asked.model,
        "temperature": asked.temperature,
        "seed": asked.seed,
        "max_output_tokens": asked.max_output_tokens,
        "structured": asked.structured,
        "streaming": asked.streaming,
        "hits": asked.hits,
        "retriever": asked.retriever,
        "query_mode": asked.query_mode,
        "rounds": asked.rounds,
        "case_tokens": asked.case_tokens,
        "repairs": asked.repairs,
        "year_policy": asked.year_policy,
        "index": index.manifest.inputs,
        "editions": [edition.name for edition in index.library.editions],
        "prompts": prompt_hashes(),
        "timeout": asked.timeout,
    }


def _price(asked: Start) -> Price | None:
    if asked.prices is None:
        return None
    price = read_prices(asked.prices).get(asked.model or "")
    if price is None:
        raise RunError(f"{asked.prices}: no price for {asked.model}; add an entry for it")
    return price


def _model(asked: Start, meter: Meter) -> ModelFactory:
    from eval.systems.model import ModelSettings, metered, open_model

    settings = ModelSettings(
        name=asked.model or "",
        base_url=asked.base_url,
        temperature=asked.temperature,
        seed=asked.seed,
        timeout=asked.timeout,
        retries=asked.retries,
        max_output_tokens=asked.max_output_tokens,
        streaming=asked.streaming,
    )
    return metered(open_model(settings), settings, meter, asked.requests_per_minute)
