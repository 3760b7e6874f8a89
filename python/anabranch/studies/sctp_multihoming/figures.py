"""The paper's figures: mean times with intervals, as published and by other rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from anabranch.figures import COLOURS, DASHES, MARKERS, Look, Plot
from anabranch.rows import CsvRow
from anabranch.settings import Toml
from anabranch.studies import drawing
from anabranch.studies.replications import Replicated
from anabranch.studies.results import FigureEntry
from anabranch.studies.sctp_multihoming import conditions
from anabranch.studies.sctp_multihoming.conditions import (
    Batch,
    Paths,
    by_bandwidth,
    by_delay,
    plan,
)
from anabranch.studies.sctp_multihoming.worlds import World, of_policies, with_tcp

TIME = "transfer time (s)"
BASICS = ("same", "alternate")
ByRatio = Callable[[Iterable[float], float], list[Paths]]


def write_all(directory: Path, results: Replicated[Batch], quick: bool) -> list[FigureEntry]:
    """Writes every figure's CSV, SVG and PNG; returns their captions in order."""
    policies = plan()["figure4"]
    sheet = Sheet(directory, of_policies(results, quick), BASICS)
    drawn = [*_by_loss(directory, with_tcp(results, quick))]
    drawn += [
        sheet.by_other(f"fig4{letter}", loss, policies["other"])
        for letter, loss in zip("abc", policies["loss"], strict=True)
    ]
    drawn.append(sheet.by_rate("fig5", plan()["figure5"]["bandwidth"]))
    drawn.append(sheet.by_delay("fig6", plan()["figure6"]["delay"]))
    return drawn


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
        return self._ratio(stem, by_bandwidth, ratios, "rate")

    def by_delay(self, stem: str, ratios: list[float]) -> FigureEntry:
        """Figure 6."""
        return self._ratio(stem, by_delay, ratios, "delay")

    def _ratio(self, stem: str, paths: ByRatio, ratios: list[float], what: str) -> FigureEntry:
        axis = f"{what} of the alternate over the primary's"
        rows = [
            row
            for world in self.worlds
            for scheme in self.schemes
            for row in _rows(
                world, scheme, self._name(world, scheme), paths(ratios, world.equal), ratios
            )
        ]
        losses = ", ".join(f"{world.equal:g} % ({world.sctp})" for world in self.worlds)
        plot = Plot("4 % and where policies are equal", axis, TIME, self._looks(), log="x")
        caption = (
            f"Transfer time against the alternate's {what}; the primary loses 4 %, the alternate"
            f" as much as makes the policies equal: {losses}."
        )
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

    def _rows(self, paths: Sequence[Paths], x: list[float]) -> list[CsvRow]:
        return [
            row
            for world in self.worlds
            for scheme in self.schemes
            for row in _rows(world, scheme, self._name(world, scheme), paths, x)
        ]


def _rows(
    world: World, scheme: str, series: str, paths: Iterable[Paths], x: Iterable[float]
) -> list[CsvRow]:
    return [
        {"series": series, "x": at, **vars(world.seconds(scheme, each).estimate)}
        for at, each in zip(x, paths, strict=True)
    ]


def _by_loss(directory: Path, worlds: Sequence[World]) -> list[FigureEntry]:
    """Figures 2 and 3 as published, TCP with delayed ACKs beside; figure 3 by today's rules."""
    paper, *others = worlds
    delayed = next(world for world in others if world.tcp == "delayed")
    beside = [(paper, "", "-"), (delayed, ", delayed ACKs", "--")]
    found = []
    for figure, stem in (("figure2", "fig2"), ("figure3", "fig3")):
        losses = plan()[figure]["loss"]
        caption = (
            f"Transfer time against the first path's loss, 0 to {losses[-1]:g} %: as published, and"
            " with a TCP that delays its ACKs."
        )
        found.append(_compared(directory, stem, plan()[figure], beside, caption))
    low = [world for world in others if "rto200" in world.tcp and "rto200" in world.sctp]
    if low:
        today = [(paper, "", "-"), (low[0], ", RTO of 200 ms at least", "--")]
        caption = (
            "Figure 3 as published, and with a least RTO of 200 ms, as Linux has it, for a TCP that"
            " delays its ACKs and SCTP by RFC 9260."
        )
        found.append(_compared(directory, "fig3_rto", plan()["figure3"], today, caption))
    return found


def _compared(
    directory: Path,
    stem: str,
    part: Toml,
    worlds: Sequence[tuple[World, str, str]],
    caption: str,
) -> FigureEntry:
    losses = part["loss"]
    rows: list[CsvRow] = []
    looks = {}
    for world, text, dashes in worlds:
        for index, scheme in enumerate(part["schemes"]):
            same_as_published = (
                world.sctp == worlds[0][0].sctp and conditions.protocol(scheme) == "sctp"
            )
            if world is not worlds[0][0] and same_as_published:
                continue
            name = f"{scheme}{text}"
            rows += _rows(world, scheme, name, [Paths(x) for x in losses], losses)
            looks[name] = Look(dashes, MARKERS[index], COLOURS[index])
    plot = Plot("4 MB, the second path lossless", "loss of the first path (%)", TIME, looks)
    return drawing.points(directory, stem, rows, plot, caption)
