"""What needs no runs: figure 1 of the paper, and how K' follows a congested path."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from anabranch.figures import COLOURS, Look, Plot
from anabranch.rows import CsvRow
from anabranch.studies import drawing
from anabranch.studies.mcubic import formula
from anabranch.studies.results import FigureEntry

Rows = list[CsvRow]
W_MAX = 750
"""Segments: 100 Mbit/s over 90 ms."""
KS = (4.0, 6.0, formula.k(W_MAX))
"""Three times to the plateau; the last belongs to W_MAX."""
PATHS = (1000.0, 400.0)
"""Windows at the last loss of two paths of one connection."""


def write_all(directory: Path) -> list[FigureEntry]:
    """Writes each figure's CSV, SVG and PNG."""
    return [_figure_1a(directory), _figure_1b(directory), _k_prime(directory)]


def _figure_1a(directory: Path) -> FigureEntry:
    rows = [
        {"series": f"K{number} = {k:.1f} s", "time_s": t, "value": formula.cubic(t, k, W_MAX)}
        for number, k in enumerate(KS, start=1)
        for t in np.linspace(0, 14, 141).tolist()
    ]
    looks = {row["series"]: Look() for row in rows}
    plot = Plot("CUBIC by equation 6, one Wmax and three K", "time (s)", "window (segments)", looks)
    caption = (
        "Figure 1 (a) of the paper: the later the plateau, the slower the growth. By its own"
        f" formula only K3 goes with this Wmax of {W_MAX} segments."
    )
    return drawing.times(directory, "fig1a", rows, plot, caption)


def _figure_1b(directory: Path) -> FigureEntry:
    ks = [formula.k(w_max) for w_max in PATHS]
    rows: Rows = []
    for path, w_max in enumerate(PATHS):
        slower = formula.k_prime(ks, path)
        for t in np.linspace(0, 40, 401).tolist():
            alone = formula.cubic(t, ks[path], w_max)
            coupled = max((1 - formula.GIVEN_UP) * w_max, formula.cubic(t, slower, w_max))
            both = ((f"CUBIC, K{path + 1}", alone), (f"MCubic, K{path + 1}'", coupled))
            rows += [
                {"series": series, "time_s": t, "value": value}
                for series, value in both
                if value <= 1.5 * PATHS[0]
            ]
    looks = {}
    for path in (0, 1):
        looks[f"CUBIC, K{path + 1}"] = Look("--", "", COLOURS[path])
        looks[f"MCubic, K{path + 1}'"] = Look("-", "", COLOURS[path])
    plot = Plot(
        "Two paths, each with CUBIC and with MCubic", "time (s)", "window (segments)", looks
    )
    begins = formula.cubic(0, formula.k_prime(ks, 0), PATHS[0])
    caption = (
        "Figure 1 (b): with K' each subflow stays below a CUBIC in its place. Equation 10 by itself"
        f" begins at {begins:.0f} segments on the larger path; where it lies below the reduced"
        " window, that is held."
    )
    return drawing.times(directory, "fig1b", rows, plot, caption)


def _k_prime(directory: Path) -> FigureEntry:
    names = (
        "K', this path",
        "K', congested path",
        "mcubic-share, this path",
        "mcubic-share, congested path",
    )
    rows: Rows = []
    for left in np.geomspace(0.05, 1, 30).tolist():
        both = (*formula.shifted(left), *formula.shifted_by_shares(left))
        rows += [
            {"series": name, "x": left, "mean": y, "ci_low": y, "ci_high": y, "n": 1}
            for name, y in zip(names, both, strict=True)
        ]
    curves = {
        name: Look("-" if index % 2 == 0 else "--", "", COLOURS[index // 2])
        for index, name in enumerate(names)
    }
    plot = Plot(
        "Time to the plateau when one of two equal paths becomes congested",
        "Wmax of the congested path, over what it was",
        "over the time before",
        curves,
        log="x",
        legend="upper right",
    )
    caption = "K' by the paper's formula, and the time to the plateau in mcubic-share (claim C6)."
    return drawing.points(directory, "k_prime", rows, plot, caption)
