"""Algorithms that hear delays: the queue that they keep, and how they come to it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from algorithm_figures.chart import Chart, Points, Series
from algorithm_figures.runs import MSS, Window, at, mean, run, segments

HEADERS = 40
"""Octets of the headers of IP and TCP."""
PACKET = 8 * (MSS + HEADERS)
"""Bits of a full packet."""


def queue_of(
    window: Window, flows: int, seconds: float, start: int | None = None, rate: float = 20e6
) -> float:
    """Mean packets that wait in the second half of a run, at 40 ms; `start` is the window at which
    each flow's slow start ends."""
    begins: dict[str, Any] = {} if start is None else {"initial_ssthresh": f"{start} packets"}
    result = run(
        window,
        seconds,
        rtt=0.04,
        rate=f"{rate:g} bit/s",
        observe=("queue",),
        flows=flows,
        **begins,
    )
    return mean(result.series["a-b.queue"], seconds / 2, seconds)


def vegas() -> Chart:
    """Packets in the queue by the number of flows."""
    points = [(n, 1 + queue_of("vegas", n, 20.0)) for n in range(1, 11)]
    return Chart(
        "flows",
        "packets that wait",
        [
            Series("the middle, 3 a flow", lambda n: 3 * n, points),
            Series("alpha, 2 a flow", lambda n: 2 * n, span=(1, 10)),
            Series("beta, 4 a flow", lambda n: 4 * n, span=(1, 10)),
        ],
        "each flow keeps alpha = 2 to beta = 4 packets in the queue (Brakmo and Peterson 1995)",
        "mean over 10 s with the packet in transmission, which the handshake's round trip, BaseRTT,"
        " has not; flows that start together on 20 Mbit/s and 40 ms",
        tolerance=1 / 3,
        finding="A third is the distance from the middle to either bound.",
    )


