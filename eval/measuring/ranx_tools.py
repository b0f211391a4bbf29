"""ranx over our run and qrels files: its significance report, fusion methods and their tuning.

ranx compiles itself for about a minute at its first use on a computer and for seconds at each
later one. Nothing else of this project waits for it.

Runs are given to it in the one total order, with scores that fall strictly, so that it breaks no
ties of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from eval.queries.trec import Qrel, RunRow, falling, ordered, read_qrels, read_run
from tam.errors import BadCases, BadOption, MissingExtra

#: methods of ``ranx.fuse`` without parameters of their own
FUSIONS = (
    *("rrf", "isr", "log_isr", "bordafuse", "condorcet"),
    *("min", "max", "med", "sum", "anz", "mnz"),
)
#: methods whose parameters are tuned on qrels
TUNED = ("rrf", "rbc", "gmnz", "logn_isr", "mixed", "wmnz", "wsum", "w_bordafuse", "w_condorcet")
#: methods over ranks, which need no normalised scores
_BY_RANK = frozenset({"rrf", "isr", "log_isr", "logn_isr", "rbc", "bordafuse", "condorcet"})
STATISTICAL_TESTS = ("student", "fisher", "tukey")


def load_ranx() -> Any:
    """The package. Raises ``MissingExtra``."""
    try:
        import ranx
    except ImportError as error:
        raise MissingExtra("ranx", "eval", "this command") from error
    return ranx


def to_run(rows: Sequence[RunRow], queries: Sequence[str], name: str = "") -> Any:
    """Rows in rank order as a ranx run with all of ``queries``, those without results empty."""
    found: dict[str, dict[str, float]] = {query: {} for query in queries}
    for query, group in groupby(rows, key=lambda row: row.query_id):
        if query in found:
            results = list(group)
            scores = falling([row.score for row in results])
            found[query] = {row.doc_id: score for row, score in zip(results, scores, strict=True)}
    return load_ranx().Run(found, name=name)


def to_qrels(qrels: Sequence[Qrel]) -> Any:
    """Judgements above 0 as ranx qrels; a query without any is left out, as everywhere here."""
    found: dict[str, dict[str, int]] = {}
    for qrel in qrels:
        if qrel.grade > 0:
            found.setdefault(qrel.query_id, {})[qrel.doc_id] = qrel.grade
    return load_ranx().Qrels(found)


def fuse(
    runs: Sequence[Path], method: str = "rrf", qrels: Path | None = None, metric: str = "ndcg"
) -> tuple[list[RunRow], dict[str, Any]]:
    """Fuse run files; with ``qrels`` the method's parameters are tuned on them for ``metric``.

    Returns the fused run in the one total order, and the parameters used. Raises ``BadOption``.
    """
    if len(runs) < 2:
        raise BadOption("fusion needs at least two runs")
    known = TUNED if qrels else FUSIONS
    if method not in known:
        what = "with --tune" if qrels else "without --tune"
        raise BadOption(f"fusion {method!r} is not known {what}; choose from {', '.join(known)}")
    lists = [read_run(path) for path in runs]
    queries = sorted({row.query_id for rows in lists for row in rows})
    ranx = load_ranx()
    norm = None if method in _BY_RANK else "min-max"
    params: dict[str, Any] = {}
    if qrels is not None:
        judged = read_qrels(qrels)
        wanted = sorted({qrel.query_id for qrel in judged if qrel.grade > 0} & set(queries))
        if not wanted:
            raise BadCases(f"{qrels}: judges no query of the runs; give qrels of the same queries")
        params = ranx.optimize_fusion(
            qrels=to_qrels([qrel for qrel in judged if qrel.query_id in wanted]),
            runs=[to_run(rows, wanted) for rows in lists],
            norm=norm,
            method=method,
            metric=metric,
        )
    fused = ranx.fuse(
        [to_run(rows, queries) for rows in lists], norm=norm, method=method, params=params
    )
    rows = [
        RunRow(query, doc, 0, float(score), method)
        for query, found in fused.to_dict().items()
        for doc, score in found.items()
    ]
    return ordered(rows), params


def significance_report(
    runs: Sequence[Path],
    qrels: Path,
    metrics: Sequence[str],
    test: str = "fisher",
    max_p: float = 0.05,
    seed: int = 0,
) -> str:
    """ranx's report over run files: every run against every other. Raises ``BadOption``."""
    if test not in STATISTICAL_TESTS:
        raise BadOption(f"test {test!r} is not known; choose from {', '.join(STATISTICAL_TESTS)}")
    ranx = load_ranx()
    judged = to_qrels(read_qrels(qrels))
    queries = sorted(judged.to_dict())
    loaded = [to_run(read_run(path), queries, _name(path)) for path in runs]
    try:
        report = ranx.compare(
            judged, loaded, list(metrics), stat_test=test, max_p=max_p, random_seed=seed, threads=1
        )
    except ValueError as error:
        raise BadOption(f"measures {', '.join(metrics)}: ranx refused ({error})") from error
    return str(report)


def _name(path: Path) -> str:
    """``run.trec`` of an evaluation goes by its folder's name."""
    return path.parent.name if path.stem.startswith("run") and path.parent.name else path.stem
