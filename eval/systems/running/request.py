"""What a run is asked for, and what of it the run is known by."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

from eval.domains.model import DOMAINS
from eval.golds.gold import ORIGINS, Origin
from eval.queries.case_files import YEAR_COLUMNS
from eval.queries.year_policy import POLICIES
from eval.systems.model.chat import speaks_openai
from eval.systems.model.privacy import is_local
from eval.systems.solvers.case_state import Structured
from eval.systems.solvers.prompting import prompt_hashes
from retrievers.search.settings import SearchSettings
from tam._version import __version__
from tam.files import sha256_file, sha256_text
from tam.options import Option, options
from tam.records import to_json

if TYPE_CHECKING:
    from retrievers.search.index import Index


@options
class RunRequest:
    """What ``tam run`` is asked for; its options derive from these fields."""

    system: str
    domain: str
    cases: Path
    out: Path
    search: SearchSettings = field(default_factory=SearchSettings)
    columns: Mapping[str, str] = field(default_factory=dict)
    year_columns: tuple[str, str] = YEAR_COLUMNS
    years: Annotated[
        Path | None, Option("CSV of docket ids and years.", metavar="PATH", read=Path)
    ] = None
    gold: Annotated[
        Path | None, Option("Given gold sections: JSONL or qrels.", metavar="PATH", read=Path)
    ] = None
    origins: Annotated[
        tuple[Origin, ...],
        Option(
            "Only golds of this origin; all that tam eval would measure on otherwise.",
            choices=tuple(ORIGINS),
            flag="--origin",
            many=True,
            unchecked=True,
        ),
    ] = ()
    index_dir: Annotated[
        Path | None,
        Option(
            "An index, or the folder that holds the indexes.  [default: indexes]",
            flag="--index",
            metavar="PATH",
            read=Path,
        ),
    ] = None
    model: Annotated[str | None, Option("provider:model, such as openai:gpt-5.")] = None
    base_url: Annotated[
        str | None, Option("An OpenAI-compatible endpoint, such as a local vLLM.")
    ] = None
    temperature: Annotated[float | None, Option("The provider's own when not given.", low=0)] = None
    seed: Annotated[int | None, Option("Sent to the endpoint, where it knows seeds.")] = None
    timeout: Annotated[float, Option("Seconds a call.", low=0.001)] = 300.0
    retries: Annotated[
        int,
        Option(
            "Further tries of a call that was refused for now, timed out or lost its connection.",
            low=0,
            high=20,
        ),
    ] = 5
    max_output_tokens: Annotated[int | None, Option("Tokens of one answer.", low=1)] = None
    streaming: Annotated[bool, Option("Read answers as a stream.")] = False
    structured: Annotated[
        Structured | None,
        Option(
            "How the answer's form is asked for: by default by schema of OpenAI-compatible "
            "endpoints, in words of others. Take text where an endpoint knows no schemas.",
            choices=("json_schema", "json_object", "text"),
        ),
    ] = None
    hits: Annotated[
        int,
        Option(
            "Hits of the one retrieval of single-pass and retrieval-only.",
            low=1,
            high=100,
            flag="-k",
        ),
    ] = 8
    rounds: Annotated[int, Option("Tool calls of one case.", low=1, high=1000)] = 40
    case_tokens: Annotated[
        int, Option("Tokens in and out after which a case's model must answer.", low=1)
    ] = 400_000
    repairs: Annotated[
        int, Option("Times that an answer of the wrong form is asked for again.", low=0, high=10)
    ] = 2
    year_policy: Annotated[
        str,
        Option(
            "Which edition to take when a manual has none of the case's year.",
            choices=tuple(POLICIES),
        ),
    ] = "exact"
    concurrency: Annotated[int, Option("Cases at a time.", low=1, high=64)] = 1
    requests_per_minute: Annotated[float | None, Option("Of all cases together.", low=0.001)] = None
    prices: Annotated[Path | None, Option("JSON price table.", metavar="PATH", read=Path)] = None
    max_cost: Annotated[
        float | None, Option("Dollars; no call goes out once they are spent.", low=0)
    ] = None
    max_tokens: Annotated[
        int | None, Option("Tokens; no call goes out once they are used.", low=0)
    ] = None
    cache: Annotated[
        Path | None, Option("Keep answers by content here.", metavar="PATH", read=Path)
    ] = None
    retry_failed: Annotated[bool, Option("Run the cases that failed again too.")] = False
    limit: Annotated[int | None, Option("Only the first cases of the file.", low=1)] = None
    allow_remote_phi: Annotated[
        bool, Option("Send the text of a private domain's cases to a remote endpoint.")
    ] = False

    @property
    def structured_by(self) -> Structured:
        """How the answer's form is asked for: by schema where the protocol has it."""
        return self.structured or ("json_schema" if speaks_openai(self.model or "") else "text")


#: what a run is known by as it was asked for; how fast it goes may change from start to start:
#: concurrency, rate, retries, time-out, budget
_KNOWN_BY = (
    *("system", "domain", "origins", "columns", "year_columns", "limit", "model", "temperature"),
    *("seed", "max_output_tokens", "streaming", "hits", "search", "rounds", "case_tokens"),
    *("repairs", "year_policy"),
)


def run_config(
    request: RunRequest, index: Index, base_url: str | None, cases: int, left_out: int
) -> dict[str, Any]:
    """What a run is known by. Paths, keys and addresses of this network stay out."""
    asked = to_json(request)
    return {name: asked[name] for name in _KNOWN_BY} | {
        "tool_version": __version__,
        "cases": request.cases.name,
        "cases_sha256": sha256_file(request.cases),
        "years_sha256": sha256_file(request.years) if request.years else None,
        "gold_sha256": sha256_file(request.gold) if request.gold else None,
        "jobs": cases,
        "left_out": left_out,
        "endpoint": _kind_of(base_url) if request.model else None,
        "structured": request.structured_by,
        "index": sha256_text(json.dumps(dict(index.manifest.files), sort_keys=True)),
        "index_inputs": index.manifest.inputs,
        "editions": [edition.name for edition in index.library.editions],
        "prompts": prompt_hashes(DOMAINS[request.domain]),
    }


def _kind_of(base_url: str | None) -> str:
    if base_url is None:
        return "the provider's own"
    return "local" if is_local(base_url) else str(urlsplit(base_url).hostname)
