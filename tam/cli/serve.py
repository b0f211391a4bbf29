"""``tam serve``: the built indexes over HTTP or MCP, on this machine only."""

from __future__ import annotations

from pathlib import Path

import click

from manuals.model.source import corpora
from retrievers.search.corpora import DEFAULT_ROOT


@click.command("serve")
@click.option("--corpus", type=click.Choice(corpora()), help="Only this index. Default: all built.")
@click.option(
    "--index",
    "folder",
    type=click.Path(path_type=Path),
    default=DEFAULT_ROOT,
    show_default=True,
    help="An index, or the folder that holds icd/ and legal/.",
)
@click.option("--port", type=click.IntRange(0, 65535), default=8226, show_default=True)
@click.option("--reranker", metavar="MODEL", help="A cross-encoder that requests may ask for.")
@click.option("--mcp", is_flag=True, help="Speak MCP on standard input and output instead.")
def serve(corpus: str | None, folder: Path, port: int, reranker: str | None, mcp: bool) -> None:
    """Answer GET /search, /open and /health with JSON on 127.0.0.1.

    With --mcp: an MCP server with the tools search_manuals and open_section.

    \b
    tam serve --port 8226
    curl 'http://127.0.0.1:8226/search?q=role+in+the+offense&source=ussg&year=2025&k=3'
    curl 'http://127.0.0.1:8226/open?ref=18+USC+924&year=2021'
    """
    from retrievers.search.corpora import open_indexes
    from retrievers.serving.http import Server
    from retrievers.serving.service import Service

    service = Service(open_indexes(folder, corpus), reranker)
    if mcp:
        from retrievers.serving.mcp import mcp_server

        mcp_server(service).run()
        return
    with Server(service, port) as server:
        click.echo(f"serving {server.url}  (stop with Ctrl-C)", err=True)
        server.serve_forever()
