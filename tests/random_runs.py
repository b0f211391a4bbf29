"""Random runs and qrels for comparisons with other tools."""

from __future__ import annotations

import numpy as np

from eval.queries.trec import Qrel, RunRow, falling, ordered

KS = (1, 5, 8, 20)


def random_case(seed: int, queries: int, docs: int) -> tuple[list[RunRow], list[Qrel]]:
    """A run with many equal scores, graded golds, and queries that the run leaves out."""
    rng = np.random.default_rng(seed)
    run: list[RunRow] = []
    qrels: list[Qrel] = []
    for at in range(queries):
        query = f"q{at:04}"
        if rng.random() > 0.1:
            found = rng.permutation(docs)[: rng.integers(1, docs)]
            run += [RunRow(query, f"d{doc}", 0, float(rng.integers(0, 9))) for doc in found]
        judged = rng.permutation(docs)[: rng.integers(1, 9)]
        qrels += [Qrel(query, f"d{doc}", int(rng.integers(0, 4))) for doc in judged]
        qrels.append(Qrel(query, f"d{docs + 1}", 1))  # so that none is without a gold
    parted: list[RunRow] = []
    run = ordered(run)
    for query in sorted({row.query_id for row in run}):
        rows = [row for row in run if row.query_id == query]
        scores = falling([row.score for row in rows])
        parted += [row._replace(score=score) for row, score in zip(rows, scores, strict=True)]
    return parted, qrels
