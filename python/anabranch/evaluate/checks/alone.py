"""Checks of an algorithm among its own kind: RFC 9743 §5.1."""

from __future__ import annotations

from collections.abc import Sequence

from anabranch import stats
from anabranch.evaluate.check import Check, Quantity, Rule, Scale
from anabranch.evaluate.paths import (
    Path,
    completion,
    delivered,
    flow_rows,
    loss,
    use,
    waiting,
)
from anabranch.experiment import RunResult, Scenario
from anabranch.library.entry import Window

RATE = "20 Mbit/s"


def _crowd(window: Window, scale: Scale) -> list[Scenario]:
    path = Path("crowd", scale.seconds(60), rate="2 Mbit/s", rtt="100 ms", buffer_bdp=1.2)
    for n in range(50):
        path.flow(window, f"f{n}", start_spread="5 s")
    path.net.observe("received", interval="1 s")
    return [path.scenario()]


def _useful(runs: Sequence[RunResult]) -> float:
    """Octets that were new to the receivers, of those that the link carried, in percent."""
    link = next(row for row in runs[0].links if row.name == "path")
    new = sum(row.bytes for row in runs[0].flows)
    return float(100 * new / max(1, link.bytes_delivered))


OUTAGE = (4.0, 20.0)
"""In seconds. Timeouts have doubled to some 16 s by its end: the next one comes at 36 s."""


def _outage(window: Window, _scale: Scale) -> list[Scenario]:
    start, end = OUTAGE
    gap = {"at": f"{start:g} s", "for": f"{end - start:g} s"}
    path = Path("outage", 50, impairments=[{"kind": "outage", "intervals": [gap]}])
    path.flow(window, "f")
    path.net.observe("received", interval="100 ms")
    return [path.scenario()]


def _into_the_void(runs: Sequence[RunResult]) -> float:
    return float(next(row for row in runs[0].links if row.name == "path").dropped_loss)


def _recovered(runs: Sequence[RunResult]) -> float:
    return use(runs[0], RATE, 40, 50)


def _deep(window: Window, scale: Scale) -> list[Scenario]:
    path = Path("deep buffer", scale.seconds(45), buffer_bdp=5)
    path.flow(window, "f")
    path.net.observe("queue", link="path", interval="10 ms")
    return [path.scenario()]


def _four(window: Window, scale: Scale) -> list[Scenario]:
    path = Path("four flows", scale.seconds(60))
    for n in range(4):
        path.flow(window, f"f{n}", start=n * scale.seconds(3))
    path.net.observe("received", interval="100 ms")
    return [path.scenario()]


def _jain(runs: Sequence[RunResult]) -> float:
    run = runs[0]
    end = _end(run)
    shares = [delivered(run, row.flow, end / 2, end) for row in run.flows]
    return stats.jain(shares) if any(shares) else 1 / len(shares)


RTTS = ("20 ms", "40 ms", "80 ms", "160 ms")


def _rtts(window: Window, scale: Scale) -> list[Scenario]:
    path = Path("round-trip times", scale.seconds(90), rtt="20 ms", buffer_bdp=4)
    for n, rtt in enumerate(RTTS):
        path.flow(window, f"f{n}", rtt=rtt)
    path.net.observe("received", interval="1 s")
    return [path.scenario()]


def _exponent(runs: Sequence[RunResult]) -> float:
    """How far the exponent is from 0, where the round-trip time makes no difference."""
    run = runs[0]
    end = _end(run)
    shares = [max(1.0, delivered(run, row.flow, end / 4, end)) for row in run.flows]
    return abs(stats.rtt_exponent([0.02, 0.04, 0.08, 0.16], shares).mean)


def _short(window: Window, scale: Scale) -> list[Scenario]:
    seconds = scale.seconds(60)
    path = Path("short flows", seconds)
    per_second = 0.4 * 20e6 / 8 / 50e3
    path.flow(
        window,
        "f",
        size="50 kB",
        count=int(per_second * (seconds - 3)),
        arrivals={"per_second": per_second},
        start_spread=None,
    )
    return [path.scenario()]


