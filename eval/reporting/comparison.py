"""Two evaluations side by side: which is better, and is it more than chance."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from eval.golds.gold import Gold
from eval.measuring.judged import Floats
from eval.measuring.measures import parse_score
from eval.measuring.significance import Paired, compare, signs
from eval.reporting.explain import all_diagnoses
from eval.reporting.report import ID_COLUMNS, PER_QUERY, no_evaluation, number, read_report
from eval.reporting.texts import Texts
from tam.errors import BadCases, BadOption
from tam.tables import columns

#: compared when no measure is named, where both have them
DEFAULT_MEASURES = ("recall@8", "all@8", "mrr", "ndcg@8", "budget_recall@8000")
ALPHA = 0.05


@dataclass(frozen=True)
class PerQuery:
    """``per_query.parquet`` of one evaluation, with its report."""

    folder: Path
    queries: tuple[str, ...]
    measures: tuple[str, ...]
    values: Floats
    report: dict[str, Any]

    @property
    def name(self) -> str:
        return self.folder.name or str(self.folder)


@dataclass(frozen=True)
class Difference:
    """One query whose value differs."""

    query_id: str
    a: float
    b: float


@dataclass(frozen=True)
class Comparison:
    """B against A over the queries that both have. ``wins`` and ``losses`` are of the first
    measure, the largest difference first. ``only_a`` and ``only_b`` count the other queries."""

    a: PerQuery
    b: PerQuery
    results: tuple[Paired, ...]
    queries: int
    only_a: int
    only_b: int
    wins: tuple[Difference, ...]
    losses: tuple[Difference, ...]
    notes: tuple[str, ...]


def read_per_query(folder: Path) -> PerQuery:
    """An evaluation's folder; raises ``BadCases`` when it is none."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        table = parquet.read_table(folder / PER_QUERY)
    except (OSError, ValueError, pa.ArrowException) as error:
        raise no_evaluation(folder) from error
    report = read_report(folder)
    measures = tuple(name for name in table.column_names if name not in ID_COLUMNS)
    if "query_id" not in table.column_names or not measures:
        raise BadCases(f"{folder / PER_QUERY}: not written by tam eval; make it again")
    values = np.stack([table.column(name).to_numpy() for name in measures], axis=1)
    queries = tuple(map(str, table.column("query_id").to_pylist()))
    return PerQuery(folder, queries, measures, values, report)


def compare_folders(a: Path, b: Path, measures: Sequence[str] = (), seed: int = 0) -> Comparison:
    """Compare two evaluations. Raises ``BadCases`` and ``BadOption``."""
    first, second = read_per_query(a), read_per_query(b)
    names = _measures(first, second, measures)
    place_a = {query: at for at, query in enumerate(first.queries)}
    place_b = {query: at for at, query in enumerate(second.queries)}
    common = sorted(place_a.keys() & place_b.keys())
    values = [
        each.values[[place[query] for query in common]][:, [each.measures.index(n) for n in names]]
        for each, place in ((first, place_a), (second, place_b))
    ]
    results = compare(names, values[0], values[1], seed)
    return Comparison(
        first,
        second,
        tuple(results),
        len(common),
        len(first.queries) - len(common),
        len(second.queries) - len(common),
        *_differences(common, values[0][:, 0], values[1][:, 0]),
        tuple(_notes(first, second)),
    )


def _measures(a: PerQuery, b: PerQuery, wanted: Sequence[str]) -> list[str]:
    both = [name for name in a.measures if name in b.measures]
    if not wanted:
        names = [name for text in DEFAULT_MEASURES if (name := str(parse_score(text))) in both]
        return names or both[:1]
    names = [str(parse_score(text)) for text in wanted]
    for name in names:
        if name not in both:
            raise BadOption(
                f"measure {name} is not in both evaluations; both have {', '.join(both) or 'none'}"
            )
    return names


def _differences(
    queries: Sequence[str], a: Floats, b: Floats
) -> tuple[tuple[Difference, ...], tuple[Difference, ...]]:
    found = [
        Difference(query, float(x), float(y))
        for query, x, y, sign in zip(queries, a, b, signs(b - a).tolist(), strict=True)
        if sign
    ]
    found.sort(key=lambda each: (-abs(each.b - each.a), each.query_id))
    return tuple(d for d in found if d.b > d.a), tuple(d for d in found if d.b < d.a)


