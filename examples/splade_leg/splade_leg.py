"""Learned sparse retrieval: SPLADE's weights over a masked language model.

A text's weight of vocabulary entry j is ``max over its tokens i of log(1 + relu(logit(i, j)))``
(Formal et al., "SPLADE v2", 2021); query and chunk score by the inner product. A chunk longer than
the model's window is read in windows, and the maximum goes over all of them.

    tam build --leg splade=FOLDER        (a masked language model with its tokenizer)
    tam search "..." --retriever bm25+splade
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from indexers.encoders.base import Encoder, Floats, fingerprint_files
from indexers.folder.damage import load_array
from indexers.legs.model import Allowed, BuildContext, Leg, OpenedIndex, Queries
from indexers.legs.ranking import RankedRows, Rows, top_rows
from tam.errors import BadIndex, BadOption
from tam.progress import progress
from tam.settings import BuildSettings

#: windows that go through the model together, and entries kept of a chunk, the strongest
BATCH, KEPT = 16, 400


class Splade:
    """A masked language model in a folder; torch loads when it first reads a text."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        if not (folder / "config.json").is_file():
            raise BadOption(f"splade: {folder} holds no model; build with  --leg splade=FOLDER")

    @cached_property
    def fingerprint(self) -> str:
        files = [file for file in self.folder.iterdir() if file.suffix in (".json", ".safetensors")]
        return fingerprint_files(self.folder, [*files, *self.folder.glob("vocab.txt")])

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        from transformers import AutoModelForMaskedLM, AutoTokenizer

        tokenizer = AutoTokenizer.from_pretrained(self.folder, local_files_only=True)
        model = AutoModelForMaskedLM.from_pretrained(self.folder, local_files_only=True)
        return tokenizer, model.eval()

    @property
    def entries(self) -> int:
        return int(self._loaded[1].config.vocab_size)

    def weights(self, texts: Sequence[str]) -> Iterator[Floats]:
        """(entries,) of each text."""
        import torch

        tokenizer, model = self._loaded
        size = min(model.config.max_position_embeddings, 512)
        for text in texts:
            windows = tokenizer(
                text,
                truncation=True,
                max_length=size,
                stride=size // 8,
                return_overflowing_tokens=True,
                padding=True,
                return_tensors="pt",
            )
            best = np.zeros(self.entries, np.float32)
            for first in range(0, len(windows["input_ids"]), BATCH):
                part = {
                    name: windows[name][first : first + BATCH]
                    for name in ("input_ids", "attention_mask")
                }
                with torch.inference_mode():
                    logits = model(**part).logits
                read = part["attention_mask"].unsqueeze(-1)
                found = (torch.log1p(torch.relu(logits)) * read).amax(dim=(0, 1))
                best = np.maximum(best, found.numpy())
            yield best


class SpladeRanker:
    def __init__(self, model: Splade, folder: Path, places: Rows) -> None:
        self._model, self._places = model, places
        self._starts, self._entries, self._weights = (
            load_array(folder / name, mapped=True) for name in SpladeLeg.files
        )

    def rank(self, queries: Queries, allowed: Allowed, depth: int) -> Iterator[RankedRows]:
        from scipy.sparse import csr_array

        for weights in self._model.weights(queries.texts):
            scores = []
            for rows in allowed.slices:
                starts = self._starts[rows.start : rows.stop + 1]
                low, high = int(starts[0]), int(starts[-1])
                entries, values = self._entries[low:high], self._weights[low:high]
                shape = (rows.stop - rows.start, len(weights))
                scores.append(csr_array((values, entries, starts - low), shape=shape) @ weights)
            kept = allowed.keep(np.concatenate(scores).astype(np.float32))
            matching = np.flatnonzero(kept)
            yield top_rows(allowed.rows[matching], kept[matching], self._places, depth)


class SpladeLeg(Leg):
    name = "splade"
    title = "learned sparse weights (SPLADE)"
    order = 25
    files = ("starts.npy", "entries.npy", "weights.npy")
    libraries = ("numpy", "torch", "transformers", "tokenizers")

    def model(self, settings: BuildSettings) -> Splade:
        return Splade(Path(self.option(settings) or "."))

    def fingerprint(self, settings: BuildSettings, encoder: Encoder | None) -> dict[str, Any]:
        record = super().fingerprint(settings, encoder)
        return {**record, "option": None, "model": self.model(settings).fingerprint}

    def build(self, context: BuildContext, folder: Path) -> Mapping[str, Any]:
        model = self.model(context.settings)
        texts = list(dict.fromkeys(chunk.text for chunk in context.chunks))
        sparse: dict[str, tuple[np.ndarray, np.ndarray]] = {}  # type: ignore[type-arg]
        found = progress(model.weights(texts), "splade", len(texts), "texts")
        for text, weights in zip(texts, found, strict=True):
            entries = np.sort(np.argsort(-weights, kind="stable")[:KEPT])
            entries = entries[weights[entries] > 0].astype(np.int32)
            sparse[text] = entries, weights[entries]
        rows = [sparse[chunk.text] for chunk in context.chunks]
        np.save(folder / "starts.npy", np.cumsum([0, *(len(entries) for entries, _ in rows)]))
        np.save(folder / "entries.npy", np.concatenate([entries for entries, _ in rows]))
        np.save(folder / "weights.npy", np.concatenate([values for _, values in rows]))
        return {"rows": len(rows), "model": model.fingerprint}

    def open(self, index: OpenedIndex, folder: Path) -> SpladeRanker:
        model = self.model(index.manifest.settings)
        if model.fingerprint != index.manifest.parts[self.name].counts["model"]:
            raise BadIndex(f"{folder}: {model.folder} is another model; bring back the one it had")
        return SpladeRanker(model, folder, index.chunks.id_ranks)


LEG = SpladeLeg()
