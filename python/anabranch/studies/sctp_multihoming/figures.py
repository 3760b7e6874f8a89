"""The paper's figures: mean times with intervals, by its rules and by others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anabranch import stats
from anabranch.figures import COLOURS, DASHES, MARKERS, Look, Plot
from anabranch.studies import drawing
from anabranch.studies.results import FigureEntry
from anabranch.studies.sctp_multihoming.conditions import Paths, by_bandwidth, by_delay, plan
from anabranch.studies.sctp_multihoming.measures import Times
from anabranch.studies.sctp_multihoming.worlds import World, of_policies

TIME = "transfer time (s)"
BASICS = ("same", "alternate")


def write_all(directory: Path, times: Times) -> list[FigureEntry]:
    """Writes every figure's CSV, SVG and PNG; returns their captions in order."""
    policies = plan()["figure4"]
    sheet = Sheet(directory, of_policies(times), BASICS)
    return [
        _by_loss(directory, times, "figure2", "fig2"),
        _by_loss(directory, times, "figure3", "fig3"),
        _low_least_rto(directory, times),
        *(
            sheet.by_other(f"fig4{letter}", loss, policies["other"])
            for letter, loss in zip("abc", policies["loss"], strict=True)
        ),
        sheet.by_rate("fig5", plan()["figure5"]["bandwidth"]),
        sheet.by_delay("fig6", plan()["figure6"]["delay"]),
    ]


@dataclass(frozen=True)
class Sheet:
    """Figures of the same schemes under the same sets of rules."""

    directory: Path
    worlds: Sequence[World]
    schemes: Sequence[str]

    def by_other(self, stem: str, loss: float, others: list[float]) -> FigureEntry:
        """Figure 4."""
        plot = Plot(
            f"Primary loses {loss:g} %", "loss of the alternate path (%)", TIME, self._looks()
        )
        caption = f"Where retransmissions go, with a loss of {loss:g} % on the primary path."
        rows = self._rows([Paths(loss, other) for other in others], others)
        return drawing.points(self.directory, stem, rows, plot, caption)

    def by_rate(self, stem: str, ratios: list[float]) -> FigureEntry:
        """Figure 5."""
        return self._ratio(stem, self._rows(by_bandwidth(ratios), ratios), "rate")

    def by_delay(self, stem: str, ratios: list[float]) -> FigureEntry:
        """Figure 6."""
        return self._ratio(stem, self._rows(by_delay(ratios), ratios), "delay")

    def _ratio(self, stem: str, rows: list[dict[str, Any]], what: str) -> FigureEntry:
        axis = f"{what} of the alternate over the primary's"
        plot = Plot("Losses of 4 % and 2 %", axis, TIME, self._looks(), log="x")
        caption = f"Transfer time against the alternate's {what}."
        return drawing.points(self.directory, stem, rows, plot, caption)

    def _name(self, world: World, scheme: str) -> str:
        return scheme if world is self.worlds[0] else f"{scheme}, {world.sctp}"

    def _looks(self) -> dict[str, Look]:
        """A colour for each set of rules, a line for each scheme."""
        return {
            self._name(world, scheme): Look(DASHES[j], MARKERS[j], COLOURS[i])
            for i, world in enumerate(self.worlds)
            for j, scheme in enumerate(self.schemes)
        }

    def _rows(self, paths: Sequence[Paths], x: list[float]) -> list[dict[str, Any]]:
        return [
            row
            for world in self.worlds
            for scheme in self.schemes
            for row in _rows(world, scheme, self._name(world, scheme), paths, x)
        ]


def _rows(
    world: World, scheme: str, series: str, paths: Iterable[Paths], x: Iterable[float]
) -> list[dict[str, Any]]:
    return [
        {"series": series, "x": at, **vars(stats.mean(world.times[world.batch(scheme, each)]))}
        for at, each in zip(x, paths, strict=True)
    ]


def _by_loss(directory: Path, times: Times, figure: str, stem: str) -> FigureEntry:
    part, world = plan()[figure], World(times)
    losses = part["loss"]
    rows: list[dict[str, Any]] = []
    for scheme in part["schemes"]:
        rows += _rows(world, scheme, scheme, [Paths(x) for x in losses], losses)
    plot = Plot("4 MB, the second path lossless", "loss of the first path (%)", TIME)
    caption = f"Transfer time against the first path's loss, 0 to {losses[-1]:g} %."
    return drawing.points(directory, stem, rows, plot, caption)


def _low_least_rto(directory: Path, times: Times) -> FigureEntry:
    """Figure 3 with a least RTO of 200 ms: TCP's alone, and both."""
    losses = plan()["figure3"]["loss"]
    usual, low = World(times), World(times, "delayed-rto200", "rfc2960-rto200")
    rows: list[dict[str, Any]] = []
    looks = {}
    drawn = [(usual, s, "1 s") for s in plan()["figure3"]["schemes"][1:]]
    drawn += [(low, s, "200 ms") for s in plan()["figure3"]["schemes"][1:]]
    for index, (world, scheme, least) in enumerate(drawn):
        name = f"{scheme}, RTO of {least} at least"
        rows += _rows(world, scheme, name, [Paths(x) for x in losses], losses)
        colour = index % (len(drawn) // 2)
        looks[name] = Look("--" if world is low else "-", MARKERS[colour], COLOURS[colour])
    plot = Plot("4 MB, the second path lossless", "loss of the first path (%)", TIME, looks)
    caption = "Figure 3 with the least RTO of RFC 6298 and RFC 9260, and with that of Linux."
    return drawing.points(directory, "fig3_rto", rows, plot, caption)
