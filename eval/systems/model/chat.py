"""Opening the chat model of a run: any LangChain provider, OpenAI-compatible endpoints by URL."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from eval.systems.model.failures import first_line
from eval.systems.model.privacy import is_local
from tam.errors import MissingExtra, RunError

if TYPE_CHECKING:
    from langchain_core.language_models.chat_models import BaseChatModel


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


def speaks_openai(name: str) -> bool:
    """Whether a model is reached through the chat-completions protocol, which knows schemas."""
    return name.partition(":")[0] in ("openai", "azure_openai")


def open_model(settings: ModelSettings) -> BaseChatModel:
    """The provider's chat model. Raises ``RunError`` for a provider that is not there or a missing
    key, ``MissingExtra`` without LangChain."""
    try:
        from langchain.chat_models import init_chat_model
        from langchain_core.language_models.chat_models import BaseChatModel
    except ImportError as error:
        raise MissingExtra("langchain", "llm", "an end-to-end run with a model") from error
    provider, _, name = settings.name.partition(":")
    try:
        if provider == "openai" and name:
            from eval.systems.model.openai_chat import StreamedRefusals

            return StreamedRefusals(model=name, **_options(settings))
        model = init_chat_model(settings.name, **_options(settings))
    except ImportError as error:
        raise RunError(
            f"--model {settings.name}: LangChain's package for this provider is not installed "
            f"({error}); install it or use openai:MODEL with --base-url"
        ) from error
    except Exception as error:
        raise RunError(
            f"--model {settings.name}: cannot be opened ({first_line(error)}); write "
            f"provider:model, such as openai:gpt-5, and set the provider's key"
        ) from error
    if not isinstance(model, BaseChatModel):
        raise RunError(f"--model {settings.name}: not a chat model; write provider:model")
    return model


def _options(settings: ModelSettings) -> dict[str, Any]:
    """The keyword options of the provider's class. Retries are ours: see ``metering``."""
    options: dict[str, Any] = {"max_retries": 0, "timeout": settings.timeout}
    if settings.base_url:
        options["base_url"] = settings.base_url
    if settings.temperature is not None:
        options["temperature"] = settings.temperature
    if settings.max_output_tokens is not None:
        options["max_tokens"] = settings.max_output_tokens
    if speaks_openai(settings.name):
        options |= _openai_options(settings)
    return options


def _openai_options(settings: ModelSettings) -> dict[str, Any]:
    try:
        from openai import DefaultHttpxClient
    except ImportError as error:
        raise MissingExtra("openai", "llm", "an OpenAI-compatible endpoint") from error
    local = is_local(settings.base_url)
    options: dict[str, Any] = {
        # The chat-completions protocol is what vLLM, Ollama and llama.cpp speak.
        "use_responses_api": False,
        "stream_usage": True,
        "streaming": settings.streaming,
        # A proxy of the environment must not see what is meant for this machine or network, and
        # a redirect must not carry a case's text on to another address.
        "http_client": DefaultHttpxClient(trust_env=not local, follow_redirects=False),
        "openai_proxy": "",
    }
    if settings.seed is not None:
        options["seed"] = settings.seed
    if settings.base_url and not os.environ.get("OPENAI_API_KEY"):
        # Local servers want none, but the client insists on one.
        options["api_key"] = "none"
    return options
