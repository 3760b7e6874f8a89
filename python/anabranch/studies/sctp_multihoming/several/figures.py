"""The figures: times by set of alternates, the worst alternate first."""

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
    policies,
    sets,
)

TITLES = {SENDING_AGAIN: "The primary loses 4 %", FAILING: "The primary fails after 5 s"}


def write_all(directory: Path, results: Replicated[Run], quick: bool) -> list[FigureEntry]:
    """Writes both figures' CSV, SVG and PNG; returns their captions in order."""
    seen, found = Seen(results, quick), []
    names = sets(quick)
    listed = "; ".join(f"{number} {name}" for number, name in enumerate(names, start=1))
    for kind, title in TITLES.items():
        rows = [
            {
                "series": policy,
                "x": number,
                **vars(seen.seconds(Run(kind, policy, name, False)).estimate),
            }
            for policy in policies(kind)
            for number, name in enumerate(names, start=1)
        ]
        plot = Plot(title, "set of alternates", "transfer time (s)", log="y")
        caption = f"Several alternates, the worst one first in order: {listed}."
        found.append(drawing.points(directory, f"several_{kind}", rows, plot, caption))
    return found
