"""Legs of a stranger's packages: found by their entry points, built, opened and ranked."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from searchable import legal_chunks, make_index

from indexers.building.build import build
from indexers.folder.verify import verify
from indexers.legs.model import LEGS, Leg
from manuals.library.editions import Library, open_manuals
from retrievers.search.index import Index, open_index
from retrievers.search.settings import SearchSettings
from tam.errors import BadIndex, BadOption
from tam.settings import BuildSettings

EXAMPLES = Path(__file__).parents[1] / "examples"
QUERY = "felon with a gun whose serial number was ground off"
TEXTS = [
    "possession of a firearm by a felon",
    "acceptance of responsibility",
    "a serial number ground off the gun " * 30,
]


@pytest.fixture(scope="module", autouse=True)
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Both examples as installed distributions in a folder of their own on the path."""
    site = tmp_path_factory.mktemp("site")
    for example, name in (("splade_leg", "splade"), ("rm3_leg", "bm25_rm3")):
        code = (EXAMPLES / example / f"{example}.py").read_bytes()
        (site / f"{example}.py").write_bytes(code)
        info = site / f"{example}-0.1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {example}\nVersion: 0.1.0\n")
        (info / "entry_points.txt").write_text(f"[tam.legs]\n{name} = {example}:LEG\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(site))
        LEGS.unregister("")
        yield
    LEGS.unregister("")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny masked language model with random weights."""
    torch = pytest.importorskip("torch")
    from transformers import BertConfig, BertForMaskedLM, BertTokenizerFast

    folder = tmp_path_factory.mktemp("masked")
    words = sorted({word for text in [QUERY, *TEXTS] for word in text.split()})
    letters = [*"abcdefghijklmnopqrstuvwxyz0123456789§.,;()", "##a", "##e"]
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words, *letters]
    file = folder / "vocab.txt"
    file.write_text("\n".join(dict.fromkeys(vocabulary)) + "\n", encoding="utf-8")
    tokenizer = BertTokenizerFast(vocab=str(file))
    torch.manual_seed(7)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
        initializer_range=0.5,
    )
    BertForMaskedLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def library(sample_manuals: Path) -> Library:
    return open_manuals(sample_manuals)


@pytest.fixture(scope="module")
def index(library: Library, model: Path, tmp_path_factory: pytest.TempPathFactory) -> Index:
    """The sample's law with the learned sparse leg."""
    settings = BuildSettings(encoder=None, legs=(f"splade={model}",))
    [result] = build(library, tmp_path_factory.mktemp("built"), settings, ("legal",))
    assert verify(result.path) == []
    return open_index(result.path)


def test_both_are_legs_like_any_other() -> None:
    assert {"splade", "bm25_rm3"} <= set(LEGS)
    assert SearchSettings(retriever="splade+bm25").legs == ("bm25", "splade")
    assert SearchSettings(retriever=["bm25_rm3", "grams"]).legs == (
        "bm25_rm3",
        "bm25_lines_ngrams",
    )


def test_splade_ranks_by_its_formula(index: Index, model: Path) -> None:
    """Against a plain computation, chunk by chunk."""
    import torch
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model)
    masked = AutoModelForMaskedLM.from_pretrained(model).eval()

    def weights(text: str) -> np.ndarray[Any, np.dtype[np.float32]]:
        ids = tokenizer(text, add_special_tokens=False)["input_ids"]
        best = np.zeros(masked.config.vocab_size, np.float32)
        at = 0
        while True:
            window = [tokenizer.cls_token_id, *ids[at : at + 62], tokenizer.sep_token_id]
            with torch.inference_mode():
                logits = masked(torch.tensor([window])).logits[0]
            best = np.maximum(best, torch.log1p(torch.relu(logits)).amax(dim=0).numpy())
            if at + 62 >= len(ids):
                return best
            at += 62 - 8

    year = index.years[-1]
    hits = index.search(QUERY, k=5, retriever="splade", year=year, references=False)
    query = weights(QUERY)
    chunks = index.stored.chunks
    expected = {
        chunks.ids[row]: float(weights(chunks.chunk(row).text) @ query)
        for row in range(len(chunks))
        if chunks.edition(row).year == year
    }
    best = sorted(expected, key=lambda name: (-expected[name], name))[:5]
    assert [hit.chunk_id for hit in hits] == best
    for hit in hits:
        assert hit.score == pytest.approx(expected[hit.chunk_id], rel=1e-4)
    fused = index.search(QUERY, k=5, retriever="bm25+splade", year=year)
    assert {"bm25", "splade"} == set().union(*(hit.legs for hit in fused))


