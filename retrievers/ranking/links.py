"""Links: a hit brings the sections that it points to.

Rules, for ``links="on"``:

- **Who points.** The best ``POINTING`` chunks for the query among the pointing editions: those with
  a link into an allowed edition that are themselves allowed but for ``source`` and ``under``. So a
  search of the Tabular List alone still asks the Alphabetic Index of the same year where to look.
- **How strongly.** Of each link of such a chunk:
  ``strength = weight(kind) * match * 1 / (1 + (rank - 1) / HALF)``, where ``rank`` is the chunk's
  and ``match`` the cosine of the query's and the link's words as sets weighted by idf. Of a main
  term with 200 entries, the entry whose path looks most like the query leads by far. Links that
  speak for their chunk as a whole (``WHOLE``: Appendix A speaks for a statute) match at least
  ``WHOLE_MATCH``: the chunk was found, and that says enough.
- **To what.** An allowed chunk that holds the target; of several the one that the search ranks
  best, else the first. A target counts by its strongest link. The ``TARGETS`` strongest, not
  weaker than ``LEAST`` of the strongest, form the list ``links``.
- **Where it stands.** ``score = 1 / (60 + rank in the search)
  + LINK_WEIGHT * strength / (60 + rank in the list links)``: reciprocal rank fusion, the second
  list weighted by strength.
- Of a query cut into passages each passage points; a target counts by the best.
- A hit is ``found_by="link"`` when its link adds more to its score than the search does.

None of it looks at k or at anything but the query and the index, so the first places do not change
with k, and without links nothing changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from indexers.folder.link_table import KINDS, Link, LinkTable
from indexers.folder.opened import StoredIndex
from indexers.legs.model import Allowed
from indexers.legs.ranking import EMPTY, RankedRows, top_rows
from retrievers.ranking.fusion import RRF_K
from retrievers.search.filters import editions_in_time
from retrievers.search.hits import LinkInfo
from retrievers.search.settings import Filter

#: name of the list of targets among a hit's legs
LINKS_LEG = "links"

POINTING = 100
HALF = 100.0
TARGETS = 10
LEAST = 0.7
LINK_WEIGHT = 2.0
WHOLE_MATCH = 0.3

#: what a link of each kind is worth: to be sent there is more than to be told of it
WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        "index_entry_to_code": 1.0,
        "table_cell_to_code": 0.8,
        "see": 0.9,
        "see_also": 0.6,
        "code_first": 0.6,
        "use_additional_code": 0.6,
        "code_also": 0.6,
        "excludes": 0.4,
        "guideline_to_code": 0.6,
        "appendix_a": 1.0,
        "cross_reference": 0.6,
    }
)
#: kinds that speak for the whole chunk, whatever their words
WHOLE = frozenset({"appendix_a"})

_WEIGHT_OF = np.array([WEIGHTS[kind] for kind in KINDS], np.float64)
_FLOOR_OF = np.array([WHOLE_MATCH if kind in WHOLE else 0.0 for kind in KINDS], np.float64)

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Linked(NamedTuple):
    """A ranking with links followed.

    ``found`` is the ranking with the targets in it; ``targets`` ranks the targets by strength;
    ``links`` are for each target the number of its strongest link in the table; ``brought`` are
    the rows that count as found by a link.
    """

    found: RankedRows
    targets: RankedRows
    links: Mapping[int, int]
    brought: frozenset[int]


def pointing_filter(index: StoredIndex, wanted: Filter, allowed: Allowed) -> Filter | None:
    """The editions that point into the allowed ones; ``None`` when they are just these, whole."""
    inside = {edition.name for edition in allowed.editions}
    sources = {edition.source for edition in allowed.editions}
    leading = {
        origin
        for origin, target in index.links.edition_pairs(index.manifest.editions)
        if target in inside
    }
    years = {edition.year for edition in allowed.editions}
    timely = {edition.name for edition in editions_in_time(index, wanted)}
    names = []
    for edition in index.manifest.editions:
        if edition.name in inside:
            names.append(edition.name)
        elif edition.name in leading and edition.source not in sources:
            # Named editions give no time but their own years.
            of_time = edition.year in years if wanted.editions else edition.name in timely
            if of_time:
                names.append(edition.name)
    if set(names) == inside and allowed.mask is None:
        return None
    return Filter(editions=tuple(names))


def linked(
    index: StoredIndex,
    texts: Sequence[str],
    pointers: Sequence[RankedRows],
    allowed: Allowed,
    found: RankedRows,
    depth: int,
) -> Linked:
    """A query's ranking with what the chunks found for each of its texts point to.

    ``pointers`` are the rankings of the pointing chunks, one for each text; ``found`` is the
    search's ranking of the query, of which the first ``depth`` choose among a target's chunks.
    """
    parts = [_strengths(index, text, each) for text, each in zip(texts, pointers, strict=True)]
    numbers = np.concatenate([part[0] for part in parts]) if parts else np.empty(0, np.int64)
    if not len(numbers):
        return Linked(found, EMPTY, {}, frozenset())
    strengths = np.concatenate([part[1] for part in parts])
    # The strongest first; of equal ones the first in the table.
    order = np.lexsort((numbers, -strengths))
    best = _targets(index, numbers[order], strengths[order], allowed, found.top(depth))
    targets = top_rows(
        np.fromiter(best, np.int64),
        np.array([strength for _, strength in best.values()], np.float32),
        index.chunks.id_ranks,
        TARGETS,
    )
    links = {row: number for row, (number, _) in best.items()}
    merged, brought = _merged(index, found, targets)
    return Linked(merged, targets, links, brought)


def _strengths(index: StoredIndex, text: str, pointers: RankedRows) -> tuple[Ints, Floats]:
    """The links of the pointing chunks that share a word with the text, with their strengths."""
    table = index.links
    top = pointers.rows[:POINTING]
    begins, ends = table.starts[top], table.starts[top + 1]
    counts = ends - begins
    numbers = _ranges(begins, counts)
    ranks = np.repeat(np.arange(1, len(top) + 1, dtype=np.float64), counts)
    match = _match(index, table, text, numbers)
    kinds = table.kinds[numbers]
    match = np.maximum(match, _FLOOR_OF[kinds])
    strengths = _WEIGHT_OF[kinds] * match / (1 + (ranks - 1) / HALF)
    kept = strengths > 0
    return numbers[kept], strengths[kept].astype(np.float32).astype(np.float64)


def _ranges(begins: Ints, counts: Ints) -> Ints:
    """``begins[0], begins[0] + 1, ...`` for each beginning, one range after the other."""
    offsets = np.cumsum(counts) - counts
    return np.repeat(begins - offsets, counts) + np.arange(int(counts.sum()))


def _match(index: StoredIndex, table: LinkTable, text: str, numbers: Ints) -> Floats:
    """(links,): cosine of the text's and each link's terms, as sets weighted by idf."""
    own = index.bm25.numbers(text)
    idf = table.idf.astype(np.float64)
    length = float(np.sqrt((idf[own] ** 2).sum()))
    if not len(numbers) or not length:
        return np.zeros(len(numbers))
    weight = np.zeros(len(idf))
    weight[own] = idf[own] ** 2
    starts = table.terms.starts
    counts = starts[numbers + 1] - starts[numbers]
    shared = np.append(weight[table.terms.values[_ranges(starts[numbers], counts)]], 0.0)
    at = np.cumsum(counts) - counts
    sums = np.where(counts > 0, np.add.reduceat(shared, at), 0.0)
    lengths = table.lengths[numbers]
    return sums / np.where(lengths > 0, lengths * length, 1.0)


def _targets(
    index: StoredIndex, numbers: Ints, strengths: Floats, allowed: Allowed, found: RankedRows
) -> dict[int, tuple[int, float]]:
    """Row -> its strongest link and its strength; ``numbers`` stand strongest first."""
    starts, values = index.links.targets
    place = {row: at for at, row in enumerate(found.rows.tolist())}
    best: dict[int, tuple[int, float]] = {}
    least = 0.0
    for number, strength in zip(numbers.tolist(), strengths.tolist(), strict=True):
        if strength < least or len(best) == TARGETS:
            break
        held = values[starts[number] : starts[number + 1]].tolist()
        rows = [row for row in held if row in allowed]
        if rows:
            row = min(rows, key=lambda row: (place.get(row, len(place)), row))
            best.setdefault(row, (number, strength))
            least = least or LEAST * strength
    return best


def _merged(
    index: StoredIndex, found: RankedRows, targets: RankedRows
) -> tuple[RankedRows, frozenset[int]]:
    """The search's ranking with the targets in it, and the rows that links brought."""
    own = 1.0 / (RRF_K + np.arange(1, len(found.rows) + 1, dtype=np.float64))
    scores = dict(zip(found.rows.tolist(), own.tolist(), strict=True))
    brought: set[int] = set()
    strengths = zip(targets.rows.tolist(), targets.scores.tolist(), strict=True)
    for rank, (row, strength) in enumerate(strengths, start=1):
        added = LINK_WEIGHT * strength / (RRF_K + rank)
        before = scores.get(row, 0.0)
        if added > before:
            brought.add(row)
        scores[row] = before + added
    rows = np.fromiter(scores, np.int64)
    summed = np.fromiter(scores.values(), np.float32)
    return top_rows(rows, summed, index.chunks.id_ranks, len(rows)), frozenset(brought)


def link_info(index: StoredIndex, number: int) -> LinkInfo:
    """A link for showing."""
    link: Link = index.links.link(number)
    row = int(index.links.from_rows[number])
    return LinkInfo(
        from_chunk=index.chunks.ids[row],
        from_section=link.from_key,
        kind=link.kind,
        target=link.to_key,
    )
