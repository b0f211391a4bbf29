"""A small HTTP server for this machine's own programs and agents.

| path | answer |
|---|---|
| `GET /health` | what is served |
| `GET /search?q=...&k=8&year=2025&source=ussg` | hits; the arguments of `Service.search` |
| `GET /open?ref=18+USC+924&year=2021` | one section; the arguments of `Service.open` |

Answers are JSON; a mistake in the request is ``400 {"error": "..."}``. There is no
authentication: it listens on the loopback address, and refuses requests that name another host,
so that a web page cannot reach it under a name of its own (DNS rebinding).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from retrievers.serving.service import Service
from tam.errors import BadOption, TamError

HOST = "127.0.0.1"
_NAMES = ("127.0.0.1", "localhost", "[::1]")


class Server(ThreadingHTTPServer):
    """Serves one ``Service`` on the loopback address; port 0 takes a free one."""

    daemon_threads = True

    def __init__(self, service: Service, port: int) -> None:
        self.service = service
        try:
            super().__init__((HOST, port), _Handler)
        except OSError as error:
            raise BadOption(
                f"port {port}: cannot listen there ({error.strerror}); choose another with --port"
            ) from error

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Server
    server_version = "tam"
    sys_version = ""
    # A client that sends nothing must not hold its thread for ever.
    timeout = 30

    def do_GET(self) -> None:
        status, answer = self._answer()
        body = json.dumps(answer, ensure_ascii=False).encode("utf-8")
        self.send_response(status)
        self.send_header("Content-Type", "application/json; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        self.wfile.write(body)

    def _answer(self) -> tuple[HTTPStatus, dict[str, Any]]:
        name = self.headers.get("Host", "").rpartition(":")
        if (name[0] if name[2].isdecimal() else "".join(name)) not in _NAMES:
            return HTTPStatus.FORBIDDEN, {"error": "this server answers on 127.0.0.1 only"}
        service = self.server.service
        routes: Mapping[str, Callable[[Mapping[str, str]], dict[str, Any]]] = {
            "/health": lambda _: service.health(),
            "/search": service.search,
            "/open": service.open,
        }
        parts = urlsplit(self.path)
        route = routes.get(parts.path)
        if route is None:
            return HTTPStatus.NOT_FOUND, {"error": f"no such path; there are {', '.join(routes)}"}
        try:
            return HTTPStatus.OK, route(_arguments(parts.query))
        except TamError as error:
            return HTTPStatus.BAD_REQUEST, {"error": str(error), "kind": type(error).__name__}
        except Exception as error:
            # The server must go on; the client learns no internals.
            print(f"tam serve: {type(error).__name__}: {error}", file=sys.stderr)
            return HTTPStatus.INTERNAL_SERVER_ERROR, {"error": "the request failed"}

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: queries can hold what must not stand in a log."""


def _arguments(query: str) -> dict[str, str]:
    try:
        pairs = parse_qsl(query, keep_blank_values=True, max_num_fields=20)
    except ValueError as error:
        raise BadOption("more than 20 arguments; each is given once") from error
    arguments = dict(pairs)
    if len(arguments) != len(pairs):
        raise BadOption("an argument is given twice; give each once, sources as a,b")
    return arguments
