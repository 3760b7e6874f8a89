"""Coupled algorithms: windows of the subflows of one connection, each over a link of its own."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from algorithm_figures.chart import Chart, Series
from algorithm_figures.runs import FAST, MSS, TCP, UNLIMITED, at, mean
from anabranch import Network, RunResult

NAMES = "xyzw"
RTT = 0.1


def run(
    window: Any,
    seconds: float,
    links: Sequence[Mapping[str, Any]],
    observe: Sequence[str],
    **tcp: Any,
) -> RunResult:
    """One connection with a subflow over each of the links."""
    net = Network("figure", duration=f"{seconds:.9f} s")
    names = NAMES[: len(links)]
    for host in ("a", "b"):
        net.host(host, interfaces=list(names))
    for name, link in zip(names, links, strict=True):
        usual = {"rate": FAST, "queue": UNLIMITED, "delay": "50 ms"}
        net.link(f"a.{name}", f"b.{name}", name=name, **(usual | dict(link)))
    net.flow(
        "a",
        "b",
        protocol="mptcp",
        tcp=TCP | {"window": window, "idle_restart": False} | tcp,
        mptcp={"path_manager": "pairs"},
    )
    for what in observe:
        net.observe(what)
    return net.scenario().run()


def series(result: RunResult, name: str, kind: str) -> Any:
    """A series of the subflow over the link of this name."""
    (found,) = (
        each
        for key, each in result.series.items()
        if key.endswith(f".{kind}") and f"{name}-" in key.replace("a.", "")
    )
    return found


BEST = 1e-3
"""Loss rate of the better path."""
RATIOS = (1, 1.5, 2, 3, 4, 6, 8)


def shares(window: str, ratios: Sequence[float]) -> list[tuple[float, float]]:
    """The part of both windows that the better path has, by the ratio of the loss rates."""
    seconds, points = 600.0, []
    for ratio in ratios:
        every = [round(1 / p) for p in (BEST, BEST * ratio)]
        links = [{"impairments": [{"kind": "periodic", "every": n}]} for n in every]
        result = run(window, seconds, links, ("path_cwnd",), initial_ssthresh="20 packets")
        x, y = (mean(series(result, name, "path_cwnd"), 60, seconds) for name in "xy")
        points.append((ratio, x / (x + y)))
    return points


def share_chart(
    window: str,
    law: Callable[[float], float],
    source: str,
    tolerance: float,
    *,
    finding: str = "",
    ratios: Sequence[float] = RATIOS,
) -> Chart:
    """Windows over two paths, the second with more losses."""
    return Chart(
        "second path's loss rate over the first's",
        "first path's part of both windows",
        [
            Series(window, law, shares(window, ratios)),
            Series("uncoupled Reno", lambda r: math.sqrt(r) / (1 + math.sqrt(r)), span=(1, 8)),
        ],
        source,
        "mean windows over 540 s of one connection over two paths of 100 ms; every 1000th segment"
        " is lost on the first, more on the second",
        tolerance,
        unit="of both windows",
        log="x",
        ylim=(0.4, 1.05),
        legend="lower right",
        finding=finding,
    )


def lia() -> Chart:
    """Windows inverse to the loss rates."""
    return share_chart(
        "lia",
        lambda r: r / (1 + r),
        "windows are inverse to loss rates where the increase alpha / w_total of (1) is p_r w_r / 2"
        " (RFC 6356 §3)",
        0.03,
    )


def d_lia() -> Chart:
    """Windows inverse to the loss rates: regular losses halve them, as LIA's."""
    return share_chart(
        "d-lia",
        lambda r: r / (1 + r),
        "growth is LIA's, and losses at one window leave beta at its first value, 1/2, since then"
        " gamma = beta (mptcp_dlia.c): windows are inverse to loss rates",
        0.1,
    )


def olia() -> Chart:
    """All on the better path."""
    return share_chart(
        "olia",
        lambda r: 0.5 if r == 1 else 1.0,
        "a path with more losses than the best carries nothing where the increase (5) is"
        " p_r w_r / 2 (Khalili et al. 2012, §4)",
        0.1,
        finding="What is missing is the least window: a loss leaves two segments, of 36 in all.",
    )


def balia_ratio(a: float) -> float:
    """The ratio of the loss rates that holds the windows at w_1 = a w_2."""
    return (1 + a) * (4 + a) / 10 / min(a, 1.5)


def balia_share(ratio: float) -> float:
    """The first path's part where `balia_ratio` rises with a, from 1.5 on."""
    grid = np.linspace(1.5, 40, 4000)
    a = float(np.interp(ratio, [balia_ratio(float(each)) for each in grid], grid))
    return a / (1 + a)


def balia() -> Chart:
    """Between LIA and OLIA."""
    return share_chart(
        "balia",
        balia_share,
        "p_2 / p_1 = (1 + a) (4 + a) / (10 min(a, 1.5)), a = w_1 / w_2, where increase and decrease"
        " balance (Peng et al. 2016, §VI)",
        0.06,
        finding="At equal losses a = 1 solves it besides, from which equal paths do not depart.",
        ratios=RATIOS[1:],
    )


