"""Why a call gave no usable message: a provider's exceptions and finish reasons as statuses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from eval.systems.model.budget import BudgetReached
from tam.errors import RunError, TamError

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage

#: why a case has no prediction; ``ok`` is the only status with one. ``fault`` is a fault of ours.
Status = Literal[
    "ok",
    "unparsed",
    "refusal",
    "content_filter",
    "length",
    "timeout",
    "rate_limited",
    "connection",
    "server_error",
    "bad_request",
    "bad_response",
    "fault",
]

_TIMEOUTS = {
    *("APITimeoutError", "ReadTimeout", "ConnectTimeout", "TimeoutException", "TimeoutError"),
    *("WriteTimeout", "PoolTimeout", "StreamChunkTimeoutError"),
}
_CONNECTIONS = {"APIConnectionError", "TransportError", "ConnectionError"}


class CallFailed(Exception):
    """A call that gave no usable message; ``status`` says why."""

    def __init__(self, status: Status, detail: str) -> None:
        super().__init__(status)
        self.status: Status = status
        self.detail = detail


def first_line(error: BaseException) -> str:
    """The first line of an exception's message, bounded: servers echo what they were sent."""
    lines = str(error).strip().splitlines()
    return lines[0][:200] if lines else type(error).__name__


def status_code(error: BaseException) -> int | None:
    """The HTTP status that an exception stands for, if any."""
    code = getattr(error, "status_code", None)
    return code if isinstance(code, int) else None


def _names(error: BaseException) -> set[str]:
    """The names of an exception's classes: providers' packages share these, not the classes."""
    return {kind.__name__ for kind in type(error).__mro__}


def is_timeout_or_lost(error: BaseException) -> bool:
    """Whether a call timed out or lost its connection."""
    return bool(_names(error) & (_TIMEOUTS | _CONNECTIONS))


def is_rate_limit(error: BaseException | None) -> bool:
    """Whether the server said that calls come too fast."""
    return error is not None and ("RateLimitError" in _names(error) or status_code(error) == 429)


def failure_of(error: Exception, private: bool = False) -> Exception:
    """What a provider's exception means for the case, by its class's name: providers share these
    names. ``RunError`` when every further call would fail alike.

    ``private``: nothing that the server said goes into a message that the user's screen shows.
    """
    if isinstance(error, CallFailed | BudgetReached | TamError):
        return error
    names = _names(error)
    text = first_line(error)
    code = status_code(error)
    said = f"HTTP status {code}" if private else text
    if names & _TIMEOUTS or code == 408:
        return CallFailed("timeout", text)
    if getattr(error, "code", None) == "insufficient_quota":
        return RunError(f"the account's quota is used up ({said}); top it up and go on")
    if is_rate_limit(error):
        return CallFailed("rate_limited", text)
    if code in (401, 403, 404):
        return RunError(f"the model's endpoint refuses the call ({said}); check --model and key")
    if code is not None and 300 <= code < 400:
        return RunError(
            f"the model's endpoint redirects (HTTP status {code}), and a case's text is not sent "
            f"on to another address; give the final --base-url"
        )
    if _names_filter(error):
        return CallFailed("content_filter", text)
    if names & _CONNECTIONS:
        return CallFailed("connection", text)
    if code is not None and 400 <= code < 500:
        return CallFailed("bad_request", text)
    if code is not None and code >= 500:
        return CallFailed("server_error", text)
    if "APIError" in names and "APIResponseValidationError" not in names:
        # An error in the middle of a stream has no HTTP status of its own.
        return CallFailed("server_error", text)
    # The client could not read what the server sent.
    return CallFailed("bad_response", f"{type(error).__name__}: {text}")


def _names_filter(error: Exception) -> bool:
    """Whether a refused request names the provider's content filter, in its code or its text."""
    code, body = getattr(error, "code", ""), getattr(error, "body", "")
    text = f"{code} {error} {body}".lower()
    return "content_filter" in text or "content management policy" in text


def raise_on_failure(message: AIMessage) -> None:
    """Raises ``CallFailed`` for a message that the provider cut off or refused."""
    metadata: dict[str, Any] = message.response_metadata
    reason = str(metadata.get("finish_reason") or metadata.get("stop_reason") or "").lower()
    if reason in ("content_filter", "content_filtered", "safety"):
        raise CallFailed("content_filter", "the provider's content filter stopped the answer")
    refusal = message.additional_kwargs.get("refusal")
    if refusal or reason == "refusal":
        raise CallFailed("refusal", str(refusal or "the model refused"))
    if reason in ("length", "max_tokens"):
        raise CallFailed("length", "the answer reached the limit of output tokens")
