"""Figures of the field: heat maps of shares, losses and verdicts, and strips of what one flow does.

Colours are of maps that stay apart for colour-blind readers (PuOr, cividis, and those of Okabe and
Ito); every cell has its number or its sign besides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from anabranch import figures
from anabranch.evaluate.checks.field import BUFFERS, LOSSES, STARVED, loss_name, share_name
from anabranch.evaluate.field import summary
from anabranch.evaluate.field.summary import Beside, Column
from anabranch.evaluate.field.table import Field
from anabranch.stats import Estimate
from anabranch.verdicts import Verdict

ROW = 0.21
"""Inches of a row."""
SIGNS = {
    Verdict.HOLDS: ("", "#56b4e9"),
    Verdict.PARTLY: ("/", "#f0e442"),
    Verdict.FAILS: ("x", "#d55e00"),
    Verdict.UNDECIDED: ("?", "#dddddd"),
}
"""Sign and colour of each verdict."""
STRIPS = (
    (Column("exponent of 1/RTT^a", *summary.EXPONENT), (0.0, 1.0)),
    (Column("queueing delay alone (ms)", *summary.DELAY), ()),
    (Column("use alone (%)", *summary.USE), ()),
)
"""Quantities that are drawn as strips, and where lines help to read them."""


def draw(directory: Path, field: Field) -> list[str]:
    """Draws what the checks that were run give figures for; returns the stems of the files."""
    drawn: list[tuple[str, Figure]] = []
    if shared := [each for each in summary.SHARES if summary.SHARES[each] in field.checks]:
        drawn.append(("shares", _shares(field, shared)))
    if "random-loss" in field.checks:
        drawn.append(("losses", _losses(field)))
    if strips := [each for each in STRIPS if each[0].check in field.checks]:
        drawn.append(("alone", _strips(field, strips)))
    drawn.append(("verdicts", _verdicts(field)))
    for stem, figure in drawn:
        figures.save(figure, directory / stem)
    return [stem for stem, _ in drawn]


def _height(field: Field) -> float:
    return 1.2 + ROW * len(field.algorithms)


def _order(field: Field, number: Callable[[str], float]) -> list[str]:
    """Algorithms with the largest number first; those without a number last."""
    numbers = {each: number(each) for each in field.algorithms}
    return sorted(field.algorithms, key=lambda each: -np.nan_to_num(numbers[each], nan=-1e9))


def _mean(estimates: Sequence[Estimate | None]) -> float:
    known = [each.mean for each in estimates if each is not None and each.n]
    return float(np.mean(known)) if known else float("nan")


def _shares(field: Field, standards: Sequence[str]) -> Figure:
    """A panel for each standard, both with the same order of algorithms."""
    names = [share_name(buffer) for buffer in BUFFERS]
    of = summary.SHARES
    order = _order(
        field, lambda each: _mean([field.estimate(of[standards[0]], n, each) for n in names])
    )
    figure = Figure(figsize=(4.2 * len(standards) + 1.2, _height(field)), layout="constrained")
    panels = np.atleast_1d(figure.subplots(1, len(standards), sharey=True))
    image = None
    for axes, standard in zip(panels, standards, strict=True):
        cells = [[field.estimate(of[standard], n, each) for n in names] for each in order]
        image = _map(
            axes,
            cells,
            order,
            [f"{b:g}" for b in BUFFERS],
            colours="PuOr_r",
            limits=(0, 1),
            text=_share,
        )
        axes.set(title=f"share beside {standard}", xlabel="buffer (BDP)")
    if image is not None:
        bar = figure.colorbar(image, ax=list(panels), shrink=0.6, aspect=30)
        bar.set_ticks([0, STARVED, 0.5, 1 - STARVED, 1])
    return figure


def _share(estimate: Estimate) -> str:
    """A share; with `?` where the interval does not say whether one of both is starved."""
    return f"{estimate.mean:z.2f}{'?' if Beside.of(estimate) is Beside.UNDECIDED else ''}"


def _losses(field: Field) -> Figure:
    names = [loss_name(each) for each in LOSSES]
    order = _order(
        field, lambda each: _mean([field.estimate("random-loss", n, each) for n in names])
    )
    figure = Figure(figsize=(4.6, _height(field)), layout="constrained")
    axes = figure.subplots()
    cells = [[field.estimate("random-loss", n, each) for n in names] for each in order]
    heads = [f"{each} %" for each in LOSSES]
    image = _map(
        axes,
        cells,
        order,
        heads,
        colours="cividis",
        limits=(0, 100),
        text=lambda e: f"{e.mean:.0f}",
    )
    axes.set(title="use of the link (%)", xlabel="lost at random")
    figure.colorbar(image, ax=axes, shrink=0.6, aspect=30)
    return figure


def _map(
    axes: Axes,
    cells: Sequence[Sequence[Estimate | None]],
    rows: Sequence[str],
    heads: Sequence[str],
    *,
    colours: str,
    limits: tuple[float, float],
    text: Callable[[Estimate], str],
) -> mpl.image.AxesImage:
    """Estimates as colours with their text."""
    scale = mpl.colors.Normalize(*limits)
    values = np.array([[np.nan if e is None else e.mean for e in row] for row in cells])
    image = axes.imshow(values, cmap=colours, norm=scale, aspect="auto")
    for y, row in enumerate(cells):
        for x, estimate in enumerate(row):
            if estimate is None or not estimate.n:
                continue
            red, green, blue, _ = image.cmap(scale(estimate.mean))
            ink = "black" if 0.3 * red + 0.59 * green + 0.11 * blue > 0.5 else "white"
            axes.text(x, y, text(estimate), ha="center", va="center", fontsize=7, color=ink)
    axes.set_xticks(range(len(heads)), heads)
    _names(axes, rows)
    return image


def _names(axes: Axes, rows: Sequence[str]) -> None:
    axes.set_yticks(range(len(rows)), rows, fontsize=8)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def _strips(field: Field, strips: Sequence[tuple[Column, tuple[float, ...]]]) -> Figure:
    """A panel for each quantity: a dot with its interval for each algorithm."""
    first = strips[0][0]
    order = _order(field, lambda each: _mean([first.of(field, each)]))
    figure = Figure(figsize=(2.8 * len(strips) + 1.2, _height(field)), layout="constrained")
    panels = np.atleast_1d(figure.subplots(1, len(strips), sharey=True))
    for index, (axes, (column, lines)) in enumerate(zip(panels, strips, strict=True)):
        for at in lines:
            axes.axvline(at, color="#999999", linewidth=0.8, linestyle=":")
        for y, algorithm in enumerate(order):
            found = column.of(field, algorithm)
            if found is None or not found.n:
                continue
            ends = [[found.mean - found.ci_low], [found.ci_high - found.mean]]
            colour = figures.COLOURS[index]
            dot = {"marker": "o", "markersize": 4, "capsize": 2, "linewidth": 1.2}
            axes.errorbar([found.mean], [y], xerr=ends, color=colour, **dot)
        axes.set(xlabel=column.head)
        axes.grid(color="#e4e4e4", linewidth=0.5)
        axes.set_axisbelow(True)
        _names(axes, order)
    panels[0].invert_yaxis()
    return figure


def _verdicts(field: Field) -> Figure:
    """A cell for each algorithm and check."""
    order = _order(field, lambda each: field.counts(each)[Verdict.HOLDS])
    width = 1.6 + 0.24 * len(field.checks)
    figure = Figure(figsize=(max(4.5, width), _height(field) + 0.9), layout="constrained")
    axes = figure.subplots()
    known = list(SIGNS)
    found = [[field.verdict(check, each) for check in field.checks] for each in order]
    numbers = np.array([[known.index(each) for each in row] for row in found])
    colours = mpl.colors.ListedColormap([SIGNS[each][1] for each in known])
    axes.imshow(numbers, cmap=colours, vmin=-0.5, vmax=len(known) - 0.5, aspect="auto")
    for y, row in enumerate(found):
        for x, verdict in enumerate(row):
            axes.text(x, y, SIGNS[verdict][0], ha="center", va="center", fontsize=8)
    axes.set_xticks(range(len(field.checks)), field.checks, rotation=60, ha="right", fontsize=7)
    axes.set_xticks(np.arange(-0.5, len(field.checks)), minor=True)
    axes.set_yticks(np.arange(-0.5, len(order)), minor=True)
    axes.grid(which="minor", color="white", linewidth=1)
    _names(axes, order)
    axes.tick_params(which="minor", length=0)
    patches = [
        mpl.patches.Patch(color=colour, label=f"{verdict.value} {sign}".strip())
        for verdict, (sign, colour) in SIGNS.items()
    ]
    figure.legend(handles=patches, loc="outside upper center", ncols=4, frameon=False, fontsize=8)
    return figure
