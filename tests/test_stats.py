"""Means, intervals and slopes."""

from __future__ import annotations

import doctest
import math
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch import stats
from anabranch.studies.response_functions import models

NUMBERS = st.floats(min_value=-1e6, max_value=1e6, allow_nan=False)


def test_no_zero_has_a_minus() -> None:
    assert stats.Estimate(-0.001, -0.004, -0.002, 3).text() == "0.00 (0.00 to 0.00, n = 3)"
    assert stats.Estimate(-0.006, -0.02, 0.0, 1).text() == "-0.01 (n = 1)"


def test_interval_of_a_known_sample() -> None:
    """t(0.975, 4) = 2.7764; the standard error of 1..5 is sqrt(2.5 / 5)."""
    estimate = stats.mean([1, 2, 3, 4, 5])
    assert estimate.mean == 3
    assert estimate.ci_high - 3 == pytest.approx(2.7764 * math.sqrt(0.5), rel=1e-4)
    assert estimate.n == 5


def test_one_sample_is_exact_and_none_is_not_a_number() -> None:
    assert stats.mean([7.0]) == stats.Estimate(7.0, 7.0, 7.0, 1)
    empty = stats.mean([])
    assert math.isnan(empty.mean)
    assert empty.n == 0


def test_what_is_not_a_number_is_refused() -> None:
    with pytest.raises(ValueError, match="not a finite number"):
        stats.mean([1.0, math.nan])
    with pytest.raises(ValueError, match="confidence = 1"):
        stats.mean([1.0], confidence=1)


@given(st.lists(NUMBERS, min_size=2, max_size=30))
def test_the_interval_holds_the_mean_and_grows_with_confidence(samples: list[float]) -> None:
    narrow, wide = stats.mean(samples, 0.9), stats.mean(samples, 0.99)
    assert narrow.ci_low <= narrow.mean <= narrow.ci_high
    assert wide.ci_low <= narrow.ci_low
    assert narrow.ci_high <= wide.ci_high


@given(st.lists(NUMBERS, min_size=2, max_size=30), st.integers(-1000, 1000))
def test_a_constant_paired_difference_has_no_width(samples: list[float], shift: int) -> None:
    estimate = stats.paired([s + shift for s in samples], samples)
    assert estimate.mean == pytest.approx(shift, abs=1e-6)
    assert estimate.ci_high - estimate.ci_low == pytest.approx(0, abs=1e-6)


def test_pairs_must_match() -> None:
    with pytest.raises(ValueError, match="shorter"):
        stats.paired([1.0, 2.0], [1.0])


def test_slope_of_a_line_and_of_noise() -> None:
    line = stats.slope([1, 2, 3, 4], [3, 5, 7, 9])
    assert (line.mean, line.n) == (2, 4)
    noise = stats.slope([1, 2, 3, 4, 5], [1, -1, 1, -1, 1])
    assert noise.ci_low < 0 < noise.ci_high
    with pytest.raises(ValueError, match="slope"):
        stats.slope([1, 1, 1], [1, 2, 3])


@pytest.mark.parametrize("module", [stats.intervals, models], ids=lambda module: module.__name__)
def test_examples_in_the_documentation(module: ModuleType) -> None:
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_pairing_gains_only_where_both_react_alike(sign: float) -> None:
    """As docs/statistics.md says: the variance of a difference has the covariance taken off."""
    rng = np.random.default_rng(1)
    draws = rng.normal(size=400)
    x, y = draws, sign * draws + rng.normal(size=400) / 2
    pair, apart = stats.paired(x, y), stats.paired(x, rng.permutation(y))
    half, other = (each.ci_high - each.ci_low for each in (pair, apart))
    assert (half < other) == (sign > 0)
