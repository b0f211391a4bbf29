"""Token counts by the encoder's own tokenizer, without torch."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from tam.models import DEFAULT_ENCODER, model_file

if TYPE_CHECKING:
    from tokenizers import Tokenizer


@lru_cache(maxsize=4)
def load_tokenizer(encoder: str = DEFAULT_ENCODER) -> Tokenizer:
    """The encoder's fast tokenizer, with truncation and padding off.

    Raises ``BadOption`` when the model or its ``tokenizer.json`` is not to be had.
    """
    from tokenizers import Tokenizer

    tokenizer: Tokenizer = Tokenizer.from_file(str(model_file(encoder, "tokenizer.json")))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def count_tokens(texts: Sequence[str], encoder: str = DEFAULT_ENCODER) -> list[int]:
    """Word pieces of each text, without the special tokens that the encoder adds."""
    tokenizer = load_tokenizer(encoder)
    return [
        len(encoding.ids)
        for encoding in tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
    ]


class TokenIndex:
    """Token counts of any span of one text, from a single pass of the tokenizer.

    A token counts for the span in which it starts; at white space that is exact for WordPiece.
    """

    def __init__(self, text: str, encoder: str = DEFAULT_ENCODER) -> None:
        tokenizer = load_tokenizer(encoder)
        self._starts: list[int] = []
        # Line by line: tokenizers differ in how they handle one text of a million characters.
        offset = 0
        lines = text.splitlines(keepends=True)
        for line, encoding in zip(
            lines, tokenizer.encode_batch(lines, add_special_tokens=False), strict=True
        ):
            self._starts.extend(offset + start for start, _ in encoding.offsets)
            offset += len(line)

    def count(self, span: tuple[int, int]) -> int:
        """Number of tokens that start in ``[start, end)``."""
        return bisect.bisect_left(self._starts, span[1]) - bisect.bisect_left(self._starts, span[0])