def test_what_a_leg_was_not_built_with(library: Library, model: Path, tmp_path: Path) -> None:
    plain = make_index(tmp_path / "legal", legal_chunks())
    with pytest.raises(BadIndex, match=r"built without the leg splade.*--leg splade"):
        plain.search(QUERY, retriever="splade")
    with pytest.raises(BadOption, match=r"holds no model.*--leg splade=FOLDER"):
        build(library, tmp_path, BuildSettings(encoder=None, legs=(f"splade={tmp_path}",)))
    with pytest.raises(BadOption, match="bm25_rm3 is not built by itself"):
        build(library, tmp_path, BuildSettings(legs=("bm25_rm3",)))
    with pytest.raises(BadOption, match=r"leg 'spade' is not known; choose one of bm25"):
        build(library, tmp_path, BuildSettings(legs=("spade",)))


def test_rm3_is_the_published_formula(tmp_path: Path) -> None:
    """Against BM25 by hand (Lucene's) over terms as dictionaries."""
    import rm3_leg

    index = make_index(tmp_path / "legal", legal_chunks(), dense=False)
    leg = rm3_leg.Rm3Leg("rm3_small", fb_docs=3, fb_terms=5, original=0.6)
    LEGS.register(leg)
    try:
        hits = index.search("bank firearm", k=20, retriever="rm3_small", collapse="off")
    finally:
        LEGS.unregister("rm3_small")

    documents = [Counter(terms) for terms in index.stored.bm25.documents()]
    lengths = [document.total() for document in documents]
    mean = sum(lengths) / len(lengths)
    held = Counter(term for document in documents for term in document)

    def bm25(query: dict[str, float], row: int) -> float:
        total = 0.0
        for term, weight in query.items():
            count = documents[row][term]
            idf = math.log(1 + (len(documents) - held[term] + 0.5) / (held[term] + 0.5))
            norm = 1.5 * (1 - 0.75 + 0.75 * lengths[row] / mean)
            total += weight * idf * count / (count + norm) if count else 0.0
        return total

    terms = index.stored.bm25.tokeniser.counts("bank firearm")
    query = {term: float(count) for term, count in terms.items()}
    rows = range(len(documents))
    names = index.stored.chunks.ids
    first = sorted(rows, key=lambda row: (-np.float32(bm25(query, row)), names[row]))[:3]
    model: Counter[str] = Counter()
    for row in first:
        for term, count in documents[row].items():
            model[term] += bm25(query, row) * count / lengths[row]  # type: ignore[assignment]
    strongest = sorted(model, key=lambda term: (-round(model[term], 9), term))[:5]
    total = sum(model[term] for term in strongest)
    mixed = {term: 0.4 * model[term] / total for term in strongest}
    for term, count in query.items():
        mixed[term] = mixed.get(term, 0.0) + 0.6 * count / sum(query.values())
    expected = {names[row]: bm25(mixed, row) for row in rows if bm25(mixed, row) > 0}
    assert {hit.chunk_id for hit in hits} == set(expected)
    for hit in hits:
        assert hit.score == pytest.approx(expected[hit.chunk_id], rel=1e-4)


def test_rm3_takes_its_words_from_what_is_allowed(tmp_path: Path) -> None:
    index = make_index(tmp_path / "legal", legal_chunks(), dense=False)
    for hit in index.search("bank", k=50, retriever="bm25_rm3", year=2021, source="ussg"):
        assert (hit.source, hit.year) == ("ussg", 2021)


def test_a_name_taken_twice_and_a_leg_that_cannot_be_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Another(Leg):
        name = "bm25"
        title = "another"
        build = open = None  # type: ignore[assignment]

    with pytest.raises(BadOption, match="registered already"):
        LEGS.register(Another())
    info = tmp_path / "broken-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[tam.legs]\nbroken = nowhere_at_all:LEG\n")
    with monkeypatch.context() as patch:
        patch.syspath_prepend(str(tmp_path))
        LEGS.unregister("")
        with pytest.raises(BadOption, match=r"leg 'broken' of broken cannot be loaded"):
            list(LEGS)
    LEGS.unregister("")


@pytest.mark.real
def test_splade_with_real_weights(tmp_path: Path, library: Library) -> None:
    """``TAM_SPLADE_MODEL`` names a folder with a trained model (docs/guides/leg.md)."""
    import os

    folder = os.environ.get("TAM_SPLADE_MODEL")
    if not folder:
        pytest.skip("TAM_SPLADE_MODEL is not set")
    settings = BuildSettings(encoder=None, legs=(f"splade={folder}",))
    [result] = build(library, tmp_path, settings, ("legal",))
    legal = open_index(result.path)
    hits = legal.search(QUERY, k=3, retriever="splade", year=legal.years[-1])
    print(json.dumps([hit.name for hit in hits], ensure_ascii=False))
    assert any("2K2.1" in hit.chunk_id for hit in hits)
