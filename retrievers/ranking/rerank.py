"""Cross-encoders that read query and chunk together, through sentence-transformers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from tam.errors import BadOption
from tam.models import model_folder


class Reranker:
    """A cross-encoder by model name or folder.

    ``window`` bounds query and text together, in tokens; what is longer is cut by the model's own
    tokenizer, the longer of the two first.
    """

    def __init__(self, name: str, *, window: int | None = None, batch_size: int = 32) -> None:
        self.name = name
        self.batch_size = batch_size
        folder = model_folder(name)
        from sentence_transformers import CrossEncoder

        try:
            self._model: Any = CrossEncoder(
                str(folder) if folder else name, max_length=window, num_labels=1, device="cpu"
            )
        except (OSError, ValueError) as error:
            raise BadOption(
                f"reranker {name}: no cross-encoder there ({type(error).__name__}); "
                f"give a model name on the hub or a local folder"
            ) from error

    def scores(self, pairs: Sequence[tuple[str, str]]) -> npt.NDArray[np.float32]:
        """The model's raw score of each (query, text) pair, in one batched pass."""
        if not pairs:
            return np.empty(0, np.float32)
        import torch

        scores = self._model.predict(
            list(pairs),
            batch_size=self.batch_size,
            activation_fn=torch.nn.Identity(),
            show_progress_bar=False,
            convert_to_numpy=True,
        )
        return np.asarray(scores, np.float32).reshape(len(pairs))


@lru_cache(maxsize=2)
def load_reranker(name: str) -> Reranker:
    """The reranker of that name, loaded once a process."""
    return Reranker(name)
