"""Encoders: texts to unit vectors.

| name | what |
|---|---|
| `hash` | feature hashing of BM25 terms: no model, for tests |
| `wordllama` | a static table of token vectors (extra `static`) |
| anything else | a sentence-transformers model: packaged, a folder, or a name on the hub |

Opening one is cheap: the model itself, and torch, load when it first encodes.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from indexers.legs.tokenise import Tokeniser
from tam.errors import BadOption

Floats = npt.NDArray[np.float32]
#: character offsets ``[start, end)`` of each token of a text
Offsets = list[tuple[int, int]]


class Encoder(Protocol):
    """What an index needs of an encoder.

    ``fingerprint`` is a sha256 over all that decides the vectors but dtype and batch size.
    ``window`` is how many tokens of a text it reads, special tokens and prompt taken off;
    ``None`` is any number. Results do not depend on which texts are encoded together.
    """

    @property
    def name(self) -> str: ...
    @property
    def fingerprint(self) -> str: ...
    @property
    def dim(self) -> int: ...
    @property
    def window(self) -> int | None: ...
    @property
    def dtype(self) -> str: ...
    @property
    def batch_size(self) -> int: ...
    @property
    def libraries(self) -> tuple[str, ...]:
        """Distributions whose version decides the vectors, if only by their last bits."""
        ...

    def offsets(self, texts: Sequence[str]) -> list[Offsets]:
        """Where each token of each text stands, without special tokens and without torch."""
        ...

    def encode_documents(self, texts: Sequence[str]) -> Floats:
        """(n, dim), L2-normalised. Raises ``BadOption`` for a blank text."""
        ...

    def encode_queries(self, texts: Sequence[str]) -> Floats:
        """(n, dim), L2-normalised, in float32 arithmetic. Raises ``BadOption`` for a blank text."""
        ...


def open_encoder(name: str, dtype: str = "float32", batch_size: int = 32) -> Encoder:
    """The encoder of a name, without loading its model.

    ``dtype`` (``float32`` or ``bfloat16``) is that of the arithmetic on documents. Raises
    ``BadOption`` for a model that is not to be had and ``MissingExtra`` for a missing package.
    """
    if name == "hash":
        return HashEncoder()
    if name == "wordllama":
        from indexers.encoders.static import WordLlamaEncoder

        return WordLlamaEncoder()
    from indexers.encoders.transformer import TransformerEncoder

    return TransformerEncoder(name, dtype, batch_size)


def tokenizer_name(encoder: str | None) -> str:
    """The model whose tokenizer counts the tokens of chunks under this encoder."""
    from tam.models import DEFAULT_ENCODER

    return DEFAULT_ENCODER if encoder in (None, "hash", "wordllama") else str(encoder)


def refuse_blank(texts: Sequence[str]) -> None:
    """A blank text has no meaning to encode, and some models fail on it."""
    for number, text in enumerate(texts):
        if not text.strip():
            raise BadOption(f"text {number} of {len(texts)} to encode is blank; leave it out")


def unit(vectors: npt.NDArray[Any]) -> Floats:
    """Rows scaled to length 1; a zero row stays zero."""
    single: Floats = np.asarray(vectors, np.float32)
    lengths = np.linalg.norm(single, axis=1, keepdims=True)
    return np.asarray(single / np.where(lengths > 0, lengths, 1), np.float32)


def fingerprint_files(folder: Path, files: Sequence[Path]) -> str:
    """sha256 over the names and bytes of a model's files, in the order of their names."""
    from tam.files import sha256_file

    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(f"{file.relative_to(folder).as_posix()}\0{sha256_file(file)}\n".encode())
    return digest.hexdigest()


class HashEncoder:
    """Signed feature hashing of terms (Weinberger et al., ICML 2009), square roots of counts.

    Deterministic everywhere; similar words are not similar to it.
    """

    name = "hash"
    fingerprint = hashlib.sha256(b"tam hash encoder 1").hexdigest()
    dim = 256
    window: int | None = 256
    dtype = "float32"
    batch_size = 1
    libraries = ("PyStemmer",)

    def __init__(self) -> None:
        self._tokeniser = Tokeniser()

    def offsets(self, texts: Sequence[str]) -> list[Offsets]:
        """Runs of characters that are not white space."""
        return [[found.span() for found in re.finditer(r"\S+", text)] for text in texts]

    def encode_documents(self, texts: Sequence[str]) -> Floats:
        refuse_blank(texts)
        vectors = np.zeros((len(texts), self.dim), np.float64)
        for vector, text in zip(vectors, texts, strict=True):
            for term, count in self._tokeniser.counts(text).items():
                place, sign = _place(term, self.dim)
                vector[place] += sign * count**0.5
        return unit(vectors)

    encode_queries = encode_documents


@lru_cache(maxsize=1 << 16)
def _place(term: str, dim: int) -> tuple[int, float]:
    """Where a term's count goes, and its sign."""
    digest = hashlib.blake2b(term.encode(), digest_size=4).digest()
    number = int.from_bytes(digest, "little")
    return number % dim, 1.0 if number >> 31 else -1.0
