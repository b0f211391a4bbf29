"""``tam score`` and ``tam score compare``: from run folders to text and files."""

from __future__ import annotations

import json
from pathlib import Path

from eval.systems.running.folder import RunFolder
from eval.systems.scoring.run_report import write_report
from eval.systems.scoring.score_table import aligned, table
from eval.systems.scoring.scored import compare_runs, score_run
from tam.errors import RunError
from tam.files import write_json


def score_command(path: Path, report: bool, as_json: bool) -> str:
    """Score a run, write ``metrics.json`` (and ``report.html``), and return the text to print."""
    scored = score_run(path)
    written = [path / "metrics.json"]
    try:
        write_json(written[0], scored.to_json())
        if report:
            written.append(path / "report.html")
            write_report(written[1], scored, RunFolder(path))
        if scored.domain.private:
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
