"""Resampling, fairness and transients against other implementations and by hand."""

from __future__ import annotations

import doctest
import math
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from anabranch import stats
from anabranch.stats import fairness, resampling, transients

SHARES = st.lists(st.floats(0.001, 1e6), min_size=1, max_size=20)


@pytest.mark.parametrize("module", [fairness, resampling, transients])
def test_examples_in_the_documentation(module: ModuleType) -> None:
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0


def test_the_bootstrap_is_that_of_scipy() -> None:
    """SciPy's BCa interval from other draws: equal within the noise of drawing."""
    samples = np.random.default_rng(5).lognormal(size=60)
    ours = stats.bootstrap(samples, resamples=20_000)
    theirs = scipy.stats.bootstrap(
        (samples,), np.mean, method="BCa", n_resamples=20_000, rng=np.random.default_rng(1)
    ).confidence_interval
    width = theirs.high - theirs.low
    assert ours.ci_low == pytest.approx(theirs.low, abs=0.03 * width)
    assert ours.ci_high == pytest.approx(theirs.high, abs=0.03 * width)


def test_bootstrap_intervals_hold_the_mean_as_often_as_they_say() -> None:
    """200 exponential samples of 40: 90 % intervals miss the mean in 20, give or take 3 sigma."""
    generator = np.random.default_rng(11)
    held = sum(
        estimate.ci_low <= 1 <= estimate.ci_high
        for estimate in (
            stats.bootstrap(generator.exponential(size=40), confidence=0.9, resamples=400)
            for _ in range(200)
        )
    )
    assert 160 <= held <= 196


def test_one_seed_one_interval() -> None:
    samples = [1.0, 4.0, 2.0, 8.0, 5.0, 7.0]
    assert stats.bootstrap(samples) == stats.bootstrap(samples)
    assert stats.bootstrap(samples) != stats.bootstrap(samples, seed=2)


def test_intervals_of_quantiles_are_those_of_scipy() -> None:
    samples = np.random.default_rng(3).normal(size=200)
    for level in (0.1, 0.5, 0.95):
        ours = stats.quantile(samples, level)
        test: Any = scipy.stats.quantile_test(samples, q=0, p=level)
        theirs = test.confidence_interval(confidence_level=0.95)
        assert (ours.ci_low, ours.ci_high) == (theirs.low, theirs.high)


def test_too_few_samples_bound_no_quantile() -> None:
    """Of ten samples the largest is above the 99th percentile one time in ten only."""
    estimate = stats.quantile(range(10), 0.99)
    assert estimate.ci_high == math.inf
    assert estimate.ci_low < 9


@given(SHARES, st.floats(0.01, 100))
def test_jains_index_knows_no_scale(shares: list[float], factor: float) -> None:
    index = stats.jain(shares)
    assert 1 / len(shares) - 1e-12 <= index <= 1 + 1e-12
    assert stats.jain([factor * share for share in shares]) == pytest.approx(index)


def test_the_exponent_of_a_power_law_is_found() -> None:
    rtts = [0.01, 0.02, 0.05, 0.1]
    estimate = stats.rtt_exponent(rtts, [rtt**-1.5 for rtt in rtts])
    assert estimate.mean == pytest.approx(1.5)
    assert estimate.ci_low <= estimate.mean <= estimate.ci_high


def test_a_ramp_is_warm_up_and_what_follows_is_not() -> None:
    noise = np.random.default_rng(2).normal(size=400)
    samples = np.concatenate((np.linspace(-60, 0, 100), np.zeros(300))) + noise
    assert 85 <= stats.warm_up(samples) <= 115
    assert stats.warm_up(noise) <= 60
    assert stats.warm_up([1.0, 2.0]) == 0


def test_convergence_counts_the_last_departure() -> None:
    """Fair from 1 s to 3 s, unfair at 3 s, fair from 4 s on."""
    times = [10.0, 11.0, 12.0, 13.0, 14.0, 15.0]
    first, second = [9, 5, 5, 9, 5, 5], [1, 5, 5, 1, 5, 5]
    assert stats.convergence_time(times, [first, second]) == 4.0
    assert stats.convergence_time(times[:4], [first[:4], second[:4]]) is None
    assert stats.convergence_time(times, [[0] * 6, [0] * 6]) == 0.0


def test_what_leaves_the_band_again_has_not_settled() -> None:
    times = np.arange(8.0)
    values = [10, 10, 5, 8, 5, 5, 5.4, 4.6]
    assert stats.responsiveness_time(times, values, 1.5, 5.0) == 2.5
    assert stats.responsiveness_time(times, [*values[:-1], 9], 1.5, 5.0) is None


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=20), st.floats(0.1, 5))
def test_a_mean_over_time_is_the_integral(values: list[float], step: float) -> None:
    times = [step * n for n in range(len(values))]
    end = step * len(values)
    assert stats.step_mean(times, values, 0, end) == pytest.approx(np.mean(values), abs=1e-9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: stats.quantile([1.0], 1.0), "level = 1"),
        (lambda: stats.jain([0.0, 0.0]), "one of them above 0"),
        (lambda: stats.harm(0.0, 1.0), "harm of 0"),
        (lambda: stats.rtt_exponent([0.0, 1.0, 2.0], [1.0, 1.0, 1.0]), "above 0"),
        (lambda: stats.step_mean([0.0], [1.0], 2.0, 1.0), "from 2.0 to 1.0"),
        (lambda: stats.convergence_time([0.0, 1.0], [[1.0]]), "one share for each date"),
        (lambda: stats.responsiveness_time([0.0], [1.0], 5.0, 1.0), "change = 5"),
    ],
)
def test_what_has_no_answer_is_refused(call: object, message: str) -> None:
    assert callable(call)
    with pytest.raises(ValueError, match=message):
        call()
