"""A run as one self-contained HTML page: scores, retrieval, and a viewer of every case's steps.

No script and nothing from a network: a case folds with ``<details>``. Long tool results are cut in
the page; the transcripts hold them whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval.html import Html, contents, element, escape, heading, joined, page, paragraph, table
from eval.systems.folder import RunFolder
from eval.systems.stages import failing_stage
from tam.files import write_text

if TYPE_CHECKING:
    from eval.systems.scoring_command import Scored

#: characters of one step and of a page's cases that are shown
STEP_CHARACTERS = 4_000
MOST_CASES = 500

CSS = """
details { border: 1px solid #ddd; border-radius: 4px; margin: .35rem 0; padding: .2rem .7rem; }
details > summary { cursor: pointer; padding: .15rem 0; }
details.ok > summary { border-left: 4px solid #0f766e; padding-left: .6rem; }
details.wrong > summary { border-left: 4px solid #b45309; padding-left: .6rem; }
details.none > summary { border-left: 4px solid #6b7280; padding-left: .6rem; }
.step { margin: .4rem 0 .4rem 1rem; }
.step .who { color: #555; font-size: .85rem; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: #f7f7f7; padding: .5rem .7rem;
  font-size: .82rem; max-height: 28rem; overflow-y: auto; margin: .2rem 0; }
.gold { background: #fde68a; color: #1a1a1a; padding: 0 .3em; border-radius: 3px; }
.missed { background: #fee2e2; padding: 0 .3em; border-radius: 3px; }
.bar { display: inline-block; height: .8rem; background: #0f5c8a; vertical-align: middle; }
"""

SPEAKERS = {
    "system": "instructions",
    "user": "to the model",
    "model": "model",
    "report": "worker's report",
    "note": "note",
    "tool-error": "error to the model",
}


def write_report(path: Path, scored: Scored, folder: RunFolder) -> None:
    """Write the page for a run."""
    write_text(path, report_page(scored, folder))


def report_page(scored: Scored, folder: RunFolder) -> str:
    """The page's HTML. Equal runs give equal bytes."""
    config = scored.config
    sections = ["Scores", "Retrieval beside answers", "Cases"]
    lead = (
        f"System {config['system']}, model {config['model'] or 'none'}, {scored.domain} domain, "
        f"{len(scored.records)} cases, editions {', '.join(config['editions'])}."
    )
    body = [
        contents(sections),
        heading("Scores"),
        _scores(scored),
        paragraph(
            "Values in per cent with 95 % bootstrap intervals over cases (MAE in offense levels, "
            "over cases with a prediction). A missing prediction is wrong in every other measure."
        ),
        heading("Retrieval beside answers"),
        *_retrieval(scored),
        heading("Cases"),
        *_cases(scored, folder),
    ]
    return page(f"Run {scored.name}", body, lead, CSS)


def _scores(scored: Scored) -> Html:
    from eval.systems.scoring_command import score_cell

    rows = [
        [group.label, str(group.cases), str(group.missing)]
        + [score_cell(v.name, v.value, v.low, v.high) for v in group.values]
        for group in scored.groups
    ]
    head = ["", "cases", "missing", *(v.name for v in scored.groups[0].values)]
    return table(head, rows, numbers=range(1, len(head)))


def _retrieval(scored: Scored) -> Iterable[Html]:
    found = scored.retrieval
    if found is None:
        yield paragraph("No gold sections are known for these cases.")
    else:
        yield paragraph(
            f"On average {100 * found.recall:.1f} % of a case's gold sections were shown to the "
            f"model ({found.cases} cases with golds, {found.without_golds} without). All were "
            f"shown in {found.all_seen} cases."
        )
        rows = [
            [
                str(at),
                joined([_bar(share), f" {100 * share:.1f} %"]),
            ]
            for at, share in enumerate(found.by_hop, start=1)
        ]
        yield table(
            ["look", "golds shown so far"],
            rows[:40],
            caption="Cumulative recall of gold sections after the n-th look into the manuals",
        )
        given = [
            ["all golds shown", str(found.all_seen), _share(found.exact_if_all)],
            ["not all shown", str(found.cases - found.all_seen), _share(found.exact_if_not)],
        ]
        yield table(["", "cases", "exact match"], given, numbers=(1, 2))
    stages = [[stage, str(count)] for stage, count in scored.stages.items()]
    yield table(
        ["first failing stage", "cases"], stages, numbers=(1,), caption="Where a case went wrong"
    )
    statuses = [[status, str(count)] for status, count in scored.statuses.items()]
    yield table(["status", "cases"], statuses, numbers=(1,))


def _bar(share: float) -> Html:
    return element("span", class_="bar", style=f"width:{round(200 * share)}px")


def _share(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f} %"


def _cases(scored: Scored, folder: RunFolder) -> Iterable[Html]:
    from eval.systems.scoring_command import exact_matches

    exact = exact_matches(scored.domain, scored.records)
    shown = list(zip(scored.records, exact, strict=True))
    if len(shown) > MOST_CASES:
        yield paragraph(f"The first {MOST_CASES} of {len(shown)} cases.")
    for record, right in shown[:MOST_CASES]:
        yield _case(record, right, folder)


def _case(record: Mapping[str, Any], right: bool, folder: RunFolder) -> Html:
    golds = {name: gold["id"] for gold in record["golds"] for name in gold["shown_by"]}
    stage = failing_stage(record, right)
    kind = "ok" if right else ("none" if record["prediction"] is None else "wrong")
    head = (
        f"{record['case_id']} ({record['year']}): predicted {_said(record['prediction'])}, "
        f"reference {_said(record['reference'])} — {stage}"
    )
    pieces: list[str] = [element("summary", head), _golds(record, golds)]
    if record["detail"]:
        pieces.append(paragraph(f"{record['status']}: {record['detail']}"))
    pieces += [_step(step, golds) for step in folder.transcript(record)]
    return element("details", *pieces, class_=kind)


def _golds(record: Mapping[str, Any], golds: Mapping[str, str]) -> Html:
    """Each gold, marked by whether and at which look it was first shown."""
    first: dict[str, int] = {}
    for look in record["looks"]:
        for name in look["sections"]:
            if name in golds:
                first.setdefault(golds[name], look["hop"])
    if not record["golds"]:
        return paragraph("No gold sections.")
    marks = [
        element("span", f"{gold['id']} at look {first[gold['id']]}", class_="gold")
        if gold["id"] in first
        else element("span", f"{gold['id']} never shown", class_="missed")
        for gold in sorted(record["golds"], key=lambda gold: (-gold["grade"], gold["id"]))
    ]
    return paragraph(joined(["Gold sections: ", joined(marks, ", ")]))


def _step(step: Mapping[str, Any], golds: Mapping[str, str]) -> Html:
    stage = f"{step['stage']}: " if step.get("stage") else ""
    if step["kind"] != "tool":
        who = SPEAKERS.get(step["kind"], step["kind"])
        text = element("pre", _cut(step["text"]))
        if step["kind"] in ("system", "user"):
            return element("details", element("summary", f"{stage}{who}"), text, class_="step")
        return element("div", element("div", f"{stage}{who}", class_="who"), text, class_="step")
    shown = list(dict.fromkeys(golds[name] for name in step["sections"] if name in golds))
    arguments = json.dumps(step["arguments"], ensure_ascii=False)
    summary = [f"{stage}look {step['hop']}: {step['tool']} {_cut(arguments, 200)} "]
    summary += [joined([element("span", gold, class_="gold"), " "]) for gold in shown]
    if step["error"]:
        summary.append(element("span", "error", class_="missed"))
    result = step["result"] or "\n".join(step["sections"])
    return element(
        "details", element("summary", *summary), element("pre", _cut(result)), class_="step"
    )


def _cut(text: str, most: int = STEP_CHARACTERS) -> Html:
    if len(text) <= most:
        return escape(text)
    return escape(f"{text[:most]} [... {len(text) - most:,} more characters]")


def _said(value: Any) -> str:
    if value is None:
        return "nothing"
    return ", ".join(value) if isinstance(value, list) else str(value)
