"""Algorithms that model the path, BBR in both versions, and those that hear marks."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np

from algorithm_figures.chart import Chart, Points, Series
from algorithm_figures.delays import HEADERS, PACKET
from algorithm_figures.runs import MSS, run, segments
from anabranch import Network

RATE, RTT = 10e6, 0.04
PIPE = RATE * RTT / PACKET
"""Segments in flight that fill the path."""


def in_flight(window: str, seconds: float) -> tuple[Any, Any]:
    """What is in flight over time, in bandwidth-delay products, of one flow alone."""
    result = run(
        window, seconds, rtt=RTT, rate=f"{RATE:g} bit/s", observe=("in_flight",), interval=0.002
    )
    times, values = segments(result, "in_flight")
    return times, values / PIPE


def stretches(low: Any) -> list[tuple[int, int]]:
    """First index and end of each stretch of true values."""
    turns = np.diff(np.concatenate(([False], low, [False])).astype(int))
    begins, ends = (np.flatnonzero(turns == sign) for sign in (1, -1))
    return [(int(b), int(e)) for b, e in zip(begins, ends, strict=True)]


def dips(times: Any, values: Any, below: float, least: float) -> list[tuple[float, float]]:
    """Middle and median of each stretch that stays below a level for so long."""
    return [
        (float(times[(b + e) // 2]), float(np.median(values[b:e])))
        for b, e in stretches(values < below)
        if times[e - 1] - times[b] >= least
    ]


def peaks(times: Any, values: Any, above: float, apart: float) -> list[tuple[float, float]]:
    """Date and height of the largest value of each stretch above a level; stretches less than a
    time apart are one."""
    found: list[tuple[float, float]] = []
    for begin, end in stretches(values > above):
        top = begin + int(np.argmax(values[begin:end]))
        peak = float(times[top]), float(values[top])
        if found and peak[0] - found[-1][0] < apart:
            peak = max(found.pop(), peak, key=lambda each: each[1])
        found.append(peak)
    return found


def trace(times: Any, values: Any, begin: float, end: float) -> Points:
    """What is drawn of a trace: 400 points."""
    first, last = np.searchsorted(times, (begin, end))
    kept = range(first, last, max((last - first) // 400, 1))
    return [(float(times[n]), float(values[n])) for n in kept]


def bbr() -> Chart:
    """In flight over time: the cycle of ProbeBW."""
    times, values = in_flight("bbr", 30.0)
    found = peaks(times[times > 2], values[times > 2], 1.3, 2 * RTT)
    quanta = 3 * 2 / PIPE  # of two segments each below 24 Mbit/s
    rtprop = RTT + (PACKET + 8 * HEADERS) / RATE  # with the transmission of a packet and its ACK
    period = (found[-1][0] - found[0][0]) / (len(found) - 1) / rtprop
    least = float(np.min(values[times > 2]))
    shown = [(time, value) for time, value in found if time <= 6]
    return Chart(
        "time (s)",
        "in flight (bandwidth-delay products)",
        [
            Series("end of the probe", lambda _: 1.25 + quanta, shown, (2.0, 6.0)),
            Series("end of the drain", lambda _: 1 + quanta, span=(2.0, 6.0)),
        ],
        "with the gain 1.25 ProbeBW goes on until 1.25 BDP and 3 quanta are in flight, with 0.75"
        " until a BDP and 3 quanta are (draft-cardwell-iccrg-bbr-congestion-control-00, §4.3.4)",
        "peaks of what is in flight (grey), one flow alone on 10 Mbit/s and 40 ms",
        tolerance=0.05,
        traces={"in flight": trace(times, values, 2.0, 6.0)},
        finding=f"A cycle of 8 phases lasts {period:.1f} RTprop. In 30 s there is no ProbeRTT:"
        f" never less than {least:.2f} BDP are in flight, since each cycle finds the smallest round"
        " trip again, and RTprop does not expire.",
        ylim=(0.8, 1.7),
        legend="upper right",
    )


def climbed(rate: float, moves: int) -> list[float]:
    """Rates of Vivace in Mbit/s, move by move, where nothing is lost or delayed."""
    rates, k = [rate], 0
    for tau in range(1, moves + 1):
        low, high = 0.95 * rate, 1.05 * rate
        gradient = (high**0.9 - low**0.9) / (high - low)
        part = (tau if tau <= 3 else 2 * tau - 3) * gradient / rate
        bound = 0.05 + 0.1 * k
        k = k + 1 if part > bound else min(k, max(0, math.ceil((part - 0.05) / 0.1)))
        rate *= 1 + min(part, bound)
        rates.append(rate)
    return rates


def vivace() -> Chart:
    """The rate of Vivace after each move on an idle path."""
    moves = 20
    result = run("vivace", 30.0, rtt=RTT, initial_ssthresh="20 packets")
    _, values = segments(result)
    # The window is what 1.05 of the rate sends in two round trips.
    rates = [8 * MSS * value / (2.1 * RTT) / 1e6 for value in values]
    pairs = pairwise(rates)
    changes = rates[:1] + [rate for before, rate in pairs if abs(rate / before - 1) > 0.005]
    first = next(n for n, rate in enumerate(changes) if rate * RTT * 1e6 >= 8 * MSS * 20)
    measured = changes[first : first + moves + 1]
    law = climbed(measured[0], moves)
    return Chart(
        "moves of the rate",
        "rate (Mbit/s)",
        [Series("m(tau) gamma, bounded", lambda n: law[round(n)], list(enumerate(measured)))],
        "a move is m(tau) gamma, with the amplifier m = 1, 2, 3, 5, 7 .. and at most 0.05 + 0.1 k"
        " of the rate, u = x^0.9 (Dong et al. 2018, §4)",
        "the window over two round trips after each change, one flow, 40 ms, no queue; the start"
        " ends at 20 segments",
        tolerance=0.05,
        legend="upper left",
    )


def bbr3() -> Chart:
    """In flight over time: ProbeBW, and ProbeRTT every five seconds."""
    begin, end = 2.0, 24.0
    times, values = in_flight("bbr3", end)
    found = dips(times[times > begin], values[times > begin], 0.7, 0.1)
    apart = (found[-1][0] - found[0][0]) / (len(found) - 1)
    return Chart(
        "time (s)",
        "in flight (bandwidth-delay products)",
        [
            Series("ProbeRTT: 0.5", lambda _: 0.5, found, (begin, end)),
            Series("ProbeBW_CRUISE: 1", lambda _: 1.0, span=(begin, end)),
        ],
        "ProbeRTT leaves half a bandwidth-delay product in flight for 200 ms and a round, 5 s after"
        " the last smallest round-trip time (draft-ietf-ccwg-bbr, ProbeRTT)",
        "median of each stretch below 0.7 of what is in flight (grey), one flow alone on 10 Mbit/s"
        " and 40 ms",
        tolerance=0.02,
        traces={"in flight": trace(times, values, begin, end)},
        finding=f"The stretches are {apart:.1f} s apart.",
        ylim=(0, 2.3),
        legend="upper right",
    )


def dctcp() -> Chart:
    """The largest queue by the number of flows, at two thresholds."""

    def largest(flows: int, mark: int) -> float:
        result = run(
            "dctcp",
            0.1,
            rtt=100e-6,
            rate="10 Gbit/s",
            queue={"kind": "threshold", "mark": f"{mark} packets", "limit": "2000 packets"},
            observe=("queue",),
            flows=flows,
            ecn="dctcp",
            mss="1460 B",
        )
        series = result.series["a-b.queue"]
        return float(np.max(series["value"][series["time_s"] > 0.05]))

    def series(mark: int) -> Series:
        points = [(flows, largest(flows, mark)) for flows in (2, 5, 10, 20, 40)]
        return Series(f"K = {mark}", lambda flows: mark + flows, points)

    return Chart(
        "flows",
        "largest queue (packets)",
        [series(40), series(65)],
        "Qmax = K + N (Alizadeh et al. 2010, §3.3)",
        "the largest queue in 50 ms, N long flows on 10 Gbit/s and 100 us",
        tolerance=0.05,
    )


def prague() -> Chart:
    """Prague's rate over CUBIC's in a coupled queue, by the round-trip time."""

    def ratio(rtt: float, flows: int) -> float:
        net = Network("figure", duration="60 s")
        for name in ("a", "b", "c", "d"):
            net.host(name)
        net.router("left")
        net.router("right")
        for name, side in (("a", "left"), ("c", "left"), ("b", "right"), ("d", "right")):
            net.link(name, side, rate="1 Gbit/s", delay="0.5 ms")
        net.link(
            "left",
            "right",
            rate="50 Mbit/s",
            delay=f"{rtt / 2 - 0.001:.6f} s",
            queue={"kind": "dualpi2"},
        )
        tcp = {"receive_buffer": "1 GiB"}
        scalable = {"window": "prague", "ecn": "accurate", "ecn_codepoint": "ect1"}
        for n in range(flows):
            start = f"{n / flows:g} s"
            net.flow("a", "b", tcp=tcp | scalable, start=start)
            net.flow("c", "d", tcp=tcp | {"window": "cubic", "ecn": "on"}, start=start)
        net.observe("received", interval="30 s")
        series = net.scenario().run().series
        rates = [float(np.diff(series[f"f{n}.received"]["value"])[-1]) for n in range(2 * flows)]
        return sum(rates[::2]) / sum(rates[1::2])

    def law(rtt_ms: float, virtual_ms: float) -> float:
        return (2.3 / (2 * virtual_ms)) / (1.22 / (rtt_ms + 15))

    def coupled(rtt_ms: float) -> float:
        return law(rtt_ms, max(rtt_ms, 25))

    rtts = (5, 10, 15, 20, 25, 35, 50, 70, 100)
    return Chart(
        "round-trip time (ms)",
        "rate over CUBIC's",
        [
            Series("one flow of each", coupled, [(r, ratio(r / 1000, 1)) for r in rtts]),
            Series("five flows of each", coupled, [(r, ratio(r / 1000, 5)) for r in rtts]),
            Series("with the real round trip", lambda r: law(r, r), span=(5, 100)),
        ],
        "2.3 / (2 p' RTT_virt) over 1.22 / (p' RTT_classic), the coupling of RFC 9332 §2.1; the"
        " classic flow's round trip has the target of 15 ms besides",
        "goodput in 30 s beside as many flows of CUBIC over `dualpi2`, 50 Mbit/s",
        tolerance=0.7,
        log="x",
        legend="upper right",
        finding="The law takes p' for constant. Beside one flow of CUBIC it is not: it follows that"
        " flow's window down and up (see below).",
    )
