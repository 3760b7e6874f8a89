"""Figures for papers of runs, sweeps and comparisons: what varies finds its place by itself.
`SweepResult.plot` and `anabranch plot` come here; docs/figures.md has the rules.
"""

from __future__ import annotations

from matplotlib.figure import Figure

from anabranch.plotting import drawing, paper
from anabranch.plotting.chart import KINDS, Chart, Request, caption, chart
from anabranch.plotting.frame import Frame

__all__ = ["KINDS", "Chart", "Frame", "Request", "caption", "chart", "figure_of"]


def figure_of(
    frame: Frame, request: Request, columns: float = 1.0, height: float | None = None
) -> Figure:
    """A frame's figure as wide as so many columns of a paper."""
    width, tall = paper.size(columns, height)
    return drawing.draw(chart(frame, request), width, tall)
