"""Golds of ICD cases: from answer codes to sections of the Tabular List, Index and Guidelines.

For each answer code, all of origin ``code``:

- **Tabular** (grade 3): the code's own section; of a code with a seventh character its stem's.
- **Index and External Cause Index**: entries that give the code, as code or manifestation (grade
  2), and entries that give a category or subcategory above it, to be completed in the Tabular
  List (grade 1). The drug and neoplasm tables, whose rows share codes by the hundred, count on
  request.
- **Guidelines**: sections whose own text names the code (grade 2), or a category, subcategory or
  range that holds it (grade 1). Titles are text: a chapter names its range.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from eval.domains.model import CaseGolds
from eval.golds.gold import DIRECT, NEAR, WIDE, Gold, merge
from eval.queries.case_files import Case
from manuals.icd10cm.code_view import look_up_code
from manuals.icd10cm.codes import CATEGORY
from manuals.library.editions import Library
from manuals.model.keys import find_references
from manuals.model.sections import Manual, Section
from tam.errors import BadReference, UnknownKey

INDEXES = ("index", "eindex")
TABLES = ("drugs", "neoplasm")
_POINTERS = frozenset({"code", "manifestation", "cell"})
#: bare categories, which ``find_references`` takes for codes only after words such as *code*;
#: in the coding guidelines whatever looks like one and is in the Tabular List is one
_BARE = re.compile(rf"(?<![\w.§-]){CATEGORY}(?![\w.-])")


@dataclass(frozen=True)
class _Named:
    """Where a guideline names codes: keys of sections by code, and ranges with their section."""

    codes: Mapping[str, tuple[str, ...]]
    ranges: tuple[tuple[str, str, str], ...]


def golds_of_cases(
    library: Library,
    cases: Sequence[Case],
    editions: Mapping[str, Mapping[str, int]],
    tables: bool,
) -> CaseGolds:
    """Golds from the cases' codes; ``tables``: the drug and neoplasm tables count too."""
    rules = IcdGolds(library, tables)
    return CaseGolds(
        [
            gold
            for case in cases
            if isinstance(case.answer, tuple)
            for gold in rules.golds(case.case_id, case.answer, editions[case.case_id])
        ]
    )


class IcdGolds:
    """Golds from codes over one library; what is read of an edition is kept."""

    def __init__(self, library: Library, tables: bool = False) -> None:
        self.library = library
        self.indexes = INDEXES + TABLES if tables else INDEXES
        self._entries: dict[tuple[str, int], dict[str, tuple[str, ...]]] = {}
        self._named: dict[tuple[int, int], _Named] = {}

    def golds(self, query_id: str, codes: Sequence[str], editions: Mapping[str, int]) -> list[Gold]:
        """Golds of one case in the editions (source -> year) that it is measured on.

        A code that the Tabular List does not hold stays as a gold that is missing.
        """
        found: list[Gold] = []
        for code in codes:
            found.extend(self._of_code(query_id, code, editions))
        return merge(found)

    def _of_code(self, query_id: str, code: str, editions: Mapping[str, int]) -> Iterator[Gold]:
        year = editions.get("tabular")
        if year is None:
            return
        manual = self.library.manual("tabular", year)
        try:
            view = look_up_code(manual, code)
        except (BadReference, UnknownKey):
            yield Gold(query_id, "tabular", year, code, DIRECT, "code", f"{code} is not there")
            return
        yield Gold(query_id, "tabular", year, view.section.key, DIRECT, "code", view.code)
        own = {view.code, view.section.key}
        above = [section.key for section in view.parents]
        yield from self._from_indexes(query_id, view.code, own, above, editions)
        yield from self._from_guidelines(query_id, view.code, own, above, editions, manual)

    def _from_indexes(
        self,
        query_id: str,
        code: str,
        own: Iterable[str],
        above: Iterable[str],
        editions: Mapping[str, int],
    ) -> Iterator[Gold]:
        for source in self.indexes:
            if source not in editions:
                continue
            year = editions[source]
            entries = self.entries(source, year)
            for grade, targets in ((NEAR, own), (WIDE, above)):
                for target in sorted(targets):
                    for key in entries.get(target, ()):
                        yield Gold(query_id, source, year, key, grade, "code", code)

    def entries(self, source: str, year: int) -> Mapping[str, tuple[str, ...]]:
        """Code -> keys of the entries that give it, in document order."""
        at = (source, year)
        if at not in self._entries:
            found: dict[str, dict[str, None]] = {}
            for section in self.library.manual(source, year).sections:
                for ref in section.refs:
                    if ref.kind in _POINTERS:
                        found.setdefault(ref.target, {})[section.key] = None
            self._entries[at] = {code: tuple(keys) for code, keys in found.items()}
        return self._entries[at]

    def _from_guidelines(
        self,
        query_id: str,
        code: str,
        own: Iterable[str],
        above: Sequence[str],
        editions: Mapping[str, int],
        tabular: Manual,
    ) -> Iterator[Gold]:
        year = editions.get("guidelines")
        if year is None:
            return
        named = self._named_in(year, tabular)

        def gold(key: str, grade: int, through: str) -> Gold:
            note = code if through == code else f"{code} by {through}"
            return Gold(query_id, "guidelines", year, key, grade, "code", note)

        for grade, targets in ((NEAR, sorted(own)), (WIDE, above)):
            for target in targets:
                for key in named.codes.get(target, ()):
                    yield gold(key, grade, target)
        for first, last, key in named.ranges:
            if first <= code[:3] <= last:
                yield gold(key, WIDE, f"{first}-{last}")

    def _named_in(self, year: int, tabular: Manual) -> _Named:
        at = (year, tabular.year)
        if at not in self._named:
            self._named[at] = codes_named(self.library.manual("guidelines", year), tabular)
        return self._named[at]


def codes_named(guidelines: Manual, tabular: Manual) -> _Named:
    """The codes and ranges that each section of the guidelines names in its own text."""
    codes: dict[str, dict[str, None]] = {}
    ranges: dict[tuple[str, str, str], None] = {}
    for section in guidelines.sections:
        for first, last in _names(guidelines, section, tabular):
            if last:
                ranges[first, last, section.key] = None
            else:
                codes.setdefault(first, {})[section.key] = None
    return _Named({code: tuple(keys) for code, keys in codes.items()}, tuple(ranges))


def _names(guidelines: Manual, section: Section, tabular: Manual) -> Iterator[tuple[str, str]]:
    """Codes as ``(code, "")`` and ranges as ``(first, last)``, categories both."""
    text = guidelines.own_text(section)
    for reference in find_references(text):
        if reference.kind == "code":
            yield reference.key, ""
        elif reference.kind == "code_range":
            yield reference.key.split("-")[0], reference.through
    for found in _BARE.finditer(text):
        if found.group() in tabular.by_key:
            yield found.group(), ""
