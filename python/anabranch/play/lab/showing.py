"""What the notebooks of the lab show: settings beside each other, as numbers and as figures."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from anabranch import si
from anabranch.experiment import RunResult
from anabranch.play.controls.control import Value
from anabranch.play.lab.course import setting
from anabranch.play.series import (
    RATES,
    late_goodput,
    late_mean,
    late_path_rate,
    late_rtt,
    segments,
)
from anabranch.plot import scale_of, throughput
from anabranch.rows import Flow, Path

KINDS = ("delivery", "cwnd", "queue", "srtt")
"""What is drawn, a row each."""
SHORT = 0.1
"""Packets in the mean up to which there is nothing to say of a queue."""


def show(
    scenario: str, *settings: Mapping[str, Value], kinds: Sequence[str] = KINDS
) -> list[RunResult]:
    """Runs a scenario of the lab once for each setting, prints what came of its flows and of the
    queues of its links, and draws rates, windows, queues and round-trip times beside each other;
    returns the results. Rates of flows that go on, round-trip times and queues are means over the
    second half of the run."""
    runs = [setting(scenario, dict(changes)).run() for changes in settings]
    for run, changes in zip(runs, settings, strict=True):
        _print(run, changes)
    _draw(runs, kinds)
    plt.show()
    return runs


def _print(run: RunResult, changes: Mapping[str, Value]) -> None:
    print(", ".join(f"{name} = {value}" for name, value in changes.items()) or "as it is")
    for flow in run.flows:
        done = "" if flow.finish_s is None else f", done after {si.text(flow.finish_s, 's')}"
        rate = si.text(late_goodput(run, flow) * 1e6, "bit/s")
        rtt = late_rtt(run, f"{flow.flow}.srtt")
        trip = "" if rtt is None else f", mean RTT {si.text(rtt, 's')}"
        print(f"  {flow.flow}: {rate}{trip}, {_again(flow)}{done}")
        for path in (each for each in run.paths if each.flow == flow.flow and each.packets):
            over = late_path_rate(run, flow, path)
            rate = si.MISSING if over is None else si.text(over * 1e6, "bit/s")
            print(f"    {path.from_} to {path.to}: {rate}, {_again(path)}")
    for link in run.links:
        waiting = run.series.get(f"{link.name}.queue")
        mean = 0.0 if waiting is None else late_mean(waiting, run.run.end_s)
        if link.dropped or mean > SHORT:
            queue = f"mean queue {si.number(mean)} packets"
            print(f"  {link.name}: {queue}, {link.dropped:,} dropped")


def _again(row: Flow | Path) -> str:
    """What was sent again, and how often the timer expired."""
    packets = si.counted(row.retransmitted_packets, "packet")
    return f"{packets} sent again, {si.counted(row.timeouts, 'timeout')}"


def _draw(runs: Sequence[RunResult], kinds: Sequence[str]) -> Figure:
    figure, axes = plt.subplots(
        len(kinds),
        len(runs),
        figsize=(6 * len(runs), 2.6 * len(kinds)),
        sharex=True,
        sharey="row",
        squeeze=False,
        layout="constrained",
    )
    for row, kind in zip(axes, kinds, strict=True):
        for axis, run in zip(row, runs, strict=True):
            if kind == "delivery":  # fine enough for the bursts of slow start
                throughput(run, interval_s=run.run.end_s / RATES, axes=axis)
            else:
                run.plot(kind, axes=axis)
            if kind == "cwnd":
                _count_segments(axis, run)
    return figure


def _count_segments(axis: Axes, run: RunResult) -> None:
    """An axis of segments at the right of windows, where all flows have the same, as the page has:
    the lab counts in segments, and a rate in Mbit/s counts no bytes."""
    sizes = set(segments(tomllib.loads(run.run.resolved)).values())
    if len(sizes) != 1 or any(flow.protocol != "tcp" for flow in run.flows):
        return
    (size,) = sizes
    each = scale_of(axis).factor / size
    functions = (lambda value: value * each, lambda count: count / each)
    axis.secondary_yaxis("right", functions=functions).set_ylabel(f"segments of {size:g} bytes")
