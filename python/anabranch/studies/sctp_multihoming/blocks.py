"""Replications that are blocks of runs, whose mean counts.

Times after lost retransmissions have a long tail: now and then a timeout has backed off to a
minute. A t interval of four such times says too much; means of blocks are nearer to normal, and
the paper's own points are means of 100 transfers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

import numpy as np

from anabranch.experiment import RunResult, Scenario
from anabranch.stats import Sample
from anabranch.studies.replications import Decided, Replicated, decide
from anabranch.studies.study import Context
from anabranch.verdicts import Claim

Key = TypeVar("Key")


def of(sample: Sample, size: int) -> Sample:
    """The means of blocks of so many values; of those that are known, `nan` if none is."""
    whole = len(sample.values) // size
    blocks = sample.values[: whole * size].reshape(whole, size)
    known = np.isfinite(blocks)
    with np.errstate(invalid="ignore"):
        means = np.where(known, blocks, 0.0).sum(axis=1) / known.sum(axis=1)
    return Sample(means, sample.sources, sample.looks)


def decide_by(
    context: Context,
    scenarios: Mapping[Key, Scenario],
    judge: Callable[[Replicated[Key]], list[Claim]],
    size: Callable[[Key], int],
    *,
    series: bool = False,
) -> Decided[Key]:
    """Blocks of runs of each condition, as many as the claims need; `size` is that of its
    blocks."""

    def compute(wanted: Mapping[Key, int]) -> Mapping[Key, list[RunResult]]:
        batches = [(scenarios[key], count * size(key)) for key, count in wanted.items()]
        return dict(zip(wanted, context.compute([], batches, series).batches, strict=True))

    return decide(scenarios, judge, compute, context.strength.looks)
