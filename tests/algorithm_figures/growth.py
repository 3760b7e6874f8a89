"""How windows grow, and what reductions leave, round trip by round trip."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import accumulate, islice
from typing import Any

import numpy as np

from algorithm_figures.chart import Chart, Series
from algorithm_figures.runs import MSS, Window, at, run, segments

RTT = 0.1


def after_a_loss(window: Window, most: int, seconds: float) -> tuple[int, Any, Any]:
    """The index at which one loss reduces a window of about `most` segments, and all windows."""
    loss = {"kind": "packets", "flow": "f0", "numbers": [3 * most]}
    result = run(
        window,
        seconds,
        link={"impairments": [loss]},
        initial_ssthresh=f"{most} packets",
    )
    times, values = segments(result)
    return int(np.argmax(np.diff(values) < 0)) + 1, times, values


def bic() -> Chart:
    """The window between a loss and far beyond its maximum."""
    rounds, s_min, s_max = 36, 0.01, 32.0
    drop, times, values = after_a_loss("bic", 1024, 8.0)
    lost, most, left = float(times[drop]), float(values[drop - 1]), float(values[drop])

    def paper() -> Iterator[float]:
        """Once a round trip: half of the way, until it is less than S_min; then probing."""
        w, probe = left, 0.5
        while True:
            yield w
            if most - w > s_min:
                w += min((most - w) / 2, s_max)
            else:
                probe = min(2 * probe, s_max)
                w += probe

    def by_acks() -> Iterator[float]:
        """The same with the step of each ACK by the window that it finds."""
        w, parts, began = left, 1000, 0.0
        while True:
            yield w
            for _ in range(parts):
                if w < most:
                    step = min(max((most - w) / 2, s_min), s_max)
                else:
                    began = began or w
                    step = min(w - began + 1, s_max)
                w += step / parts

    steps, curve = (list(islice(each, rounds + 1)) for each in (paper(), by_acks()))
    points = [(n, at(times, values, lost + (n + 1.5) * RTT)) for n in range(rounds)]
    apart = max(abs(y - steps[n]) for n, y in points)
    return Chart(
        "round trips since the recovery",
        "window (segments)",
        [
            Series("ACK by ACK", lambda n: float(np.interp(n, range(rounds + 1), curve)), points),
            Series(
                "once a round trip",
                lambda n: float(np.interp(n, range(rounds + 1), steps)),
                span=(0, rounds),
            ),
        ],
        "a round trip adds half of the way to W_max, from 0.01 to 32 segments, then 1, 2, 4, ... up"
        " to 32 (Xu et al. 2004, §III), once a round trip as in the paper, and ACK by ACK",
        f"the window of one flow after a loss at {most:.0f} segments, 100 ms, no queue",
        tolerance=10,
        unit="segments",
        finding="This deviation is from the steps ACK by ACK, which come to W_max later; from the"
        f" paper's the points are {apart:.0f} segments at most, {apart / s_max:.1f} round trips.",
        legend="upper left",
    )


def htcp() -> Chart:
    """alpha by the time since the loss."""
    window = {"algorithm": "htcp", "adaptive_backoff": False}
    drop, times, values = after_a_loss(window, 400, 12.0)
    lost = float(times[drop])

    def alpha(delta: float) -> float:
        beyond = max(delta - 1, 0)
        return 1 + 10 * beyond + (beyond / 2) ** 2

    def gained(delta: float) -> float:
        end, begin = (at(times, values, lost + delta + half) for half in (RTT / 2, -RTT / 2))
        return end - begin

    points = [(n / 2, gained(n / 2)) for n in range(1, 21)]
    return Chart(
        "time since the loss (s)",
        "segments a round trip",
        [Series("alpha", alpha, points)],
        "alpha = 1 + 10 (Delta - 1) + ((Delta - 1) / 2)^2 beyond a second, 1 before, where a loss"
        " leaves half (draft-leith-tcp-htcp-06, §2)",
        "growth of the window in a round trip, one flow after a loss at 400 segments, 100 ms, no"
        " queue, `adaptive_backoff` off",
        tolerance=0.05,
    )


def hybla() -> Chart:
    """The segment rate after ten seconds of congestion avoidance by the round-trip time."""
    first, base, seconds = 10, 0.025, 10.0
    rtts = (0.025, 0.05, 0.1, 0.2, 0.3, 0.45, 0.6)

    def rate(window: str, rtt: float, threshold: float) -> float:
        result = run(
            window,
            seconds + 3,
            rtt=rtt,
            interval=rtt / 10,
            initial_ssthresh=f"{round(threshold)} packets",
            initial_window="2 packets",
        )
        times, values = segments(result)
        begin = float(times[np.argmax(values >= threshold)])
        return at(times, values, begin + seconds) / rtt

    def hybla_law(_: float) -> float:
        return (first + seconds / base) / base

    def reno_law(rtt: float) -> float:
        return (first + seconds / rtt) / rtt

    return Chart(
        "round-trip time (s)",
        "segments a second",
        [
            Series("hybla", hybla_law, [(r, rate("hybla", r, first * r / base)) for r in rtts]),
            Series("reno", reno_law, [(r, rate("reno", r, first)) for r in rtts]),
        ],
        "B(t) = (t / RTT_0 + gamma) / RTT_0, whatever the round-trip time (Caini and Firrincieli"
        " 2004); Reno's (t / RTT + gamma) / RTT",
        "W / RTT ten seconds after slow start has ended at gamma = 10 segments (of Hybla rho"
        " gamma), one flow, no loss and no queue",
        tolerance=0.2,
        log="y",
        legend="lower left",
        finding="A window grows by the ACKs of the round trip before, which are fewer: the larger"
        " the steps, the more is missing.",
    )


ETA = (0.01, 0.1, 0.8)


def illinois_alpha(d: float) -> float:
    """alpha by the delay as a part of the largest (§3.2): from 10 to 0.3 by a hyperbola."""
    ratio = 0.3 / 9.7
    return 10.0 if d <= ETA[0] else (1 - ETA[0]) * ratio * 10 / ((1 - ETA[0]) * ratio - ETA[0] + d)


def illinois_beta(d: float) -> float:
    """beta by the delay as a part of the largest (§3.2): from 1/8 to 1/2 by a line."""
    return 0.125 + 0.375 * min(max((d - ETA[1]) / (ETA[2] - ETA[1]), 0), 1)


def illinois() -> Chart:
    """alpha and beta, each as a part of its largest value, by the delay."""
    delays = (0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1.0)
    alphas, betas = [], []
    for d in delays:
        rtt = RTT * (1 + d)
        steps = [
            {"at": "0 s", "delay": f"{RTT / 2} s"},
            {"at": "3 s", "delay": f"{1.5 * RTT} s"},
            {"at": "4 s", "delay": f"{RTT / 2 + RTT * d:.9f} s"},
        ]
        begin, end = 6.5, 6.5 + 10 * rtt

        def measured(numbers: Sequence[int], until: float, steps: Any = steps) -> Any:
            loss = {"kind": "packets", "flow": "f0", "numbers": list(numbers)}
            return run(
                "illinois",
                until,
                observe=("cwnd", "received"),
                initial_ssthresh="200 packets",
                link={
                    "delays": {"steps": steps},
                    "reverse": {"delay": f"{RTT / 2} s"},
                    "impairments": [loss] if numbers else [],
                },
            )

        plain = measured((), end)
        times, values = segments(plain)
        alphas.append((d, (at(times, values, end) - at(times, values, begin)) / 10 / 10))
        sent = round(plain.series["f0.received"]["value"][-1] / MSS) + 2 * round(values[-1])
        times, values = segments(measured((sent,), end + 8 * rtt))
        drop = int(np.argmin(np.diff(values)))
        betas.append((d, (1 - values[drop + 1] / values[drop]) / 0.5))
    return Chart(
        "queueing delay, as a part of the largest",
        "part of the largest value",
        [
            Series("alpha / 10", lambda d: illinois_alpha(d) / 10, alphas),
            Series("beta / 0.5", lambda d: illinois_beta(d) / 0.5, betas),
        ],
        "alpha = kappa_1 / (kappa_2 + d) from 10 to 0.3, and beta from 0.125 to 0.5 (Liu et al."
        " 2008, §3.2)",
        "growth of the window in a round trip, and what one loss takes, 100 ms and a delay that a"
        " schedule adds, 100 ms at most, one flow",
        tolerance=0.05,
        ylim=(0, 1.4),
        legend="upper right",
    )


def cdg() -> Chart:
    """How often a round trip reduces the window, by the gradient of the delay."""
    rounds, smoothing = 1000, 9
    points = []
    for gradient in (0.0005, 0.001, 0.002, 0.003, 0.005, 0.007, 0.01):
        # The path grows longer by the gradient in each round trip.
        longer = list(accumulate([gradient] * (rounds + smoothing)))
        dates = list(accumulate((0.05 + each for each in longer), initial=2.0))
        steps = [{"at": "0 s", "delay": "0.025 s"}]
        steps += [
            {"at": f"{date:.9f} s", "delay": f"{0.025 + more:.9f} s"}
            for date, more in zip(dates, longer, strict=False)
        ]
        result = run(
            {"algorithm": "cdg", "beta": 0.98, "ineffectual": 0},
            dates[-1],
            link={"delays": {"steps": steps}, "reverse": {"delay": "0.025 s"}},
            initial_ssthresh="100 packets",
        )
        times, values = segments(result)
        counted = times[1:] > dates[smoothing]
        points.append((gradient * 1000, float(np.sum((np.diff(values) < 0) & counted)) / rounds))
    return Chart(
        "gradient (ms a round trip)",
        "part of the round trips that reduce",
        [Series("1 - exp(-g / G)", lambda g: 1 - math.exp(-g / 3), points, (0, 10))],
        "P = 1 - exp(-g / G), G = 3 ms (Hayes and Armitage 2011, §3)",
        f"reductions in {rounds} round trips of a path that grows longer by g in each, one flow,"
        " no loss; `ineffectual` is off",
        tolerance=0.05,
        unit="of the probability",
        legend="lower right",
    )