def _limited(window: Window, scale: Scale) -> list[Scenario]:
    path = Path("application-limited", scale.seconds(60), rate="50 Mbit/s")
    path.flow(window, "f", traffic={"kind": "constant", "rate": "2 Mbit/s"})
    path.net.observe("cwnd", flow="f", interval="100 ms")
    return [path.scenario()]


def _unused(runs: Sequence[RunResult]) -> float:
    """The window at the end over what 2 Mbit/s keep in flight for 40 ms."""
    values = runs[0].series["f.cwnd"]["value"]
    return float(values[-1]) / (2e6 / 8 * 0.04)


def _end(run: RunResult) -> float:
    return max(float(series["time_s"][-1]) for series in run.series.values())


CHECKS = (
    Check(
        "collapse",
        "§5.1.1",
        "Does the network still do useful work when far too many flows share it for long?",
        "50 flows on 2 Mbit/s, 100 ms: less than a packet of the pipe for each",
        _crowd,
        (
            Quantity("useful octets of those carried, %", _useful, Rule("at least", 0.95)),
            Quantity("packets lost, %", lambda runs: loss(runs[0]), Rule("at most", 1.25)),
        ),
    ),
    Check(
        "back-off",
        "§5.1.1",
        "Does a sender fall silent when nothing comes back, and find its rate again?",
        "one flow on 20 Mbit/s, 40 ms; from 4 s to 20 s nothing passes",
        _outage,
        (
            Quantity("packets into the outage", _into_the_void, Rule("at most", 1.5, 10)),
            Quantity("use 20 s to 30 s after it, %", _recovered, Rule("at least", 0.8)),
        ),
    ),
    Check(
        "bufferbloat",
        "§5.1.2",
        "How long a queue does it keep where the buffer allows for a long one?",
        "one flow on 20 Mbit/s, 40 ms, a buffer of five times the BDP",
        _deep,
        (
            Quantity(
                "mean queueing delay, ms",
                lambda runs: waiting(runs[0], RATE, 5),
                Rule("at most", 1.1),
            ),
        ),
    ),
    Check(
        "loss",
        "§5.1.3",
        "How many packets does it lose in a buffer of usual size?",
        "four flows on 20 Mbit/s, 40 ms, a buffer of one BDP",
        _four,
        (Quantity("packets lost, %", lambda runs: loss(runs[0]), Rule("at most", 1.5, 0.1)),),
    ),
    Check(
        "fairness",
        "§5.1.4",
        "Do its flows share equally, though they start one after the other?",
        "four flows on 20 Mbit/s, 40 ms; the second half of the run",
        _four,
        (Quantity("Jain's index", _jain, Rule("at least", 1.0, 0.1), 1.0),),
    ),
    Check(
        "rtt-fairness",
        "§5.1.4",
        "How much does its share depend on the round-trip time?",
        "four flows of 20, 40, 80 and 160 ms on 20 Mbit/s",
        _rtts,
        (Quantity("exponent a of 1/RTT^a, its size", _exponent, Rule("at most", 1.0, 0.25)),),
    ),
    Check(
        "short-flows",
        "§5.1.5",
        "How long do short flows take?",
        "flows of 50 kB at 40 % of 20 Mbit/s, 40 ms, Poisson arrivals",
        _short,
        (
            Quantity(
                "mean time of a flow, s",
                lambda runs: completion(flow_rows(runs[0], "f")),
                Rule("at most", 1.2),
            ),
        ),
    ),
    Check(
        "application-limited",
        "§5.3.1",
        "Does the window grow while the application does not use it (RFC 7661)?",
        "one flow writes 2 Mbit/s to 50 Mbit/s, 40 ms",
        _limited,
        (Quantity("window over what is in flight", _unused, Rule("at most", 1.5)),),
    ),
)
