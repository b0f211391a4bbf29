"""Two retrieval tools for each domain; the caller binds the year and the index."""

from __future__ import annotations

from typing import Literal

from eval.systems.tooling import Books, ToolResult, failure, tool

#: the most hits that one call returns, as in the paper
MOST_HITS = 8

#: characters of a hit's text that are shown
HIT_CHARACTERS = 3000


def _search(books: Books, query: str, count: int, source: str | None) -> ToolResult:
    if books.search is None:
        return failure("there is no index to search.", "Use the browsing tools.")
    if not query.strip():
        return failure("the query is empty.", "Say in words what to look for.")
    hits = books.search(query, max(1, min(count, MOST_HITS)), source)
    if not hits:
        return ToolResult("No section was found. Use other words, or the browsing tools.")
    blocks = []
    names: list[str] = []
    for hit in hits:
        text = hit.text
        if len(text) > HIT_CHARACTERS:
            text = text[:HIT_CHARACTERS].rsplit(" ", 1)[0] + " [...]"
        blocks.append(f"[{hit.rank}] {hit.citation} ({hit.source}, {hit.year})\n{text}")
        names.extend(f"{hit.source}/{hit.year}/{key}" for key in hit.section_keys)
    return ToolResult("\n\n".join(blocks), tuple(dict.fromkeys(names)))


@tool("icd", "search")
def search_icd_manuals(
    books: Books,
    query: str,
    source: Literal["any", "guidelines", "tabular", "index"] = "any",
    count: int = 8,
) -> ToolResult:
    """Search the ICD-10-CM manuals for one diagnosis, code family or rule.

    query: a few words, such as "acute kidney failure with tubular necrosis". count: at most 8.
    """
    return _search(books, query, count, None if source == "any" else source)


@tool("icd", "search")
def search_icd_whole_case(books: Books, case: str) -> ToolResult:
    """Search the ICD-10-CM manuals once with the whole case text, for an overview."""
    return _search(books, case, MOST_HITS, None)


@tool("legal", "search")
def search_legal_manuals(
    books: Books,
    query: str,
    source: Literal["any", "title18", "ussg"] = "any",
    count: int = 8,
) -> ToolResult:
    """Search Title 18 and the Guidelines Manual for one statute, guideline or adjustment.

    query: a few words or a citation, such as "abuse of a position of trust". count: at most 8.
    """
    return _search(books, query, count, None if source == "any" else source)


@tool("legal", "search")
def search_legal_whole_case(books: Books, case: str) -> ToolResult:
    """Search the legal manuals once with the whole case text, for an overview."""
    return _search(books, case, MOST_HITS, None)
