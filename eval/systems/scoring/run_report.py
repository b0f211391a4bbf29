"""A run as one self-contained HTML page: scores, retrieval, and a viewer of every case's steps.

No script and nothing from a network: a case folds with ``<details>``. Long tool results are cut in
the page; the transcripts hold them whole.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from eval.domains.model import Domain
from eval.reporting.html import (
    Html,
    contents,
    element,
    heading,
    joined,
    page,
    paragraph,
    table,
    warning,
)
from eval.systems.running.folder import RunFolder
from eval.systems.scoring.retrieved import failing_stage
from eval.systems.scoring.score_table import beside, caveats, score_cell, share, unfinished
from eval.systems.scoring.scored import Scored
from eval.systems.scoring.scores import Value
from tam.files import write_text

#: characters of one step that are shown
STEP_CHARACTERS = 4_000
#: cases of a page, looks of its table, golds of one line
MOST_CASES, MOST_LOOKS, MOST_GOLDS = 500, 40, 12

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
.way { background: #f1f1f1; color: #555; padding: 0 .3em; border-radius: 3px; }
.missed { background: #fee2e2; padding: 0 .3em; border-radius: 3px; }
.golds span { display: inline-block; margin: .1rem 0; }
.stage { font-size: .85rem; padding: 0 .4em; border-radius: 3px; background: #eee; }
.stage.ok { background: #d5f0ea; } .stage.wrong { background: #fdebd3; }
.bar { display: inline-block; height: .8rem; background: #0f5c8a; vertical-align: middle; }
"""

SPEAKERS = {
    "system": "instructions",
    "user": "to the model",
    "model": "model",
    "note": "note",
    "tool-error": "error to the model",
}


def write_report(path: Path, scored: Scored, folder: RunFolder) -> None:
    """Write the page for a run."""
    write_text(path, report_page(scored, folder))


def report_page(scored: Scored, folder: RunFolder) -> str:
    """The page's HTML. Equal runs give equal bytes."""
    config = scored.config
    sections = ["Scores", "Beside the paper", "Retrieval beside answers", "Effort", "Cases"]
    lead = (
        f"System {config['system']}, model {config['model'] or 'none'}, {scored.domain.name} domain, "
        f"{len(scored.records)} cases, editions {', '.join(config['editions'])}."
    )
    body = [
        contents(sections),
        *(warning(line) for line in unfinished(scored)),
        heading(sections[0]),
        _scores(scored),
        paragraph(
            "Values in per cent with 95 % bootstrap intervals over cases (a mean error in its own "
            "unit, over cases with a prediction). A missing prediction is wrong in every other "
            "measure."
        ),
        heading(sections[1]),
        *_paper(scored),
        heading(sections[2]),
        *_retrieval(scored),
        heading(sections[3]),
        _effort(scored),
        heading(sections[4]),
        *_cases(scored, folder),
    ]
    return page(f"Run {scored.name}", body, lead, CSS)


def _scores(scored: Scored) -> Html:
    """One row a measure, one column a group of cases."""
    groups = scored.groups
    rows: list[list[str]] = [
        ["cases", *(str(group.cases) for group in groups)],
        ["missing predictions", *(str(group.missing) for group in groups)],
    ]
    for values in zip(*(group.values for group in groups), strict=True):
        rows.append([values[0].name, *map(_value, values)])
    head = ["", *(group.label for group in groups)]
    return table(head, rows, numbers=range(1, len(head)))


def _value(value: Value) -> Html:
    """The value, its interval small beside it."""
    said, _, interval = score_cell(value).partition(" ")
    return joined([said, element("small", f" {interval}") if interval else ""])


def _paper(scored: Scored) -> Iterable[Html]:
    if scored.domain.published is None:
        yield paragraph("There are no published numbers for these cases.")
        return
    head, *rows = beside(scored)
    own = [at for at, row in enumerate(rows) if row[0].startswith("this run")]
    yield table(head, rows, numbers=range(1, len(head)), marked=own)
    for line in caveats(scored):
        yield paragraph(line)


def _retrieval(scored: Scored) -> Iterable[Html]:
    found = scored.retrieval
    if found is None:
        yield paragraph("No gold sections are known for these cases.")
    else:
        rest = found.cases - found.all_seen
        yield paragraph(
            f"All gold sections were shown in {found.all_seen} of {found.cases} cases "
            f"({share(found.all_seen / found.cases)}); of these, {share(found.exact_if_all)} were "
            f"answered exactly. Of the other {rest} cases, {share(found.exact_if_not)} were. On "
            f"average {share(found.recall)} of a case's gold sections were shown; "
            f"{found.without_golds} cases have no known golds."
        )
        if scored.all_golds is not None and scored.domain.wider_golds:
            yield paragraph(
                f"Golds here are those that an answer rests on; with {scored.domain.wider_golds} "
                f"{share(scored.all_golds.recall)} of all were shown."
            )
        rows = [
            [str(at), joined([_bar(so_far), f" {share(so_far)}"]), f"+{100 * new:.1f}"]
            for at, (so_far, new) in enumerate(
                zip(found.by_hop, found.new_at_hop, strict=True), start=1
            )
        ]
        yield table(
            ["look", "golds shown so far", "by this look"],
            rows[:MOST_LOOKS],
            numbers=(2,),
            caption="Recall of gold sections after the n-th look into the manuals, per cent",
        )
    stages = [[stage, str(count)] for stage, count in scored.stages.items()]
    yield table(
        ["first failing stage", "cases"], stages, numbers=(1,), caption="Where a case went wrong"
    )
    statuses = [[status, str(count)] for status, count in scored.statuses.items()]
    yield table(["status", "cases"], statuses, numbers=(1,), caption="How the cases ended")


