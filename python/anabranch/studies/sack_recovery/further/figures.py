"""Figures over the further conditions: every scheme, mean and 95 % interval."""

from __future__ import annotations

from pathlib import Path

from anabranch.figures import Plot
from anabranch.rows import CsvRow
from anabranch.studies import drawing
from anabranch.studies.results import FigureEntry
from anabranch.studies.sack_recovery.further import measures as m
from anabranch.studies.sack_recovery.further.conditions import plan, schemes


def write_all(directory: Path, batches: m.Batches) -> list[FigureEntry]:
    """Writes every figure's CSV, SVG and PNG; returns their captions in order."""
    shown = plan()["reordering"]["shown"]
    distance = "distance (packet times)"
    share = f"{shown:.0%} of the packets held back, nothing lost"
    size, burst = "transfer (segments)", "mean burst (packets)"
    drawn: list[tuple[str, str, m.Metric, Plot, str]] = [
        (
            "reordering_spurious",
            "reordering",
            m.spurious,
            Plot(share, distance, "spurious retransmissions per 1000", log="xy"),
            "Spurious retransmissions under reordering, by how far packets are held back.",
        ),
        (
            "reordering_halvings",
            "reordering",
            m.reductions,
            Plot(share, distance, "spurious halvings per 1000", log="x"),
            "Spurious halvings of the window in the same runs.",
        ),
        (
            "reordering_goodput",
            "reordering",
            m.goodput,
            Plot(share, distance, "goodput (Mbit/s)", log="x", legend="upper right"),
            "Goodput in the same runs.",
        ),
        (
            "random_goodput",
            "random",
            m.goodput,
            Plot("Random loss", "loss rate", "goodput (Mbit/s)", log="x", legend="upper right"),
            "Goodput under independent random loss.",
        ),
        (
            "bursts_goodput",
            "bursts",
            m.goodput,
            Plot("Loss of 1 % in bursts", burst, "goodput (Mbit/s)", log="x"),
            "Goodput when the same share of packets is lost in bursts (Gilbert-Elliott).",
        ),
        (
            "tail_completion",
            "tail",
            m.completion,
            Plot("The last segments lost", "segments lost", "time (s)"),
            "Time of a transfer of 40 segments whose last ones are lost.",
        ),
        (
            "short_completion",
            "short",
            m.completion,
            Plot("Short transfers, 2 % loss", size, "time (s)", log="xy"),
            "Mean time of short transfers under random loss.",
        ),
        (
            "fairness",
            "fairness",
            m.jain,
            Plot("Flows of one scheme", "flows", "Jain's index", legend="lower right"),
            "How evenly flows of one scheme share the bottleneck.",
        ),
    ]
    return [
        drawing.points(directory, stem, _rows(batches, part, metric, shown), plot, caption)
        for stem, part, metric, plot, caption in drawn
    ]


def _rows(batches: m.Batches, part: str, metric: m.Metric, shown: float) -> list[CsvRow]:
    level = shown if part == "reordering" else 0.0
    rows = []
    for scheme in schemes():
        for batch in sorted(batches):
            if (batch.part, batch.scheme, batch.level) == (part, scheme, level):
                estimate = m.sample(batches, batch, metric).estimate
                rows.append({"series": scheme, "x": batch.x, **vars(estimate)})
    return rows
