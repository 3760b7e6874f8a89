"""Figures of one run with one call: what is observed, over time or as a distribution.

Each function returns a matplotlib figure; with `axes` it draws into these
instead, and returns the figure that they are in.
"""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from anabranch import si, timeline
from anabranch.errors import InputError
from anabranch.looks import COLOURS, LETTERS
from anabranch.observed import (
    AXES,
    EXPLORED,
    EXPLORED_PATHS,
    LANE,
    STATES,
    arrivals,
    lasts_until,
    observer,
    rate,
)
from anabranch.recorded import Recorded, Series
from anabranch.si import Scale

SENT = (COLOURS[0], COLOURS[4], COLOURS[5])
"""Of what flows send for the first time, as the report has them; further flows begin anew."""
AGAIN, ACKED = COLOURS[1], COLOURS[6]


def plot(
    result: Recorded,
    kind: str,
    of: str | Iterable[str] | None = None,
    axes: Axes | None = None,
    *,
    columns: float | None = None,
    height: float | None = None,
) -> Figure:
    """Every observed series of a kind: `cwnd`, `queue`, `path_cwnd`, ...; or `time-sequence`,
    `timeline`, `arrivals` or `delivery`. `of` names flows, paths or links.

    With `columns` of a paper, or `height` in inches, the figure has that size, letters of 8 points
    and no title, as `SweepResult.plot` draws."""
    asked = {"columns": columns, "height": height}
    sized = {name: given for name, given in asked.items() if given is not None}
    if sized and axes is not None:
        name, given = next(iter(sized.items()))
        raise InputError.about("plot", name, f"{given:g}", "nothing with `axes`, which have a size")
    if kind == "timeline":
        lanes = importlib.import_module("anabranch.plotting.lanes")  # with plotnine: a second
        happened = timeline.events(result)
        drawn: Figure = lanes.figure(happened, result.run.end_s, axes=axes, **sized)
        return drawn
    if sized:
        paper = importlib.import_module("anabranch.plotting.paper")
        with mpl.rc_context({"font.size": LETTERS}):
            size = paper.size(1.0 if columns is None else columns, height)
            own = Figure(figsize=size, layout="constrained")
            return plot(result, kind, of, own.add_subplot())
    if kind == "time-sequence":
        return time_sequence(result, of, axes)
    if kind == "arrivals":
        return arrived(result, of, axes=axes)
    if kind in ("delivery", "throughput"):
        return throughput(result, of, axes=axes)
    chosen = select(result, kind, of)
    label, title = AXES.get(kind, (kind, kind))
    known = np.concatenate([np.asarray(each["value"], dtype=float) for each in chosen.values()])
    axes = _axes(axes, title, "time (s)", label)
    scaled = _scaled(axes, known, si.unit_of_series(kind), label.partition(" (")[0])
    if kind == "path_state":
        axes.set_yticks(range(len(STATES)), STATES)
    finishes = {flow.flow: flow.finish_s for flow in result.flows}
    for colour, (name, series) in zip(_colours(), chosen.items(), strict=False):
        style: dict[str, Any] = {"marker": ".", "markersize": 2, "linestyle": "none"}
        if kind not in (*LANE, "rtt"):
            style = {"drawstyle": "steps-post", "linewidth": 1.2}
        values = series["value"] / scaled.factor
        times = series["time_s"]
        until = lasts_until(kind, name, finishes, result.run.end_s)
        if until is not None and len(times) and until > times[-1]:
            times, values = np.append(times, until), np.append(values, values[-1])
        axes.plot(times, values, color=colour, label=name, **style)
    return _done(axes)


def time_sequence(
    result: Recorded, of: str | Iterable[str] | None = None, axes: Axes | None = None
) -> Figure:
    """Segments sent, those sent again, and what was acknowledged. Observe `packets`."""
    sent = select(result, "sends", of)
    every = np.concatenate([np.asarray(each["value"], dtype=float) for each in sent.values()])
    axes = _axes(axes, "Time-sequence", "time (s)", "")
    scaled = _scaled(axes, every, "B", "offset in the stream")
    for colour, (name, series) in zip(itertools.cycle(SENT), sent.items(), strict=False):
        again = np.asarray(series["retransmission"], dtype=bool)
        times, offsets = series["time_s"], series["value"] / scaled.factor
        dots: dict[str, Any] = {"linestyle": "none", "markersize": 3}
        axes.plot(times[~again], offsets[~again], marker=".", color=colour, label=name, **dots)
        label = f"{name}, again"
        axes.plot(times[again], offsets[again], marker="D", color=AGAIN, label=label, **dots)
        if acks := result.series.get(f"{name}.acks"):
            step: dict[str, Any] = {"drawstyle": "steps-post", "linewidth": 0.8, "color": ACKED}
            acked = acks["value"] / scaled.factor
            axes.plot(acks["time_s"], acked, label=f"{name}, acknowledged", **step)
    return _done(axes)


