"""An MCP server over standard input and output: two tools for a language model.

Needs the package ``mcp`` (extra ``mcp``).
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from retrievers.serving.service import Service
from tam.errors import MissingExtra, TamError

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

INSTRUCTIONS = (
    "Official manuals by edition: ICD-10-CM, Title 18 of the United States Code, and the "
    "Sentencing Guidelines. Search first, then open the sections that matter, in the year that "
    "applies."
)


def mcp_server(service: Service) -> MCPServer:
    """A server with the tools ``search_manuals`` and ``open_section``.

    Mistakes come back as ``{"error": ...}``, which a model can read and mend. Raises
    ``MissingExtra`` without the package.
    """
    if importlib.util.find_spec("mcp") is None:
        raise MissingExtra("mcp", "mcp", "the MCP server")
    from mcp.server.mcpserver import MCPServer

    server = MCPServer("tam", instructions=INSTRUCTIONS, log_level="ERROR")

    def search_manuals(
        query: str,
        k: int = 8,
        year: str | None = None,
        as_of: str | None = None,
        source: str | None = None,
        under: str | None = None,
        corpus: str | None = None,
        retriever: str = "hybrid",
    ) -> dict[str, Any]:
        """Find the chunks of the manuals that answer a question, best first.

        year is an edition (2025) or a range (2021-2023); as_of a date (2022-05-01) that picks the
        editions in force; source one or several of guidelines, tabular, index, eindex, drugs,
        neoplasm, title18, ussg, with commas; under a key such as E11, 18 USC chapter 44 or
        USSG Chapter 3; corpus icd or legal; retriever hybrid, bm25 or dense.
        """
        return _answer(
            service.search,
            q=query,
            k=k,
            year=year,
            as_of=as_of,
            source=source,
            under=under,
            corpus=corpus,
            retriever=retriever,
        )

    def open_section(
        reference: str, year: int | None = None, source: str | None = None
    ) -> dict[str, Any]:
        """Open one section with its text, notes and children: E11.22, 18 USC 922(g), §2K2.1,
        I.C.4.a, Abscess > brain. Without a year it is the newest edition that holds it."""
        return _answer(service.open, ref=reference, year=year, source=source)

    server.add_tool(search_manuals)
    server.add_tool(open_section)
    return server


def _answer(
    call: Callable[[Mapping[str, str]], dict[str, Any]], **arguments: str | int | None
) -> dict[str, Any]:
    given = {name: str(value) for name, value in arguments.items() if value is not None}
    try:
        return call(given)
    except TamError as error:
        return {"error": str(error), "kind": type(error).__name__}
