"""When the next call may go out: the rate limit, what servers ask to wait, and the stop.

One pace for all cases of a run. Waiting ends at once when the run is stopped.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from eval.systems.model.spending import BudgetReached
from eval.systems.model.stops import status_code

#: seconds before the second try and the longest back-off without a ``Retry-After``
FIRST_WAIT, LONGEST_WAIT = 0.5, 30.0

#: a server that asks to wait longer than this many seconds is taken at its word: no further try
LONGEST_ASKED = 900.0

#: statuses of HTTP after which the same request may succeed; other 5xx too
_AGAIN = frozenset({408, 409, 425, 429})


class Stopped(BudgetReached):
    """The run is being stopped; the case at hand is left for the next start."""


class Pace:
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


def asked_to_wait(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
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


def wait_before_retry(error: BaseException, attempt: int, passing: bool) -> float | None:
    """Seconds to wait before the next try, ``None`` when another try makes no sense.

    ``attempt`` counts from 0; ``passing`` says that the failure has no HTTP status but may pass (a
    time-out, a lost connection). The back-off doubles, with a quarter of it at random.
    """
    code = status_code(error)
    if getattr(error, "code", None) == "insufficient_quota":
        return None
    if not passing and (code is None or not (code in _AGAIN or code >= 500)):
        return None
    headers: Mapping[str, str] = getattr(getattr(error, "response", None), "headers", {})
    asked = asked_to_wait(headers)
    if asked is not None:
        return asked if asked <= LONGEST_ASKED else None
    wait: float = min(FIRST_WAIT * 2**attempt, LONGEST_WAIT)
    return wait * random.uniform(0.75, 1.0)
