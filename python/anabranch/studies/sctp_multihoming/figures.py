"""The figures: mean times with intervals, and the timeouts of one run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anabranch import stats
from anabranch.experiment import RunResult
from anabranch.figures import Plot
from anabranch.studies import drawing
from anabranch.studies.results import FigureEntry
from anabranch.studies.sctp_multihoming.conditions import (
    Batch,
    batch,
    by_bandwidth,
    by_delay,
    by_other,
    plan,
)
from anabranch.studies.sctp_multihoming.measures import Times

TIME = "transfer time (s)"
BASICS = ("same", "alternate")


def write_all(directory: Path, times: Times, watched: RunResult) -> list[FigureEntry]:
    """Writes every figure's CSV, SVG and PNG; returns their captions in order."""
    basics = Sheet(directory, times, BASICS)
    policies, remedies = plan()["figure4"], plan()["remedies"]
    all_of_them = Sheet(directory, times, (*BASICS, *remedies["schemes"]))
    return [
        _by_loss(directory, times, "figure2", "fig2"),
        _by_loss(directory, times, "figure3", "fig3"),
        *(
            basics.by_other(f"fig4{letter}", loss, policies["other"])
            for letter, loss in zip("abc", policies["loss"], strict=True)
        ),
        basics.by_rate("fig5", plan()["figure5"]["bandwidth"]),
        basics.by_delay("fig6", plan()["figure6"]["delay"]),
        _timeouts(directory, watched),
        *(
            all_of_them.by_other(f"remedies_{loss:g}", loss, remedies["other"])
            for loss in remedies["loss"]
        ),
        all_of_them.by_rate("remedies_rate", remedies["bandwidth"]),
        all_of_them.by_delay("remedies_delay", remedies["delay"]),
    ]


@dataclass(frozen=True)
class Sheet:
    """Figures of the same schemes."""

    directory: Path
    times: Times
    schemes: Sequence[str]

    def by_other(self, stem: str, loss: float, others: list[float]) -> FigureEntry:
        """Figure 4."""
        plot = Plot(f"Primary loses {loss:g} %", "loss of the alternate path (%)", TIME)
        caption = f"Where retransmissions go, with a loss of {loss:g} % on the primary path."
        rows = self._rows(lambda scheme: by_other(scheme, [loss], others), others)
        return drawing.points(self.directory, stem, rows, plot, caption)

    def by_rate(self, stem: str, ratios: list[float]) -> FigureEntry:
        """Figure 5."""
        rows = self._rows(lambda scheme: by_bandwidth(scheme, ratios), ratios)
        return self._ratio(stem, rows, "rate")

    def by_delay(self, stem: str, ratios: list[float]) -> FigureEntry:
        """Figure 6."""
        rows = self._rows(lambda scheme: by_delay(scheme, ratios), ratios)
        return self._ratio(stem, rows, "delay")

    def _ratio(self, stem: str, rows: list[dict[str, Any]], what: str) -> FigureEntry:
        axis = f"{what} of the alternate over the primary's"
        plot = Plot("Losses of 4 % and 2 %", axis, TIME, log="x")
        caption = f"Transfer time against the alternate's {what}."
        return drawing.points(self.directory, stem, rows, plot, caption)

    def _rows(
        self, batches: Callable[[str], Iterable[Batch]], x: list[float]
    ) -> list[dict[str, Any]]:
        return [
            row for scheme in self.schemes for row in _rows(self.times, scheme, batches(scheme), x)
        ]


def _rows(
    times: Times, series: str, batches: Iterable[Batch], x: Iterable[float]
) -> list[dict[str, Any]]:
    return [
        {"series": series, "x": at, **vars(stats.mean(times[each]))}
        for at, each in zip(x, batches, strict=True)
    ]


def _by_loss(directory: Path, times: Times, figure: str, stem: str) -> FigureEntry:
    part = plan()[figure]
    rows = []
    for scheme in part["schemes"]:
        rows += _rows(times, scheme, [batch(scheme, x) for x in part["loss"]], part["loss"])
    most = part["loss"][-1]
    plot = Plot("4 MB, the second path lossless", "loss of the first path (%)", TIME)
    caption = f"Transfer time against the first path's loss, 0 to {most:g} %."
    return drawing.points(directory, stem, rows, plot, caption)


def _timeouts(directory: Path, run: RunResult) -> FigureEntry:
    rows = []
    for path, label in enumerate(("primary, 4 %", "alternate, 2 %")):
        series = run.series[f"transfer.receiver.path{path}.path_rto"]
        pairs = zip(series["time_s"].tolist(), series["value"].tolist(), strict=True)
        rows += [{"series": label, "time_s": t, "value": v} for t, v in pairs]
    plot = Plot("Retransmission timeouts of one run", "time (s)", "RTO (s)")
    caption = "RTO of both paths in one run, retransmissions on the alternate."
    return drawing.times(directory, "timeouts", rows, plot, caption)
