"""A run's scores, and one run against another."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from eval.domains.model import DOMAINS, Domain
from eval.measuring.significance import Paired
from eval.systems.running.folder import RunFolder
from eval.systems.scoring.retrieved import Retrieved, retrieved, stage_counts
from eval.systems.scoring.scores import Group
from tam.errors import RunError


class Effort(NamedTuple):
    """What the ended cases took: tokens and calls that were paid for, dollars where the price was
    given, tool calls and seconds a case on average."""

    input_tokens: int
    output_tokens: int
    calls: int
    cost: float | None
    tool_calls: float
    seconds: float


def effort_of(records: Sequence[Mapping[str, Any]]) -> Effort:
    """The effort of a run's ended cases, the last time that each was run."""
    paid = [record["paid"] for record in records]
    costs = [record["cost"] for record in records if record["cost"] is not None]
    return Effort(
        sum(each.get("input", 0) for each in paid),
        sum(each.get("output", 0) for each in paid),
        sum(each.get("calls", 0) for each in paid),
        round(sum(costs), 6) if costs else None,
        sum(record["tool_calls"] for record in records) / len(records),
        round(sum(record["seconds"] for record in records) / len(records), 3),
    )


@dataclass(frozen=True, slots=True)
class Scored:
    """A run's scores."""

    name: str
    config: Mapping[str, Any]
    records: tuple[dict[str, Any], ...]
    groups: tuple[Group, ...]
    retrieval: Retrieved | None
    all_golds: Retrieved | None
    effort: Effort
    exact: tuple[bool, ...]
    stages: Mapping[str, int]
    statuses: Mapping[str, int]

    @property
    def domain(self) -> Domain:
        """The domain of its cases."""
        return DOMAINS[str(self.config["domain"])]

    @property
    def not_run(self) -> int:
        """Cases of the run that have not ended yet."""
        return max(0, int(self.config.get("jobs", 0)) - len(self.records))

    def to_json(self) -> dict[str, Any]:
        """As ``metrics.json`` holds it; a value that there is not is null."""
        return {
            "system": self.config["system"],
            "model": self.config["model"],
            "domain": self.domain.name,
            "groups": [
                {
                    "label": group.label,
                    "cases": group.cases,
                    "missing": group.missing,
                    "values": {
                        v.name: {"value": _number(v.value), "low": _number(v.low)}
                        | {"high": _number(v.high), "cases": v.cases}
                        for v in group.values
                    },
                }
                for group in self.groups
            ],
            "retrieval": self.retrieval._asdict() if self.retrieval else None,
            "retrieval_all_golds": self.all_golds._asdict() if self.all_golds else None,
            "not_run": self.not_run,
            "left_out": self.config.get("left_out", 0),
            "effort": self.effort._asdict(),
            "first_failing_stage": dict(self.stages),
            "statuses": dict(self.statuses),
        }


def _number(value: float) -> float | None:
    return None if math.isnan(value) else round(value, 6)


def score_run(path: Path) -> Scored:
    """The scores of a run's ended cases. Raises ``RunError`` when there are none, or a case of
    the run has no reference answer."""
    folder = RunFolder(path)
    config = folder.config()
    domain = DOMAINS[config["domain"]]
    records = tuple(folder.records().values())
    if not records:
        raise RunError(f"{path}: no case has ended yet; run it first (tam run ... --out {path})")
    lacking = [r["case_id"] for r in records if r.get("reference") in (None, [])]
    if lacking:
        raise RunError(
            f"{path}: {len(lacking)} cases have no reference answer (such as {lacking[0]}); "
            f"score runs over cases with answers"
        )
    scorer = domain.scorer()
    exact = tuple(scorer.exact(record) for record in records)
    statuses = Counter(record["status"] for record in records)
    return Scored(
        name=path.name,
        config=config,
        records=records,
        groups=tuple(scorer.score(records)),
        retrieval=retrieved(records, exact, domain.answer_grade),
        all_golds=retrieved(records, exact),
        effort=effort_of(records),
        exact=exact,
        stages=stage_counts(records, exact, domain),
        statuses=dict(sorted(statuses.items())),
    )


def compare_runs(a: Scored, b: Scored) -> tuple[list[Paired], int]:
    """B against A on the cases that both have, and how many these are. Raises ``RunError``."""
    if a.domain is not b.domain:
        raise RunError(
            f"{a.name} is a run over {a.domain.name} cases, {b.name} over {b.domain.name} cases"
        )
    first = {record["case_id"]: record for record in a.records}
    second = {record["case_id"]: record for record in b.records}
    both = [case_id for case_id in first if case_id in second]
    if not both:
        raise RunError(f"{a.name} and {b.name} have no case in common; run them on the same cases")
    other = [c for c in both if first[c]["reference"] != second[c]["reference"]]
    if other:
        raise RunError(
            f"{a.name} and {b.name} have different reference answers for case {other[0]}; compare "
            f"runs over the same cases"
        )
    scorer = a.domain.scorer()
    return scorer.compare([first[c] for c in both], [second[c] for c in both]), len(both)
