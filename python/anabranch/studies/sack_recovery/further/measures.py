"""Numbers of the batches: what a scheme achieved, and what it cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from anabranch import stats
from anabranch.experiment import RunResult
from anabranch.stats import Exact, Sample
from anabranch.studies.replications import Replicated
from anabranch.studies.sack_recovery.further.conditions import MSS, Batch

Batches = Replicated[Batch]
Metric = Callable[[RunResult], float]

PAYLOAD = MSS / (MSS + 40)
CAPACITY = 10e6 * PAYLOAD
"""Goodput of a full bottleneck, bit/s."""


def goodput(run: RunResult) -> float:
    """Of all flows, Mbit/s."""
    return sum(flow.goodput_bps for flow in run.flows) / 1e6


def completion(run: RunResult) -> float:
    """Time of a transfer from its start to the last octet at the receiver, s; of several, the
    mean."""
    return float(np.mean([flow.took_s() for flow in run.flows]))


def timeouts(run: RunResult) -> float:
    """Expiries of the retransmission timer, all flows."""
    return float(sum(flow.timeouts for flow in run.flows))


def spurious(run: RunResult) -> float:
    """Retransmissions of what was not lost, per 1000 segments that the receiver got."""
    flow = run.flows[0]
    lost = sum(float(link.dropped_loss) + float(link.dropped_queue) for link in run.links)
    return max(0.0, float(flow.retransmitted_packets) - lost) / _segments(run) * 1000


def reductions(run: RunResult) -> float:
    """Halvings of the window and timeouts, per 1000 segments that the receiver got."""
    flow = run.flows[0]
    assert flow.fast_retransmits is not None  # the sender is ours
    return float(flow.fast_retransmits + flow.timeouts) / _segments(run) * 1000


def jain(run: RunResult) -> float:
    """Jain's index of the flows' goodputs."""
    return stats.jain(flow.goodput_bps for flow in run.flows)


def left_to_others(run: RunResult) -> float:
    """What the flows `theirs` got, as a share of half the bottleneck."""
    theirs = [f.goodput_bps for f in run.flows if f.flow.startswith("theirs")]
    return sum(theirs) / (CAPACITY / 2)


def conditions(batches: Batches, part: str, scheme: str, level: float = 0.0) -> list[Batch]:
    """A scheme's batches of a part, in order."""
    return sorted(
        b for b in batches if (b.part, b.scheme, b.level, b.other) == (part, scheme, level, "")
    )


def pairs(
    batches: Batches, part: str, ours: str, theirs: str, level: float = 0.0
) -> list[tuple[Batch, Batch]]:
    """Two schemes' batches under the same conditions."""
    both = (conditions(batches, part, scheme, level) for scheme in (ours, theirs))
    return list(zip(*both, strict=True))


def sample(batches: Batches, batch: Batch, metric: Metric) -> Sample:
    """A metric in each replication."""
    return batches.sample(batch, metric)


def change(batches: Batches, ours: Sequence[Batch], theirs: str, metric: Metric) -> Sample | Exact:
    """Share by which the mean of `ours` is more than that of the scheme `theirs` under the same
    conditions: the mean over them in each replication; where nothing is random, over the
    conditions.

    Means are compared, since there are replications in which a connection does not come about: a
    long burst takes all its SYNs."""
    samples = [
        sample(batches, batch, metric).change_of_means(
            sample(batches, replace(batch, scheme=theirs), metric)
        )
        for batch in ours
    ]
    if not any(batch.is_random for batch in ours):
        return Exact.mean_of(float(sample.values[0]) for sample in samples)
    return Sample.across(samples)


def _segments(run: RunResult) -> float:
    return max(1.0, float(run.flows[0].bytes) / MSS)
