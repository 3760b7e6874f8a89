"""`anabranch compare`: one scenario in virtual and in real time, side by side."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from anabranch import stats, tables
from anabranch.commands.live import become_root_of_a_namespace
from anabranch.commands.options import PATH, checked, console
from anabranch.experiment import LiveResult, RunResult, Scenario
from anabranch.files import output_directory
from anabranch.stats import Estimate

COLUMNS = (
    "flow",
    "measure",
    "simulated",
    "simulated_low",
    "simulated_high",
    "live",
    "live_low",
    "live_high",
    "difference",
    "difference_low",
    "difference_high",
    "n",
)
"""The columns of `compare.csv`: means, 95 % intervals, live minus simulated in pairs of a seed."""


def _goodput(flow: dict[str, Any], _run: RunResult) -> float | None:
    return float(flow["goodput_bps"]) / 1e6


def _completion(flow: dict[str, Any], _run: RunResult) -> float | None:
    finish = flow["finish_s"]
    return None if finish is None else float(finish - flow["start_s"])


def _retransmissions(flow: dict[str, Any], _run: RunResult) -> float | None:
    return float(flow["retransmitted_packets"])


def _mean_window(flow: dict[str, Any], run: RunResult) -> float | None:
    """From the first window above zero to the end of the flow, where `cwnd` is observed."""
    series = run.series.get(f"{flow['flow']}.cwnd")
    finish = flow["finish_s"]
    if series is None or finish is None:
        return None
    begun = series["value"] > 0
    times, values = series["time_s"][begun], series["value"][begun]
    if not len(times) or not times[0] < finish:
        return None
    return stats.step_mean(times, values, float(times[0]), float(finish)) / 1e3


MEASURES = {
    "goodput Mbit/s": _goodput,
    "completion s": _completion,
    "retransmissions": _retransmissions,
    "mean cwnd kB": _mean_window,
}
"""What is compared: a number of a flow and its run, or nothing."""


@dataclass(frozen=True)
class Row:
    """A measure of a flow in both worlds."""

    flow: str
    measure: str
    simulated: Estimate
    live: Estimate
    difference: Estimate

    def cells(self) -> dict[str, Any]:
        """A row of `compare.csv`."""
        cells: dict[str, Any] = {"flow": self.flow, "measure": self.measure}
        for name in ("simulated", "live", "difference"):
            it: Estimate = getattr(self, name)
            cells |= {name: it.mean, f"{name}_low": it.ci_low, f"{name}_high": it.ci_high}
        return cells | {"n": self.live.n}


@click.command()
@click.argument("scenario", type=PATH, metavar="SCENARIO.toml")
@click.option(
    "--replications",
    type=click.IntRange(1, 1000),
    default=5,
    show_default=True,
    help="Runs in each world; the live ones one after the other, in real time.",
)
@click.option(
    "--set",
    "assignments",
    multiple=True,
    metavar="KEY=VALUE",
    help="Overrides one field; may be repeated.",
)
@click.option(
    "--out",
    type=PATH,
    default=Path("results/compare"),
    show_default=True,
    metavar="DIR",
    help="Where the results go.",
)
def compare(scenario: Path, replications: int, assignments: tuple[str, ...], out: Path) -> None:
    """Runs one scenario in the simulator and live, and shows both side by side.

    External hosts are our stack in the simulator and the kernel's in the live runs. The runs
    of a pair have the same seed, so that the k-th packet of a link has the same fate in both.
    """
    experiment = Scenario.load(scenario).set(
        *(checked(text, "--set", "KEY=VALUE") for text in assignments)
    )
    seeds = range(1, replications + 1)
    simulated = [experiment.run(seed=seed) for seed in seeds]
    become_root_of_a_namespace()
    directory = output_directory(out)
    live = []
    for seed in seeds:
        live.append(experiment.live(seed=seed))
        if live[-1].facts["stopped"]:
            raise KeyboardInterrupt
    rows = compared(simulated, live)
    tables.write_csv(directory / "compare.csv", COLUMNS, [row.cells() for row in rows])
    _print(rows, directory)
    doubtful = [doubt for result in live for doubt in result.facts["doubts"]]
    for doubt in dict.fromkeys(doubtful):
        click.echo(f"doubtful: {doubt}", err=True)


def compared(simulated: list[RunResult], live: list[LiveResult]) -> list[Row]:
    """A row for each flow and measure that all runs have."""
    rows = []
    for i, flow in enumerate(simulated[0].flows):
        for name, measure in MEASURES.items():
            worlds = [
                [measure(run.flows[i], run) for run in runs]
                for runs in (simulated, [result.run for result in live])
            ]
            both = zip(*worlds, strict=True)
            pairs = [(a, b) for a, b in both if a is not None and b is not None]
            if pairs:
                first, second = ([pair[side] for pair in pairs] for side in (0, 1))
                difference = stats.paired(second, first)
                estimates = (stats.mean(first), stats.mean(second), difference)
                rows.append(Row(str(flow["flow"]), name, *estimates))
    return rows


def _print(rows: list[Row], directory: Path) -> None:
    table = Table(box=None, header_style="bold")
    for heading in ("flow", "measure"):
        table.add_column(heading)
    for heading in ("simulated", "live", "live - simulated"):
        table.add_column(heading, justify="right")
    for row in rows:
        estimates = (row.simulated, row.live, row.difference)
        table.add_row(row.flow, row.measure, *(it.interval_text(2) for it in estimates))
    terminal = console()
    terminal.print(table)
    terminal.print(f"{rows[0].live.n if rows else 0} pairs of runs; results in {directory}")
