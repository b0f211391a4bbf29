"""Two retrieval tools for each domain; the caller binds the year and the index."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

from eval.queries.trec import section_id
from eval.systems.tools.paging import paged
from eval.systems.tools.tool import Books, ToolResult, failure, tool

if TYPE_CHECKING:
    from retrievers.search.hits import Hit

#: the most hits that one call returns, as in the paper
MOST_HITS = 8

#: characters of a hit's text that are shown
HIT_CHARACTERS = 3000


def _search(
    books: Books, query: str, count: int, source: str | None, hit: int = 0, page: int = 1
) -> ToolResult:
    if books.search is None:
        return failure("there is no index to search.", "Use the browsing tools.")
    if not query.strip():
        return failure("the query is empty.", "Say in words what to look for.")
    if source is not None and source not in books.years:
        return failure(f"there is no edition of {source} for this year.", "Search the others.")
    hits = books.search(query, max(1, min(count, MOST_HITS)), source)
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


@tool("icd", "search")
def search_icd_manuals(
    books: Books,
    query: str,
    source: Literal["any", "guidelines", "tabular", "index", "eindex", "drugs", "neoplasm"] = "any",
    count: int = 8,
    hit: int = 0,
    page: int = 1,
) -> ToolResult:
    """Search the ICD-10-CM manuals for one diagnosis, code family or rule.

    query: a few words, such as "acute kidney failure with tubular necrosis". count: at most 8.
    hit: the number of one hit, to read a long one whole, page by page.
    """
    return _search(books, query, count, None if source == "any" else source, hit, page)


@tool("icd", "search")
def search_icd_whole_case(books: Books, case: str = "") -> ToolResult:
    """Search the ICD-10-CM manuals once with the whole text of a case, for an overview.

    case: leave it out to search with the case at hand.
    """
    return _search(books, case, MOST_HITS, None)


@tool("legal", "search")
def search_legal_manuals(
    books: Books,
    query: str,
    source: Literal["any", "title18", "ussg"] = "any",
    count: int = 8,
    hit: int = 0,
    page: int = 1,
) -> ToolResult:
    """Search Title 18 and the Guidelines Manual for one statute, guideline or adjustment.

    query: a few words or a citation, such as "abuse of a position of trust". count: at most 8.
    hit: the number of one hit, to read a long one whole, page by page.
    """
    return _search(books, query, count, None if source == "any" else source, hit, page)


@tool("legal", "search")
def search_legal_whole_case(books: Books, case: str = "") -> ToolResult:
    """Search the legal manuals once with the whole text of a case, for an overview.

    case: leave it out to search with the case at hand.
    """
    return _search(books, case, MOST_HITS, None)
