"""Retrieval beside the answers: which golds a run saw, when, and where a case first failed.

A gold is seen when a search hit or the page that a tool showed held it or a part of it, as a chunk
covers a gold in ``eval.golds.coverage``. What counts are the golds that an answer rests on, by the
domain's ``answer_grade``; sections that are only ways there are counted apart, with all golds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from eval.domains.model import Domain
from manuals.model.keys import parse_reference
from tam.errors import BadReference

STAGES = (
    "correct",
    "no prediction",
    "gold never retrieved",
    "retrieved but not cited",
    "cited but wrong answer",
    "wrong, no golds known",
)


class Retrieved(NamedTuple):
    """Over the cases with golds: mean share of a case's golds seen, by hop and in the end.

    ``by_hop`` is cumulative: after the h-th look of each case (its last, when it had fewer);
    ``new_at_hop`` is what that look alone added. ``exact_if_all`` is the share of exact answers
    among the ``all_seen`` cases with all golds seen, ``exact_if_not`` among the others; ``None``
    where there are none.
    """

    cases: int
    without_golds: int
    recall: float
    all_seen: int
    by_hop: tuple[float, ...]
    new_at_hop: tuple[float, ...]
    exact_if_all: float | None
    exact_if_not: float | None


def golds_of(record: Mapping[str, Any], grade: int) -> list[str]:
    """Ids of a case's golds of a grade or a higher one."""
    return [gold["id"] for gold in record.get("golds") or () if gold["grade"] >= grade]


def seen_after(record: Mapping[str, Any], hops: int | None = None) -> set[str]:
    """Golds shown by the first looks of a case; by all when ``hops`` is ``None``."""
    return {gold for look in record["looks"][:hops] for gold in look["golds"]}


def _share(record: Mapping[str, Any], golds: Sequence[str], hops: int | None = None) -> float:
    seen = seen_after(record, hops)
    return sum(gold in seen for gold in golds) / len(golds)


def retrieved(
    records: Sequence[Mapping[str, Any]], exact: Sequence[bool], grade: int = 1
) -> Retrieved | None:
    """Recall by hop and exact match given it, over golds of a grade or a higher one; ``None``
    when no case has any."""
    own = [
        (record, golds, right)
        for record, right in zip(records, exact, strict=True)
        if (golds := golds_of(record, grade))
    ]
    if not own:
        return None
    hops = max(len(record["looks"]) for record, _, _ in own)
    by_hop = [sum(_share(r, g, hop) for r, g, _ in own) / len(own) for hop in range(hops + 1)]
    shares = [_share(r, g) for r, g, _ in own]
    complete = [right for share, (_, _, right) in zip(shares, own, strict=True) if share == 1.0]
    partial = [right for share, (_, _, right) in zip(shares, own, strict=True) if share < 1.0]
    return Retrieved(
        cases=len(own),
        without_golds=len(records) - len(own),
        recall=sum(shares) / len(own),
        all_seen=len(complete),
        by_hop=tuple(by_hop[1:]),
        new_at_hop=tuple(b - a for a, b in pairwise(by_hop)),
        exact_if_all=sum(complete) / len(complete) if complete else None,
        exact_if_not=sum(partial) / len(partial) if partial else None,
    )


def failing_stage(record: Mapping[str, Any], exact: bool, domain: Domain) -> str:
    """The first stage of ``STAGES`` at which a case went wrong. A code that was predicted counts
    as cited."""
    if exact:
        return "correct"
    if record["prediction"] is None:
        return "no prediction"
    golds = golds_of(record, domain.answer_grade)
    if not golds:
        return "wrong, no golds known"
    if not set(golds) <= seen_after(record):
        return "gold never retrieved"
    cited = _cited(record, domain)
    if not all(gold.split("/", 2)[2].casefold() in cited for gold in golds):
        return "retrieved but not cited"
    return "cited but wrong answer"


def stage_counts(
    records: Sequence[Mapping[str, Any]], exact: Sequence[bool], domain: Domain
) -> dict[str, int]:
    """Cases by first failing stage, all stages in order."""
    counted = Counter(failing_stage(r, e, domain) for r, e in zip(records, exact, strict=True))
    return {stage: counted[stage] for stage in STAGES}


def _cited(record: Mapping[str, Any], domain: Domain) -> set[str]:
    """Keys of the sections that a case's answer names, in lower case."""
    names = {key.casefold() for key in domain.predicted_keys(record["prediction"])}
    for text in map(str, record.get("cited") or ()):
        names.add(text.strip().casefold())
        try:
            reference = parse_reference(text.rpartition("/")[2] or text)
        except BadReference:
            continue
        names |= {key.casefold() for key in reference.candidates}
    return names
