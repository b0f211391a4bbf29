"""What a run was asked for, and what of it the run is known by."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from eval.golds.gold import Origin
from eval.queries.cases import YEAR_COLUMNS
from eval.systems.model.chat import speaks_openai
from eval.systems.model.privacy import is_local
from eval.systems.solvers.outcome import Domain, Structured
from eval.systems.solvers.prompting import prompt_hashes
from retrievers.search.settings import SearchSettings
from tam._version import __version__
from tam.files import sha256_file, sha256_text

if TYPE_CHECKING:
    from retrievers.search.index import Index


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """What ``tam run`` was asked for; the names are its options'."""

    system: str
    domain: Domain
    cases: Path
    out: Path
    years: Path | None = None
    gold: Path | None = None
    origins: tuple[Origin, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    year_columns: tuple[str, str] = YEAR_COLUMNS
    index_dir: Path | None = None
    model: str | None = None
    base_url: str | None = None
    temperature: float | None = None
    seed: int | None = None
    timeout: float = 300.0
    retries: int = 5
    max_output_tokens: int | None = None
    streaming: bool = False
    structured: Structured | None = None
    hits: int = 8
    search: SearchSettings = field(default_factory=SearchSettings)
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


def run_config(
    asked: Start, index: Index, base_url: str | None, jobs: int, left_out: int
) -> dict[str, Any]:
    """What a run is known by. Paths, keys and addresses of this network stay out.

    How fast it goes may change from start to start: concurrency, rate, retries, time-out, budget.
    """
    return {
        "tool_version": __version__,
        "system": asked.system,
        "domain": asked.domain,
        "cases": asked.cases.name,
        "cases_sha256": sha256_file(asked.cases),
        "years_sha256": sha256_file(asked.years) if asked.years else None,
        "gold_sha256": sha256_file(asked.gold) if asked.gold else None,
        "origins": list(asked.origins),
        "columns": dict(asked.columns),
        "year_columns": list(asked.year_columns),
        "limit": asked.limit,
        "jobs": jobs,
        "left_out": left_out,
        "model": asked.model,
        "endpoint": _kind_of(base_url) if asked.model else None,
        "temperature": asked.temperature,
        "seed": asked.seed,
        "max_output_tokens": asked.max_output_tokens,
        "structured": structured_by(asked),
        "streaming": asked.streaming,
        "hits": asked.hits,
        "search": json.loads(json.dumps(asdict(asked.search), default=list)),
        "rounds": asked.rounds,
        "case_tokens": asked.case_tokens,
        "repairs": asked.repairs,
        "year_policy": asked.year_policy,
        "index": sha256_text(json.dumps(dict(index.manifest.files), sort_keys=True)),
        "index_inputs": index.manifest.inputs,
        "editions": [edition.name for edition in index.library.editions],
        "prompts": prompt_hashes(),
    }


def _kind_of(base_url: str | None) -> str:
    if base_url is None:
        return "the provider's own"
    return "local" if is_local(base_url) else str(urlsplit(base_url).hostname)


def structured_by(asked: Start) -> Structured:
    """How the answer's form is asked for: by schema where the protocol has it."""
    return asked.structured or ("json_schema" if speaks_openai(asked.model or "") else "text")
