"""The chat model of a run: any LangChain provider, metered, journaled, with its stops told apart.

``MeteredModel`` wraps the provider's chat model, so that every call of every system, of an agent's
sub-agents too, passes one place: budget, rate limit, journal and cache, token counts, and the
mapping of a provider's failures to the statuses that a run records.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, message_to_dict, messages_from_dict
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.rate_limiters import InMemoryRateLimiter
from langchain_core.runnables import Runnable
from pydantic import ConfigDict, Field

from eval.systems.calls import Cache, Journal, request_key
from eval.systems.spending import Meter, Usage
from tam.errors import MissingExtra, RunError

#: why a case has no prediction; ``ok`` is the only status with one
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
]


class ModelStop(Exception):
    """A call that gave no usable message; ``status`` says why."""

    def __init__(self, status: Status, detail: str) -> None:
        super().__init__(f"{status}: {detail}")
        self.status: Status = status
        self.detail = detail


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """How the model is reached. ``name`` is ``provider:model`` as in LangChain."""

    name: str
    base_url: str | None = None
    temperature: float | None = None
    seed: int | None = None
    timeout: float = 300.0
    retries: int = 5
    max_output_tokens: int | None = None
    streaming: bool = False


@dataclass
class CaseCalls:
    """What the model wrapper keeps about the case at hand.

    ``usage`` counts every call, ``from_cache`` the part that the cache answered for nothing.
    """

    journal: Journal | None = None
    cache: Cache | None = None
    usage: Usage = field(default_factory=Usage)
    from_cache: Usage = field(default_factory=Usage)
    repeats: Counter[str] = field(default_factory=Counter)


def open_model(settings: ModelSettings) -> BaseChatModel:
    """The provider's chat model. Raises ``RunError`` for a provider that is not there or a missing
    key, ``MissingExtra`` without LangChain."""
    try:
        from langchain.chat_models import init_chat_model
    except ImportError as error:
        raise MissingExtra("langchain", "llm", "an end-to-end run with a model") from error
    options: dict[str, Any] = {
        "max_retries": settings.retries,
        "timeout": settings.timeout,
    }
    if settings.base_url:
        options["base_url"] = settings.base_url
    if settings.temperature is not None:
        options["temperature"] = settings.temperature
    if settings.max_output_tokens is not None:
        options["max_tokens"] = settings.max_output_tokens
    provider = settings.name.partition(":")[0]
    if provider in ("openai", "azure_openai"):
        import os

        # The chat-completions protocol is what vLLM, Ollama and llama.cpp speak.
        options["use_responses_api"] = False
        options["stream_usage"] = True
        if settings.seed is not None:
            options["seed"] = settings.seed
        if settings.base_url and not os.environ.get("OPENAI_API_KEY"):
            # Local servers want none, but the client insists on one.
            options["api_key"] = "none"
        if settings.streaming:
            options["streaming"] = True
    try:
        model = init_chat_model(settings.name, **options)
    except ImportError as error:
        raise RunError(
            f"--model {settings.name}: LangChain's package for this provider is not installed "
            f"({error}); install it or use openai:MODEL with --base-url"
        ) from error
    except Exception as error:
        raise RunError(
            f"--model {settings.name}: cannot be opened ({_first_line(error)}); write "
            f"provider:model, such as openai:gpt-5, and set the provider's key"
        ) from error
    if not isinstance(model, BaseChatModel):
        raise RunError(f"--model {settings.name}: not a chat model")
    return model


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:200] if lines else type(error).__name__


class MeteredModel(BaseChatModel):
    """A chat model that counts, journals and names what goes wrong. One a case."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    inner: BaseChatModel
    name_in_run: str
    meter: Any = Field(exclude=True)
    calls: Any = Field(exclude=True)
    limiter: Any = Field(default=None, exclude=True)

    @property
    def _llm_type(self) -> str:
        return "tam-metered"

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"model": self.name_in_run}

    def bind_tools(
        self, tools: Sequence[Any], *, tool_choice: str | None = None, **kwargs: Any
    ) -> Runnable[Any, AIMessage]:
        """Bind tools in the provider's own form."""
        if tool_choice is not None:
            kwargs["tool_choice"] = tool_choice
        bound = self.inner.bind_tools(tools, **kwargs)
        return self.bind(**getattr(bound, "kwargs", {}))

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        calls: CaseCalls = self.calls
        request = {
            "model": self.name_in_run,
            "messages": [_plain(message) for message in messages],
            "stop": stop,
            "options": {name: _json_safe(value) for name, value in sorted(kwargs.items())},
        }
        key = request_key(request)
        repeat = calls.repeats[key]
        calls.repeats[key] += 1
        message = self._journaled(key)
        if message is not None:
            # Paid for by an earlier start of this case, which has no line in the run yet.
            self.meter.add(_usage(message))
        else:
            message = self._cached(key, repeat)
            if message is not None:
                calls.from_cache = calls.from_cache + _usage(message)
        if message is None:
            message = self._call(messages, stop, kwargs)
            stored = message_to_dict(message)
            if calls.journal is not None:
                calls.journal.put(key, stored)
            if calls.cache is not None:
                calls.cache.put(key, repeat, stored)
        calls.usage = calls.usage + _usage(message)
        _raise_on_stop(message)
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _journaled(self, key: str) -> AIMessage | None:
        """The call's answer when a killed start of this case had it already."""
        calls: CaseCalls = self.calls
        return _message(calls.journal.take(key) if calls.journal is not None else None)

    def _cached(self, key: str, repeat: int) -> AIMessage | None:
        calls: CaseCalls = self.calls
        return _message(calls.cache.get(key, repeat) if calls.cache is not None else None)

    def _call(
        self, messages: list[BaseMessage], stop: list[str] | None, kwargs: dict[str, Any]
    ) -> AIMessage:
        meter: Meter = self.meter
        meter.check()
        if self.limiter is not None:
            limiter: InMemoryRateLimiter = self.limiter
            limiter.acquire()
        try:
            message = self.inner.invoke(messages, stop=stop, **kwargs)
        except Exception as error:
            raise _stop_for(error) from error
        if not isinstance(message, AIMessage):
            raise ModelStop("bad_response", f"the model returned a {type(message).__name__}")
        meter.add(_usage(message))
        return message


