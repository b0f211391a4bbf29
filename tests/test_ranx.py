"""ranx gives the numbers that we give, and does fusion and significance over our files.

ranx compiles itself for about a minute. With its compiler switched off it runs the same source as
plain Python, in seconds, so that this is what the suite does; only its nDCG is then summed in
another order and may differ in the last bit. ``TAM_RANX_COMPILED=1`` runs the compiled one, which
agrees to the last digit in all.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from eval.measuring.ranx_tools import fuse, significance_report
from eval.queries.trec import RunRow, read_run
from tam.errors import BadOption

pytest.importorskip("ranx")
ROOT = Path(__file__).resolve().parent.parent
COMPILED = bool(os.environ.get("TAM_RANX_COMPILED"))


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("ranx")
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"}
    if not COMPILED:
        environment["NUMBA_DISABLE_JIT"] = "1"
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests" / "ranx_check.py"), str(folder)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return folder, json.loads(done.stdout.splitlines()[-1])


def test_equal_to_ranx(checked: tuple[Path, dict[str, Any]]) -> None:
    measures = checked[1]["measures"]
    assert len(measures) == 17
    for name, values in measures.items():
        assert len(values["ours"]) == 60
        if name.startswith("ndcg") and not COMPILED:
            assert values["ours"] == pytest.approx(values["ranx"], rel=1e-15, abs=1e-16), name
        else:
            assert values["ours"] == values["ranx"], name


def test_fusion_is_reciprocal_rank_in_the_total_order(checked: tuple[Path, dict[str, Any]]) -> None:
    folder, found = checked
    expected: dict[tuple[str, str], float] = {}
    for name in ("a.trec", "b.trec"):
        for row in read_run(folder / name):
            at = (row.query_id, row.doc_id)
            expected[at] = expected.get(at, 0.0) + 1 / (60 + row.rank)
    fused = [RunRow(*row) for row in found["fused"]]
    assert len(fused) == len(expected)
    for before, row in zip([None, *fused], fused, strict=False):
        assert row.score == pytest.approx(expected[row.query_id, row.doc_id], rel=1e-12)
        if before is not None and before.query_id == row.query_id:
            assert (-before.score, before.doc_id) < (-row.score, row.doc_id)
            assert row.rank == before.rank + 1


def test_significance_report(checked: tuple[Path, dict[str, Any]]) -> None:
    report = checked[1]["report"]
    assert "Recall@8" in report
    assert "a.trec" not in report
    assert len(report.splitlines()) == 4


def test_mistakes_before_anything_is_compiled(tmp_path: Path) -> None:
    paths = [tmp_path / "a.trec", tmp_path / "b.trec"]
    with pytest.raises(BadOption, match="at least two"):
        fuse(paths[:1])
    with pytest.raises(BadOption, match="choose from rrf"):
        fuse(paths, "magic")
    with pytest.raises(BadOption, match="with --tune"):
        fuse(paths, "isr", tmp_path / "qrels.trec")
    with pytest.raises(BadOption, match="student"):
        significance_report(paths, tmp_path / "qrels.trec", ["mrr"], "anova")
