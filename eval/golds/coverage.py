"""Which chunks of an index cover a gold, and how much of its text.

A chunk covers a gold when it holds the gold's section or a part of it, that is any section below
it. The editor's apparatus is no part of a statute or guideline: notes, source credit and footnotes
in Title 18, historical notes in the Guidelines Manual (they tell of the law, and of law no longer
in force). A gold that is such a note itself is covered by what holds it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Literal

import numpy as np

from eval.golds.gold import Gold
from eval.measuring.judged import Ints
from eval.queries.trec import section_id
from indexers.folder.opened import StoredIndex
from manuals.model.sections import Manual, Section
from manuals.model.units import is_apparatus, unit_key

Span = tuple[int, int]
Status = Literal["indexed", "no edition", "no section", "no chunk"]

#: status -> what is missing from the index
MISSING: Mapping[Status, str] = {
    "no edition": "the index has no such edition",
    "no section": "the edition has no such section",
    "no chunk": "no chunk holds the section",
}


def parts_of(manual: Manual, section: Section) -> Iterator[Section]:
    """The section and all below it, without apparatus: what holds one of them covers it."""
    yield section
    whole = is_apparatus(manual.source, section.key)
    for child in manual.children(section):
        if whole or not is_apparatus(manual.source, child.key):
            yield from parts_of(manual, child)


class Coverage:
    """Golds against one index. Manuals are read for the golds' editions only."""

    def __init__(self, stored: StoredIndex) -> None:
        self.stored = stored
        self.editions = {(edition.source, edition.year) for edition in stored.manifest.editions}
        self._rows: dict[str, tuple[int, ...]] = {}

    def status(self, gold: Gold) -> Status:
        """``indexed``, or what is missing."""
        if (gold.source, gold.year) not in self.editions:
            return "no edition"
        if self.rows(gold):
            return "indexed"
        known = gold.key in self._manual(gold).by_key
        return "no chunk" if known else "no section"

    def rows(self, gold: Gold) -> tuple[int, ...]:
        """The rows that cover a gold, ascending; none for one that is not in the index."""
        found = self._rows.get(gold.section)
        if found is None:
            found = self._rows[gold.section] = self._find(gold)
        return found

    def _find(self, gold: Gold) -> tuple[int, ...]:
        if (gold.source, gold.year) not in self.editions:
            return ()
        section = self._manual(gold).by_key.get(gold.key)
        if section is None:
            return ()
        rows_of_key = self.stored.chunks.rows_of_key
        return tuple(
            sorted(
                {
                    row
                    for part in parts_of(self._manual(gold), section)
                    for row in rows_of_key.get((gold.source, gold.year, part.key), ())
                }
            )
        )

    def _manual(self, gold: Gold) -> Manual:
        return self.stored.library.manual(gold.source, gold.year)

    # -- share of the text

    def spans(self, gold: Gold) -> list[Span]:
        """The stretches of the manual's text that a gold is, without apparatus."""
        manual = self._manual(gold)
        section = manual.get(gold.key)
        if is_apparatus(gold.source, section.key):
            return [section.span]
        start, end = section.span
        spans: list[Span] = []
        for part in self._apparatus(manual, section):
            spans.append((start, part.span[0]))
            start = part.span[1]
        spans.append((start, end))
        return [span for span in spans if span[1] > span[0]]

    def _apparatus(self, manual: Manual, section: Section) -> Iterator[Section]:
        for child in manual.children(section):
            if is_apparatus(manual.source, child.key):
                yield child
            else:
                yield from self._apparatus(manual, child)

    def shares(self, gold: Gold, rows: Sequence[int]) -> list[float]:
        """Share of the gold's text that the first 1, 2, ... of these rows cover together."""
        spans = self.spans(gold)
        total = sum(end - start for start, end in spans)
        covered = np.zeros(total, dtype=np.bool_)
        shares: list[float] = []
        for row in rows:
            low, high = self.stored.chunks.text_spans[row].tolist()
            at = 0
            for start, end in spans:
                first, last = max(start, low), min(end, high)
                if first < last:
                    covered[at + first - start : at + last - start] = True
                at += end - start
            shares.append(float(covered.mean()) if total else 1.0)
        return shares

    # -- the index's rows as sections

    @cached_property
    def units(self) -> list[str]:
        """For each row the id of the section that it counts as (see ``unit_key``)."""
        chunks = self.stored.chunks
        return [
            section_id(source, year, unit_key(source, key))
            for (source, year), key in zip(self.row_editions(), chunks.named, strict=True)
        ]

    @cached_property
    def unit_names(self) -> list[str]:
        """The distinct ``units`` in the order of their first rows."""
        return list(dict.fromkeys(self.units))

    @cached_property
    def unit_places(self) -> Mapping[str, int]:
        """The place of each name in ``unit_names``."""
        return {name: place for place, name in enumerate(self.unit_names)}

    @cached_property
    def unit_ids(self) -> Ints:
        """(rows,): the place of each row's unit in ``unit_names``."""
        return np.array([self.unit_places[name] for name in self.units], np.int64)

    def row_editions(self) -> Iterator[tuple[str, int]]:
        """Source and year of each row."""
        for edition in self.stored.manifest.editions:
            for _ in range(edition.chunks):
                yield edition.source, edition.year


def by_query(golds: Iterable[Gold]) -> dict[str, list[Gold]]:
    """The golds of each query, in order."""
    found: dict[str, list[Gold]] = {}
    for gold in golds:
        found.setdefault(gold.query_id, []).append(gold)
    return found
