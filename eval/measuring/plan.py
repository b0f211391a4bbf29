"""What of a query set is measured against an index, and what is not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from eval.golds.coverage import Status
from eval.golds.gold import Gold
from eval.queries.query_sets import Query
from retrievers.search.settings import Filter


@dataclass(frozen=True, slots=True)
class Counts:
    """Queries and golds, measured or not, each with the reason.

    ``no_year`` and ``no_edition`` are queries that could not be searched; ``missing`` the golds
    that the index does not hold, by reason; ``other_sources`` golds of manuals not searched.
    """

    queries: int
    measured: int
    without_golds: int
    all_missing: int
    no_year: int
    no_edition: int
    found_nothing: int
    golds: int
    missing: Mapping[str, int]
    other_sources: int


@dataclass(frozen=True)
class EvaluationPlan:
    """A query set sorted out against one index: what is searched, and what is not and why."""

    queries: tuple[Query, ...]
    filters: tuple[Filter, ...]
    golds: Mapping[str, tuple[Gold, ...]]
    missing: tuple[tuple[Gold, Status], ...]
    counts: Counts
    notes: tuple[str, ...]
