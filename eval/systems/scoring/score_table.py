"""Scores as text for a terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence

from eval.systems.scoring.scored import Scored
from eval.systems.scoring.scores import Value
from tam.tables import columns


def table(scored: Scored) -> str:
    """The scores as text: groups, the paper's rows beside them, retrieval, stages, effort."""
    config = scored.config
    lines = [
        f"{scored.name}: {config['system']}, {config['model'] or 'no model'}, "
        f"{scored.domain.name}, {len(scored.records)} cases",
        *unfinished(scored),
        "",
        _groups(scored),
        "",
        *_beside_lines(scored),
        *_retrieval_lines(scored),
        "first failing stage: "
        + ", ".join(f"{stage} {count}" for stage, count in scored.stages.items() if count),
        "statuses: " + ", ".join(f"{status} {count}" for status, count in scored.statuses.items()),
        _effort_line(scored),
    ]
    return "\n".join(lines)


def unfinished(scored: Scored) -> list[str]:
    """Lines for a run that is not whole."""
    lines = []
    if scored.not_run:
        lines.append(
            f"NOT FINISHED: {scored.not_run} cases have not been run and are in none of the numbers"
        )
    if scored.config.get("left_out"):
        lines.append(
            f"{scored.config['left_out']} cases of the file are left out: no edition of their year"
        )
    return lines


def _groups(scored: Scored) -> str:
    groups = [
        [group.label, str(group.cases), str(group.missing)]
        + [score_cell(value) for value in group.values]
        for group in scored.groups
    ]
    heads = ["", "cases", "missing", *(value.name for value in scored.groups[0].values)]
    return aligned(list(zip(heads, *groups, strict=True)))


def score_cell(value: Value) -> str:
    """A value with its interval: per cent, an error in its own unit."""
    if math.isnan(value.value):
        return "-"
    if value.unit:
        return f"{value.value:.2f} [{value.low:.2f}, {value.high:.2f}]"
    return f"{100 * value.value:.1f} [{100 * value.low:.1f}, {100 * value.high:.1f}]"


def beside(scored: Scored) -> list[list[str]]:
    """This run's main numbers over published ones, a head first; empty where there are none."""
    if scored.domain.published is None:
        return []
    published = scored.domain.published()
    own = published.own(scored.groups[0])
    return [list(published.head), *own, *map(list, published.rows)]


def caveats(scored: Scored) -> tuple[str, ...]:
    """What a reader of ``beside`` must know."""
    return () if scored.domain.published is None else scored.domain.published().caveats


def _beside_lines(scored: Scored) -> list[str]:
    rows = beside(scored)
    return [aligned(rows), *caveats(scored), ""] if rows else []


def _retrieval_lines(scored: Scored) -> list[str]:
    found = scored.retrieval
    if found is None:
        return ["gold sections: none are known for these cases"]
    hops = found.by_hop
    shown = sorted({0, 1, 2, 4, 8, len(hops) - 1} & set(range(len(hops))))
    rest = found.cases - found.all_seen
    lines = [
        f"gold sections: {100 * found.recall:.1f} % of a case's golds seen on average "
        f"({found.cases} cases with golds, {found.without_golds} without)",
        "  after look "
        + ", ".join(
            f"{at + 1}: {100 * hops[at]:.1f} % (+{100 * found.new_at_hop[at]:.1f})" for at in shown
        ),
        f"  all golds seen in {found.all_seen} cases ({share(found.all_seen / found.cases)}): "
        f"exact match {share(found.exact_if_all)}; not all in {rest}: exact match "
        f"{share(found.exact_if_not)}",
    ]
    if scored.all_golds is not None and scored.domain.wider_golds:
        lines.append(
            f"  with {scored.domain.wider_golds}: {share(scored.all_golds.recall)} of all golds"
        )
    return lines


def _effort_line(scored: Scored) -> str:
    effort = scored.effort
    cost = f", ${effort.cost:.4f}" if effort.cost is not None else ""
    return (
        f"effort: {effort.calls:,} model calls, {effort.input_tokens:,} tokens in, "
        f"{effort.output_tokens:,} out{cost}; a case: {effort.tool_calls:.1f} tool calls, "
        f"{effort.seconds:.1f} s"
    )


def share(value: float | None) -> str:
    """A share in per cent, ``-`` when there is none."""
    return "-" if value is None else f"{100 * value:.1f} %"


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """A table with the first column flush left, the others right."""
    return columns(rows, range(1, len(rows[0])))
