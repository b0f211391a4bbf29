"""Sections that a query names come first.

Rules:

- Each distinct reference brings the chunks that hold what it names: the subsection if a chunk
  holds it, else the nearest unit above (``18 U.S.C. § 922(g)`` -> ``18 U.S.C. § 922``); a code
  with a seventh character the chunks of its stem. A statute outside Title 18 brings its row of
  Appendix A. Only allowed chunks count.
- A query that as a whole is the title of one section of an edition names that section: ``Fraud and
  swindles``. Words are compared without case and punctuation. Entries of the indexes do not count:
  their titles are words, not names.
- Within a reference, chunks stand in the order of the search, those it did not rank last in
  document order; without words besides the references, all stand in document order. The first
  chunk of each edition, newest first, precedes the second of each. At most ``PER_REFERENCE``.
- References take turns in the order in which the query names them.
- The first ``LEAD`` of these chunks come before the search's; further ones take every second
  place. In a query of more than ``LONG_QUERY`` words (a whole case) only the first one leads, so
  that references take at most half of any k (rounded up). Neither rule looks at k, so that the
  first places do not change with it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, zip_longest

import numpy as np
import numpy.typing as npt

from indexers.folder.opened import StoredIndex
from indexers.folder.table import title_words
from indexers.legs.model import Allowed
from indexers.legs.ranking import RankedRows, Rows
from manuals.icd10cm.codes import undotted
from manuals.model.keys import Reference, find_references, parse_reference
from manuals.model.source import sources_of
from manuals.model.units import unit_key
from retrievers.ranking.collapse import Collapse
from tam.errors import BadReference

PER_REFERENCE = 4
LEAD = 4
LONG_QUERY = 60


def is_long(query: str) -> bool:
    """Whether the query is a whole case rather than a question."""
    return len(query.split()) > LONG_QUERY


def references_in(query: str) -> tuple[Reference, ...]:
    """The distinct references of a query, in order; of a query that as a whole is one, that one.

    Plain words are not read as index paths here: ``Abscess > brain`` is one, ``abscess`` is not.
    """
    found = {(each.kind, each.full_key): each for each in find_references(query, typed=True)}
    if found or is_long(query):
        return tuple(found.values())
    try:
        whole = parse_reference(query)
    except BadReference:
        return ()
    if whole.kind == "index_path" and " > " not in whole.key:
        return ()
    return (whole,)


def _keys(reference: Reference) -> Iterator[str]:
    """Keys to look for, from what was named upwards."""
    if reference.only_in_appendix:
        yield from (f"Appendix A > {key}" for key in reference.candidates)
        return
    yield from reference.candidates
    if reference.kind == "code" and len(undotted(reference.key)) == 7:
        # Without the seventh character, then without the placeholders that fill up to it.
        stem = reference.key[:-1]
        while stem:
            yield stem.rstrip(".")
            if not stem.endswith("X"):
                return
            stem = stem[:-1]


#: a row and the key of the section that it was looked up by
_Named = tuple[int, str]


def _chunks_of(
    index: StoredIndex, reference: Reference, allowed: Allowed, order: Rows
) -> list[_Named]:
    sources = sources_of(reference)
    place = {row: position for position, row in enumerate(order.tolist())}
    editions: list[list[_Named]] = []
    for edition in sorted(allowed.editions, key=lambda edition: -edition.year):
        if edition.source not in sources:
            continue
        rows_by_key = index.chunks.rows_by_key(edition.source, edition.year)
        for key in _keys(reference):
            rows = [row for row in rows_by_key.get(key, ()) if row in allowed]
            if rows:
                rows.sort(key=lambda row: (place.get(row, len(place)), row))
                editions.append([(row, key) for row in rows])
                break
        editions.append(_inside(reference, rows_by_key, allowed))
    return list(_turns(editions))


def _inside(
    reference: Reference, rows_by_key: Mapping[str, Sequence[int]], allowed: Allowed
) -> list[_Named]:
    """The chunks of what stands between the ends of a range."""
    if not reference.through:
        return []
    head = "Appendix A > " if reference.only_in_appendix else ""
    keys = {key.removeprefix(head): key for key in rows_by_key if key.startswith(head)}
    found = [keys[key] for key in reference.inside(keys)]
    return [(row, key) for key in found for row in rows_by_key[key] if row in allowed]


def _titled(index: StoredIndex, query: str, allowed: Allowed) -> list[list[_Named]]:
    """For each edition, newest first, the chunks of the one section with this title."""
    if is_long(query):
        return []
    rows_by_title = index.chunks.rows_by_title
    rows = [row for row in rows_by_title.get(title_words(query), ()) if row in allowed]
    if not rows:
        return []
    lists = []
    for edition in sorted(allowed.editions, key=lambda edition: -edition.year):
        own = [row for row in rows if edition.start <= row < edition.stop]
        # The parts that a section was cut into have its title, and keys of their own.
        units = {unit_key(edition.source, index.chunks.named[row]) for row in own}
        if len(units) == 1:
            unit = units.pop()
            lists.append([(row, unit) for row in own])
    return lists


def _turns(lists: Sequence[Iterable[_Named]]) -> Iterator[_Named]:
    """The first of each list, then the second of each, and so on."""
    return (each for each in chain.from_iterable(zip_longest(*lists)) if each is not None)


def referenced_rows(
    index: StoredIndex,
    query: str,
    allowed: Allowed,
    order: Rows,
    collapse: Collapse | None = None,
) -> Mapping[int, str]:
    """Rows of the sections that the query names, in the order of the rules above, each with the
    key of the section that it holds or is a part of.

    ``order`` are the rows that the search found, best first. With ``collapse`` a text that stands
    in several years counts once.
    """
    references = references_in(query)
    if not references:
        lists = [list(_turns(_titled(index, query, allowed)))]
    else:
        if not index.bm25.tokeniser.terms(words_besides(query, references)):
            order = np.empty(0, np.int64)
        lists = [_chunks_of(index, reference, allowed, order) for reference in references]
    if collapse is not None:
        lists = [list({collapse.newest(row): key for row, key in each}.items()) for each in lists]
    found: dict[int, str] = {}
    for row, key in _turns([each[:PER_REFERENCE] for each in lists]):
        found.setdefault(row, key)
    return found


def words_besides(query: str, references: Iterable[Reference]) -> str:
    """The query without the references in it."""
    for reference in references:
        query = query.replace(reference.text or " ", " ")
    return query


def place_references(referenced: Sequence[int], searched: Sequence[int], long: bool) -> list[int]:
    """Both lists as one, without repeats, by the rules above."""
    lead = 1 if long else LEAD
    named = set(referenced)
    found = iter([row for row in searched if row not in named])
    placed = list(referenced[:lead])
    for row in referenced[lead:]:
        between = next(found, None)
        if between is not None:
            placed.append(between)
        placed.append(row)
    return [*placed, *found]


def descending_scores(
    rows: Sequence[int], named: Sequence[int], found: RankedRows
) -> npt.NDArray[np.float64]:
    """Scores of placed rows that never ascend: the search's own; before its first hit one more for each place,
    and a reference between two hits gets the least number above the lower one, at most the
    upper one's."""
    own = dict(zip(found.rows.tolist(), found.scores.tolist(), strict=True))
    by_name = set(named)
    scores = np.empty(len(rows), np.float64)
    above = math.inf
    for at, row in enumerate(rows):
        if row not in by_name:
            above = scores[at] = own[row]
        else:
            scores[at] = above
    below = 0.0
    for at in range(len(rows) - 1, -1, -1):
        if rows[at] in by_name:
            before = scores[at]
            raised = below + 1.0 if math.isinf(before) else math.nextafter(below, math.inf)
            scores[at] = raised if math.isinf(before) else min(raised, before)
        below = scores[at]
    return scores
