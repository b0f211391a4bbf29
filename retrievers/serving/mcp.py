"""An MCP server over standard input and output: two tools for a language model.

Needs the package ``mcp`` (extra ``mcp``).
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any

from retrievers.search.index import DEFAULT_K
from retrievers.search.settings import Filter, SearchSettings
from retrievers.serving.service import Service
from tam.errors import MissingExtra, TamError
from tam.options import Declared, Option, with_parameters
from tam.options import chosen as chosen_options

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

INSTRUCTIONS = (
    "Official manuals by edition: ICD-10-CM, Title 18 of the United States Code, and the "
    "Sentencing Guidelines. Search first, then open the sections that matter, in the year that "
    "applies."
)

#: what of the settings a model is told of
SETTINGS = ("retriever", "query_mode", "references", "collapse", "links", "reranker")


def mcp_server(service: Service) -> MCPServer:
    """A server with the tools ``search_manuals`` and ``open_section``.

    Mistakes come back as ``{"error": ...}``, which a model can read and mend. Raises
    ``MissingExtra`` without the package.
    """
    if importlib.util.find_spec("mcp") is None:
        raise MissingExtra("mcp", "mcp", "the MCP server")
    from mcp.server.mcpserver import MCPServer

    server = MCPServer("tam", instructions=INSTRUCTIONS, log_level="ERROR")

    def search_manuals(query: str, k: int = DEFAULT_K, **chosen: Any) -> dict[str, Any]:
        """Find the chunks of the manuals that answer a question, best first. Several sources are
        written with commas; links on brings the sections that hits point to."""
        return _answer(service.search, q=query, k=k, **chosen)

    corpora = [each.corpus for each in service.indexes]
    corpus = Declared("corpus", Annotated[str | None, Option("Only this index.", corpora)], None)
    told = [*chosen_options(Filter), *chosen_options(SearchSettings, SETTINGS), corpus]
    with_parameters(search_manuals, told)

    def open_section(
        reference: str,
        year: int | None = None,
        as_of: str | None = None,
        source: str | None = None,
    ) -> dict[str, Any]:
        """Open one section with its text, notes and children: E11.22, 18 USC 922(g), §2K2.1,
        I.C.4.a, Abscess > brain. Without a year, or a day (as_of 2022-05-01), it is the newest
        edition that holds it; standing says which laws amended it, and when."""
        return _answer(service.open, ref=reference, year=year, as_of=as_of, source=source)

    server.add_tool(search_manuals)
    server.add_tool(open_section)
    return server


def _answer(
    call: Callable[[Mapping[str, str]], dict[str, Any]], **arguments: str | int | bool | None
) -> dict[str, Any]:
    given = {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in arguments.items()
        if value is not None
    }
    try:
        return call(given)
    except TamError as error:
        return {"error": str(error), "kind": type(error).__name__}
