"""Numbers of the batches: what a scheme achieved, and what it cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from anabranch import stats
from anabranch.experiment import RunResult
from anabranch.stats import Estimate
from anabranch.studies.sack_recovery.further.conditions import MSS, Batch

Batches = Mapping[Batch, list[RunResult]]
Metric = Callable[[RunResult], float]

PAYLOAD = MSS / (MSS + 40)
CAPACITY = 10e6 * PAYLOAD
"""Goodput of a full bottleneck, bit/s."""


def goodput(run: RunResult) -> float:
    """Of all flows, Mbit/s."""
    return sum(float(flow["goodput_bps"]) for flow in run.flows) / 1e6


def completion(run: RunResult) -> float:
    """Time of a transfer from its start to the last octet at the receiver, s."""
    flow = run.flows[0]
    return float(flow["finish_s"]) - float(flow["start_s"])


def timeouts(run: RunResult) -> float:
    """Expiries of the retransmission timer, all flows."""
    return float(sum(flow["timeouts"] for flow in run.flows))


def needless(run: RunResult) -> float:
    """Retransmissions of what was not lost, per 1000 segments that the receiver got."""
    flow = run.flows[0]
    lost = sum(float(link["dropped_loss"]) + float(link["dropped_queue"]) for link in run.links)
    return max(0.0, float(flow["retransmitted_packets"]) - lost) / _segments(run) * 1000


def reductions(run: RunResult) -> float:
    """Halvings of the window and timeouts, per 1000 segments that the receiver got."""
    flow = run.flows[0]
    return (float(flow["fast_retransmits"]) + float(flow["timeouts"])) / _segments(run) * 1000


def jain(run: RunResult) -> float:
    """Jain's index of the flows' goodputs."""
    return stats.jain(float(flow["goodput_bps"]) for flow in run.flows)


def left_to_others(run: RunResult) -> float:
    """What the flows `theirs` got, as a share of half the bottleneck."""
    theirs = [float(f["goodput_bps"]) for f in run.flows if f["flow"].startswith("theirs")]
    return sum(theirs) / (CAPACITY / 2)


def estimate(batches: Batches, batch: Batch, metric: Metric) -> Estimate:
    """Mean and interval of a metric over a batch's replications."""
    return stats.mean(metric(run) for run in batches[batch])


def against(batches: Batches, ours: Batch, theirs: Batch, metric: Metric) -> Estimate:
    """Mean and interval of the difference, replication by replication."""
    return stats.paired(
        [metric(run) for run in batches[ours]], [metric(run) for run in batches[theirs]]
    )


def _segments(run: RunResult) -> float:
    return max(1.0, float(run.flows[0]["bytes"]) / MSS)
