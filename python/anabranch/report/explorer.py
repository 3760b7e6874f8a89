"""One run as charts that move together: the time-sequence diagram, windows, queues, rates.

What is drawn is what the scenario observed; `Scenario.explored` observes all of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from anabranch import si, timeline
from anabranch.observed import AXES, LANE, OF_LINKS, STATES, arrivals, natural, rate
from anabranch.recorded import Recorded, Series
from anabranch.report import lanes, thinning
from anabranch.report.capacity import bottlenecks
from anabranch.report.charts import Chart, Trace, apart

MOST_PACKETS = 12_000
"""Packets of one kind drawn of each flow or path; what was lost or sent again comes on top."""
MOST_SAMPLES = 6_000
"""Samples drawn of a curve."""
MOST_SERIES = 24
"""Series in one chart; the others are in their files."""
RATE_INTERVALS = 200
"""Rates are means over this part of the run."""

SPIKE = 2.0
"""What rises this many times above what is usual does not set the height of the first view."""
USUAL = 0.99
"""Share of the time in which a curve is no higher than what is usual."""

LINK = "run"
SEQUENCE = "Time-sequence"
"""Title of the time-sequence diagram."""
COLOURS = (0, 5, 4, 2, 3, 6)
LINES = 6
"""Colours of curves, in their order; the seventh is that of what links can carry."""
SENT = (0, 4, 5)
"""Colours of what is sent, lane by lane: those that no other event has."""
AGAIN, RECEIVER, LOST, ACKED = 1, 2, 3, 6
"""Colours of events. What the receiver got and what it reported share one, which those who see no
red or no green tell from the sender's by its lightness; marks differ besides."""
CAPS, DIAMOND, RING = 1, 3, 1
"""Marks of strokes, and of dots."""
TOGETHER = (
    ("Windows", ("cwnd", "path_cwnd", "ssthresh", "path_ssthresh", "in_flight", "path_in_flight")),
    ("Queues", ("queue", "regulator")),
    ("Smoothed round-trip times", ("srtt", "path_srtt")),
    ("Retransmission timeouts", ("path_rto",)),
)
"""Quantities that are drawn in one chart."""
AXIS = {"Windows": "", "Queues": "waiting packets"}
SAYS = {"ssthresh": "ssthresh", "in_flight": "in flight", "srtt": "smoothed RTT", "rto": "RTO"}


def charts(result: Recorded) -> list[Chart]:
    """The charts of a run, the time-sequence diagram first; none if nothing was observed."""
    kinds: dict[str, list[str]] = {}
    for name in sorted(result.series, key=natural):
        kinds.setdefault(name.rpartition(".")[2], []).append(name)
    found = [*_sequence(result, kinds), *_arrivals(result, kinds), *_delivery(result, kinds)]
    done = {"received", *LANE}
    for title, members in TOGETHER:
        names = [name for kind in members for name in kinds.get(kind, ())]
        done.update(members)
        if names:
            found.append(_curves(result, title, AXIS.get(title, ""), names))
    for kind, names in kinds.items():
        if kind not in done:
            axis, title = AXES.get(kind, (kind, kind))
            found.append(_curves(result, title, axis.partition(" (")[0], names))
    return found


def what_happened(result: Recorded) -> Chart | None:
    """The timeline, which moves with the other charts; nothing if only flows are known."""
    return lanes.timeline_chart(timeline.events(result), result.run.end_s, LINK)


def _sequence(result: Recorded, kinds: dict[str, list[str]]) -> Iterator[Chart]:
    lanes = [name.removesuffix(".sends") for name in kinds.get("sends", ())]
    if not lanes:
        return
    traces: list[Trace] = []
    notes: list[str] = []
    chunks = {flow.flow for flow in result.flows if flow.protocol == "sctp"}
    for index, lane in enumerate(lanes[:MOST_SERIES]):
        in_chunks = any(lane == flow or lane.startswith(f"{flow}.") for flow in chunks)
        series = {kind: result.series[f"{lane}.{kind}"] for kind in LANE}
        traces += _lane(lane, SENT[index % len(SENT)], series, in_chunks, len(lanes) > 1)
    notes += _left_out(len(lanes), "flows and paths")
    notes += _thinned_out(traces, MOST_PACKETS)
    axis = "bytes from the start of the stream"
    if chunks:
        axis = "chunks" if len(chunks) == len(result.flows) else "bytes (SCTP: chunks)"
    yield Chart(SEQUENCE, "time (s)", axis, traces, link=LINK, tall=True, notes=notes)