def throughput(
    result: Recorded,
    of: str | Iterable[str] | None = None,
    interval_s: float = 1.0,
    axes: Axes | None = None,
) -> Figure:
    """Octets in order, which the application could read, in each interval, as a rate: after a hole
    is filled more than any link carries, see `arrived`. Observe `received`."""
    chosen = select(result, "received", of)
    found = {name: rate(each, interval_s, result.run.end_s) for name, each in chosen.items()}
    return _rates(found, "In-order delivery", axes)


def arrived(
    result: Recorded,
    of: str | Iterable[str] | None = None,
    interval_s: float = 1.0,
    axes: Axes | None = None,
) -> Figure:
    """Data packets that reached the receiver in each interval, in any order, as a rate, of each
    flow or path. Observe `packets`."""
    found = {
        name: arrivals(each, result.series[f"{name}.sends"], interval_s, result.run.end_s)
        for name, each in select(result, "receives", of).items()
    }
    return _rates(found, "Arrivals at the receiver", axes)


def _rates(found: Mapping[str, tuple[Any, Any]], title: str, axes: Axes | None) -> Figure:
    """Dates and rates in bit/s of each flow or path."""
    axes = _axes(axes, title, "time (s)", "")
    every = np.concatenate([rates for _, rates in found.values()])
    scaled = _scaled(axes, every, "bit/s", "rate")
    for colour, (name, (times, rates)) in zip(_colours(), found.items(), strict=False):
        values = rates / scaled.factor
        axes.step(times, values, where="mid", color=colour, linewidth=1.2, label=name)
    return _done(axes)


def cdf(
    samples: Mapping[str, Sequence[float]], label: str = "", axes: Axes | None = None
) -> Figure:
    """The empirical distribution of each named sample; what is missing (`None`) is left out."""
    axes = _axes(axes, "Distribution", label, "share of the samples")
    for colour, (name, values) in zip(_colours(), samples.items(), strict=False):
        ordered = np.sort([float(value) for value in values if value is not None])
        shares = np.arange(1, ordered.size + 1) / max(ordered.size, 1)
        axes.step(ordered, shares, where="post", color=colour, linewidth=1.2, label=name)
    axes.set_ylim(0, 1.02)
    return _done(axes)


def select(result: Recorded, kind: str, of: str | Iterable[str] | None) -> dict[str, Series]:
    """The observed series of a kind, by the name of their flow, path or link."""
    found = {
        name.rpartition(".")[0]: series
        for name, series in sorted(result.series.items())
        if name.rpartition(".")[2] == kind
    }
    if not found:
        kinds = sorted({name.rpartition(".")[2] for name in result.series})
        allowed = f"what the scenario observes: {', '.join(kinds) or 'nothing'}"
        if kind in AXES:
            what = observer(kind)
            way = "Scenario.explored() or " if what in (*EXPLORED, *EXPLORED_PATHS) else ""
            allowed += f'; {way}`[[observe]]` with `what = "{what}"` observes it'
        raise InputError.about("plot", "kind", kind, allowed)
    if of is None:
        return found
    wanted = [of] if isinstance(of, str) else list(of)
    for name in wanted:
        if name not in found:
            raise InputError.about("plot", "of", name, ", ".join(found))
    return {name: found[name] for name in wanted}


def _colours() -> Iterator[str]:
    while True:
        yield from COLOURS


_SCALES: WeakKeyDictionary[Axes, tuple[str, Scale]] = WeakKeyDictionary()
"""The unit and the scale of what was drawn into axes."""


def scale_of(axes: Axes) -> Scale:
    """The scale of what one of these functions drew into axes."""
    return _SCALES[axes][1]


def _scaled(axes: Axes, values: NDArray[Any], unit: str, name: str) -> Scale:
    """Names the vertical axis and returns its scale: that of what these axes show already, or
    others that share it, since 800 kB and 1.2 MB have no place on one axis."""
    beside = (_SCALES.get(each) for each in axes.get_shared_y_axes().get_siblings(axes))
    known = (found[1] for found in beside if found and found[0] == unit)
    scaled = next(known, None) or si.scale(values, unit)
    _SCALES[axes] = unit, scaled
    axes.set_ylabel(scaled.axis(name))
    return scaled


def _axes(axes: Axes | None, title: str, x: str, y: str) -> Axes:
    if axes is None:
        figure = Figure(figsize=(6.4, 4.0), layout="constrained")
        axes = figure.add_subplot()
        axes.set(title=title)
    axes.set(xlabel=x, ylabel=y)
    axes.grid(color="#d8d8d8", linewidth=0.5)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def _done(axes: Axes) -> Figure:
    if len(axes.get_legend_handles_labels()[1]) > 1:
        axes.legend(frameon=False, fontsize="small")
    figure = axes.get_figure(root=True)
    assert figure is not None
    return figure