def copa() -> Chart:
    """Packets in the queue by 1 / delta."""
    pipe = round(20e6 * 0.04 / PACKET)

    def kept(flows: int, wanted: float, slow_start: bool = False, competes: bool = False) -> float:
        window = {"algorithm": "copa", "delta": 1 / wanted, "competitive": competes}
        return queue_of(window, flows, 40.0, None if slow_start else pipe // flows)

    wanted = (2, 4, 6, 8, 12, 16, 20)
    alone, pair = kept(1, 2, slow_start=True), kept(2, 2, competes=True)
    return Chart(
        "1 / delta (packets)",
        "packets that wait",
        [
            Series("one flow", lambda n: n, [(n, kept(1, n)) for n in wanted]),
            Series("two flows", lambda n: 2 * n, [(n, kept(2, n)) for n in wanted]),
        ],
        "a rate of 1 / (delta d_q) is the link's where 1 / delta packets of each flow wait (Arun"
        " and Balakrishnan 2018, §2.1)",
        "mean over 20 s, 20 Mbit/s and 40 ms, flows that start together with their part of the"
        " pipe; `competitive` is off",
        tolerance=1.0,
        finding="The window swings, and so the mean is above the line. The swing depends on the"
        " start: after a slow start without a threshold one flow with 1 / delta = 2 swings by most"
        f" of the pipe as long as it runs, and {alone:.0f} packets wait on average. With"
        " `competitive` on, as by default, two flows with 1 / delta = 2 that begin with their part"
        f" of the pipe go on competing with each other: {pair:.0f} packets wait in a queue without"
        " limit. Why is open.",
    )


def lp() -> Chart:
    """The window at which TCP-LP hears early congestion, by delta."""
    rate, rtt, buffer, seconds = 10e6, 0.04, 100, 60.0
    # What is in the pipe, the packet in transmission among it.
    pipe = rtt * rate / PACKET + 1
    points = []
    for delta in (0.05, 0.1, 0.15, 0.2, 0.3, 0.45, 0.6):
        result = run(
            {"algorithm": "lp", "delta": delta},
            seconds,
            rtt=rtt,
            rate=f"{rate:g} bit/s",
            queue={"kind": "droptail", "limit": f"{buffer} packets"},
        )
        times, values = segments(result)
        halved = (values[1:] < 0.6 * values[:-1]) & (times[1:] > seconds / 4)
        points.append((delta, float(np.mean(values[:-1][halved]))))
    return Chart(
        "delta",
        "window (segments)",
        [Series("pipe and delta of the buffer", lambda d: pipe + d * buffer, points)],
        "early congestion is a delay above d_min + delta (d_max - d_min) (Kuzmanovic and Knightly"
        " 2003, §III-A): the pipe and the part delta of the buffer are full",
        "mean window before each halving, one flow on 10 Mbit/s and 40 ms, a buffer of 100 packets",
        tolerance=0.25,
        finding="The deviation is that of delta = 0.05, whose five packets are within the bursts of"
        " one flow: it halves before the pipe is full. From 0.1 on points are within 4 %.",
    )


def nv() -> Chart:
    """Packets in the queue by the pad."""
    rate, rtt = 100e6, 0.002

    def kept(pad: int, begin: float, end: float) -> float:
        result = run(
            {"algorithm": "nv", "pad": pad},
            end,
            rtt=rtt,
            rate=f"{rate:g} bit/s",
            observe=("queue",),
            initial_ssthresh="20 packets",
        )
        return mean(result.series["a-b.queue"], begin, end)

    points = [(pad, kept(pad, 0.5, 1.5)) for pad in (5, 10, 15, 20, 30, 40)]
    later = kept(10, 30.0, 40.0)
    return Chart(
        "pad (segments)",
        "packets that wait",
        [
            Series("pad - 1", lambda pad: pad - 1, points),
            Series("pad", lambda pad: pad, span=(5, 40)),
            Series("pad - 2", lambda pad: pad - 2, span=(5, 40)),
        ],
        "the window grows up to pad - 2 segments above what the rate needs, and shrinks from pad on"
        " (Linux, tcp_nv.c: nv_pad, nv_pad_buffer)",
        "mean from 0.5 to 1.5 s, one flow on 100 Mbit/s and 2 ms, a queue without limit",
        tolerance=3.0,
        unit="packets",
        finding="The smallest round-trip time is that of the last periods of about five seconds,"
        f" and nothing empties the queue: from 30 to 40 s {later:.0f} packets wait with a pad of"
        " 10.",
    )


def ledbat() -> Chart:
    """The queueing delay of one flow on its way to the target."""
    rate, rtt, target, seconds = 10e6, 0.04, 0.1, 90.0
    transmission = PACKET / rate
    threshold = math.floor(rtt * rate / PACKET)
    result = run(
        "ledbat",
        seconds,
        rtt=rtt,
        rate=f"{rate:g} bit/s",
        observe=("queue", "cwnd"),
        interval=0.01,
        initial_ssthresh=f"{threshold} packets",
    )
    queue = result.series["a-b.queue"]
    times, waiting = queue["time_s"], np.asarray(queue["value"], dtype=float)

    # A window of W = (rtt + q) / transmission segments grows by 1 - q / TARGET a round trip.
    begin = float(times[np.argmax(waiting >= 5)])
    step, delay, curve = 0.01, 5 * transmission, []
    for _ in range(round((seconds - begin) / step) + 1):
        curve.append(delay)
        delay += step * (1 - delay / target) * transmission / (rtt + delay)
    dates = begin + step * np.arange(len(curve))

    def law(when: float) -> float:
        return 1000 * float(np.interp(when, dates, curve))

    def smooth(when: float) -> float:
        near = np.abs(times - when) <= 0.25
        return 1000 * transmission * float(np.mean(waiting[near]))

    points = [(when, smooth(when)) for when in np.arange(math.ceil(begin) + 1, seconds, 3.0)]
    return Chart(
        "time (s)",
        "queueing delay (ms)",
        [
            Series("law", law, points, (begin, seconds)),
            Series("TARGET", lambda _: 1000 * target, span=(begin, seconds)),
        ],
        "a round trip adds GAIN (1 - q / TARGET) segments (RFC 6817 §2.4.2), integrated from where"
        " the queue begins",
        "the queue in means over 0.5 s, one flow alone on 10 Mbit/s and 40 ms",
        tolerance=5,
        unit="ms",
        legend="lower right",
    )


def ledbat_plus_plus() -> Chart:
    """The step of a round trip by the base delay."""
    target = 0.06

    def gain(rtt_ms: float) -> float:
        return 1 / min(16, math.ceil(round(2000 * target / rtt_ms, 9)))

    def step(rtt_ms: float) -> float:
        rtt, rounds = rtt_ms / 1000, 64
        result = run(
            {"algorithm": "ledbat++", "slowdowns": False},
            (rounds + 30) * rtt + 1,
            rtt=rtt,
            interval=rtt / 10,
            initial_ssthresh="20 packets",
            initial_window="20 packets",
        )
        times, values = segments(result)
        end = float(times[-1])
        return (at(times, values, end) - at(times, values, end - rounds * rtt)) / rounds

    rtts = (5, 7, 9, 11, 14, 18, 23, 28, 35, 45, 55, 80, 100, 130, 160, 200)
    return Chart(
        "base delay (ms)",
        "segments a round trip",
        [Series("GAIN", gain, [(each, step(each)) for each in rtts])],
        "GAIN = 1 / min(16, ceil(2 TARGET / base)), TARGET = 60 ms"
        " (draft-irtf-iccrg-ledbat-plus-plus-01, §4.2)",
        "growth over 64 round trips below the target, one flow, no queue, slowdowns off",
        tolerance=0.05,
        log="x",
    )


def westwood() -> Chart:
    """What a loss leaves, by the buffer."""
    rate, rtt = 10e6, 0.1
    pipe = rate * rtt / PACKET
    buffers = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0)

    def left(window: str, buffer: float) -> float:
        """Of the window before the last loss of a run."""
        cycle = pipe * (buffer + 0.5) * rtt * (1 + buffer)
        result = run(
            window,
            20 + 4 * cycle,
            rtt=rtt,
            rate=f"{rate:g} bit/s",
            queue={"kind": "droptail", "limit": f"{round(buffer * pipe)} packets"},
            observe=("cwnd", "ssthresh"),
            initial_ssthresh=f"{round(pipe)} packets",
        )
        times, windows = segments(result)
        dates, thresholds = segments(result, "ssthresh")
        changed = [n for n in range(1, len(dates)) if thresholds[n] != thresholds[n - 1]]
        last = changed[-1]
        return float(thresholds[last] / at(times, windows, float(dates[last]) - 1e-6))

    points: dict[str, Points] = {
        window: [(b, left(window, b)) for b in buffers] for window in ("westwood", "reno")
    }
    return Chart(
        "buffer (bandwidth-delay products)",
        "part of the window that a loss leaves",
        [
            Series("westwood: 1 / (1 + b)", lambda b: 1 / (1 + b), points["westwood"]),
            Series("reno: 1/2", lambda _: 0.5, points["reno"]),
        ],
        "ssthresh = B RTTmin (Mascolo et al. 2001; Grieco and Mascolo 2004), which is the pipe"
        " where B is the rate of the link: 1 / (1 + b) of a window that fills pipe and buffer",
        "ssthresh over the window before the last loss, one flow on 10 Mbit/s and 100 ms",
        tolerance=0.1,
        legend="upper right",
    )