def _message(stored: Any) -> AIMessage | None:
    """A stored message; one that does not read counts as absent."""
    try:
        found = messages_from_dict([stored])[0] if stored is not None else None
    except (KeyError, TypeError, ValueError):
        return None
    return found if isinstance(found, AIMessage) else None


def _plain(message: BaseMessage) -> dict[str, Any]:
    """What of a message goes to the model: ids and metadata differ from start to start."""
    return {
        "type": message.type,
        "content": message.content,
        "tool_calls": [
            {"name": call["name"], "args": call["args"], "id": call["id"]}
            for call in getattr(message, "tool_calls", [])
        ],
        "tool_call_id": getattr(message, "tool_call_id", None),
    }


def _json_safe(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool | list | dict | None) else str(value)


def _usage(message: AIMessage) -> Usage:
    found = message.usage_metadata
    if not found:
        return Usage(calls=1)
    details = found.get("input_token_details") or {}
    return Usage(
        int(found["input_tokens"]),
        int(found["output_tokens"]),
        int(details.get("cache_read") or 0),
        1,
    )


def _raise_on_stop(message: AIMessage) -> None:
    """A message that the provider cut off or refused is no answer."""
    reason = str(
        message.response_metadata.get("finish_reason")
        or message.response_metadata.get("stop_reason")
        or ""
    )
    if reason in ("content_filter", "content_filtered", "safety"):
        raise ModelStop("content_filter", "the provider's content filter stopped the answer")
    refusal = message.additional_kwargs.get("refusal")
    if refusal or reason == "refusal":
        raise ModelStop("refusal", str(refusal or "the model refused"))
    if reason in ("length", "max_tokens"):
        raise ModelStop("length", "the answer reached the limit of output tokens")


def _stop_for(error: Exception) -> Exception:
    """The status for a provider's exception, by its class's name: providers share these names."""
    from eval.systems.spending import BudgetReached

    if isinstance(error, ModelStop | BudgetReached | RunError):
        return error
    names = {kind.__name__ for kind in type(error).__mro__}
    text = _first_line(error)
    code = getattr(error, "status_code", None)
    # The OpenAI client raises these instead of returning a message when it parses the answer.
    if "LengthFinishReasonError" in names:
        return ModelStop("length", "the answer reached the limit of output tokens")
    if "ContentFilterFinishReasonError" in names or _says_filter(error):
        return ModelStop("content_filter", text)
    if names & {"APITimeoutError", "ReadTimeout", "ConnectTimeout", "TimeoutException"}:
        return ModelStop("timeout", text)
    if isinstance(error, TimeoutError) or "StreamChunkTimeoutError" in names:
        return ModelStop("timeout", text)
    if "RateLimitError" in names or code == 429:
        return ModelStop("rate_limited", text)
    if names & {"AuthenticationError", "PermissionDeniedError", "NotFoundError"} or code in (
        401,
        403,
        404,
    ):
        return RunError(f"the model's endpoint refuses the call ({text}); check --model and key")
    if "APIConnectionError" in names or isinstance(error, ConnectionError):
        return ModelStop("connection", text)
    if names & {"BadRequestError", "UnprocessableEntityError"} or code in (400, 422):
        return ModelStop("bad_request", text)
    if isinstance(code, int) and code >= 500:
        return ModelStop("server_error", text)
    if isinstance(error, ValueError | KeyError | TypeError | IndexError | AttributeError):
        # The client could not read what the server sent.
        return ModelStop("bad_response", f"{type(error).__name__}: {text}")
    return ModelStop("bad_response", f"{type(error).__name__}: {text}")


def _says_filter(error: Exception) -> bool:
    """Whether a refused request names the provider's content filter, in its code or its text."""
    code, body = getattr(error, "code", ""), getattr(error, "body", "")
    text = f"{code} {error} {body}".lower()
    return "content_filter" in text or "content management policy" in text


ModelFactory = Callable[[CaseCalls], BaseChatModel]


def metered(
    inner: BaseChatModel,
    settings: ModelSettings,
    meter: Meter,
    requests_per_minute: float | None = None,
) -> ModelFactory:
    """A function that gives each case its own wrapped model; the rate limit is common to all."""
    limiter = (
        InMemoryRateLimiter(
            requests_per_second=requests_per_minute / 60, check_every_n_seconds=0.02
        )
        if requests_per_minute
        else None
    )

    def for_case(calls: CaseCalls) -> BaseChatModel:
        return MeteredModel(
            inner=inner, name_in_run=settings.name, meter=meter, calls=calls, limiter=limiter
        )

    return for_case