def wvegas() -> Chart:
    """Packets in each queue by the path's part of the rate."""
    total = 20e6
    points = []
    for share in (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8):
        links = [
            {"rate": f"{total * part:g} bit/s", "delay": "20 ms"} for part in (share, 1 - share)
        ]
        result = run("wvegas", 60, links, ("queue",))
        points.append((share, 1 + mean(result.series["x.queue"], 30, 60)))
    return Chart(
        "the path's part of the rate",
        "packets that wait",
        [Series("alpha_r", lambda s: max(2, 10 * s), points, (0.1, 0.9))],
        "alpha_r = max(2, 10 rate_r / sum rate) segments wait on each path"
        " (draft-xu-mptcp-congestion-control-05, §2)",
        "mean over 30 s on the first of two paths of 20 Mbit/s together and 40 ms, with the packet"
        " in transmission, which the handshake's round trip, `base_r`, has not",
        tolerance=0.6,
        unit="packets",
    )


HIGHEST = 340
"""The largest window, in segments, that is compared."""


def after_losses(window: str, paths: int, seconds: float) -> tuple[int, Any, Any]:
    """The index at which a loss reduces the window of the first of equal paths, each of which loses
    one segment; dates and windows."""
    most = 200
    once = {"kind": "periodic", "every": 10**9, "first": 3 * most}
    links = [{"impairments": [once]}] * paths
    result = run(
        {"algorithm": window, "fast_convergence": False},
        seconds,
        links,
        ("path_cwnd",),
        initial_ssthresh=f"{most} packets",
    )
    found = series(result, "x", "path_cwnd")
    values = found["value"] / MSS
    return int(np.argmin(np.diff(values))) + 1, found["time_s"], values


Plateau = Callable[[float, int, float, float], float]
"""The window at a time after the loss, of so many paths, from W_max and from what the loss left."""


def plateau_chart(window: str, law: Plateau, source: str) -> Chart:
    """The window of one of one to three equal paths after a loss on each."""

    def series(paths: int) -> Series:
        drop, times, values = after_losses(window, paths, 24.0)
        most, left = float(values[drop - 1]), float(values[drop])
        began = float(times[drop]) + RTT  # the end of the recovery
        points = [(float(t), at(times, values, began + t)) for t in np.arange(0.5, 20, 1.0)]
        return Series(
            f"{paths} path{'s' if paths > 1 else ''}",
            lambda t: law(t, paths, most, left),
            [(t, w) for t, w in points if w < HIGHEST],
        )

    return Chart(
        "time since the recovery (s)",
        "window of a path (segments)",
        [series(paths) for paths in (1, 2, 3)],
        source,
        "one of the windows of a connection over 1, 2 and 3 equal paths of 100 ms, after one loss"
        " on each",
        tolerance=0.05,
        ylim=(100, HIGHEST),
        legend="upper left",
    )


def mcubic() -> Chart:
    """K' = n K of n equal paths."""

    def law(t: float, paths: int, most: float, least: float) -> float:
        k = math.cbrt((most - least) / 0.4)
        return max(least, 0.4 * (t - paths * k) ** 3 + most)

    return plateau_chart(
        "mcubic",
        law,
        "W(t) = C (t - K')^3 + Wmax, K' = n K of n equal paths, from (7) and (8); the window is"
        " held where the curve is below it",
    )


def mcubic_share() -> Chart:
    """A clock that runs n^(4/3) times slower."""

    def law(t: float, paths: int, most: float, least: float) -> float:
        k = math.cbrt((most - least) / 0.4)
        return float(0.4 * (t / paths ** (4 / 3) - k) ** 3 + most)

    return plateau_chart(
        "mcubic-share",
        law,
        "W(t) = C (tau - K)^3 + Wmax, tau = t / n^(4/3) of n equal paths, the equations above",
    )


def coupled_bbr() -> Chart:
    """Equal links: each path follows the n-th part of its bandwidth in six of eight phases."""
    rate, seconds, start, points = 10e6, 120.0, 20.0, []
    for paths in (1, 2, 3, 4):
        links = [{"rate": f"{rate:g} bit/s", "delay": "20 ms"}] * paths
        result = run("coupled-bbr", seconds, links, ("received",))
        (received,) = (each for key, each in result.series.items() if key.endswith(".received"))
        times, octets = received["time_s"], received["value"]
        first, last = (at(times, octets, date) for date in (start, seconds))
        points.append((paths, 8 * (last - first) / (seconds - start) / paths / rate))
    return Chart(
        "equal links, a path over each",
        "part of the links that is used",
        [
            Series("divided", lambda n: 1.0 if n == 1 else (1.75 + 6 / n) / 8, points, (1, 4)),
            Series("not divided", lambda _: 1.0, span=(1, 4)),
        ],
        "n like bandwidths are divided by n in phases 2 to 7 of the cycle, whose gains are 1, and"
        " not in those of 1.25 and 0.75 (mptcp_c-mpbbr.c)",
        "payload over 100 s of one connection over links of 10 Mbit/s and 40 ms",
        tolerance=0.15,
        unit="of the links",
        ylim=(0, 1.05),
        legend="lower left",
    )
