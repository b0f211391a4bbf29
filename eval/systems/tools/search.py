"""The two search tools of a domain; the caller binds the year and the index."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from eval.queries.trec import section_id
from eval.systems.tools.paging import paged
from eval.systems.tools.tool import CaseEditions, Tool, ToolResult, failure

if TYPE_CHECKING:
    from retrievers.search.hits import Hit

#: the most hits that one call returns, as in the paper
MOST_HITS = 8

#: characters of a hit's text that are shown
HIT_CHARACTERS = 3000


def search_tools(
    name: str,
    sources: Sequence[str],
    manuals: str = "the manuals",
    things: str = "one thing",
    example: str = "a few words of the matter",
) -> tuple[Tool, Tool]:
    """``search_<name>_manuals`` and ``search_<name>_whole_case``.

    ``things`` is what to search for, one at a time, ``example`` a query.
    """

    def search_manuals(
        editions: CaseEditions,
        query: str,
        source: str = "any",
        count: int = MOST_HITS,
        hit: int = 0,
        page: int = 1,
    ) -> ToolResult:
        return _search(editions, query, count, None if source == "any" else source, hit, page)

    def search_whole_case(editions: CaseEditions, case: str = "") -> ToolResult:
        return _search(editions, case, MOST_HITS, None)

    search_manuals.__annotations__["source"] = Literal[("any", *sources)]
    search_manuals.__name__ = f"search_{name}_manuals"
    search_manuals.__doc__ = f"""Search {manuals} for {things}.

    query: a few words, such as "{example}". count: at most {MOST_HITS}.
    hit: the number of one hit, to read a long one whole, page by page.
    """
    search_whole_case.__name__ = f"search_{name}_whole_case"
    search_whole_case.__doc__ = f"""Search {manuals} once with the whole text of a case, for an overview.

    case: leave it out to search with the case at hand.
    """
    return Tool(search_manuals, "search"), Tool(search_whole_case, "search", whole_case="case")


def _search(
    editions: CaseEditions,
    query: str,
    count: int,
    source: str | None,
    hit: int = 0,
    page: int = 1,
) -> ToolResult:
    if editions.search is None:
        return failure("there is no index to search.", "Use the browsing tools.")
    if not query.strip():
        return failure("the query is empty.", "Say in words what to look for.")
    if source is not None and source not in editions.years:
        return failure(f"there is no edition of {source} for this year.", "Search the others.")
    hits = editions.search(query, max(1, min(count, MOST_HITS)), source)
    if not hits:
        return ToolResult("No section was found. Search for other words.")
    if hit:
        if not 1 <= hit <= len(hits):
            return failure(f"there is no hit {hit}.", f"Hits are 1 to {len(hits)}.")
        one = hits[hit - 1]
        return ToolResult(paged(_head(one) + one.text, page, f"it with hit={hit}"), shown_by([one]))
    blocks = []
    for one in hits:
        text = one.text
        if len(text) > HIT_CHARACTERS:
            text = text[:HIT_CHARACTERS].rsplit(" ", 1)[0]
            text += f" [cut; call it again with hit={one.rank} to read all of it]"
        blocks.append(_head(one) + text)
    return ToolResult("\n\n".join(blocks), shown_by(hits))


def _head(hit: Hit) -> str:
    # All of the chunk's text follows, not the passage alone.
    return f"[{hit.rank}] {hit.covers or hit.citation} ({hit.source}, {hit.year})\n"


def shown_by(hits: Iterable[Hit]) -> tuple[str, ...]:
    """The sections that chunks hold or cut, as a run records them, each once."""
    names = (section_id(h.source, h.year, key) for h in hits for key in h.section_keys)
    return tuple(dict.fromkeys(names))
