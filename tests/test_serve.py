"""The HTTP server: JSON answers, bounded input, this machine only."""

from __future__ import annotations

import http.client
import json
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from searchable import legal_index

from manuals.library.store import save_manual
from retrievers.search.index import Index
from retrievers.serving.http import Server
from retrievers.serving.service import LONGEST_QUERY, Service
from tam.errors import BadOption


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return legal_index(tmp_path_factory.mktemp("serve") / "legal")


@pytest.fixture(scope="module")
def server(index: Index) -> Iterator[Server]:
    with Server(Service([index]), 0) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def get(
    server: Server, path: str, host: str | None = None, method: str = "GET", **arguments: object
) -> tuple[int, dict[str, Any]]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    query = f"?{urlencode(arguments)}" if arguments else ""
    headers = {} if host is None else {"Host": host}
    connection.request(method, path + query, headers=headers)
    response = connection.getresponse()
    data = response.read()
    connection.close()
    kind = response.headers.get_content_type()
    return response.status, json.loads(data) if kind == "application/json" else {}


def test_search_is_the_python_api(server: Server, index: Index) -> None:
    status, answer = get(
        server, "/search", q="serial number", k=2, source="ussg,title18", year="2025"
    )
    hits = index.search("serial number", k=2, source=["ussg", "title18"], year=2025)
    assert status == 200
    assert answer["hits"] == [{"corpus": "legal", **hit.to_json()} for hit in hits]
    assert answer["filter"] == "year 2025, source title18, ussg"
    status, answer = get(
        server, "/search", q="18 USC 924", k=1, references="false", retriever="bm25"
    )
    assert [hit["found_by"] for hit in answer["hits"]] == ["search"]


def test_open_and_health(server: Server) -> None:
    status, answer = get(server, "/open", ref="18 usc 922(g)", year=2021)
    assert (status, answer["key"], answer["year"]) == (200, "18 U.S.C. § 922(g)", 2021)
    assert answer["cut"] is False
    status, answer = get(server, "/health")
    assert status == 200
    assert answer["indexes"][0]["editions"][0] == "title18/2021"


@pytest.mark.parametrize(
    ("path", "arguments", "message"),
    [
        ("/search", {}, "the query is empty"),
        ("/search", {"q": "bank", "k": "0"}, "from 1 to 100"),
        ("/search", {"q": "bank", "k": "101"}, "from 1 to 100"),
        ("/search", {"q": "bank", "k": "٣"}, "from 1 to 100"),
        ("/search", {"q": "bank", "year": "1999"}, "1999"),
        ("/search", {"q": "bank", "source": "x"}, "not known"),
        ("/search", {"q": "bank", "corpus": "icd"}, "served: legal"),
        ("/search", {"q": "bank", "reranker": "/etc"}, "reranker '/etc' is not served"),
        ("/search", {"q": "bank", "references": "1"}, "true or false"),
        ("/search", {"q": "a" * (LONGEST_QUERY + 1)}, "at most 50,000"),
        ("/open", {}, "1 to 500 characters"),
        ("/open", {"ref": "18 USC 99999"}, "99999"),
        ("/open", {"ref": "18 USC 924", "year": "then"}, "whole number"),
        ("/open", {"ref": "18 USC 924", "source": "x"}, "not known"),
        ("/open", {f"a{n}": "1" for n in range(30)}, "more than 20"),
    ],
)
def test_mistakes_are_400(
    server: Server, path: str, arguments: dict[str, str], message: str
) -> None:
    status, answer = get(server, path, **arguments)
    assert status == 400
    assert message in answer["error"]


def test_only_this_machine(server: Server) -> None:
    assert server.server_address[0] == "127.0.0.1"
    port = server.server_port
    for host in ("localhost", f"localhost:{port}", f"127.0.0.1:{port}", f"[::1]:{port}"):
        assert get(server, "/health", host)[0] == 200, host
    for host in ("example.org", f"example.org:{port}", "127.0.0.1.example.org", ""):
        assert get(server, "/health", host)[0] == 403, host


def test_other_paths_methods_and_repeats(server: Server) -> None:
    assert get(server, "/../etc/passwd")[0] == 404
    assert get(server, "/search?q=a&q=b")[0] == 400
    assert get(server, "/search", method="POST", q="bank")[0] == 501


def test_a_failure_says_nothing_and_does_not_stop_it(
    server: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(self: Service) -> dict[str, Any]:
        raise RuntimeError("inner detail")

    with monkeypatch.context() as patch:
        patch.setattr(Service, "health", fail)
        status, answer = get(server, "/health")
    assert (status, answer) == (500, {"error": "the request failed"})
    assert "inner detail" in capsys.readouterr().err
    assert get(server, "/health")[0] == 200


def test_many_at_once(server: Server) -> None:
    answers: list[dict[str, Any]] = []

    def ask() -> None:
        answers.append(get(server, "/search", q="bank fraud", k=5)[1])

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 8
    assert all(answer == answers[0] for answer in answers)


def test_a_port_in_use(server: Server, index: Index) -> None:
    with pytest.raises(BadOption, match="choose another with --port"):
        Server(Service([index]), server.server_port)


def test_mcp_tools(index: Index, tmp_path: Path) -> None:
    """Over real pipes, as an agent starts it."""
    pytest.importorskip("mcp", reason="the extra mcp is not installed")
    import asyncio

    from mcp import ClientSession, StdioServerParameters, stdio_client

    for manual in index.library.manuals():
        save_manual(manual, index.path / "manuals")
    command = ["-m", "tam", "serve", "--mcp", "--index", str(index.path)]

    async def talk() -> list[Any]:
        parameters = StdioServerParameters(command=sys.executable, args=command)
        async with stdio_client(parameters) as pipes, ClientSession(*pipes) as session:
            await session.initialize()
            tools = [tool.name for tool in (await session.list_tools()).tools]
            answers: list[Any] = [tools]
            for name, arguments in [
                ("search_manuals", {"query": "serial number", "k": 1, "year": "2025"}),
                ("search_manuals", {"query": "bank", "year": "1999"}),
                ("open_section", {"reference": "18 USC 924", "year": 2021}),
            ]:
                result = await session.call_tool(name, arguments)
                answers.append(json.loads(result.content[0].text))
            return answers

    tools, found, mistake, opened = asyncio.run(talk())
    assert tools == ["search_manuals", "open_section"]
    assert found["hits"][0]["citation"] == "§2K2.1"
    assert "no edition of 1999" in mistake["error"]
    assert (opened["key"], opened["year"]) == ("18 U.S.C. § 924", 2021)
