"""Charts by the grammar of graphics: plotnine draws what `chart` has computed.

Intervals come computed, from `anabranch.stats`; plotnine has the layers, scales, panels and
legends. Colours are those of Okabe and Ito; dashes and marks differ besides.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotnine as p9
from matplotlib.figure import Figure

from anabranch import si
from anabranch.looks import COLOURS, MARKERS
from anabranch.plotting.chart import Chart
from anabranch.plotting.hatching import geom_hatched

FEW = 30
"""Points of a series up to which each has a mark."""
TICKS = 6
"""Different values of x up to which each has a tick."""
LETTERS = 16
"""Letters that an inch holds."""
KEY = 7
"""Letters that the key of a legend takes."""
AXIS = 0.75
"""Share of a figure that an axis takes, or more."""
BESIDE = 0.4
"""Share of the least distance between two values of x that the marks beside each other take."""
FILL = {"alpha": 0.18}
THIN = {"size": 0.35, "alpha": 0.55}
"""One line of many, of a run each."""
KEY_OF_RUNS = {"size": 1.0, "alpha": 1.0}
BAR = 0.8
TEXT = "#222222"
WHISKER, HALO = 0.4, 1.2
"""Size of an interval over a bar, and of the white that sets it off from a dark one."""
CAP = 0.16
"""Share of a bar's place that the caps of an interval take."""
DOT, STROKE = 0.9, 0.2
"""Size of the mean of a paired difference: small, so that a narrow interval is seen beyond it."""
EXPAND = 0.05
"""Share of the range of an axis that is left free at each end."""
POINTS = 72
"""Points of an inch."""
LINES = ("solid", "dashed", "dashdot", "dotted")


def draw(chart: Chart, width: float, height: float) -> Figure:
    """The chart as a figure of so many inches."""
    plot = p9.ggplot(chart.data, _mapping(chart)) + _LAYERS[chart.kind](chart)
    label_x, label_y = _wrapped(chart.x.label, width), _wrapped(chart.y, height)
    plot = plot + _scales(chart) + p9.labs(x=label_x, y=label_y) + _theme(width, height)
    if chart.kind == "heatmap":
        plot = plot + p9.theme(legend_position="right", legend_key_height=60, legend_key_width=9)
    if chart.kind == "heatmap":
        plot = plot + p9.labs(y=si.name_of(chart.series), fill=chart.y)
    elif chart.series:
        plot = plot + p9.labs(**dict.fromkeys(_channels(chart), si.name_of(chart.series)))
        rows = _legend(chart, width)
        guides = {each: p9.guide_legend(ncol=rows) for each in _channels(chart)}
        if chart.kind == "runs":
            guides["colour"] = p9.guide_legend(ncol=rows, override_aes=KEY_OF_RUNS)
        plot = plot + p9.guides(**guides)
    if _long(chart, width):
        plot = plot + p9.theme(axis_text_x=p9.element_text(rotation=30, ha="right"))
    if chart.panels:
        plot = plot + p9.facet_wrap("panel")
    figure: Figure = plot.draw()
    return figure


def _wrapped(label: str, length: float) -> str:
    """The label of an axis of a figure that is so many inches long in its direction."""
    return textwrap.fill(label, max(int(length * LETTERS * AXIS), LETTERS))


def _legend(chart: Chart, width: float) -> int:
    """Columns of the legend: as many of the longest name as there is room for."""
    names = [str(name) for name in chart.data["series"].cat.categories]
    room = width * LETTERS - len(chart.series)
    return max(1, min(len(names), int(room / (max(map(len, names)) + KEY))))


def _long(chart: Chart, width: float) -> bool:
    """The names of the horizontal axis have no room beside each other."""
    panels = len(chart.data["panel"].cat.categories) if chart.panels else 1
    room = width * LETTERS * 0.85 / min(panels, 3)
    return sum(len(str(value)) + 1 for value in chart.x.values) > room


def _channels(chart: Chart) -> tuple[str, ...]:
    """What tells series apart besides the colour."""
    channels: dict[str, tuple[str, ...]] = {
        "cdf": ("colour", "linetype"),
        "runs": ("colour", "linetype"),
        "paired": ("colour", "shape"),
    }
    if chart.kind == "line":
        # Opacity, so that the legend shows a band only where there is one.
        band = ("fill", "alpha") if _bandless(chart) else ("fill",)
        return ("colour", *band, "linetype", *(() if _many(chart) or chart.steps else ("shape",)))
    if _hatched(chart):
        return ("fill", "linetype")
    return channels.get(chart.kind, ("fill",))


def _mapping(chart: Chart) -> Any:
    if chart.kind == "heatmap":
        return p9.aes("x", "series", fill="y")
    if chart.kind == "cdf":
        named = dict.fromkeys(_channels(chart), "series") if chart.series else {}
        return p9.aes("x", **named)
    # The opacity is that of the band alone.
    channels = [each for each in _channels(chart) if each != "alpha"]
    named = dict.fromkeys(channels, "series") if chart.series else {}
    return p9.aes("x", "y", **named)


