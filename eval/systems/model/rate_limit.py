"""When the next call may go out: the rate limit, what servers ask to wait, and the stop.

One limiter for all cases of a run. Waiting ends at once when the run is stopped.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from eval.systems.model.budget import BudgetReached
from eval.systems.model.failures import is_timeout_or_lost, status_code

if TYPE_CHECKING:
    from tenacity import RetryCallState

#: seconds before the second try and the longest back-off without a ``Retry-After``
FIRST_WAIT, LONGEST_WAIT = 0.5, 30.0

#: a server that asks to wait longer than this many seconds is taken at its word: no further try
LONGEST_ASKED = 900.0

#: statuses of HTTP after which the same request may succeed; other 5xx too
_AGAIN = frozenset({408, 409, 425, 429})


class Stopped(BudgetReached):
    """The run is being stopped; the case at hand is left for the next start."""


class RateLimiter:
    """Spaces calls, holds all of them back while a server asks for it, and ends waits."""

    def __init__(self, requests_per_minute: float | None = None) -> None:
        self._interval = 60 / requests_per_minute if requests_per_minute else 0.0
        self._next = time.monotonic()
        self._lock = threading.Lock()
        self._stop = threading.Event()

    def stop(self) -> None:
        """No further call goes out."""
        self._stop.set()

    def wait(self) -> None:
        """Wait for this call's turn. Raises ``Stopped``."""
        with self._lock:
            turn = max(self._next, time.monotonic())
            self._next = turn + self._interval
        self.sleep(turn - time.monotonic())

    def sleep(self, seconds: float) -> None:
        """Wait. Raises ``Stopped``."""
        if self._stop.wait(max(0.0, seconds)):
            raise Stopped("the run is being stopped")

    def hold(self, seconds: float) -> None:
        """Hold every call back: the server asked for it."""
        with self._lock:
            self._next = max(self._next, time.monotonic() + seconds)


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Seconds that a response's headers ask to wait: ``Retry-After`` as a number or an HTTP date
    (RFC 9110, 10.2.3), or ``retry-after-ms``; ``None`` without them."""
    milliseconds, value = headers.get("retry-after-ms"), headers.get("retry-after")
    try:
        if milliseconds is not None:
            return max(0.0, float(milliseconds) / 1000)
        if value is not None:
            return max(0.0, float(value))
    except ValueError:
        pass
    if value is None:
        return None
    try:
        until = parsedate_to_datetime(value)
    except ValueError:
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return max(0.0, (until - (now or datetime.now(UTC))).total_seconds())


def may_pass(error: BaseException) -> bool:
    """Whether another try of the same call makes sense: the failure may pass, and the server does
    not ask to wait longer than is sensible."""
    code = status_code(error)
    if getattr(error, "code", None) == "insufficient_quota":
        return False
    passing = is_timeout_or_lost(error) if code is None else code in _AGAIN or code >= 500
    return passing and (retry_after(_headers(error)) or 0.0) <= LONGEST_ASKED


def seconds_to_wait(tried: RetryCallState) -> float:
    """Seconds before the next try: as the server asks, else a back-off that doubles, with a
    quarter of it at random."""
    asked = retry_after(_headers(tried.outcome.exception() if tried.outcome else None))
    if asked is not None:
        return asked
    wait: float = min(FIRST_WAIT * 2 ** (tried.attempt_number - 1), LONGEST_WAIT)
    return wait * random.uniform(0.75, 1.0)


def _headers(error: BaseException | None) -> Mapping[str, str]:
    found: Mapping[str, str] = getattr(getattr(error, "response", None), "headers", {})
    return found
