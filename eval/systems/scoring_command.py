"""``tam score`` and ``tam score compare``: from run folders to tables."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from eval.significance import Paired, compare
from eval.systems.folder import RunFolder
from eval.systems.published import HARNESS_MISSING, PUBLISHED, Published
from eval.systems.scores import (
    ICD_COLUMNS,
    LEGAL_COLUMNS,
    Group,
    icd_case,
    legal_case,
    score_icd,
    score_legal,
)
from eval.systems.stages import Retrieved, retrieved, stage_counts
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
    stages: Mapping[str, int]
    statuses: Mapping[str, int]

    @property
    def domain(self) -> str:
        return str(self.config["domain"])

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
        retrieval=retrieved(records, exact),
        stages=stage_counts(records, exact),
        statuses=dict(sorted(statuses.items())),
    )


def score_command(path: Path, report: bool, as_json: bool) -> str:
    """Score a run, write ``metrics.json`` (and ``report.html``), and return the text to print."""
    scored = score_run(path)
    private = scored.domain == "icd"
    file = path / "metrics.json"
    write_json(file, scored.to_json())
    if private:
        file.chmod(0o600)
    said = json.dumps(scored.to_json(), indent=2, sort_keys=True) if as_json else table(scored)
    if report:
        from eval.systems.run_report import write_report

        page = path / "report.html"
        write_report(page, scored, RunFolder(path))
        if private:
            page.chmod(0o600)
        said += f"\nreport: {page}" if not as_json else ""
    return said


def table(scored: Scored) -> str:
    """The scores as text: groups, the paper's rows beside them, retrieval, stages."""
    config = scored.config
    lines = [
        f"{scored.name}: {config['system']}, {config['model'] or 'no model'}, "
        f"{scored.domain}, {len(scored.records)} cases",
        "",
        *_groups(scored),
        "",
        *_beside(scored),
        "",
        *_retrieval_lines(scored),
        "first failing stage: "
        + ", ".join(f"{stage} {count}" for stage, count in scored.stages.items() if count),
        "statuses: " + ", ".join(f"{status} {count}" for status, count in scored.statuses.items()),
    ]
    return "\n".join(lines)


def _groups(scored: Scored) -> list[str]:
    columns = [
        [group.label, str(group.cases), str(group.missing)]
        + [score_cell(value.name, value.value, value.low, value.high) for value in group.values]
        for group in scored.groups
    ]
    heads = ["", "cases", "missing", *(value.name for value in scored.groups[0].values)]
    return _aligned(list(zip(heads, *columns, strict=True)))


def score_cell(name: str, value: float, low: float, high: float) -> str:
    """A value with its interval: per cent, offense levels for the MAE."""
    if math.isnan(value):
        return "-"
    if name == "MAE":
        return f"{value:.2f} [{low:.2f}, {high:.2f}]"
    return f"{100 * value:.1f} [{100 * low:.1f}, {100 * high:.1f}]"


def _beside(scored: Scored) -> list[str]:
    """This run's main numbers over those that the paper prints for its systems (GPT-5)."""
    whole = scored.groups[0]
    rows: list[list[str]]
    if scored.domain == "icd":
        rows = [["per cent", "exact", "precision", "recall", "primary"]]
        for kind in ("micro", "macro"):
            rows.append(
                [
                    f"this run ({kind})",
                    f"{100 * whole.value('exact'):.1f}",
                    f"{100 * whole.value(f'precision ({kind})'):.1f}",
                    f"{100 * whole.value(f'recall ({kind})'):.1f}",
                    f"{100 * whole.value('primary'):.1f}",
                ]
            )
        rows += [_published_icd(row) for row in PUBLISHED]
    else:
        mae = whole.value("MAE")
        rows = [["", "exact %", "MAE"]]
        rows.append(
            [
                "this run",
                f"{100 * whole.value('exact'):.1f}",
                "-" if math.isnan(mae) else f"{mae:.2f}",
            ]
        )
        rows += [
            [f"paper, {row.system}", f"{row.legal_exact:.1f}", f"{row.legal_mae:.2f}"]
            for row in PUBLISHED
        ]
    lines = _aligned(rows)
    if scored.domain == "legal":
        lines.append(f"(the paper's harness returned nothing in {HARNESS_MISSING} of 200 cases)")
    return lines


def _published_icd(row: Published) -> list[str]:
    return [
        f"paper, {row.system}",
        f"{row.icd_exact:.1f}",
        f"{row.icd_precision:.1f}",
        f"{row.icd_recall:.1f}",
        f"{row.icd_primary:.1f}",
    ]


def _retrieval_lines(scored: Scored) -> list[str]:
    found = scored.retrieval
    if found is None:
        return ["gold sections: none are known for these cases"]
    hops = found.by_hop
    shown = sorted({0, 1, 2, 4, 8, len(hops) - 1} & set(range(len(hops))))
    return [
        f"gold sections: {100 * found.recall:.1f} % of a case's golds seen on average "
        f"({found.cases} cases with golds, {found.without_golds} without)",
        "  after look " + ", ".join(f"{at + 1}: {100 * hops[at]:.1f} %" for at in shown),
        f"  all golds seen in {found.all_seen} cases: exact match {_share(found.exact_if_all)}; "
        f"not all in {found.cases - found.all_seen}: {_share(found.exact_if_not)}",
    ]


def _share(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f} %"


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    return [
        "  ".join(
            cell.ljust(width) if at == 0 else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def compare_runs(a: Scored, b: Scored) -> tuple[list[Paired], int]:
    """B against A on the cases that both have, and how many these are. Raises ``RunError``."""
    if a.domain != b.domain:
        raise RunError(f"{a.name} is a run over {a.domain} cases, {b.name} over {b.domain} cases")
    first = {record["case_id"]: record for record in a.records}
    second = {record["case_id"]: record for record in b.records}
    both = [case_id for case_id in first if case_id in second]
    if not both:
        raise RunError(f"{a.name} and {b.name} have no case in common; run them on the same cases")
    if a.domain == "icd":
        names = list(ICD_COLUMNS)
        rows = [[icd_case(side[c])[0] for c in both] for side in (first, second)]
    else:
        names = list(LEGAL_COLUMNS)
        rows = [[legal_case(side[c]) for c in both] for side in (first, second)]
    return compare(names, np.array(rows[0]), np.array(rows[1])), len(both)


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
    return "\n".join([*_aligned(rows), f"(paired randomisation test over {both} cases)"])
