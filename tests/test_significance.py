"""Bootstrap, randomisation, Holm."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from eval.measuring.significance import bootstrap, compare, holm, randomisation, signs
from tam.errors import BadOption


def test_bootstrap_covers_the_mean_like_scipy() -> None:
    rng = np.random.default_rng(5)
    values = rng.random((400, 3)) * np.array([1.0, 0.5, 0.1])
    low, high = bootstrap(values, resamples=4000, seed=1)
    for at in range(3):
        reference = stats.bootstrap(
            (values[:, at],), np.mean, method="percentile", n_resamples=4000, rng=2
        ).confidence_interval
        width = reference.high - reference.low
        assert abs(low[at] - reference.low) < 0.1 * width
        assert abs(high[at] - reference.high) < 0.1 * width


def test_bootstrap_is_seeded_and_exact_for_constants() -> None:
    values = np.random.default_rng(0).random((50, 2))
    assert np.array_equal(bootstrap(values, seed=3), bootstrap(values, seed=3))
    assert not np.array_equal(bootstrap(values, seed=3), bootstrap(values, seed=4))
    low, high = bootstrap(np.full((10, 1), 0.25))
    assert low == high == pytest.approx(0.25)
    assert bootstrap(np.zeros((0, 2)))[0].tolist() == [0, 0]


def test_randomisation_is_exact_for_few_queries() -> None:
    differences = np.array([0.5, 0.25, -0.125, 0.5, 0.0, 0.75])
    observed = abs(differences.sum())
    patterns = itertools.product((1, -1), repeat=6)
    sums = [abs(sum(s * d for s, d in zip(p, differences, strict=True))) for p in patterns]
    expected = sum(value >= observed - 1e-12 for value in sums) / len(sums)
    assert randomisation(differences[:, None])[0] == expected


def test_randomisation_agrees_with_scipy_on_many() -> None:
    rng = np.random.default_rng(7)
    differences = rng.normal(0.08, 0.5, 150)
    reference = stats.permutation_test(
        (differences, np.zeros(150)),
        lambda a, b, axis: np.mean(a - b, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=20_000,
        rng=1,
    ).pvalue
    assert randomisation(differences[:, None], 20_000)[0] == pytest.approx(reference, abs=0.015)


def test_no_difference_is_no_evidence() -> None:
    assert randomisation(np.zeros((40, 2))).tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("p_values", "adjusted"),
    [
        ([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]),
        ([0.5, 0.9], [1.0, 1.0]),
        ([0.04], [0.04]),
        ([], []),
    ],
)
def test_holm(p_values: list[float], adjusted: list[float]) -> None:
    assert holm(p_values) == pytest.approx(adjusted)


def test_compare() -> None:
    a = np.array([[0.0, 1.0]] * 30 + [[1.0, 1.0]] * 10)
    b = np.array([[1.0, 1.0]] * 25 + [[0.0, 1.0]] * 15)
    first, second = compare(["recall@8", "hit@8"], a, b, seed=1)
    assert (first.wins, first.ties, first.losses) == (25, 5, 10)
    assert first.difference == pytest.approx((25 - 10) / 40)
    assert first.low < first.difference < first.high
    assert first.p < first.adjusted < 0.1
    assert (second.p, second.ties) == (1.0, 40)
    assert compare(["recall@8", "hit@8"], a, b, seed=1) == [first, second]


def test_rounding_is_a_tie() -> None:
    assert signs(np.array([0.1 + 0.2 - 0.3, 1e-3, -1e-3])).tolist() == [0, 1, -1]


def test_compare_refuses_what_does_not_pair() -> None:
    with pytest.raises(BadOption):
        compare(["x"], np.zeros((3, 1)), np.zeros((4, 1)))
    with pytest.raises(BadOption, match="no query in common"):
        compare(["x"], np.zeros((0, 1)), np.zeros((0, 1)))
