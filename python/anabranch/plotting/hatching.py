"""Bars that differ by hatching where there are more series than colours."""

from __future__ import annotations

from typing import Any

import pandas as pd
import plotnine as p9

HATCHES = {"solid": "", "dashed": "////", "dashdot": "....", "dotted": "xxxx"}
"""By the kind of line that stands for it: plotnine has a scale for lines, and none for hatching."""
INK = "white"


class geom_hatched(p9.geom_col):  # type: ignore[misc] # plotnine has no types for it
    """Bars whose `linetype` is a hatching, in white."""

    @staticmethod
    def draw_group(
        data: pd.DataFrame, panel_params: Any, coord: Any, ax: Any, params: dict[str, Any]
    ) -> None:
        """Draws the bars of one hatching after the other."""
        for line, bars in data.groupby("linetype", sort=False):
            before = len(ax.collections)
            plain = bars.assign(linetype="solid")
            p9.geom_col.draw_group(plain, panel_params, coord, ax, params)
            for drawn in ax.collections[before:]:
                drawn.set(hatch=HATCHES[str(line)], edgecolor=INK, linewidth=0)

    @staticmethod
    def draw_legend(data: pd.Series[Any], da: Any, lyr: Any) -> Any:
        """Draws the key of a series."""
        made = p9.geom_col.draw_legend(data, da, lyr)
        made.get_children()[-1].set(
            hatch=HATCHES[str(data["linetype"])], edgecolor=INK, linestyle="solid", linewidth=0
        )
        return made
