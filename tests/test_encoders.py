"""Encoders: fingerprints, windows, and the packaged model against sentence-transformers."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from factories import body

from indexers.encoders.base import HashEncoder, open_encoder, tokenizer_name
from indexers.encoders.transformer import TransformerEncoder
from tam.errors import BadOption, MissingExtra
from tam.models import DEFAULT_ENCODER, model_folder

TEXTS = [body(seed, 2 + 3 * seed) for seed in range(12)]


def test_hash_encoder() -> None:
    encoder = HashEncoder()
    vectors = encoder.encode_documents(TEXTS)
    assert vectors.shape == (12, 256)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    # Pinned, because tests and small indexes elsewhere rely on it.
    assert np.flatnonzero(encoder.encode_queries(["lantern meadow"])).tolist() == [24, 83]
    np.testing.assert_array_equal(encoder.encode_documents(TEXTS[3:4])[0], vectors[3])


@pytest.mark.parametrize("name", ["hash", DEFAULT_ENCODER])
def test_a_blank_text_is_refused(name: str) -> None:
    encoder = open_encoder(name)
    for encode in (encoder.encode_documents, encoder.encode_queries):
        with pytest.raises(BadOption, match="text 1 of 2 to encode is blank"):
            encode(["fine", " \n"])


@pytest.fixture(scope="module")
def model() -> TransformerEncoder:
    return TransformerEncoder(DEFAULT_ENCODER, batch_size=4)


def test_minilm_equals_sentence_transformers(model: TransformerEncoder) -> None:
    from sentence_transformers import SentenceTransformer

    folder = model_folder(DEFAULT_ENCODER)
    theirs = SentenceTransformer(str(folder), device="cpu")
    texts = [*TEXTS, body(99, 260)]
    expected = theirs.encode(texts, batch_size=4, normalize_embeddings=True)
    np.testing.assert_allclose(model.encode_documents(texts), expected, atol=2e-6)
    np.testing.assert_allclose(model.encode_queries(texts), expected, atol=2e-6)
    assert model.dim == expected.shape[1] == 384


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_vector_depends_on_its_text_alone(dtype: str) -> None:
    encoder = TransformerEncoder(DEFAULT_ENCODER, dtype, batch_size=4)
    whole = encoder.encode_documents(TEXTS)
    backwards = encoder.encode_documents(TEXTS[::-1])[::-1]
    np.testing.assert_array_equal(backwards, whole)
    np.testing.assert_array_equal(encoder.encode_documents(TEXTS[4:7]), whole[4:7])


def test_window_and_offsets(model: TransformerEncoder) -> None:
    assert model.window == 254
    [offsets] = model.offsets(["felony §922(g)"])
    assert ["felony §922(g)"[start:end] for start, end in offsets] == [
        "felony", "§", "92", "##2"[2:], "(", "g", ")",
    ]  # fmt: skip


def test_opening_needs_no_torch() -> None:
    code = (
        "import sys; from indexers.encoders.base import open_encoder as o; "
        f"e = o({DEFAULT_ENCODER!r}); e.fingerprint, e.window, e.offsets(['a']); "
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A folder with the small files of the model and stand-in weights."""
    folder = model_folder(DEFAULT_ENCODER)
    assert folder is not None
    shutil.copytree(folder, tmp_path / "model", ignore=shutil.ignore_patterns("*.safetensors"))
    (tmp_path / "model" / "model.safetensors").write_bytes(b"weights")
    return tmp_path / "model"


@pytest.mark.parametrize(
    "file", ["model.safetensors", "tokenizer.json", "1_Pooling/config.json", "config.json"]
)
def test_the_fingerprint_is_of_the_content(copy: Path, file: str) -> None:
    before = TransformerEncoder(str(copy)).fingerprint
    renamed = copy.rename(copy.with_name("renamed"))
    (renamed / "README.md").write_text("another text")
    assert TransformerEncoder(str(renamed)).fingerprint == before
    path = renamed / file
    path.write_bytes(path.read_bytes() + b" ")
    assert TransformerEncoder(str(renamed)).fingerprint != before


def test_prompts_take_room_and_count(copy: Path) -> None:
    plain = TransformerEncoder(str(copy))
    window, fingerprint = plain.window, plain.fingerprint
    config = copy / "config_sentence_transformers.json"
    prompts = {"prompts": {"document": "passage to find:", "query": "query:"}}
    config.write_text(json.dumps(prompts))
    prompted = TransformerEncoder(str(copy))
    assert prompted.window == window - 4
    assert prompted.fingerprint != fingerprint


def test_models_that_are_not_to_be_had(copy: Path, tmp_path: Path) -> None:
    (copy / "model.safetensors").unlink()
    with pytest.raises(BadOption, match="no weights"):
        _ = TransformerEncoder(str(copy)).fingerprint
    with pytest.raises(BadOption, match="no such model folder"):
        _ = TransformerEncoder(str(tmp_path / "nothing")).fingerprint
    (copy / "tokenizer.json").unlink()
    with pytest.raises(BadOption, match=r"no tokenizer\.json"):
        TransformerEncoder(str(copy)).offsets(["x"])
    with pytest.raises(BadOption, match="float32 or bfloat16"):
        TransformerEncoder(str(copy), "float64")


def test_a_missing_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"\[static\]"):
        open_encoder("wordllama")


def test_wordllama() -> None:
    pytest.importorskip("wordllama", reason="extra static is not installed")
    encoder = open_encoder("wordllama")
    vectors = encoder.encode_documents(TEXTS)
    assert vectors.shape == (12, encoder.dim)
    np.testing.assert_array_equal(encoder.encode_documents(TEXTS[5:7]), vectors[5:7])
    near, far = (
        encoder.encode_queries(["a firearm", "the moon"]) @ (encoder.encode_queries(["a gun"])[0])
    )
    assert near > far


@pytest.mark.parametrize("name", ["hash", "wordllama", None])
def test_tokens_are_counted_by_the_default(name: str | None) -> None:
    assert tokenizer_name(name) == DEFAULT_ENCODER
    assert tokenizer_name("other/model") == "other/model"
