"""Clinical text stays on this machine or network unless the user says otherwise."""

from __future__ import annotations

import ipaddress
import os
import socket
from urllib.parse import urlsplit

from tam.errors import RunError

#: settings by which LangChain would send every prompt to a tracing service
TRACING = ("LANGSMITH_TRACING", "LANGCHAIN_TRACING_V2", "LANGCHAIN_TRACING", "LANGSMITH_TRACING_V2")


def is_local(base_url: str | None) -> bool:
    """Whether an endpoint is on this machine or in a private network.

    Every address that the host name resolves to must be loopback, link-local or private. Without
    a base URL the provider's own, remote endpoint is used.
    """
    if not base_url:
        return False
    host = urlsplit(base_url).hostname
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
    return bool(addresses) and all(
        a.is_loopback or a.is_link_local or (a.is_private and not a.is_unspecified)
        for a in addresses
    )


def guard(domain: str, base_url: str | None, allow_remote_phi: bool) -> None:
    """Refuse to send clinical text to a remote endpoint; switch off tracing services.

    Raises ``RunError`` for domain ``icd`` and a remote endpoint unless it is allowed.
    """
    if domain != "icd" or allow_remote_phi:
        return
    if not is_local(base_url):
        where = urlsplit(base_url).hostname if base_url else "the provider's own endpoint"
        raise RunError(
            f"--domain icd with a remote endpoint ({where}): discharge notes may be protected "
            f"health information, and MIMIC's terms forbid sending them to a service; use a local "
            f"--base-url, or --allow-remote-phi when your agreement covers this endpoint"
        )
    for name in TRACING:
        os.environ[name] = "false"
