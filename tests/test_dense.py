"""Dense rows: the same results as FAISS, best windows, slices."""

from __future__ import annotations

from pathlib import Path

import faiss
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexers.legs.dense.rows import DenseRows, write_dense
from tam.errors import BadIndex

CHUNKS, DIM = 120, 16


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> DenseRows:
    folder = tmp_path_factory.mktemp("dense")
    random = np.random.default_rng(1)
    counts = random.integers(1, 5, CHUNKS)
    starts = np.concatenate([[0], counts.cumsum()])
    vectors = random.standard_normal((starts[-1], DIM)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    spans = np.stack([np.arange(starts[-1]), np.arange(starts[-1]) + 7], axis=1)
    write_dense(folder, vectors, starts, spans)
    return DenseRows(folder)


def queries(count: int = 5) -> np.ndarray:
    vectors = np.random.default_rng(2).standard_normal((count, DIM)).astype(np.float32)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def test_a_view_of_faiss_storage(rows: DenseRows) -> None:
    assert not rows.vectors.flags.owndata
    np.testing.assert_array_equal(rows.vectors[17], rows.faiss.reconstruct(17))


def test_same_results_as_faiss_with_a_range(rows: DenseRows) -> None:
    """The windows of the chunks 30 to 80, searched by FAISS, give the same best chunks."""
    low, high = int(rows.starts[30]), int(rows.starts[80])
    selector = faiss.SearchParameters(sel=faiss.IDSelectorRange(low, high))
    scores, found = rows.faiss.search(queries(), high - low, params=selector)
    ours = rows.scores(queries(), [slice(30, 80)])
    for number in range(len(scores)):
        best: dict[int, float] = {}
        for score, window in zip(scores[number], found[number], strict=True):
            chunk = int(np.searchsorted(rows.starts, window, side="right")) - 1
            best[chunk] = max(best.get(chunk, -2.0), float(score))
        expected = [best[chunk] for chunk in range(30, 80)]
        np.testing.assert_allclose(ours[number], expected, atol=1e-6)
        order = np.argsort(-ours[number], kind="stable")[:10] + 30
        assert order.tolist() == list(best)[:10]


@given(
    st.lists(
        st.tuples(st.integers(0, CHUNKS), st.integers(0, CHUNKS)).map(
            lambda pair: slice(*sorted(pair))
        ),
        max_size=4,
    )
)
@settings(max_examples=60, deadline=None)
def test_slices_equal_brute_force(rows: DenseRows, slices: list[slice]) -> None:
    vectors = queries(3)
    expected = [
        [
            max(vector @ rows.vectors[low:high].T)
            for part in slices
            for chunk in range(part.start, part.stop)
            for low, high in [rows.starts[chunk : chunk + 2]]
        ]
        for vector in vectors
    ]
    found = rows.scores(vectors, slices)
    assert found.shape == (3, sum(part.stop - part.start for part in slices))
    np.testing.assert_allclose(found, np.asarray(expected).reshape(found.shape), atol=1e-6)


def test_equal_vectors_tie_exactly(tmp_path: Path) -> None:
    """Wherever the rows stand, and whatever is scored with them."""
    random = np.random.default_rng(3)
    some = random.standard_normal((700, 384)).astype(np.float32)
    some /= np.linalg.norm(some, axis=1, keepdims=True)
    vectors = np.concatenate([some, some[::-1][:613], some])
    write_dense(tmp_path, vectors, np.arange(len(vectors) + 1), np.zeros((len(vectors), 2)))
    dense = DenseRows(tmp_path)
    for query in random.standard_normal((20, 384)).astype(np.float32):
        whole = dense.exact_scores(query, np.arange(len(vectors)))
        np.testing.assert_array_equal(whole[:700], whole[1313:])
        np.testing.assert_array_equal(whole[700:1313], whole[:700][::-1][:613])
        some_rows = np.sort(random.choice(len(vectors), 37, replace=False))
        np.testing.assert_array_equal(dense.exact_scores(query, some_rows), whole[some_rows])
        np.testing.assert_allclose(dense.scores(query[None])[0], whole, atol=1e-4)


def test_exact_scores_are_of_the_best_window(rows: DenseRows) -> None:
    chosen = np.array([0, 3, 4, 119])
    for query in queries():
        expected = [
            (rows.vectors[rows.starts[row] : rows.starts[row + 1]] @ query).max() for row in chosen
        ]
        np.testing.assert_allclose(rows.exact_scores(query, chosen), expected, atol=1e-6)
    assert rows.exact_scores(queries()[0], np.empty(0, np.int64)).shape == (0,)


def test_no_slices_is_all(rows: DenseRows) -> None:
    whole = rows.scores(queries())
    assert whole.shape == (5, CHUNKS)
    np.testing.assert_allclose(whole[:, 40:60], rows.scores(queries(), [slice(40, 60)]), atol=1e-6)


def test_many_queries_are_cut_into_blocks(rows: DenseRows, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = rows.scores(queries(50))
    monkeypatch.setattr("indexers.legs.dense.rows._CELLS", 1000)
    np.testing.assert_allclose(rows.scores(queries(50)), whole, atol=1e-6)


def test_best_window(rows: DenseRows) -> None:
    chunk = int(np.argmax(np.diff(rows.starts)))
    for window in range(int(rows.starts[chunk]), int(rows.starts[chunk + 1])):
        assert rows.best_window(rows.vectors[window], chunk) == (window, window + 7)


def test_another_dimension(rows: DenseRows) -> None:
    with pytest.raises(BadIndex, match="dimension 16"):
        rows.scores(np.zeros((1, 8), np.float32))


def test_damaged_and_missing_files(tmp_path: Path) -> None:
    write_dense(tmp_path, queries(4), np.arange(5), np.zeros((4, 2)))
    np.save(tmp_path / "spans.npy", np.zeros((3, 2), np.int32))
    with pytest.raises(BadIndex, match="disagree"):
        DenseRows(tmp_path)
    write_dense(tmp_path / "other", queries(3), np.arange(4), np.zeros((3, 2)))
    write_dense(tmp_path, queries(4), np.arange(5), np.zeros((4, 2)))
    (tmp_path / "other" / "vectors.faiss").replace(tmp_path / "vectors.faiss")
    with pytest.raises(BadIndex, match="3 vectors for 4 windows"):
        _ = DenseRows(tmp_path).vectors
    (tmp_path / "vectors.faiss").write_bytes(b"IxFI")
    with pytest.raises(BadIndex, match="damaged"):
        _ = DenseRows(tmp_path).vectors
    (tmp_path / "vectors.faiss").unlink()
    with pytest.raises(BadIndex, match="missing"):
        _ = DenseRows(tmp_path).vectors
