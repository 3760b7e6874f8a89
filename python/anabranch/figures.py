"""Figures, drawn from CSV files only, as SVG and PNG; `<stem>.plot.json` has how, for the report.

The SVG is the same octet for octet on every run: ids are salted by the
figure's name and no date is written. Colours are those of Okabe and Ito,
which stay apart for colour-blind readers; markers and dashes differ too.
"""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from anabranch import looks
from anabranch.files import write_bytes, write_text
from anabranch.looks import COLOURS, DASHES, LETTERS, MARKERS, Look, Plot, description
from anabranch.tables import read_csv

__all__ = [
    "COLOURS",
    "DASHES",
    "MARKERS",
    "Look",
    "Plot",
    "points",
    "redrawn",
    "save",
    "time_series",
]


SIZE = (6.4, 4.0)
"""Inches of a figure in a study's folder."""


def time_series(csv_file: Path, plot: Plot) -> None:
    """Draws a `series,time_s,value` file beside itself."""
    _write(_times(csv_file, plot, SIZE), csv_file, plot, "times")


def points(csv_file: Path, plot: Plot) -> None:
    """Draws a `series,x,mean,ci_low,ci_high,n` file beside itself, with its intervals.

    A series without a marker is a curve and has no bars; one without any interval has none either.
    """
    _write(_points(csv_file, plot, SIZE), csv_file, plot, "points")


def redrawn(csv_file: Path, size: tuple[float, float], title: bool = False) -> Figure:
    """A figure that was drawn before, in another size and without its title unless asked for."""
    form, plot = looks.read(csv_file)
    if not title:
        plot = replace(plot, title="")
    with mpl.rc_context({"font.size": LETTERS}):
        return (_times if form == "times" else _points)(csv_file, plot, size)


def _times(csv_file: Path, plot: Plot, size: tuple[float, float]) -> Figure:
    figure, axes = _figure(plot, size)
    data = _by_series(csv_file, ("time_s", "value"))
    for index, (name, (times, values)) in enumerate(data.items()):
        look = plot.looks.get(name, Look(steps=True))
        axes.plot(
            times,
            values,
            linestyle=look.line or "none",
            marker=look.marker,
            markersize=look.size,
            color=look.colour or COLOURS[index % len(COLOURS)],
            drawstyle="steps-post" if look.steps else "default",
            linewidth=1.2,
            markeredgewidth=0.8,
            label=look.label or name,
        )
    return _with_legend(figure, axes, plot)


def _points(csv_file: Path, plot: Plot, size: tuple[float, float]) -> Figure:
    figure, axes = _figure(plot, size)
    data = _by_series(csv_file, ("x", "mean", "ci_low", "ci_high"))
    for index, (name, (x, mean, low, high)) in enumerate(data.items()):
        look = plot.looks.get(
            name, Look(DASHES[index % len(DASHES)], MARKERS[index % len(MARKERS)])
        )
        below = [m - each for m, each in zip(mean, low, strict=True)]
        above = [each - m for m, each in zip(mean, high, strict=True)]
        axes.errorbar(
            x,
            mean,
            yerr=[below, above] if look.marker and any(below + above) else None,
            linestyle=look.line,
            marker=look.marker,
            markersize=4,
            drawstyle="steps-post" if look.steps else "default",
            color=look.colour or COLOURS[index % len(COLOURS)],
            linewidth=1.2,
            capsize=3,
            label=look.label or name,
        )
    return _with_legend(figure, axes, plot)


def _by_series(csv_file: Path, columns: Sequence[str]) -> dict[str, tuple[list[float], ...]]:
    data: dict[str, tuple[list[float], ...]] = {}
    for row in read_csv(csv_file):
        lists = data.setdefault(row["series"], tuple([] for _ in columns))
        for values, column in zip(lists, columns, strict=True):
            values.append(float(row[column]))
    return data


def _figure(plot: Plot, size: tuple[float, float]) -> tuple[Figure, Axes]:
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.add_subplot()
    axes.set(title=plot.title, xlabel=plot.x, ylabel=plot.y)
    axes.grid(color="#d8d8d8", linewidth=0.5)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    if "x" in plot.log:
        axes.set_xscale("log")
    if "y" in plot.log:
        axes.set_yscale("log")
    if plot.xticks:
        axes.set_xticks(plot.xticks, [f"{tick:g}" for tick in plot.xticks])
        axes.set_xticks([], minor=True)
    if plot.xlim is not None:
        axes.set_xlim(plot.xlim)
    if plot.ylim is not None:
        axes.set_ylim(plot.ylim)
    return figure, axes


def _with_legend(figure: Figure, axes: Axes, plot: Plot) -> Figure:
    if axes.get_legend_handles_labels()[1]:
        axes.legend(loc=plot.legend, frameon=False, fontsize="small", markerscale=1.5)
    return figure


def _write(figure: Figure, csv_file: Path, plot: Plot, form: str) -> None:
    save(figure, csv_file.with_suffix(""))
    text = json.dumps({"form": form, **asdict(plot)}, indent=1)
    write_text(description(csv_file), text + "\n")


def save(figure: Figure, stem: Path) -> None:
    """Writes `STEM.svg` and `STEM.png`, the same octets every time."""
    vector, raster = io.BytesIO(), io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": stem.name, "svg.fonttype": "none"}):
        figure.savefig(vector, format="svg", metadata={"Date": None, "Creator": "Anabranch"})
        figure.savefig(raster, format="png", dpi=160, metadata={"Software": "Anabranch"})
    write_bytes(stem.with_name(f"{stem.name}.svg"), vector.getvalue())
    write_bytes(stem.with_name(f"{stem.name}.png"), raster.getvalue())
