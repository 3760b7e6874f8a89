"""The figures of two-way traffic: tables first, pictures from them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from anabranch.experiment import RunResult
from anabranch.figures import COLOURS, MARKERS, Look, Plot
from anabranch.rows import CsvRow
from anabranch.stats import Estimate
from anabranch.studies import drawing
from anabranch.studies.fast_tcp.two_way import measures
from anabranch.studies.fast_tcp.two_way.claims import Details
from anabranch.studies.fast_tcp.two_way.conditions import (
    REMEDIES,
    Run,
    as_many_segments,
    grid,
    plan,
    shown,
)
from anabranch.studies.fast_tcp.two_way.measures import Values, back, estimate, forth
from anabranch.studies.results import FigureEntry

SHOWN_S = 0.8
"""Length of the piece of a run that shows single cycles."""
SAMPLE_S = 0.5
"""Throughput over time is averaged so long."""
FORM = "closed form"
Rows = list[CsvRow]


def write_all(directory: Path, values: Values, details: Details, quick: bool) -> list[FigureEntry]:
    """Writes every figure; returns their captions in order."""
    return [
        _by_window(directory, values, quick),
        _by_unequal_window(directory, values, quick),
        _by_rate(directory, values, quick),
        _by_parameter(directory, values, quick, "delay", "round_trip_ms"),
        _by_parameter(directory, values, quick, "segment", "mss"),
        _by_parameter(directory, values, quick, "processing", "us"),
        _over_time(directory, details),
        _queues(directory, details),
        _gaps(directory, details),
        _bursts(directory, details),
        _remedies(directory, values),
    ]


def _row(series: str, x: float, estimate: Estimate) -> CsvRow:
    return {"series": series, "x": x, **vars(estimate)}


def _form(series: str, x: float, y: float) -> CsvRow:
    return {"series": series, "x": x, "mean": y, "ci_low": y, "ci_high": y, "n": 0}


def _by_window(directory: Path, values: Values, quick: bool) -> FigureEntry:
    rows: Rows = []
    for w in grid("windows", "equal", quick):
        rows.append(_row("one way", w, estimate(values, Run("windows", w, 0), forth)))
        rows.append(_row("two-way", w, estimate(values, Run("windows", w, w), forth)))
    for w in np.geomspace(0.25, 10, 120):
        rows.append(_form(FORM, float(w), Run("windows", float(w), float(w)).channel().shares[0]))
    looks = {
        "one way": Look("--", "s", COLOURS[1]),
        "two-way": Look("", "o", COLOURS[0]),
        FORM: Look("-", colour=COLOURS[0]),
    }
    plot = Plot(
        "Equal windows, 10 Mbit/s, 120 ms",
        "window (round trips)",
        "share of the line",
        looks,
        log="x",
        legend="lower right",
    )
    caption = "Throughput of each direction by window, both windows alike, beside one-way traffic."
    return drawing.points(directory, "two_way_by_window", rows, plot, caption)


def _by_unequal_window(directory: Path, values: Values, quick: bool) -> FigureEntry:
    rows: Rows = []
    for w in grid("windows", "unequal", quick):
        run = Run("unequal", w, 1.0)
        rows.append(_row("its own", w, estimate(values, run, forth)))
        rows.append(_row("the other's, of 1", w, estimate(values, run, back)))
    for w in np.linspace(0.25, 4, 120):
        shares = Run("unequal", float(w), 1.0).channel().shares
        rows.append(_form(f"its own, {FORM}", float(w), shares[0]))
        rows.append(_form(f"the other's, {FORM}", float(w), shares[1]))
    looks = {
        "its own": Look("", "o", COLOURS[0]),
        "the other's, of 1": Look("", "s", COLOURS[1]),
        f"its own, {FORM}": Look("-", colour=COLOURS[0]),
        f"the other's, {FORM}": Look("-", colour=COLOURS[1], label="_"),
    }
    plot = Plot(
        "One window of a round trip, one that varies",
        "the other window (round trips)",
        "share of the line",
        looks,
        legend="lower right",
    )
    caption = "Throughput of both directions when one window grows and the other is one round trip."
    return drawing.points(directory, "two_way_by_unequal_window", rows, plot, caption)


def _by_rate(directory: Path, values: Values, quick: bool) -> FigureEntry:
    rows: Rows = []
    looks = {}
    kinds = {
        "a round trip": lambda x: Run("rates", reverse_mbps=x),
        "100 segments": as_many_segments,
    }
    for dash, (kind, make) in zip(("-", "--"), kinds.items(), strict=True):
        for way, (host, measure) in enumerate((("i", forth), ("j", back))):
            name = f"from {host}, windows of {kind}"
            looks[name] = Look("", MARKERS[way], COLOURS[way])
            looks[f"{name}, {FORM}"] = Look(dash, colour=COLOURS[way], label="_")
            for x in grid("rates", "reverse_mbps", quick):
                rows.append(_row(name, x, estimate(values, make(x), measure)))
            for x in np.geomspace(1, 10, 60):
                share = make(float(x)).channel().shares[way]
                rows.append(_form(f"{name}, {FORM}", float(x), share))
    text = "rate of the second line (Mbit/s); of the first: 10"
    plot = Plot(
        "Lines of different rates", text, "share of the own line", looks, ylim=(0, 1.4), log="x"
    )
    caption = (
        "Throughput of both directions when the second line is slower: with windows of one round"
        " trip of each line, and of as many segments."
    )
    return drawing.points(directory, "two_way_by_rates", rows, plot, caption)


AXES = {
    "delay": ("round_trip_ms", "round trip (ms)", "x"),
    "segment": ("mss", "segment (octets)", "x"),
    "processing": ("processing_us", "processing of a packet (us)", ""),
}


def _by_parameter(
    directory: Path, values: Values, quick: bool, part: str, name: str
) -> FigureEntry:
    field, text, log = AXES[part]
    rows: Rows = []
    for x in grid(part, name, quick):
        value = int(x) if field == "mss" else x
        run = Run(part, **{field: value})  # type: ignore[arg-type]
        for way, measure in zip(("from i", "from j"), (forth, back), strict=True):
            rows.append(_row(way, x, estimate(values, run, measure)))
        for way, share in zip(("from i", "from j"), run.channel().shares, strict=True):
            rows.append(_form(f"{way}, {FORM}", x, share))
    looks = {
        "from i": Look("", "o", COLOURS[0]),
        "from j": Look("", "s", COLOURS[1]),
        f"from i, {FORM}": Look("-", colour=COLOURS[0]),
        f"from j, {FORM}": Look("--", colour=COLOURS[1], label="_"),
    }
    plot = Plot(
        "Windows of one round trip each", text, "share of the line", looks, ylim=(0, 1), log=log
    )
    caption = f"Throughput of both directions by {text.split(' (')[0]}, windows of one round trip."
    return drawing.points(directory, f"two_way_by_{part}", rows, plot, caption)


def _over_time(directory: Path, details: Details) -> FigureEntry:
    rows: Rows = []
    for name in ("one way", "two-way", "unequal windows, 1.5 and 1"):
        for flow in ("forth", "back"):
            if name == "one way" and flow == "back":
                continue
            series = details[name].series[f"{flow}.received"]
            dates = np.arange(0, 20 + SAMPLE_S, SAMPLE_S)
            octets = [measures.at(series["time_s"], series["value"], float(t)) for t in dates]
            rates = np.diff(octets) * 8 / SAMPLE_S / 1e6
            label = name if name == "one way" else f"{name}: {flow}"
            rows += [
                {"series": label, "time_s": float(t), "value": float(rate)}
                for t, rate in zip(dates, rates, strict=False)
            ]
    plot = Plot("10 Mbit/s, 120 ms", "time (s)", "goodput (Mbit/s)", legend="lower right")
    caption = "Throughput over time: both directions with equal and unequal windows, and one way."
    return drawing.times(directory, "two_way_throughput", rows, plot, caption)


def _piece(run: Run, result: RunResult, name: str) -> tuple[NDArray[np.float64], ...]:
    """A series within the piece that is shown, from its beginning on."""
    series = result.series[name]
    begin = run.from_s()
    chosen = (series["time_s"] >= begin) & (series["time_s"] <= begin + SHOWN_S)
    return series["time_s"][chosen] - begin, series["value"][chosen]


def _queues(directory: Path, details: Details) -> FigureEntry:
    rows: Rows = []
    for name in ("two-way", "back-pressure"):
        for link in ("i-j", "j-i"):
            times, lengths = _piece(shown()[name], details[name], f"{link}.queue")
            rows += [
                {"series": f"{name}, at {link[0]}", "time_s": float(t), "value": float(n)}
                for t, n in zip(times, lengths, strict=True)
            ]
    plot = Plot(
        "Windows of one round trip",
        "time (s)",
        "packets waiting",
        ylim=(0, 80),
        legend="upper right",
    )
    caption = "Queues of both hosts over four cycles: bunches of ACKs become bursts of data."
    return drawing.times(directory, "two_way_queues", rows, plot, caption)


def _distribution(
    values: NDArray[np.float64], weights: NDArray[np.float64]
) -> list[tuple[float, float]]:
    """The cumulative distribution at up to 200 points."""
    order = np.argsort(values)
    ordered, sums = values[order], np.cumsum(weights[order])
    chosen = np.unique(np.concatenate([ordered[:: max(1, len(ordered) // 200)], ordered[-1:]]))
    parts = sums[np.searchsorted(ordered, chosen, side="right") - 1] / sums[-1]
    return [(float(x), float(p)) for x, p in zip(chosen, parts, strict=True)]


def _cumulative(details: Details, series: str, names: list[str], top: float) -> Rows:
    """Cumulative distributions of a series in several runs, up to a value."""
    rows: Rows = []
    for name in names:
        found = measures.steady(shown()[name], details[name], series)
        # Of bursts each packet counts, so that a burst has the weight of its length.
        weights = found if series.endswith("bursts") else np.ones_like(found)
        rows.append(_form(name, 0.0, 0.0))
        rows += [_form(name, x, p) for x, p in _distribution(found, weights) if x <= top]
        rows.append(_form(name, top, float(np.sum(weights[found <= top]) / np.sum(weights))))
    return rows


def _steps(names: list[str]) -> Mapping[str, Look]:
    lines = ("-", "--", "-.", ":")
    return {
        name: Look(lines[i % 4], colour=COLOURS[i % len(COLOURS)], steps=True)
        for i, name in enumerate(names)
    }


def _gaps(directory: Path, details: Details) -> FigureEntry:
    names = [
        "one way",
        "two-way",
        "two-way, windows of 2",
        "processing of 100 us",
        "ACKs first",
        "queue per connection",
        "back-pressure",
    ]
    plot = Plot(
        "ACKs at the sender",
        "time since the ACK before (transmission times of data)",
        "share of the ACKs",
        _steps(names),
        legend="lower right",
        ylim=(0, 1.02),
    )
    caption = (
        "Distribution of the time between ACKs over a data packet's transmission time: below 1 they"
        " are compressed."
    )
    rows = _cumulative(details, "forth.ack_gaps", names, 3.0)
    return drawing.points(directory, "ack_gaps", rows, plot, caption)


def _bursts(directory: Path, details: Details) -> FigureEntry:
    names = ["one way", "two-way", "two-way, windows of 2", "ACKs first", "back-pressure"]
    plot = Plot(
        "Bursts of the sender",
        "data packets in a burst",
        "share of the packets",
        _steps(names),
        legend="lower right",
        ylim=(0, 1.02),
    )
    caption = "Data packets by the burst they are in: handed to the host faster than they leave."
    rows = _cumulative(details, "forth.bursts", names, 200.0)
    return drawing.points(directory, "bursts", rows, plot, caption)


def _remedies(directory: Path, values: Values) -> FigureEntry:
    rows: Rows = []
    for remedy in REMEDIES:
        for w in plan()["remedies"]["windows"]:
            run = Run("remedies", w, w, remedy=remedy)
            rows.append(_row(remedy, w, estimate(values, run, forth)))
    looks = {name: Look("-", MARKERS[i], COLOURS[i]) for i, name in enumerate(REMEDIES)}
    plot = Plot(
        "Remedies at the hosts, equal windows",
        "window (round trips)",
        "share of the line",
        looks,
        legend="lower right",
    )
    caption = "Throughput of a direction of two-way traffic with remedies at both hosts."
    return drawing.points(directory, "two_way_remedies", rows, plot, caption)
