"""A server on loopback that speaks the chat-completions protocol and plays scripted replies.

A script is a function from the request's JSON to a ``Reply``; faults are replies too. It counts
what it was asked, so that a test can tell that nothing was asked twice.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType
from typing import Any, Literal

Request = dict[str, Any]


@dataclass(frozen=True)
class Reply:
    """One answer: a text, tool calls, or a fault."""

    text: str | None = None
    tool_calls: Sequence[tuple[str, dict[str, Any] | str]] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    finish: str | None = None
    refusal: str | None = None
    delay: float = 0.0
    raw: bytes | None = None
    error_code: str | None = None
    error: str = "scripted fault"
    #: tokens in and out
    usage: tuple[int, int] = (100, 10)
    #: the connection ends in the middle of a stream, or the stream carries an error
    broken: Literal["", "cut", "error"] = ""


Script = Callable[[Request], Reply]


@dataclass
class Server:
    """A running server: its base URL and the requests it got."""

    url: str
    requests: list[Request] = field(default_factory=list)


@contextmanager
def serving(script: Script) -> Iterator[Server]:
    """Serve the script on a free loopback port until the block ends."""
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            request = json.loads(self.rfile.read(length))
            with lock:
                server.requests.append(request)
                reply = script(request)
            if reply.delay:
                time.sleep(reply.delay)
            # The client gives up waiting in a test of time-outs.
            with suppress(BrokenPipeError, ConnectionResetError):
                _answer(self, request, reply)

        def log_message(self, format: str, *args: Any) -> None:
            return

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server = Server(f"http://127.0.0.1:{http.server_address[1]}/v1")
    thread = threading.Thread(target=http.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()


def _answer(handler: BaseHTTPRequestHandler, request: Request, reply: Reply) -> None:
    if reply.raw is not None:
        _send(handler, reply.status, reply.raw, "application/json")
        return
    if reply.status != 200:
        body = {"error": {"message": reply.error, "code": reply.error_code, "type": "x"}}
        _send(handler, reply.status, json.dumps(body).encode(), "application/json", reply.headers)
        return
    message: dict[str, Any] = {"role": "assistant", "content": reply.text}
    if reply.refusal is not None:
        message["refusal"] = reply.refusal
    if reply.tool_calls:
        message["tool_calls"] = [
            {
                "id": f"call_{len(request['messages'])}_{number}",
                "type": "function",
                "function": {
                    "name": name,
                    "arguments": args if isinstance(args, str) else json.dumps(args),
                },
            }
            for number, (name, args) in enumerate(reply.tool_calls)
        ]
    finish = reply.finish or ("tool_calls" if reply.tool_calls else "stop")
    names = ("prompt_tokens", "completion_tokens", "total_tokens")
    usage = dict(zip(names, (*reply.usage, sum(reply.usage)), strict=True))
    if request.get("stream"):
        _stream(handler, message, finish, usage, reply.broken)
        return
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": request.get("model", "scripted"),
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": usage,
    }
    _send(handler, 200, json.dumps(body).encode(), "application/json")


def _stream(
    handler: BaseHTTPRequestHandler,
    message: dict[str, Any],
    finish: str,
    usage: dict[str, int],
    broken: str,
) -> None:
    def chunk(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": 0,
            "model": "scripted",
            "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
        }

    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    text = message["content"] or ""
    deltas += [{"content": text[at : at + 20]} for at in range(0, len(text), 20)]
    if message.get("refusal"):
        deltas.append({"refusal": message["refusal"]})
    deltas += [
        {"tool_calls": [{"index": number, **call}]}
        for number, call in enumerate(message.get("tool_calls", ()))
    ]
    lines = [chunk(delta) for delta in deltas] + [chunk({}, finish)]
    lines.append({**chunk({}), "choices": [], "usage": usage})
    if broken == "error":
        lines[2:] = [{"error": {"message": "scripted fault", "type": "server_error"}}]
    body = "".join(f"data: {json.dumps(line)}\n\n" for line in lines) + "data: [DONE]\n\n"
    _send(handler, 200, body.encode(), "text/event-stream", cut=broken == "cut")


def _send(
    handler: BaseHTTPRequestHandler,
    status: int,
    body: bytes,
    kind: str,
    headers: Mapping[str, str] = MappingProxyType({}),
    cut: bool = False,
) -> None:
    handler.send_response(status)
    handler.send_header("Content-Type", kind)
    handler.send_header("Content-Length", str(len(body)))
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(body[: len(body) // 2] if cut else body)
    if cut:
        handler.wfile.flush()
        handler.connection.shutdown(socket.SHUT_RDWR)


def in_turn(*replies: Reply) -> Script:
    """A script that plays the replies one after the other, the last one for ever."""
    position = iter(range(10**9))

    def script(request: Request) -> Reply:
        return replies[min(next(position), len(replies) - 1)]

    return script


def last_user(request: Request) -> str:
    """The text of the last user message."""
    texts = [m["content"] for m in request["messages"] if m["role"] == "user"]
    return str(texts[-1]) if texts else ""
