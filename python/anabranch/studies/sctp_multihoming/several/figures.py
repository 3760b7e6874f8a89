"""The figures: times by set of alternates, the worst alternate first, and the best."""

from __future__ import annotations

from pathlib import Path

from anabranch.figures import Plot
from anabranch.studies import drawing
from anabranch.studies.replications import Replicated
from anabranch.studies.results import FigureEntry
from anabranch.studies.sctp_multihoming.several.claims import Seen
from anabranch.studies.sctp_multihoming.several.conditions import (
    FAILING,
    SENDING_AGAIN,
    Run,
    plan,
    sets,
)

TITLES = {SENDING_AGAIN: "The primary loses 4 %", FAILING: "The primary fails after 5 s"}
ROOM = 4.5
"""Sets that the legend takes beside those drawn."""


def write_all(directory: Path, results: Replicated[Run], quick: bool) -> list[FigureEntry]:
    """Writes the figures' CSV, SVG and PNG; returns their captions in order."""
    seen, found = Seen(results, quick), []
    names = sets(quick)
    listed = "; ".join(f"{number} {name}" for number, name in enumerate(names, start=1))
    for kind, title in TITLES.items():
        for backwards, first in ((False, "worst"), (True, "best")):
            rows = [
                {
                    "series": policy,
                    "x": number,
                    **vars(seen.seconds(Run(kind, policy, name, backwards)).estimate),
                }
                for policy in plan()[kind]["drawn"]
                for number, name in enumerate(names, start=1)
            ]
            plot = Plot(
                f"{title}, the {first} alternate first",
                "set of alternates",
                "transfer time (s)",
                xlim=(0.5, len(names) + ROOM),
                legend="upper right",
                log="y" if kind == FAILING else "",
            )
            caption = f"Several alternates, the {first} one first in order: {listed}."
            stem = f"several_{kind}_{first}"
            found.append(drawing.points(directory, stem, rows, plot, caption))
    return found
