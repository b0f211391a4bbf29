"""What a study cost: seconds of its stages in this run, and of the builds of its indexes.

They stand apart from the results, which are the same whenever and wherever a study runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from eval.ablation.running.runner import StudyRun
from eval.ablation.spec.axes import shown
from tam.files import write_json
from tam.tables import columns

#: stage of a run -> the parts of the clock that it is made of; ``search`` has all that no other has
STAGES: Mapping[str, Sequence[str]] = {
    "manuals and indexes": ("manuals", "indexes"),
    "queries": ("queries",),
    "query vectors": ("encoder", "encode"),
    "search": (),
    "evaluation": ("golds", "judging", "measures", "writing"),
    "tables, figures, tests": ("report",),
}


def stages(run: StudyRun) -> dict[str, float]:
    """Seconds of each stage of this run; ``other`` is what no stage covers."""
    clock = {part: seconds for part, seconds in run.clock.items() if part != "all"}
    found = {stage: sum(clock.get(part, 0.0) for part in parts) for stage, parts in STAGES.items()}
    found["search"] = sum(clock.values()) - sum(found.values())
    whole = run.clock.get("all", sum(found.values()))
    return {**found, "other": max(0.0, whole - sum(found.values())), "all": whole}


def write_timings(path: Path, run: StudyRun) -> None:
    """``timings.json``."""
    indexes = {
        built.index.manifest.inputs: {
            "encoder": built.index.manifest.encoder.name if built.index.manifest.encoder else None,
            "seconds": built.seconds,
            "distinct_texts": built.distinct,
            "encoded": built.encoded,
        }
        for built in run.built.values()
    }
    computed = len(run.study.cells) - run.kept
    write_json(path, {"stages": stages(run), "cells_computed": computed, "indexes": indexes})


def timing_lines(run: StudyRun) -> Iterator[str]:
    """The seconds of this run, and of the builds of its indexes, as text."""
    found = stages(run)
    computed = len(run.study.cells) - run.kept
    parts = [f"{stage} {seconds:.1f} s" for stage, seconds in found.items() if stage != "all"]
    yield ""
    yield f"{computed} of {len(run.study.cells)} cells computed in {found['all']:.1f} s: {', '.join(parts)}"
    rows: list[Sequence[str]] = [
        (
            "index",
            "preset",
            "encoder",
            "chunks",
            "vectors",
            "texts encoded",
            "encoding s",
            "build s",
        )
    ]
    for settings, built in run.built.items():
        manifest = built.index.manifest
        rows.append(
            (
                manifest.inputs[:12],
                settings.preset,
                shown(manifest.encoder.name if manifest.encoder else None),
                f"{manifest.chunks:,}",
                f"{manifest.windows:,}",
                f"{built.encoded:,} of {built.distinct:,}",
                f"{built.seconds.get('encoding', 0.0):.1f}",
                f"{sum(built.seconds.values()):.1f}",
            )
        )
    yield columns(rows, right=range(3, 8))
