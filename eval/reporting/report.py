"""The table of an evaluation and the files that it leaves.

| file | what |
|---|---|
| `run.trec` | the run over sections, six columns; `qrels.trec` its judgements, four columns |
| `run.chunks.trec` | the run over chunks; `qrels.chunks.trec` every chunk that covers a gold |
| `golds.jsonl` | each gold with grade and origin, and what became of it |
| `per_query.parquet` | a row for each query: ids, counts and one column for each measure |
| `report.json` | settings, counts and means with intervals |
| `queries.jsonl` | the queries' texts, of public sets only |

The others hold ids, keys and numbers; never the text of a query or case.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval.golds.gold import qrels_of
from eval.measuring.measures import MEASURES
from eval.queries.trec import Qrel, RunRow, write_jsonl, write_qrels, write_run
from eval.reporting.texts import QUERIES
from tam._version import __version__
from tam.errors import BadCases
from tam.files import replacing, sha256_file, write_json
from tam.records import to_json
from tam.tables import columns

if TYPE_CHECKING:
    from eval.golds.coverage import Coverage
    from eval.measuring.evaluate import Evaluation, GroupMeans
    from eval.measuring.views import View
    from retrievers.search.index import Index

PER_QUERY = "per_query.parquet"
REPORT = "report.json"
GOLDS = "golds.jsonl"
#: columns of ``per_query.parquet`` that are no measures
ID_COLUMNS = ("query_id", "year", "golds")


def write_evaluation(
    folder: Path,
    evaluation: Evaluation,
    index: Index,
    coverage: Coverage,
    inputs: Mapping[str, Path] | None = None,
) -> None:
    """Write all files of an evaluation. ``inputs`` are the user's files by what they are; the
    report names them and their sha256, without folders."""
    folder.mkdir(parents=True, exist_ok=True)
    for view, each in evaluation.views.items():
        name = "" if view == "sections" else f".{view}"
        write_run(folder / f"run{name}.trec", list(run_rows(each)))
    if "sections" in evaluation.views:
        write_qrels(folder / "qrels.trec", qrels_of(evaluation.views["sections"].golds))
    if "chunks" in evaluation.views:
        rows = chunk_qrels(evaluation.views["chunks"], coverage)
        write_qrels(folder / "qrels.chunks.trec", list(rows))
    write_jsonl(folder / GOLDS, (diagnosis.to_json() for diagnosis in evaluation.diagnoses))
    if not evaluation.info.private:
        texts = ({"query_id": each.query_id, "text": each.text} for each in evaluation.queries)
        write_jsonl(folder / QUERIES, texts)
    _write_per_query(folder / PER_QUERY, evaluation)
    write_json(folder / REPORT, report_of(evaluation, index, inputs or {}))


def run_rows(view: View) -> Iterator[RunRow]:
    """A view as the rows of a run."""
    for query, names, scores in zip(view.judged.queries, view.names, view.scores, strict=True):
        for rank, (name, score) in enumerate(zip(names, scores, strict=True), 1):
            yield RunRow(query, name, rank, score)


def chunk_qrels(view: View, coverage: Coverage) -> Iterator[Qrel]:
    """For each query every chunk that covers a gold, with the highest grade it covers.

    Over these, hit@k, MRR and precision@k of other tools are those of the view ``chunks``; recall
    is not, since several chunks can cover one gold.
    """
    ids = coverage.stored.chunks.ids
    grades: dict[str, dict[str, int]] = {query: {} for query in view.judged.queries}
    for gold in view.golds:
        own = grades[gold.query_id]
        for row in coverage.rows(gold):
            own[ids[row]] = max(gold.grade, own.get(ids[row], 0))
    for query, judged in grades.items():
        for chunk_id, grade in judged.items():
            yield Qrel(query, chunk_id, grade)


def _write_per_query(path: Path, evaluation: Evaluation) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    view = next(iter(evaluation.views.values()))
    arrays: dict[str, Any] = {
        "query_id": pa.array([query.query_id for query in evaluation.queries], pa.string()),
        "year": pa.array([query.year for query in evaluation.queries], pa.int32()),
        "golds": pa.array(view.judged.golds if evaluation.queries else [], pa.int32()),
    }
    for at, score in enumerate(evaluation.scores):
        arrays[str(score)] = pa.array(evaluation.values[:, at], pa.float64())
    with replacing(path) as part:
        parquet.write_table(pa.table(arrays), part)


def report_of(evaluation: Evaluation, index: Index, inputs: Mapping[str, Path]) -> dict[str, Any]:
    """``report.json``: equal inputs give equal content, so no times and no paths."""
    settings = evaluation.settings
    manifest = index.manifest
    search = asdict(settings.search)
    search["weights"] = dict(settings.search.weights)
    if search["reranker"]:
        search["reranker"] = Path(search["reranker"]).name
    return {
        "tam": __version__,
        "query_set": to_json(evaluation.info),
        "inputs": {
            what: {"name": path.name, "sha256": sha256_file(path)}
            for what, path in sorted(inputs.items())
        },
        "index": {
            "corpus": manifest.corpus,
            "inputs": manifest.inputs,
            "preset": manifest.settings.preset,
            "encoder": manifest.encoder.name if manifest.encoder else None,
            "editions": [edition.name for edition in manifest.editions],
            "chunks": manifest.chunks,
            "sample": manifest.sample,
        },
        "settings": {
            "search": search,
            "ks": list(settings.ks),
            "budgets": list(settings.budgets),
            "year_policy": settings.policy,
            "year_filter": settings.year_filter,
            "sources": list(settings.sources) if settings.sources else None,
            "chunks_retrieved": settings.chunks,
            "seed": settings.seed,
            "resamples": settings.resamples,
        },
        "measures": {name: measure.sentence for name, measure in MEASURES.items()},
        "counts": to_json(evaluation.counts),
        "notes": list(evaluation.notes),
        "warnings": evaluation.info.warnings(settings.search.links == "on"),
        "groups": [_group(evaluation, group) for group in evaluation.groups],
    }


def no_evaluation(folder: Path) -> BadCases:
    """The error for a folder that is none of an evaluation."""
    return BadCases(
        f"{folder}: no evaluation here ({PER_QUERY} or {REPORT} is missing or damaged); "
        f"make one with  tam eval --out {folder}"
    )


def read_report(folder: Path) -> dict[str, Any]:
    """``report.json`` of an evaluation. Raises ``BadCases``."""
    try:
        report = json.loads((folder / REPORT).read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise no_evaluation(folder) from error
    if not isinstance(report, dict):
        raise no_evaluation(folder)
    return report


def _group(evaluation: Evaluation, group: GroupMeans) -> dict[str, Any]:
    scores = zip(evaluation.scores, group.means, group.low, group.high, strict=True)
    return {
        "by": group.by,
        "name": group.name,
        "queries": group.queries,
        "golds": group.golds,
        "scores": {
            str(score): {"mean": mean, "low": low, "high": high}
            for score, mean, low, high in scores
        },
    }


# -- the table


def table_lines(evaluation: Evaluation) -> Iterator[str]:
    """The table of ``tam eval``: overall, then recall by source, year and origin."""
    if not evaluation.queries:
        yield "No query could be measured."
        yield from evaluation.notes
        return
    counts = evaluation.counts
    yield (
        f"{counts.measured:,} of {counts.queries:,} queries measured, {counts.golds:,} golds; "
        f"retriever {evaluation.settings.search.retriever}, "
        + (
            f"year policy {evaluation.settings.policy}"
            if evaluation.settings.year_filter
            else "no year filter"
        )
    )
    names = {
        "sections": "sections: results collapsed to sections in rank order",
        "chunks": "chunks: results as retrieved",
    }
    for view in evaluation.views:
        yield ""
        yield names[view]
        yield _overall(evaluation, view)
    yield from _budgets(evaluation)
    yield ""
    yield from _by_group(evaluation)
    yield ""
    yield from evaluation.info.warnings(evaluation.settings.search.links == "on")
    yield from evaluation.notes
    if counts.other_sources:
        yield f"{counts.other_sources} golds are of manuals that were not searched, in no average"
    if counts.found_nothing:
        yield f"{counts.found_nothing} queries found nothing and count 0"


def number(value: float, digits: int = 3) -> str:
    """A mean for a table: three decimals, token counts as whole numbers."""
    return f"{value:,.0f}" if value > 10 else f"{value:.{digits}f}"


def _cell(group: GroupMeans, at: int, interval: bool = True) -> str:
    mean = number(group.means[at])
    if not interval:
        return mean
    return f"{mean} [{number(group.low[at])}, {number(group.high[at])}]"


def _overall(evaluation: Evaluation, view: str) -> str:
    """Rows are k, columns measures; recall with its interval."""
    group = evaluation.groups[0]
    at = {str(score): place for place, score in enumerate(evaluation.scores)}
    measures = ("recall", "all", "hit", "ndcg", "precision", "share", "tokens")
    shown = [
        name for name in measures if any(f"{view}.{name}@{k}" in at for k in evaluation.settings.ks)
    ]
    rows: list[Sequence[str]] = [("k", *shown)]
    for k in sorted(set(evaluation.settings.ks)):
        cells = [_cell(group, at[f"{view}.{name}@{k}"], name == "recall") for name in shown]
        rows.append((str(k), *cells))
    mrr = _cell(group, at[f"{view}.mrr"])
    return columns(rows, right=range(len(shown) + 1)) + f"\nMRR {mrr}"


def _budgets(evaluation: Evaluation) -> Iterator[str]:
    group = evaluation.groups[0]
    cells = [
        f"{score.at:,}: {_cell(group, at)}"
        for at, score in enumerate(evaluation.scores)
        if score.measure.name == "budget_recall"
    ]
    if cells:
        yield "recall within a token budget  " + "  ".join(cells)


def _by_group(evaluation: Evaluation) -> Iterator[str]:
    view = next(iter(evaluation.views))
    places = [
        at
        for at, score in enumerate(evaluation.scores)
        if score.view == view and score.measure.name == "recall"
    ]
    head = [evaluation.scores[at].label for at in places]
    rows: list[Sequence[str]] = [("by", "", "queries", "golds", *head)]
    kinds = Counter(group.by for group in evaluation.groups)
    same = [f"{group.by} {group.name}" for group in evaluation.groups[1:] if kinds[group.by] == 1]
    for group in evaluation.groups:
        if group.by != "overall" and kinds[group.by] == 1:
            continue
        cells = [_cell(group, at) for at in places]
        rows.append((group.by, group.name, f"{group.queries:,}", f"{group.golds:,}", *cells))
    yield f"recall by group of golds ({view})"
    yield columns(rows, right=range(2, len(head) + 4))
    if same:
        yield f"all golds are of {', '.join(same)}"
