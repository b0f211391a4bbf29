"""Retrieval beside the answers: which golds a run saw, when, and where a case first failed.

A gold is seen when a search hit held it or a tool showed it; an opened index entry, guideline or
statute shows all that stands below it, an opened code of the Tabular List only itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from eval.golds import DIRECT, Gold
from eval.trec import section_id
from manuals.codes import undotted
from manuals.keys import parse_reference
from manuals.library import Library
from tam.errors import BadReference, TamError

#: sections whose opening lists what is below and does not show it
_LISTS = frozenset({"chapter", "part", "subpart", "subchapter", "block", "letter", "appendix"})

STAGES = (
    "correct",
    "no prediction",
    "gold never retrieved",
    "retrieved but not cited",
    "cited but wrong answer",
    "wrong, no golds known",
)


def gold_record(gold: Gold, library: Library) -> dict[str, Any]:
    """A gold as a run keeps it: its id, grade, and the ids whose showing shows it too."""
    ids = [gold.section]
    if gold.source != "tabular":
        try:
            manual = library.manual(gold.source, gold.year)
            above = manual.ancestors(manual.get(gold.key))
        except TamError:
            above = ()
        ids += [
            section_id(gold.source, gold.year, section.key)
            for section in above
            if section.kind not in _LISTS
        ]
    return {"id": gold.section, "grade": gold.grade, "shown_by": ids}


class Retrieved(NamedTuple):
    """Over the cases with golds: mean share of a case's golds seen, by hop and in the end.

    ``by_hop`` is cumulative; hop h is the state after the h-th look of each case (its last, when
    it had fewer). ``exact_if_all`` is the share of exact answers among cases with all golds seen,
    ``exact_if_not`` among the others; ``None`` where there are none.
    """

    cases: int
    without_golds: int
    recall: float
    all_seen: int
    by_hop: tuple[float, ...]
    exact_if_all: float | None
    exact_if_not: float | None


def seen_after(record: Mapping[str, Any], hops: int | None = None) -> set[str]:
    """Section ids shown by the first looks of a case; by all when ``hops`` is ``None``."""
    looks = record["looks"] if hops is None else record["looks"][:hops]
    return {name for look in looks for name in look["sections"]}


def share_seen(record: Mapping[str, Any], hops: int | None = None) -> float:
    """Share of the case's golds that its first looks showed."""
    seen = seen_after(record, hops)
    golds = record["golds"]
    return sum(any(i in seen for i in gold["shown_by"]) for gold in golds) / len(golds)


def retrieved(records: Sequence[Mapping[str, Any]], exact: Sequence[bool]) -> Retrieved | None:
    """Recall by hop and exact match given it; ``None`` when no case has golds."""
    own = [(r, e) for r, e in zip(records, exact, strict=True) if r.get("golds")]
    if not own:
        return None
    hops = max(len(r["looks"]) for r, _ in own)
    by_hop = [sum(share_seen(r, hop) for r, _ in own) / len(own) for hop in range(1, hops + 1)]
    complete = [e for r, e in own if share_seen(r) == 1.0]
    partial = [e for r, e in own if share_seen(r) < 1.0]
    return Retrieved(
        cases=len(own),
        without_golds=len(records) - len(own),
        recall=sum(share_seen(r) for r, _ in own) / len(own),
        all_seen=len(complete),
        by_hop=tuple(by_hop),
        exact_if_all=sum(complete) / len(complete) if complete else None,
        exact_if_not=sum(partial) / len(partial) if partial else None,
    )


def failing_stage(record: Mapping[str, Any], exact: bool) -> str:
    """The first stage of ``STAGES`` at which a case went wrong.

    Only golds of the highest grade count: the sections that the answer itself rests on. A code
    that was predicted counts as cited.
    """
    if exact:
        return "correct"
    if record["prediction"] is None:
        return "no prediction"
    golds = [gold for gold in record.get("golds") or () if gold["grade"] >= DIRECT]
    if not golds:
        return "wrong, no golds known"
    seen = seen_after(record)
    if not all(any(i in seen for i in gold["shown_by"]) for gold in golds):
        return "gold never retrieved"
    cited = _cited(record)
    if not all(_names(gold["id"]) & cited for gold in golds):
        return "retrieved but not cited"
    return "cited but wrong answer"


def stage_counts(records: Sequence[Mapping[str, Any]], exact: Sequence[bool]) -> dict[str, int]:
    """Cases by first failing stage, all stages in order."""
    counted = Counter(failing_stage(r, e) for r, e in zip(records, exact, strict=True))
    return {stage: counted[stage] for stage in STAGES}


def _cited(record: Mapping[str, Any]) -> set[str]:
    names: set[str] = set()
    for text in record.get("cited") or ():
        names.add(str(text).strip().casefold())
        try:
            reference = parse_reference(str(text).rpartition("/")[2] or str(text))
        except BadReference:
            continue
        names |= {key.casefold() for key in reference.candidates}
    if isinstance(record["prediction"], list):
        names |= {undotted(code).casefold() for code in record["prediction"]}
        # A seventh character is no section of its own: the stem's is cited.
        names |= {undotted(code)[:6].rstrip("X").casefold() for code in record["prediction"]}
    return names


def _names(gold_id: str) -> set[str]:
    key = gold_id.split("/", 2)[2]
    names = {key.casefold()}
    if gold_id.startswith("tabular/"):
        names.add(key.replace(".", "").casefold())
    return names
