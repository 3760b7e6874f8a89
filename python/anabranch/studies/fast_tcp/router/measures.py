"""What a run achieved, what was lost where, and how bursty it was."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from anabranch.experiment import RunResult

Values = npt.NDArray[np.float64]
MSS = 1460


def megabytes(run: RunResult) -> float:
    """Octets that reached the application in order, 10^6, of the flows in question."""
    return sum(float(flow.bytes) for flow in run.flows if flow.flow != "x") / 1e6


def overflows(run: RunResult) -> float:
    """Packets dropped in front of the satellite link for want of room."""
    return _count(run, "dropped_queue")


def corrupted(run: RunResult) -> float:
    """Data packets lost to bit errors."""
    return _count(run, "dropped_loss") + _count(run, "dropped_corrupt")


def timeouts(run: RunResult) -> float:
    """Expiries of the retransmission timer."""
    return float(sum(flow.timeouts for flow in run.flows if flow.flow != "x"))


def _count(run: RunResult, counter: str) -> float:
    return sum(float(link[counter]) for link in run.links if link["name"] == "uplink")


def deviation_of_queue(run: RunResult) -> float:
    """Standard deviation over time of what waits at router 1, in packets."""
    times, values, end = _queue(run)
    weights = np.diff(np.append(times, end))
    mean = float(np.average(values, weights=weights))
    return float(np.sqrt(np.average((values - mean) ** 2, weights=weights)))


def mean_burst(run: RunResult) -> float:
    """Mean number of segments that the source sends closer together than the satellite link takes
    for two."""
    times = run.series["f.sends"]["time_s"]
    gaps = np.diff(times) > 2 * 1500 * 8 / 30e6
    return float(times.size / (1 + np.count_nonzero(gaps)))


def fill_after_jumps(run: RunResult, least: int, limit: int, rtt: float) -> list[float]:
    """Highest occupancy of the buffer, as a share of its limit, in the round trip after each ACK
    for more than `least` segments at once."""
    acks = run.series["f.acks"]
    jumps = np.diff(acks["value"]) > least * MSS
    times, values, _ = _queue(run)
    shares = []
    for at in acks["time_s"][1:][jumps]:
        inside = values[(times >= at) & (times <= at + rtt)]
        shares.append(float(inside.max()) / limit if inside.size else 0.0)
    return shares


def mean_srtt_ms(run: RunResult) -> float:
    """Mean over the samples of the smoothed round-trip time."""
    return float(np.mean(run.series["f.srtt"]["value"]) * 1000)


def _queue(run: RunResult) -> tuple[Values, Values, float]:
    series = run.series["uplink.queue"]
    return series["time_s"], series["value"], run.run.end_s
