"""The editions of a case: those that its year and the year policy choose, and how to search them."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from eval.domains.model import Domain
from eval.queries.year_policy import choose_editions
from eval.systems.tools.tool import CaseEditions
from manuals.library.editions import Library
from manuals.model.section_id import edition_name
from tam.errors import UnknownYear

if TYPE_CHECKING:
    from retrievers.search.index import Index
    from retrievers.search.settings import SearchSettings


class EditionChooser:
    """The editions of any year over one library; a year's are chosen once."""

    def __init__(
        self,
        library: Library,
        domain: Domain,
        year_policy: str = "exact",
        index: Index | None = None,
        settings: SearchSettings | None = None,
    ) -> None:
        self.library = library
        self.domain = domain
        self.year_policy = year_policy
        self.index = index
        self.settings = settings
        #: neither a library nor an index is made for several threads at once
        self.lock = threading.RLock()
        self._chosen: dict[int | None, CaseEditions] = {}

    def choose(self, year: int | None) -> CaseEditions:
        """The editions for a case's year. Raises ``UnknownYear`` when there is none for it."""
        if year not in self._chosen:
            pairs = [(e.source, e.year) for e in self.library.editions]
            sources = self.domain.sources
            chosen = choose_editions(pairs, year, self.year_policy, sources)
            if not chosen:
                here = ", ".join(e.name for e in self.library.editions if e.source in sources)
                raise UnknownYear(
                    f"year {year or '(none)'}: year policy {self.year_policy!r} finds no edition "
                    f"for it; editions here: {here or 'none'}; choose another --year-policy"
                )
            self._chosen[year] = CaseEditions(self.library, chosen, self._search(chosen), self.lock)
        return self._chosen[year]

    def _search(self, chosen: dict[str, int]) -> Any:
        index = self.index
        if index is None:
            return None
        from retrievers.search.settings import Filter

        editions = [edition_name(source, year) for source, year in chosen.items()]

        def search(query: str, count: int, source: str | None) -> Sequence[Any]:
            wanted = Filter(editions=editions, source=source)
            with self.lock:
                found = index.search_many([query], count, filters=wanted, settings=self.settings)
            return found[0]

        return search
