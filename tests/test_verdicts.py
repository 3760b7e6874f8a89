"""The grammar of verdicts: rules, statements, claims, and replications that stop when decided."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import numpy as np
import pytest

import made
from anabranch import stats
from anabranch.experiment import RunResult, Scenario
from anabranch.stats import Estimate, Exact, Looks, Sample
from anabranch.studies.replications import Replicated, decide
from anabranch.verdicts import (
    Claim,
    Statement,
    Verdict,
    at_least,
    at_most,
    claim_from,
    less,
    more,
    near,
)

HOLDS, PARTLY, FAILS, UNDECIDED = Verdict


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (6.8, 7.2, HOLDS),
        (6.5, 7.5, HOLDS),
        (6.0, 8.0, UNDECIDED),
        (7.4, 7.6, UNDECIDED),
        (7.6, 7.9, FAILS),
    ],
)
def test_an_interval_lies_within_the_margin_beside_it_or_neither(
    low: float, high: float, verdict: Verdict
) -> None:
    assert near(7, 0.5).judge(Estimate((low + high) / 2, low, high, 9)) is verdict


def test_less_data_never_gives_a_better_verdict() -> None:
    """An interval that widens around the same mean: decided, then undecided, never in part."""
    widths = (0.1, 0.4, 0.8, 3.0)
    within = [at_most(0).judge(Estimate(-0.5, -0.5 - w, -0.5 + w, 5)) for w in widths]
    beyond = [at_most(0).judge(Estimate(0.5, 0.5 - w, 0.5 + w, 5)) for w in widths]
    assert within == [HOLDS, HOLDS, UNDECIDED, UNDECIDED]
    assert beyond == [FAILS, FAILS, UNDECIDED, UNDECIDED]


def test_a_difference_that_does_not_matter_is_none() -> None:
    small, large = Estimate(-0.01, -0.012, -0.008, 50), Estimate(-0.1, -0.11, -0.09, 50)
    assert (less(0, by=0.02).judge(small), less(0, by=0.02).judge(large)) == (FAILS, HOLDS)
    assert at_least(0, margin=0.02).judge(small) is HOLDS
    assert more(0, by=0.02).judge(large) is FAILS


def test_one_draw_and_none_decide_nothing() -> None:
    assert at_most(1).judge(stats.mean([0.5])) is UNDECIDED
    assert at_most(1).judge(stats.mean([])) is UNDECIDED


def test_conditions_without_chance_hold_one_by_one() -> None:
    turns = Exact.of([5, 5, 4, 5])
    statement = Statement.of("segments", turns, near(5, 0))
    assert (statement.verdict, statement.held) == (PARTLY, 3)
    assert statement.text() == (
        "segments: 4.75 (4.00 to 5.00 in 4 conditions), expected 5, in 3 of 4"
    )
    assert Statement.of("segments", Exact.of([4, 4]), near(5, 0)).verdict is FAILS
    mean = Statement.of("mean of segments", Exact.mean_of([4, 5, 6]), near(5, 0))
    assert mean.verdict is HOLDS and mean.judged_by() == "by the mean over the conditions"
    some = Statement.of("segments", turns, near(5, 0))
    assert some.verdict is PARTLY and some.judged_by() == "in 3 of 4 conditions"
    assert Statement.of("segments", Exact.of([5, 5]), near(5, 0)).judged_by() == ""


def claim(*verdicts: Verdict, minor: tuple[Verdict, ...] = ()) -> Claim:
    ends = {HOLDS: (0.1, 0.2), FAILS: (1.1, 1.2), UNDECIDED: (0.9, 1.1)}

    def statement(verdict: Verdict, is_minor: bool) -> Statement:
        low, high = ends[verdict]
        estimate = Estimate((low + high) / 2, low, high, 8)
        return Statement.of(verdict.value, estimate, at_most(1), minor=is_minor)

    statements = [statement(verdict, False) for verdict in verdicts] + [
        statement(each, True) for each in minor
    ]
    return Claim("C1", "It is so.", statements, "")


def test_in_part_needs_something_that_holds_and_something_that_fails() -> None:
    assert claim(HOLDS, HOLDS).verdict is HOLDS
    assert claim(HOLDS, FAILS).verdict_text() == "holds in part, 1 of 2"
    assert claim(HOLDS, UNDECIDED).verdict is UNDECIDED
    assert claim(UNDECIDED).verdict is UNDECIDED
    assert claim(FAILS, UNDECIDED).verdict is FAILS
    assert claim(FAILS, minor=(HOLDS,)).verdict is FAILS
    assert claim(HOLDS, minor=(FAILS,)).verdict is PARTLY


def test_a_finding_names_what_holds_what_fails_and_what_it_would_take() -> None:
    text = claim(HOLDS, FAILS, UNDECIDED).finding()
    assert text.startswith("C1 holds in part, 1 of 3: holds: holds: 0.15")
    assert "does not hold: does not hold: 1.15" in text
    assert "undecided: undecided: 1.00" in text
    assert "another margin: the mean lies on this one" in text
    wide = Statement.of("x", Estimate(0.5, -0.5, 1.5, 10), at_most(1))
    assert wide.takes() == "about 40 replications in place of 10"


def test_a_claim_is_judged_as_published_and_over_the_grid() -> None:
    holds, fails = (Statement.of("x", Exact.of([x]), at_most(1)) for x in (0, 2))
    both = Claim("C1", "It is so.", [holds], "", grid=[fails], source="§4")
    assert (both.verdict, both.grid_verdict) == (HOLDS, FAILS)
    assert [row["scope"] for row in both.measure_rows("s")] == ["as published", "over the grid"]
    assert claim_from(json.loads(json.dumps(both.to_file()))) == both


def test_samples_are_paired_by_replication_as_far_as_both_go() -> None:
    ours, theirs = Sample.of([3.0, 5.0, 9.0], ["a"]), Sample.of([2.0, 4.0], ["b"])
    gain = ours.change_from(theirs)
    assert gain.values.tolist() == [0.5, 0.25]
    assert gain.sources == {"a", "b"}
    pooled = Sample.across([ours, theirs])
    assert pooled.estimate.n == 2  # two replications, not five samples


def test_a_change_of_means_holds_at_95_percent_though_ratios_have_no_mean() -> None:
    """The reference is 0 now and then, as a connection that does not come about."""
    draws = np.random.default_rng(1)
    missed, experiments, true = 0, 2000, 0.25
    for _ in range(experiments):
        common = draws.exponential(size=40)
        common[draws.random(40) < 0.05] = 0.0
        ours, theirs = common * 1.25 + draws.normal(0, 0.1, 40), common
        estimate = Sample.of(ours).change_of_means(Sample.of(theirs)).estimate
        missed += not estimate.ci_low <= true <= estimate.ci_high
    assert 0.03 < missed / experiments < 0.08


Draw = Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]
DRAWS: Mapping[str, tuple[Draw, float]] = {
    "normal": (lambda g, shape: g.normal(size=shape), 0.0),
    "uniform": (lambda g, shape: g.random(shape), 0.5),
    "differences of exponentials": (
        lambda g, shape: g.exponential(size=shape) - g.exponential(size=shape),
        0.0,
    ),
}


@pytest.mark.parametrize("looks", [Looks(4, 2), Looks(4, 5)], ids=["default", "full"])
@pytest.mark.parametrize("draw", DRAWS)
def test_the_true_mean_is_missed_at_one_look_or_another_in_one_of_twenty(
    draw: str, looks: Looks
) -> None:
    """4000 experiments; the chance that any of the looks' intervals misses the true mean. With
    the t interval's own error for samples that are not normal (uniform ones, 4 replications: 7 %
    at a single look) it is at most 7.5 %."""
    generator = np.random.default_rng(7)
    function, truth = DRAWS[draw]
    values = function(generator, (4000, looks.budget))
    missed = np.zeros(len(values), dtype=bool)
    for size in looks.sizes:
        for number, row in enumerate(values):
            missed[number] |= Sample.of(row[:size], (), looks).estimate.excludes(truth)
    bound = 0.075 if draw == "uniform" else 0.055
    assert missed.mean() <= bound


def test_intervals_without_a_plan_of_looks_miss_it_far_more_often() -> None:
    generator = np.random.default_rng(7)
    values = generator.normal(size=(2000, 64))
    missed = [
        any(stats.mean(row[:size]).excludes(0.0) for size in Looks(4, 5).sizes) for row in values
    ]
    assert np.mean(missed) > 0.12


def normal(mean: float) -> Callable[[int], list[RunResult]]:
    """Replications whose one number is normal around `mean`, always the same ones."""
    values = np.random.default_rng(3).normal(mean, 1.0, 64)
    return lambda count: [made.result(end_s=value) for value in values[:count]]


def test_replications_go_on_where_something_is_undecided() -> None:
    """One is clear after 4, one needs more, one spends its budget, one is not judged."""
    worlds = {"far": normal(9.0), "near": normal(1.2), "edge": normal(0.0), "shown": normal(0.0)}
    seen: list[dict[str, int]] = []
    asked: list[list[str]] = []

    def compute(wanted: Mapping[str, int]) -> Mapping[str, list[RunResult]]:
        seen.append({**(seen[-1] if seen else {}), **wanted})
        asked.append(list(wanted))
        return {name: worlds[name](count) for name, count in wanted.items()}

    def judge(results: Replicated[str]) -> list[Claim]:
        samples = {name: results.sample(name, lambda run: run.run.end_s) for name in worlds}
        judged = [Statement.of(name, samples[name], at_least(0)) for name in worlds]
        return [Claim("C", "", [*judged[:3], judged[3].unjudged()], "")]

    decided = decide(dict.fromkeys(worlds, Scenario("")), judge, compute, Looks(4, 5))
    last = seen[-1]
    assert (last["far"], last["edge"], last["shown"]) == (4, 64, 4)
    assert 4 < last["near"] < 64
    assert sum("far" in names for names in asked) == 1, "what is decided is not asked for again"
    assert decided.claims[0].verdict is UNDECIDED


def test_conditions_with_the_fewest_replications_bind() -> None:
    """A pair of which one side is ahead: the other catches up before both go on."""
    worlds = {"a": normal(0.0), "b": normal(0.05), "c": normal(0.3)}
    seen: list[dict[str, int]] = []

    def compute(wanted: Mapping[str, int]) -> Mapping[str, list[RunResult]]:
        seen.append({**(seen[-1] if seen else {}), **wanted})
        return {name: worlds[name](count) for name, count in wanted.items()}

    def judge(results: Replicated[str]) -> list[Claim]:
        a, c = (results.sample(name, lambda run: run.run.end_s) for name in "ac")
        statements = [Statement.of("c", c, at_most(0))]
        if len(seen) > 2:
            statements = [Statement.of("a - c", a - c, at_most(-5))]
        return [Claim("C", "", statements, "")]

    decide(dict.fromkeys(worlds, Scenario("")), judge, compute, Looks(4, 3))
    assert [(each["a"], each["c"]) for each in seen] == [(4, 4), (4, 8), (4, 16)]


def test_the_number_that_tells_is_one_that_does_not_hold() -> None:
    """It comes first of a claim that does not plainly hold; else the claim's first number does."""
    measured = Estimate(6.0, 5.75, 6.25, 3)
    six, seven, free = (
        Statement.of(name, measured, rule)
        for name, rule in (("six", near(6, 0.5)), ("seven", near(7, 0.5)), ("free", None))
    )
    for statements, told in (
        ([six, free, seven], ["seven", "six"]),
        ([seven, six], ["seven"]),
        ([six, free], ["six"]),
        ([free, six], ["free"]),
    ):
        claim = Claim("C1", "It is six.", statements, "")
        assert [each.quantity for each in claim.telling()] == told
