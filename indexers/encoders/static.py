"""WordLlama's static token vectors as an encoder: no network of layers, hundreds of texts a second.

The weights come inside the package (l2_supercat, 256 dimensions, MIT).
"""

from __future__ import annotations

import importlib.util
import logging
import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from indexers.encoders.base import Floats, Offsets, fingerprint_files, refuse_blank, unit
from tam.errors import MissingExtra


class WordLlamaEncoder:
    """The mean of a text's token vectors. Reads texts of any length."""

    name = "wordllama"
    dim = 256
    window: int | None = None
    dtype = "float32"
    batch_size = 1
    libraries = ("wordllama", "tokenizers")

    def __init__(self) -> None:
        spec = importlib.util.find_spec("wordllama")
        if spec is None or not spec.submodule_search_locations:
            raise MissingExtra("wordllama", "static", "the encoder wordllama")
        self._folder = Path(next(iter(spec.submodule_search_locations)))

    @cached_property
    def fingerprint(self) -> str:
        weights = self._folder.glob("weights/l2_supercat_256.safetensors")
        tokenizer = self._folder.glob("tokenizers/l2_supercat*.json")
        return fingerprint_files(self._folder, [*weights, *tokenizer])

    def offsets(self, texts: Sequence[str]) -> list[Offsets]:
        """Runs of characters that are not white space; texts are not cut by them."""
        return [[found.span() for found in re.finditer(r"\S+", text)] for text in texts]

    def encode_documents(self, texts: Sequence[str]) -> Floats:
        refuse_blank(texts)
        # One by one: in a batch the padding changes the last bits of a mean.
        vectors = [self._model.embed([text], norm=True)[0] for text in texts]
        return unit(np.stack(vectors)) if vectors else np.empty((0, self.dim), np.float32)

    encode_queries = encode_documents

    @cached_property
    def _model(self) -> Any:
        # Its import sets the root logger to print every library's debug lines.
        root = logging.getLogger()
        level, handlers = root.level, list(root.handlers)
        from wordllama import WordLlama

        root.setLevel(level)
        root.handlers = handlers
        return WordLlama.load(cache_dir=self._folder, disable_download=True)