def _notes(a: PerQuery, b: PerQuery) -> Iterator[str]:
    """What the two do not have in common."""
    for what, words in (("inputs", "files"), ("query_set", "query sets")):
        if _content(a.report.get(what)) != _content(b.report.get(what)):
            yield f"the two were made from different {words}"
    missing = [each.report.get("counts", {}).get("missing", {}) for each in (a, b)]
    if missing[0] != missing[1]:
        yield "the two indexes do not miss the same golds, so the averages are over other golds"


def _content(record: Any) -> Any:
    """Of input files the sha256 only: a renamed file is the same."""
    if isinstance(record, dict):
        return {
            what: value.get("sha256", value) if isinstance(value, dict) else value
            for what, value in record.items()
        }
    return record


def comparison_lines(
    found: Comparison, shown: int = 10, texts: Texts | None = None
) -> Iterator[str]:
    """The comparison as text. Of the first ``shown`` wins and losses also the query and its golds
    with their ranks in A and B, and their texts as far as ``texts`` has them."""
    texts = texts or Texts()
    listed = [each.query_id for each in (*found.wins[:shown], *found.losses[:shown])]
    ranks = _gold_ranks(found, set(listed))
    yield f"A = {found.a.name}, B = {found.b.name}, {found.queries:,} queries in common"
    if found.only_a or found.only_b:
        yield f"only in A: {found.only_a:,} queries; only in B: {found.only_b:,} (not compared)"
    yield from found.notes
    yield ""
    rows: list[Sequence[str]] = [
        ("measure", "A", "B", "B - A", "95 % interval", "p", "p (Holm)", "wins", "ties", "losses")
    ]
    for each in found.results:
        rows.append(
            (
                each.name,
                number(each.mean_a, 4),
                number(each.mean_b, 4),
                f"{each.difference:+.4f}",
                f"[{each.low:+.4f}, {each.high:+.4f}]",
                f"{each.p:.4f}",
                f"{each.adjusted:.4f}",
                f"{each.wins:,}",
                f"{each.ties:,}",
                f"{each.losses:,}",
            )
        )
    yield columns(rows, right=range(1, 10))
    yield ""
    yield verdict(found.results[0])
    for what, differences in (("B wins on", found.wins), ("B loses on", found.losses)):
        if differences:
            yield f"{what} ({found.results[0].name}, {len(differences):,} queries):"
            for one in differences[:shown]:
                yield f"  {one.query_id}  {one.a:.3f} -> {one.b:.3f}"
                if texts.query(one.query_id):
                    yield f"      {texts.query(one.query_id)}"
                for gold, (before, after) in ranks[one.query_id].items():
                    said = f": {texts.gold(gold)}" if texts.gold(gold) else ""
                    yield f"      {gold.section}  rank {before or '-'} -> {after or '-'}{said}"
    if listed:
        yield from texts.notes


def _gold_ranks(found: Comparison, queries: Collection[str]) -> dict[str, dict[Gold, list[int]]]:
    """Query -> its golds with their ranks in A and B, 0 where one was not found."""
    ranks: dict[str, dict[Gold, list[int]]] = {query: {} for query in queries}
    for side, each in enumerate((found.a, found.b)):
        for diagnosis in all_diagnoses(each.folder):
            gold = diagnosis.gold
            if gold.query_id in ranks:
                ranks[gold.query_id].setdefault(gold, [0, 0])[side] = diagnosis.rank
    return ranks


def verdict(result: Paired) -> str:
    """Which is better by the first measure, and whether by more than chance."""
    if not result.difference:
        return f"By {result.name}, A and B are equal."
    better = "B" if result.difference > 0 else "A"
    if parse_score(result.name).measure.better < 0:
        better = "A" if better == "B" else "B"
    if result.adjusted < ALPHA:
        return (
            f"By {result.name}, {better} is better, by more than chance (p {result.adjusted:.4f})."
        )
    return (
        f"By {result.name}, {better} is ahead, but not by more than chance "
        f"(p {result.adjusted:.4f})."
    )
