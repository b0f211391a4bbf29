"""A private case's text stays on this machine or network unless the user says otherwise."""

from __future__ import annotations

import contextlib
import ipaddress
import logging
import os
import re
import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

from eval.domains.model import Domain
from tam.errors import RunError

#: settings by which LangChain would send every prompt to a tracing service
TRACING = ("LANGSMITH_TRACING", "LANGCHAIN_TRACING_V2", "LANGCHAIN_TRACING", "LANGSMITH_TRACING_V2")

#: loopback, private and link-local networks (RFC 1122, 1918, 3927, 4193, 4291); ``is_private`` of
#: the standard library also holds ranges that are not, such as IPv4 addresses mapped into IPv6
_LOCAL = tuple(
    ipaddress.ip_network(net)
    for net in (
        *("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16"),
        *("::1/128", "fc00::/7", "fe80::/10"),
    )
)

#: scheme, host and path without a user name, blanks or backslashes, which readers of URLs take
#: differently
_PLAIN_URL = re.compile(r"https?://(\[[0-9a-fA-F:.]+\]|[\w.-]+)(:\d{1,5})?(/[\w./~%-]*)?", re.ASCII)


def endpoint(base_url: str | None) -> str | None:
    """The endpoint that the OpenAI client would use: the given one, else the environment's.

    Raises ``RunError`` for one that does not read as a plain HTTP address.
    """
    found = base_url or os.environ.get("OPENAI_API_BASE") or os.environ.get("OPENAI_BASE_URL")
    if found and not _PLAIN_URL.fullmatch(found):
        raise RunError(
            "--base-url: not a plain HTTP address (no user name, query or blanks); "
            "write it as http://HOST:PORT/v1"
        )
    return found or None


def is_local(base_url: str | None) -> bool:
    """Whether an endpoint is on this machine or in a private network.

    Every address that the host name resolves to must be loopback, link-local or private. Without
    a base URL the provider's own, remote endpoint is used.
    """
    host = urlsplit(base_url).hostname if base_url else None
    if not host:
        return False
    try:
        addresses = [ipaddress.ip_address(host)]
    except ValueError:
        try:
            found = socket.getaddrinfo(host, None, proto=socket.IPPROTO_TCP)
        except OSError:
            return False
        addresses = [ipaddress.ip_address(str(entry[4][0]).split("%")[0]) for entry in found]
    return bool(addresses) and all(_is_local_address(address) for address in addresses)


def _is_local_address(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    mapped = getattr(address, "ipv4_mapped", None)
    return any((mapped or address) in network for network in _LOCAL)


def guard(domain: Domain, model: str, base_url: str | None, allow_remote_phi: bool) -> None:
    """Refuse to send private text to a remote endpoint; keep it out of traces and logs.

    Raises ``RunError`` for a private domain and a remote endpoint unless it is allowed.
    """
    if not domain.private:
        return
    if not allow_remote_phi:
        where = None
        if not is_local(base_url):
            where = urlsplit(base_url).hostname if base_url else "the provider's own endpoint"
        elif not model.startswith("openai:"):
            # Other clients take the address from other settings, or not at all.
            where = f"{model.partition(':')[0]}; local servers are reached as openai:MODEL"
        if where:
            raise RunError(
                f"--domain {domain.name} with a remote endpoint ({where}): "
                f"{domain.private_because}; use a local --base-url, or --allow-remote-phi when "
                f"your agreement covers this endpoint"
            )
    # An agreement with an endpoint covers neither a tracing service nor a log file.
    for name in TRACING:
        os.environ[name] = "false"
    os.environ.pop("OPENAI_LOG", None)
    logging.getLogger("openai").setLevel(logging.WARNING)


@contextlib.contextmanager
def kept_private(private: bool) -> Iterator[None]:
    """No traces of what happens inside, whatever the environment said before."""
    if not private:
        yield
        return
    try:
        from langsmith.run_helpers import tracing_context
    except ImportError:
        tracing = contextlib.nullcontext()
    else:
        tracing = tracing_context(enabled=False)
    with tracing:
        yield