def _many(chart: Chart) -> bool:
    names = [name for name in ("series", "panel") if name in chart.data]
    if not names:
        return len(chart.data) > FEW
    return bool(chart.data.groupby(names, observed=True).size().max() > FEW)


def _line(chart: Chart) -> list[Any]:
    single = {} if chart.series else {"colour": COLOURS[0]}
    if chart.steps:
        return [p9.geom_step(p9.aes(group="series") if chart.series else None, size=0.6, **single)]
    layers: list[Any] = []
    if chart.intervals:
        fill = {} if chart.series else {"fill": COLOURS[0]}
        band = p9.aes(ymin="low", ymax="high")
        if _bandless(chart):
            band = p9.aes(ymin="low", ymax="high", alpha="series")
            layers.append(p9.geom_ribbon(band, colour="none"))
        else:
            layers.append(p9.geom_ribbon(band, colour="none", **FILL, **fill))
    layers.append(p9.geom_line(size=0.6, **single))
    if not _many(chart):
        layers.append(p9.geom_point(size=1.6, **single))
    return layers


def _bandless(chart: Chart) -> set[str]:
    """The series that have no band beside others that have one."""
    if chart.kind != "line" or not chart.intervals or not chart.series:
        return set()
    wide = chart.data["high"] > chart.data["low"]
    return set(chart.data["series"]) - set(chart.data["series"][wide])


def _every_run(chart: Chart) -> list[Any]:
    single = {} if chart.series else {"colour": COLOURS[0]}
    return [p9.geom_step(p9.aes(group="run"), **THIN, **single)]


def _bars(chart: Chart) -> list[Any]:
    side = p9.position_dodge(width=BAR)
    single = {} if chart.series else {"fill": COLOURS[0]}
    geom = geom_hatched if _hatched(chart) else p9.geom_col
    layers: list[Any] = [geom(position=side, width=BAR * 0.92, **single)]
    if chart.intervals:
        ends = p9.aes(ymin="low", ymax="high", group="series" if chart.series else 1)
        style: dict[str, Any] = {"position": side, "linetype": "solid"}
        layers.append(p9.geom_linerange(ends, colour="white", size=HALO, **style))
        # Caps have no halo, which would cut a notch into the top of the bar.
        layers.append(p9.geom_errorbar(ends, width=CAP, colour=TEXT, size=WHISKER, **style))
    return layers


def _hatched(chart: Chart) -> bool:
    """Whether there are more bars beside each other than colours."""
    return chart.kind == "bars" and len(chart.known) > len(COLOURS)


def _box(chart: Chart) -> list[Any]:
    single = {} if chart.series else {"fill": COLOURS[0]}
    return [p9.geom_boxplot(size=0.4, outlier_size=0.8, alpha=0.75, **single)]


def _cdf(chart: Chart) -> list[Any]:
    single = {} if chart.series else {"colour": COLOURS[0]}
    if "x" not in chart.log:
        return [p9.stat_ecdf(geom="step", size=0.6, **single)]
    steps = p9.geom_step(p9.aes(y="share"), data=_shares(chart), size=0.6, **single)
    return [steps, p9.expand_limits(y=0)]


def _shares(chart: Chart) -> pd.DataFrame:
    """The distribution of each series and panel over a logarithmic axis, from below the least value
    above zero to beyond the largest of all: it begins at the share of what is zero."""
    every = chart.data["x"]
    least, last = every[every > 0].min(), every.max()
    beside = (last / least) ** EXPAND if last > least else 2.0
    first, last = least / beside, last * beside
    names = [name for name in ("series", "panel") if name in chart.data]
    parts = chart.data.groupby(names, observed=True) if names else [((), chart.data)]
    found = []
    for key, part in parts:
        ordered = np.sort(part["x"].to_numpy(dtype=float))
        inside = np.unique(ordered[ordered > 0])
        x = np.concatenate([[first], inside, [last]])
        share = np.searchsorted(ordered, x, side="right") / len(ordered)
        found.append(
            pd.DataFrame({"x": x, "share": share}).assign(**dict(zip(names, key, strict=True)))
        )
    shares = pd.concat(found, ignore_index=True)
    for name in names:
        shares[name] = pd.Categorical(shares[name], chart.data[name].cat.categories, ordered=True)
    return shares


def _heatmap(chart: Chart) -> list[Any]:
    spread = chart.data["y"].max() - chart.data["y"].min()
    middle = chart.data["y"].min() + spread * 0.55
    shown = chart.data.assign(
        text=[f"{value:.3g}" for value in chart.data["y"]],
        ink=["black" if value > middle else "white" for value in chart.data["y"]],
    )
    text = p9.aes(label="text", colour="ink")
    return [p9.geom_tile(), p9.geom_text(text, data=shown, size=7), p9.scale_colour_identity()]