def _lane(
    lane: str, colour: int, series: dict[str, Series], in_chunks: bool, several: bool
) -> list[Trace]:
    """What was sent, sent again, acknowledged, selectively acknowledged, received and lost."""
    prefix = f"{lane}: " if several else ""
    sends, sacks = series["sends"], series["sacks"]
    again = np.asarray(sends["retransmission"], dtype=bool)
    tall: Any = 1 if in_chunks else sends["len"]
    ends = sends["value"] + tall

    def trace(name: str, kind: Any, x: Any, y: Any, colour: int, **more: Any) -> Trace:
        return Trace(prefix + name, kind, x, y, colour=colour, group=lane, **more)

    first = np.flatnonzero(~again)
    kept = first[thinning.packets(len(first), MOST_PACKETS)]
    times, values = sends["time_s"], sends["value"]
    blocks = thinning.packets(len(sacks["time_s"]), MOST_PACKETS)
    arrived = thinning.packets(len(series["receives"]["time_s"]), MOST_PACKETS)
    acks = series["acks"]
    acked = thinning.curve(acks["time_s"], acks["value"], MOST_SAMPLES)
    repeats = np.flatnonzero(again)
    resent = repeats[thinning.packets(len(repeats), MOST_PACKETS)]
    drops = series["drops"]
    lost = thinning.packets(len(drops["time_s"]), MOST_PACKETS)
    return [
        trace("sent", "bars", times[kept], values[kept], colour, high=ends[kept],
              note=_thinned(len(kept), len(first))),
        trace("acknowledged", "steps", acks["time_s"][acked], acks["value"][acked], ACKED,
              note=_thinned(len(acked), len(acks["time_s"]))),
        trace("SACK blocks", "bars", sacks["time_s"][blocks], sacks["value"][blocks], RECEIVER,
              high=(sacks["value"] + sacks["len"])[blocks], mark=CAPS,
              note=_thinned(len(blocks), len(sacks["time_s"]))),
        trace("sent again", "bars", times[resent], values[resent], AGAIN, high=ends[resent],
              mark=DIAMOND,
              note=_thinned(len(resent), len(repeats))),
        trace("received", "dots", series["receives"]["time_s"][arrived],
              series["receives"]["value"][arrived], RECEIVER, mark=RING,
              note=_thinned(len(arrived), len(series["receives"]["time_s"])), shown=False),
        trace("lost", "crosses", drops["time_s"][lost], drops["value"][lost], LOST,
              note=_thinned(len(lost), len(drops["time_s"]))),
    ]  # fmt: skip


def _arrivals(result: Recorded, kinds: dict[str, list[str]]) -> Iterator[Chart]:
    """What reached the receivers in each interval, and behind it what the links can carry."""
    lanes = [name.removesuffix(".receives") for name in kinds.get("receives", ())]
    end = result.run.end_s
    if not lanes or not end > 0:
        return
    interval = end / RATE_INTERVALS
    drawn = []
    for lane in lanes[:MOST_SERIES]:
        receives, sends = (result.series[f"{lane}.{kind}"] for kind in ("receives", "sends"))
        drawn.append((lane, *arrivals(receives, sends, interval, end)))
    links = bottlenecks(getattr(result.run, "resolved", ""), lanes[:MOST_SERIES])
    scaled = si.scale([*(rate for _, _, each in drawn for rate in each),
                       *(link.rate_bps for link in links)], "bit/s")  # fmt: skip
    traces = [
        Trace(
            f"{link.link} can carry {si.text(link.rate_bps, 'bit/s')}", "line", [0, end],
            [scaled.of(link.rate_bps)] * 2, colour=6, dash=3 - index % 3,
        )
        for index, link in enumerate(links)
    ]  # fmt: skip
    traces += [
        Trace(
            lane, "steps", middles - interval / 2, rates / scaled.factor,
            colour=index % LINES, dash=index // LINES % 4, group=lane,
        )
        for index, (lane, middles, rates) in enumerate(drawn)
    ]  # fmt: skip
    notes = [
        f"Data packets that reached the receiver, in any order, without headers; means over"
        f" {si.text(interval, 's')}.",
        *_left_out(len(lanes), "flows and paths"),
    ]
    axis = scaled.axis("arrivals")
    yield Chart("Arrivals at the receiver", "time (s)", axis, traces, link=LINK, notes=notes)


