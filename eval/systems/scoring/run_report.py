"""A run as one self-contained HTML page: scores, retrieval, and a viewer of every case's steps.

No script and nothing from a network: a case folds with ``<details>``. Long tool results are cut in
the page; the transcripts hold them whole.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from eval.domains.model import Domain
from eval.reporting.html import write_page
from eval.systems.running.folder import RunFolder
from eval.systems.scoring.retrieved import failing_stage
from eval.systems.scoring.score_table import beside, caveats, score_cell, share, unfinished
from eval.systems.scoring.scored import Scored
from eval.systems.scoring.scores import Value

SECTIONS = ("Scores", "Beside the paper", "Retrieval beside answers", "Effort", "Cases")
#: characters of one step that are shown
STEP_CHARACTERS = 4_000
#: cases of a page, looks of its table, golds of one line
MOST_CASES, MOST_LOOKS, MOST_GOLDS = 500, 40, 12

SPEAKERS = {
    "system": "instructions",
    "user": "to the model",
    "model": "model",
    "note": "note",
    "tool-error": "error to the model",
}


def write_report(path: Path, scored: Scored, folder: RunFolder) -> None:
    """Write the page for a run. Equal runs give equal bytes."""
    write_page(path, "run.html.j2", **page(scored, folder))


def page(scored: Scored, folder: RunFolder) -> dict[str, Any]:
    """The values of the page."""
    config, groups, compared = scored.config, scored.groups, beside(scored)
    return {
        "title": f"Run {scored.name}",
        "lead": (
            f"System {config['system']}, model {config['model'] or 'none'}, {scored.domain.name} "
            f"domain, {len(scored.records)} cases, editions {', '.join(config['editions'])}."
        ),
        "sections": SECTIONS,
        "unfinished": unfinished(scored),
        "score_head": ["", *(group.label for group in groups)],
        "scores": [
            ["cases", *(str(group.cases) for group in groups)],
            ["missing predictions", *(str(group.missing) for group in groups)],
            *(
                [values[0].name, *map(_value, values)]
                for values in zip(*(group.values for group in groups), strict=True)
            ),
        ],
        "beside": compared,
        "own": [at for at, row in enumerate(compared[1:]) if row[0].startswith("this run")],
        "caveats": caveats(scored),
        "retrieval": list(_retrieval(scored)),
        "looks": _looks(scored)[:MOST_LOOKS],
        "stages": [[stage, str(count)] for stage, count in scored.stages.items()],
        "statuses": [[status, str(count)] for status, count in scored.statuses.items()],
        "effort": _effort(scored),
        "most_golds": MOST_GOLDS,
        "more_cases": (
            f"The first {MOST_CASES} of {len(scored.records)} cases."
            if len(scored.records) > MOST_CASES
            else ""
        ),
        "cases": _cases(scored, folder),
    }


def _value(value: Value) -> tuple[str, str]:
    """The value, and its interval."""
    said, _, interval = score_cell(value).partition(" ")
    return said, interval


def _retrieval(scored: Scored) -> Iterator[str]:
    found = scored.retrieval
    if found is None:
        yield "No gold sections are known for these cases."
        return
    rest = found.cases - found.all_seen
    yield (
        f"All gold sections were shown in {found.all_seen} of {found.cases} cases "
        f"({share(found.all_seen / found.cases)}); of these, {share(found.exact_if_all)} were "
        f"answered exactly. Of the other {rest} cases, {share(found.exact_if_not)} were. On "
        f"average {share(found.recall)} of a case's gold sections were shown; "
        f"{found.without_golds} cases have no known golds."
    )
    if scored.all_golds is not None and scored.domain.wider_golds:
        yield (
            f"Golds here are those that an answer rests on; with {scored.domain.wider_golds} "
            f"{share(scored.all_golds.recall)} of all were shown."
        )


def _looks(scored: Scored) -> list[list[Any]]:
    """For each look its number, the bar's width and the share shown so far, and what it added."""
    found = scored.retrieval
    if found is None:
        return []
    return [
        [str(at), (round(200 * so_far), share(so_far)), f"+{100 * new:.1f}"]
        for at, (so_far, new) in enumerate(zip(found.by_hop, found.new_at_hop, strict=True), 1)
    ]


def _effort(scored: Scored) -> list[list[str]]:
    effort = scored.effort
    return [
        ["model calls", f"{effort.calls:,}"],
        ["tokens in", f"{effort.input_tokens:,}"],
        ["tokens out", f"{effort.output_tokens:,}"],
        ["cost", "-" if effort.cost is None else f"${effort.cost:.4f}"],
        ["tool calls a case", f"{effort.tool_calls:.1f}"],
        ["seconds a case", f"{effort.seconds:.1f}"],
    ]


def _cases(scored: Scored, folder: RunFolder) -> Iterator[dict[str, Any]]:
    for record, right in list(zip(scored.records, scored.exact, strict=True))[:MOST_CASES]:
        wanted = {gold["id"] for gold in record["golds"]}
        marks = _golds(record, scored.domain)
        seen = sum(class_ == "gold" for _, class_ in marks)
        yield {
            "kind": "ok" if right else ("none" if record["prediction"] is None else "wrong"),
            "name": record["case_id"] + (f" ({record['year']})" if record["year"] else ""),
            "predicted": _said(record["prediction"]),
            "reference": _said(record["reference"]),
            "stage": failing_stage(record, right, scored.domain),
            "golds": marks,
            "count": f"{seen} of {len(marks)} gold sections were shown",
            "problem": (
                "" if record["status"] == "ok" else f"{record['status']}: {record['detail']}"
            ),
            "steps": [_step(step, wanted) for step in folder.transcript(record)],
        }


def _golds(record: Mapping[str, Any], domain: Domain) -> list[tuple[str, str]]:
    """Each gold as text and class, the highest grade first."""
    first: dict[str, int] = {}
    for look in record["looks"]:
        for name in look["golds"]:
            first.setdefault(name, look["hop"])
    marks = []
    for gold in sorted(record["golds"], key=lambda gold: (-gold["grade"], gold["id"])):
        if gold["id"] in first:
            marks.append((f"{gold['id']} at look {first[gold['id']]}", "gold"))
        else:
            needed = gold["grade"] >= domain.answer_grade
            marks.append((f"{gold['id']} never shown", "missed" if needed else "way"))
    return marks


def _step(step: Mapping[str, Any], wanted: Collection[str]) -> dict[str, Any]:
    stage = f"{step['stage']}: " if step.get("stage") else ""
    if step["kind"] != "tool":
        return {
            "kind": step["kind"],
            "stage": stage,
            "who": SPEAKERS.get(step["kind"], step["kind"]),
            "folded": step["kind"] in ("system", "user"),
            "text": _cut(step["text"]),
        }
    arguments = json.dumps(step["arguments"], ensure_ascii=False) if step["arguments"] else ""
    return {
        **step,
        "stage": stage,
        "arguments": _cut(arguments, 200),
        "result": _cut(step["result"] or ""),
        "wanted": wanted,
    }


def _cut(text: str, most: int = STEP_CHARACTERS) -> str:
    return (
        text if len(text) <= most else f"{text[:most]} [... {len(text) - most:,} more characters]"
    )


def _said(value: Any) -> str:
    if value is None:
        return "nothing"
    return ", ".join(value) if isinstance(value, list) else str(value)