def _effort(scored: Scored) -> Html:
    effort = scored.effort
    rows = [
        ["model calls", f"{effort.calls:,}"],
        ["tokens in", f"{effort.input_tokens:,}"],
        ["tokens out", f"{effort.output_tokens:,}"],
        ["cost", "-" if effort.cost is None else f"${effort.cost:.4f}"],
        ["tool calls a case", f"{effort.tool_calls:.1f}"],
        ["seconds a case", f"{effort.seconds:.1f}"],
    ]
    return table(["paid for", ""], rows, numbers=(1,))


def _bar(share: float) -> Html:
    return element("span", class_="bar", style=f"width:{round(200 * share)}px")


def _cases(scored: Scored, folder: RunFolder) -> Iterable[Html]:
    yield paragraph(
        "Open a case for its steps in order; instructions, prompts and tool calls open on their "
        "own. A gold section is marked at the look that showed it. Long texts are cut; the run's "
        "transcripts have them whole."
    )
    shown = list(zip(scored.records, scored.exact, strict=True))
    if len(shown) > MOST_CASES:
        yield warning(f"The first {MOST_CASES} of {len(shown)} cases.")
    for record, right in shown[:MOST_CASES]:
        yield _case(record, right, scored.domain, folder)


def _case(record: Mapping[str, Any], right: bool, domain: Domain, folder: RunFolder) -> Html:
    golds = {gold["id"] for gold in record["golds"]}
    stage = failing_stage(record, right, domain)
    kind = "ok" if right else ("none" if record["prediction"] is None else "wrong")
    year = f" ({record['year']})" if record["year"] else ""
    head = [
        element("b", f"{record['case_id']}{year}"),
        f" predicted {_said(record['prediction'])}; reference {_said(record['reference'])} ",
        element("span", stage, class_=f"stage {kind}"),
    ]
    pieces: list[str] = [element("summary", *head), _golds(record, domain)]
    if record["status"] != "ok":
        pieces.append(warning(f"{record['status']}: {record['detail']}"))
    pieces += [_step(step, golds) for step in folder.transcript(record)]
    return element("details", *pieces, class_=kind)


def _golds(record: Mapping[str, Any], domain: Domain) -> Html:
    """Each gold, marked by whether and at which look it was first shown; those that an answer
    does not rest on, such as index entries, only faintly."""
    first: dict[str, int] = {}
    for look in record["looks"]:
        for name in look["golds"]:
            first.setdefault(name, look["hop"])
    if not record["golds"]:
        return paragraph("No gold sections.")
    marks = []
    for gold in sorted(record["golds"], key=lambda gold: (-gold["grade"], gold["id"])):
        if gold["id"] in first:
            text, class_ = f"{gold['id']} at look {first[gold['id']]}", "gold"
        else:
            needed = gold["grade"] >= domain.answer_grade
            text, class_ = f"{gold['id']} never shown", "missed" if needed else "way"
        marks.append(element("span", text, class_=class_))
    if len(marks) <= MOST_GOLDS:
        return paragraph(joined(["Gold sections: ", joined(marks, " ")]), "golds")
    count = f"{len(first)} of {len(marks)} gold sections were shown"
    inside = paragraph(joined(marks, " "), "golds")
    return element("details", element("summary", count), inside, class_="step")


def _step(step: Mapping[str, Any], golds: Collection[str]) -> Html:
    stage = f"{step['stage']}: " if step.get("stage") else ""
    if step["kind"] != "tool":
        who = SPEAKERS.get(step["kind"], step["kind"])
        text = element("pre", _cut(step["text"]))
        if step["kind"] in ("system", "user"):
            return element("details", element("summary", f"{stage}{who}"), text, class_="step")
        return element("div", element("div", f"{stage}{who}", class_="who"), text, class_="step")
    shown = step["golds"]
    arguments = json.dumps(step["arguments"], ensure_ascii=False) if step["arguments"] else ""
    summary = [f"{stage}look {step['hop']}: {step['tool']} {_cut(arguments, 200)} "]
    summary += [joined([element("span", gold, class_="gold"), " "]) for gold in shown[:MOST_GOLDS]]
    if len(shown) > MOST_GOLDS:
        summary.append(element("span", f"and {len(shown) - MOST_GOLDS} more golds", class_="gold"))
    if step["error"]:
        summary.append(element("span", "error", class_="missed"))
    if step["result"]:
        inside: str = _cut(step["result"])
    else:
        inside = joined(
            [
                element("span", name, class_="gold") if name in golds else name
                for name in step["sections"]
            ],
            "\n",
        )
    return element("details", element("summary", *summary), element("pre", inside), class_="step")


def _cut(text: str, most: int = STEP_CHARACTERS) -> str:
    return (
        text if len(text) <= most else f"{text[:most]} [... {len(text) - most:,} more characters]"
    )


def _said(value: Any) -> str:
    if value is None:
        return "nothing"
    return ", ".join(value) if isinstance(value, list) else str(value)
