"""LangChain's OpenAI client, with the one thing that its streams leave out: refusals."""

from __future__ import annotations

from typing import Any

from langchain_openai import ChatOpenAI


class StreamedRefusals(ChatOpenAI):
    """Keeps ``delta.refusal`` of a streamed answer, as whole answers keep ``message.refusal``.

    It builds on a method of LangChain that is not public: should that go, a streamed refusal is an
    answer that does not parse again, and a test says so.
    """

    def _convert_chunk_to_generation_chunk(
        self, chunk: dict[str, Any], *arguments: Any, **options: Any
    ) -> Any:
        made = super()._convert_chunk_to_generation_chunk(chunk, *arguments, **options)
        for choice in chunk.get("choices") or ():
            refusal = (choice.get("delta") or {}).get("refusal")
            if refusal and made is not None:
                made.message.additional_kwargs["refusal"] = refusal
        return made
