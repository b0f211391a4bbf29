"""The books of a case: the editions that its year and the policy choose, and the index to search."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from eval.queries.year_policy import choose_editions
from eval.systems.solvers.outcome import Domain
from eval.systems.tools.tool import Books
from manuals.library.editions import Library
from manuals.model.section_id import edition_name
from manuals.model.source import in_corpus
from tam.errors import UnknownYear

if TYPE_CHECKING:
    from retrievers.search.index import Index
    from retrievers.search.settings import SearchSettings


class Shelf:
    """Books for any year over one library; a year's books are made once."""

    def __init__(
        self,
        library: Library,
        domain: Domain,
        policy: str = "exact",
        index: Index | None = None,
        settings: SearchSettings | None = None,
    ) -> None:
        self.library = library
        self.domain: Domain = domain
        self.policy = policy
        self.index = index
        self.settings = settings
        #: neither a library nor an index is made for several threads at once
        self.lock = threading.RLock()
        self._made: dict[int | None, Books] = {}

    def books(self, year: int | None) -> Books:
        """The books for a case's year. Raises ``UnknownYear`` when no edition is chosen for it."""
        if year not in self._made:
            pairs = [(e.source, e.year) for e in self.library.editions]
            sources = in_corpus(self.domain)
            chosen = choose_editions(pairs, year, self.policy, sources)
            if not chosen:
                here = ", ".join(e.name for e in self.library.editions if e.source in sources)
                raise UnknownYear(
                    f"year {year or '(none)'}: year policy {self.policy!r} finds no edition for it; "
                    f"editions here: {here or 'none'}; choose another --year-policy"
                )
            self._made[year] = Books(
                self.library, self.domain, chosen, self._search(chosen), self.lock
            )
        return self._made[year]

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
