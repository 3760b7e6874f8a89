"""What the answers of the lab measure of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from anabranch.errors import InputError
from anabranch.experiment import RunResult
from anabranch.play.controls import turn
from anabranch.play.controls.control import Value
from anabranch.play.document import opened
from anabranch.play.running import Work, charted
from anabranch.play.series import late_goodput, late_mean, late_path_rate, late_rtt
from anabranch.rows import Flow


def run(scenario: str, changes: Mapping[str, Value]) -> RunResult:
    """The run of a setting, as the playground runs it."""
    source = opened(scenario)
    turned = turn(source, changes)
    if turned.errors or turned.ignored:
        told = [str(error) for error in turned.errors] + turned.ignored
        raise InputError(f"{scenario}: {'; '.join(told)}")
    work = Work(source, turned)
    return work.run(charted(work))


def _flows(result: RunResult, of: str) -> list[Flow]:
    found = [row for row in result.flows if row.flow == of or row.flow.startswith(f"{of}-")]
    if not found:
        known = ", ".join(row.flow for row in result.flows)
        raise InputError.about("lab", "of", of, known)
    return found


def goodput(result: RunResult, of: str) -> float:
    """Mbit/s of a flow, or of all flows of an entry together, in the second half of the run."""
    return sum(late_goodput(result, row) for row in _flows(result, of))


def finish(result: RunResult, of: str) -> float:
    """Seconds until the last octet was read."""
    (flow,) = _flows(result, of)
    if flow.finish_s is None:
        raise InputError.about("lab", "of", of, "a flow that comes to its end")
    return flow.finish_s


def timeouts(result: RunResult, of: str) -> float:
    """Expiries of the retransmission timer."""
    return float(sum(row.timeouts for row in _flows(result, of)))


def resent(result: RunResult, of: str) -> float:
    """Returns the number of packets that were retransmitted."""
    return float(sum(row.retransmitted_packets for row in _flows(result, of)))


def dropped(result: RunResult, of: str) -> float:
    """Packets that a link dropped."""
    (link,) = [row for row in result.links if row.name == of]
    return float(link.dropped)


def used(result: RunResult, of: str) -> float:
    """Per cent of a link's rate that was used in the run, by what it delivered: `LINK RATE`, with
    the rate in Mbit/s."""
    name, rate = of.split()
    (link,) = [row for row in result.links if row.name == name]
    return link.bytes_delivered * 8 / (float(rate) * 1e6 * result.run.end_s) * 100


def rtt(result: RunResult, of: str) -> float:
    """Mean of the smoothed round-trip time in the second half of the run, in milliseconds."""
    found = late_rtt(result, f"{of}.srtt")
    if found is None:
        raise InputError.about("lab", "of", of, "a flow with a round-trip time")
    return found * 1e3


def queue(result: RunResult, of: str) -> float:
    """Mean number of packets that waited in the second half of the run, by time."""
    return late_mean(result.series[f"{of}.queue"], result.run.end_s)


def peak(result: RunResult, of: str) -> float:
    """The largest congestion window, in segments of 1448 octets."""
    return float(np.max(result.series[f"{of}.cwnd"]["value"])) / 1448


def moved(result: RunResult, of: str) -> float:
    """Thousands of octets that were read in the run."""
    return sum(row.bytes for row in _flows(result, of)) / 1e3


def path_rate(result: RunResult, of: str) -> float:
    """Mbit/s of a path of a flow over Multipath TCP in the second half of the run: `FLOW TO`, with
    the receiver's interface."""
    name, to = of.split()
    (flow,) = _flows(result, name)
    (path,) = [row for row in result.paths if row.flow == name and row.to == to]
    rate = late_path_rate(result, flow, path)
    if rate is None:
        raise InputError.about("lab", "of", of, "a path of Multipath TCP")
    return rate


_ALL = (goodput, finish, timeouts, resent, dropped, used, rtt, queue, peak, moved, path_rate)
COUNTED = ("timeouts", "resent", "dropped", "peak", "moved")
"""Of which whole numbers are told."""
MEASURES: Mapping[str, Callable[[RunResult, str], float]] = {each.__name__: each for each in _ALL}
"""By the name that the course has for them."""