def _delivery(result: Recorded, kinds: dict[str, list[str]]) -> Iterator[Chart]:
    """What applications could read: octets wait for those before them, and then come at once."""
    names = kinds.get("received", ())
    end = result.run.end_s
    if not names or not end > 0:
        return
    interval = end / RATE_INTERVALS
    drawn = [(name, *rate(result.series[name], interval, end)) for name in names[:MOST_SERIES]]
    usual = max(_usual(middles, rates) for _, middles, rates in drawn)
    scaled = si.scale([usual], "bit/s")
    traces = []
    for index, (name, middles, rates) in enumerate(drawn):
        label = name.removesuffix(".received")
        colour, dash = index % LINES, index // LINES % 4
        x, y = middles - interval / 2, rates / scaled.factor
        traces.append(Trace(label, "steps", x, y, colour=colour, dash=dash, group=label))
    notes = [
        f"Octets in order, which applications can read; those that waited for a hole to be filled"
        f" come at once. Means over {si.text(interval, 's')}.",
        *_left_out(len(names), "flows"),
    ]
    yield calm(Chart("In-order delivery", "time (s)", scaled.axis("delivery"), traces,
                      link=LINK, notes=notes))  # fmt: skip


def _curves(result: Recorded, title: str, axis: str, names: list[str]) -> Chart:
    kinds = {name.rpartition(".")[2] for name in names}
    unit = si.unit_of_series(next(iter(kinds)))
    drawn = [(name, result.series[name]) for name in names[:MOST_SERIES]]
    usual = [_usual(series["time_s"], series["value"]) for _, series in drawn]
    scaled = si.scale(usual, unit)
    traces = []
    for index, (name, series) in enumerate(drawn):
        label, _, kind = name.rpartition(".")
        kept = thinning.curve(series["time_s"], series["value"], MOST_SAMPLES)
        short = SAYS.get(kind.removeprefix("path_"), kind.removeprefix("path_"))
        traces.append(
            Trace(
                f"{label}: {short}" if len(kinds) > 1 else label,
                "steps",
                series["time_s"][kept],
                series["value"][kept] / scaled.factor,
                colour=index % 7,
                dash=1 if "ssthresh" in kind else index // 7 % 4,
                group="" if kind in OF_LINKS else label,
                note=_thinned(len(kept), len(series["time_s"])),
            )
        )
    names_of_y = list(STATES) if kinds == {"path_state"} else []
    label = scaled.axis(axis or title.lower())
    chart = Chart(
        title, "time (s)", label, apart(traces), link=LINK, ynames=names_of_y,
        notes=[*_left_out(len(names), "series"), *_thinned_out(traces, MOST_SAMPLES)],
    )  # fmt: skip
    return chart if names_of_y else calm(chart)


def _usual(times: Any, values: Any) -> float:
    """What a step curve is no higher than in nearly all of the time."""
    if len(values) < 2:
        return _highest(values)
    order = np.argsort(values[:-1], kind="stable")
    lasted = np.cumsum(np.diff(np.asarray(times, dtype=float))[order])
    at = np.searchsorted(lasted, USUAL * lasted[-1])
    usual = float(np.asarray(values, dtype=float)[order[min(at, len(order) - 1)]])
    return usual if np.isfinite(usual) else _highest(values)


def _highest(values: Any) -> float:
    """The largest number; a threshold that has not been set is none."""
    known = np.asarray(values, dtype=float)
    return float(np.max(known[np.isfinite(known)], initial=0.0))


def calm(chart: Chart) -> Chart:
    """The chart, at first without what rises far above all else for a moment: the note says how
    high, and moving up shows it."""
    usual = max((_usual(trace.x, trace.y) for trace in chart.traces), default=0.0)
    highest = max((_highest(trace.y) for trace in chart.traces), default=0.0)
    if usual <= 0 or highest <= SPIKE * usual:
        return chart
    unit = chart.y.rpartition("(")[2].rstrip(")") if "(" in chart.y else ""
    told = f"The highest value, {highest:.3g} {unit}".rstrip() + ", is above the first view: [ and"
    note = f"{told} the upper arrow show it."
    return replace(chart, ylim=(0.0, 1.25 * usual), notes=[*chart.notes, note])


def _thinned(kept: int, count: int) -> str:
    return "" if kept == count else f"{kept:,} of {count:,} are drawn"


def _thinned_out(traces: list[Trace], most: int) -> list[str]:
    """One sentence for all series of a chart; the name of each says how many are drawn of it."""
    count = sum(bool(trace.note) for trace in traces)
    has = "1 series has" if count == 1 else f"{count} series have"
    told = f"{has} more points than are drawn, up to {most:,} of each; the files have all."
    return [told] if count else []


def _left_out(count: int, what: str) -> list[str]:
    more = count - MOST_SERIES
    return [f"{more} more {what} are in the files."] if more > 0 else []
