"""Sentence-transformers models as encoders, on the CPU."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from indexers.encoders.base import Floats, Offsets, fingerprint_files, refuse_blank, unit
from tam.errors import BadOption
from tam.models import model_folder

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

# Batches are padded to multiples of this many tokens.
_STEP = 16

# bfloat16 loses a little precision: it must be worth it.
_FASTER = 1.2

_WEIGHTS = ("*.safetensors", "pytorch_model*.bin")
_CONFIGURATION = (
    "modules.json",
    "config.json",
    "config_sentence_transformers.json",
    "sentence_bert_config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "[0-9]_*/config.json",
)


class TransformerEncoder:
    """A sentence-transformers model. Opened without torch; the model loads when it encodes.

    Documents are encoded in batches of one fixed shape (``batch_size`` texts, a length padded to
    a multiple of 16), which makes each vector a function of its text alone: sentence-transformers
    pads to the longest text of a batch, and bfloat16 vectors then move by up to 0.002 with the
    texts that happen to be encoded together. Queries always run in float32.
    """

    libraries = ("sentence-transformers", "torch", "transformers", "tokenizers")

    def __init__(self, name: str, dtype: str = "float32", batch_size: int = 32) -> None:
        if dtype not in ("float32", "bfloat16"):
            raise BadOption(f"dtype {dtype!r} is not known; choose float32 or bfloat16")
        self.name = name
        self.dtype = dtype
        self.batch_size = batch_size

    @cached_property
    def folder(self) -> Path:
        """Where the model's files lie; from the hub's cache when the name is one on the hub."""
        return model_folder(self.name) or _from_hub(self.name)

    @cached_property
    def fingerprint(self) -> str:
        folder = self.folder
        weights = next((list(folder.glob(p)) for p in _WEIGHTS if any(folder.glob(p))), [])
        if not weights:
            raise BadOption(f"{self.name}: the model folder has no weights; choose another model")
        inner = [file for pattern in _WEIGHTS for file in folder.glob(f"[0-9]_*/{pattern}")]
        configuration = [file for pattern in _CONFIGURATION for file in folder.glob(pattern)]
        return fingerprint_files(folder, [*weights, *inner, *configuration])

    @cached_property
    def dim(self) -> int:
        return int(self.encode_queries(["dimension"]).shape[1])

    @cached_property
    def window(self) -> int:
        limit = self._json("sentence_bert_config.json").get("max_seq_length")
        if limit is None:
            limit = self._json("tokenizer_config.json").get("model_max_length")
        positions = self._json("config.json").get("max_position_embeddings", 512)
        size = int(min(limit or positions, positions))
        special: int = self._tokenizer.num_special_tokens_to_add(False)
        prompt = len(self._tokenizer.encode(self._prompt("document"), add_special_tokens=False).ids)
        return max(size - special - prompt, 1)

    def offsets(self, texts: Sequence[str]) -> list[Offsets]:
        encodings = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return [encoding.offsets for encoding in encodings]

    def encode_documents(self, texts: Sequence[str]) -> Floats:
        refuse_blank(texts)
        prompt = self._prompt("document")
        return self._encode([prompt + text for text in texts], self.dtype, self.batch_size)

    def encode_queries(self, texts: Sequence[str]) -> Floats:
        refuse_blank(texts)
        prompt = self._prompt("query")
        size = min(self.batch_size, len(texts))
        return self._encode([prompt + text for text in texts], "float32", size)

    def _encode(self, texts: Sequence[str], dtype: str, size: int) -> Floats:
        model = self._model(dtype)
        encodings = self._tokenizer.encode_batch_fast(list(texts))
        limit = model.max_seq_length or max((len(e.ids) for e in encodings), default=0)
        by_width: dict[int, list[int]] = {}
        for number, encoding in enumerate(encodings):
            width = min(-(-len(encoding.ids) // _STEP) * _STEP, limit)
            by_width.setdefault(width, []).append(number)
        vectors: Floats | None = None
        for width, numbers in sorted(by_width.items()):
            for first in range(0, len(numbers), size):
                part = numbers[first : first + size]
                batch = [texts[number] for number in part]
                # The last batch of a width is filled up, so that all have one shape.
                batch += batch[-1:] * (size - len(batch))
                encoded = _forward(model, batch, width)[: len(part)]
                if vectors is None:
                    vectors = np.empty((len(texts), encoded.shape[1]), np.float32)
                vectors[part] = encoded
        return unit(vectors) if vectors is not None else np.empty((0, self.dim), np.float32)

    def _model(self, dtype: str) -> SentenceTransformer:
        loaded = self.__dict__.setdefault("_models", {})
        if dtype not in loaded:
            loaded[dtype] = _load(self.folder, dtype)
        model: SentenceTransformer = loaded[dtype]
        return model

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        path = self.folder / "tokenizer.json"
        if not path.is_file():
            raise BadOption(f"{self.name}: the model has no tokenizer.json; choose another model")
        tokenizer = Tokenizer.from_file(str(path))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer

    def _prompt(self, kind: str) -> str:
        prompts = self._json("config_sentence_transformers.json").get("prompts") or {}
        return str(prompts.get(kind) or "")

    def _json(self, file: str) -> dict[str, Any]:
        path = self.folder / file
        record: dict[str, Any] = json.loads(path.read_bytes()) if path.is_file() else {}
        return record


def faster_dtype(encoder: TransformerEncoder) -> str:
    """``bfloat16`` when this machine encodes clearly faster with it, else ``float32``.

    Takes a few seconds: the best of two batches each, of about 160 tokens a text.
    """
    words = "The offense level is increased by two where the defendant held a position of trust. "
    texts = [f"{number}. {words * 9}" for number in range(encoder.batch_size)]
    seconds = {}
    for dtype in ("float32", "bfloat16"):
        probe = TransformerEncoder(encoder.name, dtype, encoder.batch_size)
        times = []
        for _ in range(3):
            begin = time.perf_counter()
            probe.encode_documents(texts)
            times.append(time.perf_counter() - begin)
        seconds[dtype] = min(times[1:])
    return "bfloat16" if seconds["float32"] > _FASTER * seconds["bfloat16"] else "float32"


def _load(folder: Path, dtype: str) -> SentenceTransformer:
    # Read by the OpenMP runtime when torch loads: threads that wait must not spin.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    import torch
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call,unused-ignore]
    return SentenceTransformer(
        str(folder),
        device="cpu",
        local_files_only=True,
        model_kwargs={"dtype": getattr(torch, dtype)},
    )


def _forward(model: SentenceTransformer, texts: list[str], width: int) -> Floats:
    """(n, dim): one pass over a batch padded to ``width`` tokens."""
    import torch

    features = model.preprocess(texts)
    ids = features.get("input_ids")
    if ids is not None and ids.ndim == 2 and "attention_mask" in features:
        pad = getattr(model.tokenizer, "pad_token_id", 0) or 0
        for name, value in features.items():
            if isinstance(value, torch.Tensor) and value.shape == ids.shape:
                fill = pad if name == "input_ids" else 0
                missing = max(width - value.shape[1], 0)
                features[name] = torch.nn.functional.pad(value, (0, missing), value=fill)
    with torch.inference_mode():
        encoded = model(features)["sentence_embedding"]
    vectors: Floats = encoded.float().numpy()
    return vectors


def _from_hub(name: str) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    hub_name = name if "/" in name else f"sentence-transformers/{name}"
    patterns = [*_WEIGHTS, "*.json", "*.txt", "[0-9]_*/*"]
    try:
        return Path(snapshot_download(hub_name, allow_patterns=patterns))
    except (HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, OSError) as error:
        raise BadOption(
            f"{name}: not a model folder here, and the hub gave no such model "
            f"({type(error).__name__}); check the name or give a local folder"
        ) from error
