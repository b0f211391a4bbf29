"""Run by test_ranx.py in a process of its own: ranx beside our measures, as JSON on stdout."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from random_runs import KS, random_case

from eval.measuring.judged import judge
from eval.measuring.measures import parse_score
from eval.measuring.ranx_tools import fuse, load_ranx, significance_report, to_qrels, to_run
from eval.queries.trec import write_qrels, write_run


def main(folder: Path) -> None:
    run, qrels = random_case(3, 60, 40)
    other, _ = random_case(4, 60, 40)
    write_run(folder / "a.trec", run)
    write_run(folder / "b.trec", other)
    write_qrels(folder / "qrels.trec", qrels)
    judged = judge(run, qrels)
    pairs = (
        ("recall", "recall"),
        ("hit", "hit_rate"),
        ("precision", "precision"),
        ("ndcg", "ndcg"),
    )
    names = {f"{ours}@{k}": f"{theirs}@{k}" for ours, theirs in pairs for k in KS} | {"mrr": "mrr"}
    theirs = to_qrels(qrels)
    values = load_ranx().evaluate(
        theirs, to_run(run, list(judged.queries)), list(names.values()), return_mean=False
    )
    order = list(theirs.to_dict())
    reference = {
        ours: dict(zip(order, values[name].tolist(), strict=True)) for ours, name in names.items()
    }
    fused, _ = fuse([folder / "a.trec", folder / "b.trec"], "rrf")
    measures = {
        name: {
            "ours": parse_score(name).values(judged).tolist(),
            "ranx": [reference[name][query] for query in judged.queries],
        }
        for name in names
    }
    report = significance_report(
        [folder / "a.trec", folder / "b.trec"], folder / "qrels.trec", ["recall@8"]
    )
    print(json.dumps({"measures": measures, "fused": fused, "report": report}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
