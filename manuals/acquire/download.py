"""One file over HTTPS: resumed where it broke off, checked against size and sha256.

``<target>.part`` holds what has come so far and ``<target>.part.tag`` the validator (ETag or
Last-Modified) of the version it belongs to: without one, or when the server has another version
by now, the download begins anew (RFC 9110, If-Range).
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from tam.errors import FetchError
from tam.files import sha256_file
from tam.progress import byte_progress

if TYPE_CHECKING:
    import httpx

#: the year's zip of the whole U.S. Code is the largest download, some 150 MB (bytes)
LARGEST_DOWNLOAD = 1024**3
ATTEMPTS = 3
REDIRECTS = 5
CONNECT_SECONDS = 10.0
READ_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class _Reply:
    """What a response says about the bytes that follow: where they begin, where all ends."""

    start: int
    total: int | None
    tag: str


class _Interrupted(Exception):
    """The connection broke; what has come is kept and the rest can be asked for."""


def download(url: str, target: Path, size: int | None = None, sha256: str = "") -> Path:
    """Fetch ``url`` into ``target``, which is complete or absent; returns ``target``.

    Raises ``FetchError``: nothing can be reached, a status other than 200 or 206, a redirect to
    another scheme, more than 1 GiB, or bytes that do not match ``size`` or ``sha256``.
    """
    _check_url(url, url)
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    for attempt in range(1, ATTEMPTS + 1):
        try:
            _receive(url, part)
            break
        except _Interrupted as error:
            if attempt == ATTEMPTS:
                raise FetchError(
                    f"{url}: the download broke off ({error}); run the command again to go on"
                ) from error
    _verify(url, part, size, sha256)
    part.replace(target)
    _tag_file(part).unlink(missing_ok=True)
    return target


def _receive(url: str, part: Path) -> None:
    import httpx

    done = part.stat().st_size if part.exists() else 0
    tag = _read_tag(part)
    headers = {"Accept-Encoding": "identity", "User-Agent": "tam (manuals fetch)"}
    if done and tag:
        headers |= {"Range": f"bytes={done}-", "If-Range": tag}
    timeout = httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS)
    try:
        with httpx.Client(timeout=timeout, follow_redirects=False) as client:
            response = _get(client, url, headers)
            try:
                _write(url, response, part, done)
            finally:
                response.close()
    except (httpx.ConnectError, httpx.ConnectTimeout, httpx.UnsupportedProtocol) as error:
        host = urlsplit(url).hostname
        raise FetchError(f"{url}: {host} cannot be reached ({error}); check the network") from error
    except httpx.HTTPError as error:
        raise _Interrupted(str(error) or type(error).__name__) from error


def _get(client: httpx.Client, url: str, headers: dict[str, str]) -> httpx.Response:
    """The response after redirects, each of which must keep to an allowed scheme."""
    place = url
    for _ in range(REDIRECTS):
        response = client.send(client.build_request("GET", place, headers=headers), stream=True)
        if not response.is_redirect:
            return response
        response.close()
        place = urljoin(place, response.headers["location"])
        _check_url(place, url)
    raise FetchError(f"{url}: more than {REDIRECTS} redirects; check the catalogue's URL")


def _check_url(url: str, asked: str) -> None:
    """Only https; plain http on this machine when this machine was asked (tests, mirrors)."""
    parts = urlsplit(url)
    local = _is_loopback(parts.hostname) and _is_loopback(urlsplit(asked).hostname)
    if parts.scheme == "https" or (parts.scheme == "http" and local):
        return
    what = "redirects to" if url != asked else "is"
    raise FetchError(f"{asked}: {what} {parts.scheme}://, only https is allowed; check the URL")


def _is_loopback(host: str | None) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host or "").is_loopback
    except ValueError:
        return False


def _write(url: str, response: httpx.Response, part: Path, done: int) -> None:
    reply = _reply(url, response, done)
    if reply is None:
        return
    if (reply.total or 0) > LARGEST_DOWNLOAD:
        raise FetchError(f"{url}: {reply.total} bytes are more than any manual; check the URL")
    _write_tag(part, reply.tag)
    received = reply.start
    with part.open("ab" if reply.start else "wb") as stream:
        for block in _blocks(response, url, reply):
            stream.write(block)
            received += len(block)
            if received > LARGEST_DOWNLOAD:
                raise FetchError(f"{url}: more than {LARGEST_DOWNLOAD} bytes; check the URL")
    if reply.total is not None and received != reply.total:
        raise _Interrupted(f"{received} of {reply.total} bytes")


def _reply(url: str, response: httpx.Response, done: int) -> _Reply | None:
    """What the response holds; ``None`` when everything has been here before."""
    headers = response.headers
    etag = headers.get("etag", "")
    # A weak validator does not promise equal bytes, so a range may not be added to it.
    tag = headers.get("last-modified", "") if etag.startswith("W/") or not etag else etag
    if response.status_code == 200:
        length = headers.get("content-length", "")
        return _Reply(0, int(length) if length.isdigit() else None, tag)
    found = re.fullmatch(r"bytes (?:(\d+)-\d+|\*)/(\d+)", headers.get("content-range", ""))
    if response.status_code == 206 and found and found[1] and int(found[1]) == done:
        return _Reply(done, int(found[2]), tag)
    if response.status_code == 416 and found and int(found[2]) == done:
        return None
    if response.status_code in (206, 416):
        raise FetchError(f"{url}: the server sent another range than asked for; try again")
    raise FetchError(
        f"{url}: the server answered {response.status_code} {response.reason_phrase}; "
        f"check the URL or fetch the file by hand"
    )


def _blocks(response: httpx.Response, url: str, reply: _Reply) -> Iterator[bytes]:
    left = None if reply.total is None else reply.total - reply.start
    name = urlsplit(url).path.rpartition("/")[2]
    # As they come: a block that waits to be filled would be lost when the connection breaks.
    yield from byte_progress(response.iter_raw(), name, left)


def _verify(url: str, part: Path, size: int | None, sha256: str) -> None:
    """A file that does not match is removed, so that the next run begins anew."""
    found_size = part.stat().st_size
    found = sha256_file(part)
    for what, expected, got in (("bytes", size, found_size), ("sha256", sha256, found)):
        if expected and expected != got:
            part.unlink()
            _tag_file(part).unlink(missing_ok=True)
            raise FetchError(
                f"{url}: {what} {got} instead of {expected}; the publisher has replaced the file "
                f"or it was changed on the way: compare before using it"
            )


def _tag_file(part: Path) -> Path:
    return part.with_name(part.name + ".tag")


def _read_tag(part: Path) -> str:
    file = _tag_file(part)
    return file.read_text(encoding="utf-8") if file.exists() else ""


def _write_tag(part: Path, tag: str) -> None:
    _tag_file(part).write_text(tag, encoding="utf-8")
