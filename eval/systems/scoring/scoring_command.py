"""``tam score`` and ``tam score compare``: from run folders to tables."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from eval.measuring.significance import Paired, compare
from eval.systems.running.folder import RunFolder
from eval.systems.scoring.score_table import aligned, table
from eval.systems.scoring.scores import (
    ICD_COLUMNS,
    LEGAL_COLUMNS,
    Group,
    icd_case,
    legal_case,
    level_error,
    score_icd,
    score_legal,
)
from eval.systems.scoring.stages import NEEDED, Retrieved, retrieved, stage_counts
from tam.errors import RunError
from tam.files import write_json


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
    stages: Mapping[str, int]
    statuses: Mapping[str, int]

    @property
    def domain(self) -> str:
        return str(self.config["domain"])

    @property
    def not_run(self) -> int:
        """Cases of the run that have not ended yet."""
        return max(0, int(self.config.get("jobs", 0)) - len(self.records))

    def to_json(self) -> dict[str, Any]:
        """As ``metrics.json`` holds it; a value that there is not is null."""
        return {
            "system": self.config["system"],
            "model": self.config["model"],
            "domain": self.domain,
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


def exact_matches(domain: str, records: Sequence[Mapping[str, Any]]) -> list[bool]:
    """Whether each case was answered exactly."""
    if domain == "icd":
        return [icd_case(record)[0][0] == 1.0 for record in records]
    return [legal_case(record)[0] == 1.0 for record in records]


def score_run(path: Path) -> Scored:
    """The scores of a run's ended cases. Raises ``RunError`` when there are none, or a case of
    the run has no reference answer."""
    folder = RunFolder(path)
    config = folder.config()
    records = tuple(folder.records().values())
    if not records:
        raise RunError(f"{path}: no case has ended yet; run it first (tam run ... --out {path})")
    lacking = [r["case_id"] for r in records if r.get("reference") in (None, [])]
    if lacking:
        raise RunError(
            f"{path}: {len(lacking)} cases have no reference answer (such as {lacking[0]}); "
            f"score runs over cases with answers"
        )
    exact = exact_matches(config["domain"], records)
    groups = score_icd(records) if config["domain"] == "icd" else score_legal(records)
    statuses: dict[str, int] = {}
    for record in records:
        statuses[record["status"]] = statuses.get(record["status"], 0) + 1
    return Scored(
        name=path.name,
        config=config,
        records=records,
        groups=tuple(groups),
        retrieval=retrieved(records, exact, NEEDED[config["domain"]]),
        all_golds=retrieved(records, exact),
        effort=effort_of(records),
        stages=stage_counts(records, exact, config["domain"]),
        statuses=dict(sorted(statuses.items())),
    )


def score_command(path: Path, report: bool, as_json: bool) -> str:
    """Score a run, write ``metrics.json`` (and ``report.html``), and return the text to print."""
    scored = score_run(path)
    written = [path / "metrics.json"]
    try:
        write_json(written[0], scored.to_json())
        if report:
            from eval.systems.scoring.run_report import write_report

            written.append(path / "report.html")
            write_report(written[1], scored, RunFolder(path))
        if scored.domain == "icd":
            for file in written:
                file.chmod(0o600)
    except OSError as error:
        raise RunError(
            f"{error.filename or path}: cannot be written ({error.strerror}); make room or give "
            f"rights and score again"
        ) from error
    if as_json:
        return json.dumps(scored.to_json(), indent=2, sort_keys=True)
    return table(scored) + (f"\nreport: {written[1]}" if report else "")


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


def compare_runs(a: Scored, b: Scored) -> tuple[list[Paired], int]:
    """B against A on the cases that both have, and how many these are. Raises ``RunError``."""
    if a.domain != b.domain:
        raise RunError(f"{a.name} is a run over {a.domain} cases, {b.name} over {b.domain} cases")
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
    if a.domain == "icd":
        names = list(ICD_COLUMNS)
        rows = [[icd_case(side[c])[0] for c in both] for side in (first, second)]
        return compare(names, np.array(rows[0]), np.array(rows[1])), len(both)
    rows = [[legal_case(side[c]) for c in both] for side in (first, second)]
    paired = compare(list(LEGAL_COLUMNS), np.array(rows[0]), np.array(rows[1]))
    answered = [c for c in both if None not in (first[c]["prediction"], second[c]["prediction"])]
    if answered:
        off = [[[level_error(side[c])] for c in answered] for side in (first, second)]
        name = f"MAE ({len(answered)} answered by both)"
        paired += compare([name], np.array(off[0]), np.array(off[1]))
    return paired, len(both)


def compare_command(a: Path, b: Path, as_json: bool) -> str:
    """The paired comparison of two runs as text or JSON."""
    paired, both = compare_runs(score_run(a), score_run(b))
    if as_json:
        return json.dumps([row._asdict() for row in paired], indent=2)
    rows = [["measure", a.name, b.name, "difference", "95 % interval", "p", "p (Holm)", "w/t/l"]]
    for row in paired:
        rows.append(
            [
                row.name,
                f"{row.mean_a:.4f}",
                f"{row.mean_b:.4f}",
                f"{row.difference:+.4f}",
                f"[{row.low:+.4f}, {row.high:+.4f}]",
                f"{row.p:.4f}",
                f"{row.adjusted:.4f}",
                f"{row.wins}/{row.ties}/{row.losses}",
            ]
        )
    return "\n".join([aligned(rows), f"(paired randomisation test over {both} cases)"])
