"""The cache of vectors: once for each text, whole after a kill, shared by processes."""

from __future__ import annotations

import multiprocessing
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from factories import body

from indexers.encoders.base import Floats, HashEncoder
from indexers.encoders.vectors import VectorCache
from tam.errors import BadOption

TEXTS = [body(seed) for seed in range(40)]


class Counting(HashEncoder):
    """Remembers what it was asked for; fails at a given text."""

    def __init__(self, fails_at: str = "") -> None:
        super().__init__()
        self.seen: list[str] = []
        self.fails_at = fails_at

    def encode_documents(self, texts: Sequence[str]) -> Floats:
        if self.fails_at in texts:
            raise KeyboardInterrupt
        self.seen.extend(texts)
        return super().encode_documents(texts)


def fill(cache: VectorCache, texts: Sequence[str], flush: int = 10) -> int:
    return sum(1 for _ in cache.fill(texts, flush))


def test_each_text_is_encoded_once(tmp_path: Path) -> None:
    encoder = Counting()
    cache = VectorCache(tmp_path, encoder)
    assert fill(cache, [*TEXTS, *TEXTS[:5]]) == 40
    assert fill(cache, TEXTS) == 0
    assert sorted(encoder.seen) == sorted(TEXTS)
    rows = [TEXTS[3], TEXTS[0], TEXTS[3]]
    np.testing.assert_array_equal(cache.vectors(rows), HashEncoder().encode_documents(rows))


def test_another_process_finds_them(tmp_path: Path) -> None:
    fill(VectorCache(tmp_path, HashEncoder()), TEXTS)
    encoder = Counting()
    again = VectorCache(tmp_path, encoder)
    assert fill(again, [*TEXTS, "a new text"]) == 1
    assert encoder.seen == ["a new text"]
    np.testing.assert_array_equal(again.vectors(TEXTS), HashEncoder().encode_documents(TEXTS))


def test_an_interrupted_fill_goes_on(tmp_path: Path) -> None:
    order = VectorCache(tmp_path, HashEncoder()).missing(TEXTS)
    with pytest.raises(KeyboardInterrupt):
        fill(VectorCache(tmp_path, Counting(fails_at=order[25])), TEXTS)
    encoder = Counting()
    cache = VectorCache(tmp_path, encoder)
    fill(cache, TEXTS)
    assert encoder.seen == order[20:]
    np.testing.assert_array_equal(cache.vectors(TEXTS), HashEncoder().encode_documents(TEXTS))


def test_a_half_written_segment_is_made_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cache = VectorCache(tmp_path, HashEncoder())
    fill(cache, TEXTS)
    for number, segment in enumerate(sorted(cache.folder.glob("*.npy"))[:2]):
        segment.write_bytes(segment.read_bytes()[: 2000 if number else 5])
    # What a killed write leaves is never taken for a segment.
    (cache.folder / ".x.npy.abc.part").write_bytes(b"half")
    again = VectorCache(tmp_path, HashEncoder())
    assert fill(again, TEXTS) == 20
    assert "damaged" in capsys.readouterr().err
    np.testing.assert_array_equal(again.vectors(TEXTS), HashEncoder().encode_documents(TEXTS))


def test_another_model_dtype_or_batch_has_its_own(tmp_path: Path) -> None:
    class Other(HashEncoder):
        fingerprint = "other"

    class Half(HashEncoder):
        dtype = "bfloat16"

    class Batch(HashEncoder):
        batch_size = 7

    fill(VectorCache(tmp_path, HashEncoder()), TEXTS)
    for encoder in (Other(), Half(), Batch()):
        assert len(VectorCache(tmp_path, encoder).missing(TEXTS)) == 40


def test_many_segments_are_joined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("indexers.encoders.vectors._SEGMENTS", 3)
    fill(VectorCache(tmp_path, HashEncoder()), TEXTS, flush=5)
    cache = VectorCache(tmp_path, HashEncoder())
    fill(cache, ["one more"])
    assert len(list(cache.folder.glob("*.npy"))) == 2
    np.testing.assert_array_equal(cache.vectors(TEXTS), HashEncoder().encode_documents(TEXTS))
    again = VectorCache(tmp_path, HashEncoder())
    assert again.missing([*TEXTS, "one more"]) == []


def test_a_blank_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadOption, match="blank"):
        fill(VectorCache(tmp_path, HashEncoder()), ["fine", "  "])


def _fill_in_process(folder: Path) -> int:
    return fill(VectorCache(folder, HashEncoder()), TEXTS * 3, flush=3)


def test_two_processes(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        encoded = pool.map(_fill_in_process, [tmp_path, tmp_path])
    assert sum(encoded) == 40
    cache = VectorCache(tmp_path, HashEncoder())
    assert cache.missing(TEXTS) == []
    np.testing.assert_array_equal(cache.vectors(TEXTS), HashEncoder().encode_documents(TEXTS))
