"""The one place that every call of every system passes, of an agent's sub-agents too: budget, rate
limit and retries, journal and cache, token counts, and the names of what goes wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, message_to_dict, messages_from_dict
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from pydantic import ConfigDict, Field
from tenacity import RetryCallState, Retrying, retry_if_exception, stop_after_attempt

from eval.systems.model.budget import BudgetMeter, BudgetReached, Usage
from eval.systems.model.calls import Cache, Journal, request_key
from eval.systems.model.chat import ModelSettings
from eval.systems.model.failures import CallFailed, failure_of, is_rate_limit, raise_on_failure
from eval.systems.model.rate_limit import RateLimiter, may_pass, seconds_to_wait
from tam.errors import TamError


@dataclass
class CaseCalls:
    """What is kept about the calls of the case at hand.

    ``usage`` counts every call, those too that the journal or the cache answered for nothing;
    what was paid for stands in the journal. ``retries`` are tries that failed and were repeated.
    ``listener`` is told every message, those too that are no answer.
    """

    journal: Journal
    cache: Cache | None = None
    usage: Usage = field(default_factory=Usage)
    retries: int = 0
    listener: Callable[[AIMessage], None] | None = None
    repeats: Counter[str] = field(default_factory=Counter)


class MeteredModel(BaseChatModel):
    """A chat model that counts, journals and names what goes wrong. One a case."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    inner: BaseChatModel
    settings: ModelSettings
    budget: Any = Field(exclude=True)
    limiter: Any = Field(exclude=True)
    calls: Any = Field(exclude=True)
    private: bool = False

    @property
    def _llm_type(self) -> str:
        return "tam-metered"

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"model": self.settings.name}

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
        key = request_key(
            {
                "model": self.settings.name,
                "settings": [
                    self.settings.temperature,
                    self.settings.seed,
                    self.settings.max_output_tokens,
                ],
                "messages": [_plain(message) for message in messages],
                "stop": stop,
                "options": {name: _json_safe(value) for name, value in sorted(kwargs.items())},
            }
        )
        repeat = calls.repeats[key]
        calls.repeats[key] += 1
        message = _message(calls.journal.take(key)) or self._cached(key, repeat)
        if message is None:
            message = self._call(messages, stop, kwargs)
            stored = message_to_dict(message)
            calls.journal.put(key, stored, usage_of(message))
            if calls.cache is not None:
                calls.cache.put(self._cache_key(key), repeat, stored)
        calls.usage = calls.usage + usage_of(message)
        if calls.listener is not None:
            calls.listener(message)
        raise_on_failure(message)
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _cached(self, key: str, repeat: int) -> AIMessage | None:
        cache: Cache | None = self.calls.cache
        return _message(cache.get(self._cache_key(key), repeat)) if cache is not None else None

    def _cache_key(self, key: str) -> str:
        """Servers of several models answer to one name: the address belongs to the content."""
        return request_key({"request": key, "endpoint": self.settings.base_url})

    def _call(
        self, messages: list[BaseMessage], stop: list[str] | None, kwargs: dict[str, Any]
    ) -> AIMessage:
        """One call with its retries. Only an answer counts and costs."""
        budget: BudgetMeter = self.budget
        limiter: RateLimiter = self.limiter

        def once() -> BaseMessage:
            limiter.wait()
            budget.check()
            return self.inner.invoke(messages, stop=stop, **kwargs)

        def failed(tried: RetryCallState) -> None:
            self.calls.retries += 1
            if tried.outcome is not None and is_rate_limit(tried.outcome.exception()):
                # The server asked for it: every case of the run waits.
                limiter.hold(tried.upcoming_sleep)

        retrying = Retrying(
            stop=stop_after_attempt(self.settings.retries + 1),
            retry=retry_if_exception(may_pass),
            wait=seconds_to_wait,
            before_sleep=failed,
            sleep=limiter.sleep,
            reraise=True,
        )
        try:
            message = retrying(once)
        except (BudgetReached, TamError):
            raise
        except Exception as error:
            raise failure_of(error, self.private) from error
        if not isinstance(message, AIMessage):
            raise CallFailed("bad_response", f"the model returned a {type(message).__name__}")
        message = _without_surrogates(message)
        budget.add(usage_of(message))
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


def _without_surrogates(message: AIMessage) -> AIMessage:
    """Half characters, which JSON can carry and files of UTF-8 cannot, as question marks."""

    def clean(value: Any) -> Any:
        if isinstance(value, str):
            return value.encode("utf-8", "replace").decode("utf-8")
        if isinstance(value, list):
            return [clean(item) for item in value]
        if isinstance(value, dict):
            return {clean(name): clean(item) for name, item in value.items()}
        return value

    calls = [{**call, "args": clean(call["args"])} for call in message.tool_calls]
    return message.model_copy(update={"content": clean(message.content), "tool_calls": calls})


def usage_of(message: AIMessage) -> Usage:
    """Tokens of one call as the provider counts them."""
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


ModelFactory = Callable[[CaseCalls], BaseChatModel]


def metered(
    inner: BaseChatModel,
    settings: ModelSettings,
    budget: BudgetMeter,
    limiter: RateLimiter,
    private: bool = False,
) -> ModelFactory:
    """A function that gives each case its own wrapped model; budget and limiter are common."""

    def for_case(calls: CaseCalls) -> BaseChatModel:
        return MeteredModel(
            inner=inner,
            settings=settings,
            budget=budget,
            limiter=limiter,
            calls=calls,
            private=private,
        )

    return for_case