def _paired(chart: Chart) -> list[Any]:
    side = p9.position_dodge(width=BESIDE * _distance(chart))
    single = {} if chart.series else {"colour": COLOURS[0]}
    ends = p9.aes(ymin="low", ymax="high")
    return [
        p9.geom_hline(yintercept=0, size=0.4, colour="#777777"),
        p9.geom_linerange(ends, position=side, size=0.5, **single),
        p9.geom_point(position=side, size=DOT, stroke=STROKE, **single),
    ]


def hidden(chart: Chart, height: float) -> int:
    """How many intervals of paired differences are behind their marks in a figure so high."""
    if chart.kind != "paired" or "y" in chart.log:
        return 0
    low, high = _range(chart)
    inch = (max(high, 0.0) - min(low, 0.0)) * (1 + 2 * EXPAND) / (AXIS * height)
    mark = (DOT + STROKE) * math.sqrt(math.pi) / POINTS * inch
    wide = chart.data["high"] - chart.data["low"]
    return int(((wide > 0) & (wide < mark)).sum())


def _distance(chart: Chart) -> float:
    """The least distance between two values of x, on the scale that is drawn; of names it is 1."""
    values = np.unique(chart.data["x"]) if chart.x.numeric else np.arange(2)
    gaps = np.diff(np.log10(values) if "x" in chart.log else values)
    return float(min(gaps, default=1.0))


_LAYERS = {
    "line": _line,
    "runs": _every_run,
    "bars": _bars,
    "cdf": _cdf,
    "box": _box,
    "heatmap": _heatmap,
    "paired": _paired,
}


_MANUAL = {
    "colour": p9.scale_colour_manual,
    "fill": p9.scale_fill_manual,
    "linetype": p9.scale_linetype_manual,
    "shape": p9.scale_shape_manual,
}


def looks_of(chart: Chart) -> dict[str, tuple[str, str, str]]:
    """Colour, dash and mark of every series: up to 28 have a pair of their own of colour and dash,
    and of colour and mark."""
    turn = len(COLOURS)
    looks = {}
    for n, name in enumerate(chart.known):
        # Bars have a hatching for it, which the first of them need not.
        beside = (n // turn + (0 if chart.kind == "bars" else n % turn)) % len(LINES)
        looks[str(name)] = (COLOURS[n % turn], LINES[beside], MARKERS[beside])
    return looks


def _scales(chart: Chart) -> list[Any]:
    scales: list[Any] = []
    if chart.kind == "heatmap":
        scales.append(p9.scale_fill_cmap("cividis"))
    elif chart.series:
        looks, shown = looks_of(chart), set(chart.data["series"])
        bandless = _bandless(chart)
        for channel in _channels(chart):
            if channel == "alpha":
                bands = {name: 0.0 if name in bandless else FILL["alpha"] for name in shown}
                scales.append(p9.scale_alpha_manual(values=bands))
                continue
            # By name, so that a series looks the same whatever else is drawn.
            at = ("colour", "linetype", "shape").index("colour" if channel == "fill" else channel)
            chosen = {name: look[at] for name, look in looks.items() if name in shown}
            scales.append(_MANUAL[channel](values=chosen))
    if chart.x.numeric and chart.kind != "cdf":
        ticks = chart.data["x"].unique()
        more: dict[str, Any] = {"breaks": sorted(ticks)} if len(ticks) <= TICKS else {}
        scale = p9.scale_x_log10 if "x" in chart.log else p9.scale_x_continuous
        scales.append(scale(**more, labels=_ticks))
    elif chart.x.numeric and "x" in chart.log:
        scales.append(p9.scale_x_log10(labels=_ticks))
    if "y" in chart.log and chart.kind not in ("cdf", "heatmap"):
        scales.append(p9.scale_y_log10(labels=_ticks))
    elif chart.kind == "bars":
        scales.append(p9.scale_y_continuous(expand=(0, 0, 0.05, 0)))
    elif chart.kind in ("line", "runs"):
        # A rate or a delay is read from zero, unless nothing of it is near.
        low, high = _range(chart)
        if 0 <= low < high / 2:
            scales.append(p9.expand_limits(y=0))
    return scales


def _ticks(breaks: Sequence[float]) -> list[str]:
    """The labels of the ticks of an axis."""
    return [f"{each:g}" for each in breaks]


def _range(chart: Chart) -> tuple[float, float]:
    lows = chart.data["low"] if "low" in chart.data else chart.data["y"]
    highs = chart.data["high"] if "high" in chart.data else chart.data["y"]
    return float(lows.min()), float(highs.max())


def _theme(width: float, height: float) -> Any:
    return p9.theme_bw(base_size=8) + p9.theme(
        figure_size=(width, height),
        panel_border=p9.element_blank(),
        axis_line=p9.element_line(size=0.5, colour=TEXT),
        panel_grid_minor=p9.element_blank(),
        panel_grid_major=p9.element_line(size=0.3, colour="#dddddd"),
        strip_background=p9.element_blank(),
        text=p9.element_text(colour=TEXT),
        legend_position="top",
        legend_margin=0,
        legend_box_margin=0,
        legend_key=p9.element_blank(),
        legend_key_width=16,
        legend_key_height=9,
    )
