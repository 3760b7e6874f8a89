"""`anabranch bench`: the speed workloads, one row a variant; `live` the emulator and our stacks."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from anabranch import si
from anabranch.commands.namespace import become_root_of_a_namespace
from anabranch.commands.options import PATH, console
from anabranch.experiment import bench as run_workload
from anabranch.files import output_directory, write_text
from anabranch.native import interruptible

WORKLOADS = (
    "long-flow",
    "dumbbell-100",
    "fat-tree",
    "replications",
    "sctp-bulk",
    "sctp-multihomed",
    "ack-regulator",
    "mptcp-2",
    "mptcp-8",
    "idle-flows",
    "own-controller",
)
LIVE = "live"
"""On real packets, which needs what live runs need; not among those of no argument."""

ALWAYS = ("workload", "variant", "sim_s", "cpu_s", "packet_hops", "packet_hops_per_core_s")


@click.command()
@click.argument(
    "workloads", nargs=-1, type=click.Choice((*WORKLOADS, LIVE)), metavar="[WORKLOAD]..."
)
@click.option("--json", "file", type=PATH, metavar="FILE", help="Also write the rows as JSON.")
@click.option(
    "--repeats",
    type=click.IntRange(1, 99),
    default=3,
    show_default=True,
    help="Of `live`: runs of each measure, of which the median counts.",
)
@click.option("--quick", is_flag=True, help="Of `live`: whether it works, without figures.")
def bench(workloads: tuple[str, ...], file: Path | None, repeats: int, quick: bool) -> None:
    """Measures packet-hops per core-second and memory (all workloads of virtual time by default).

    `live` measures the emulator and our stacks on real packets: packets for each second of
    processor time, lateness, our TCP against the kernel's, our SCTP against usrsctp. It needs
    root, or a kernel that gives users their own namespaces.
    """
    if LIVE in workloads:
        become_root_of_a_namespace()
    if file is not None:
        output_directory(file.parent)
    rows: list[dict[str, Any]] = []
    terminal = console()
    for workload in workloads or WORKLOADS:
        if workload == LIVE:
            rows += _live(repeats, quick)
            continue
        run = own_controller if workload == "own-controller" else run_workload
        for row in interruptible(lambda run=run, name=workload: run(name)):  # type: ignore[misc]
            rows.append(row)
            terminal.print(_line(row))
    if file is not None:
        write_text(file, json.dumps(rows, indent=2) + "\n")


def own_controller(workload: str) -> list[dict[str, Any]]:
    """A bulk flow with Reno of the core, then with the same rules in Python: what a
    controller in Python costs for an ACK. Both are the same run, packet by packet."""
    measuring = importlib.import_module("anabranch.algorithms.measuring")
    rows: list[dict[str, Any]] = measuring.own_controller(workload)
    return rows


def _live(repeats: int, quick: bool) -> list[dict[str, Any]]:
    """Runs and prints the measures of real packets; the figures are of this machine as it was
    used meanwhile, so the load stands beside them."""
    speed = importlib.import_module("anabranch.live_speed")
    before, terminal = speed.conditions(), console()
    rows: list[dict[str, Any]] = []
    for row in speed.measure(speed.QUICK if quick else speed.Size(), repeats):
        rows.append(row.facts() | {"before": before, "after": speed.conditions()})
    table = Table(box=None, pad_edge=False)
    table.add_column("measure")
    for name in ("value", "median", "least", "most"):
        table.add_column(name, justify="left" if name == "value" else "right", no_wrap=True)
    table.add_column("aim")
    for facts in rows:
        _add_figures(table, facts)
    terminal.print(table)
    loads = " to ".join(f"{each['load_1']:.1f}" for each in (before, speed.conditions()))
    terminal.print(f"load average {loads} on {before['processors']} processors")
    return rows


def _add_figures(table: Table, facts: dict[str, Any]) -> None:
    """A line for each value; the first has the name of the measure."""
    title = facts["variant"]
    if "missing" in facts:
        table.add_row(title, "missing", "", "", "", facts["missing"])
    for name in [name for name in facts if f"{name}_least" in facts]:
        values = (facts[name], facts[f"{name}_least"], facts[f"{name}_most"])
        figures = (f"{value:,.0f}" if value >= 1000 else f"{value:.3g}" for value in values)
        table.add_row(title, name, *figures, facts["aims"].get(name, ""))
        title = ""


def _line(row: dict[str, Any]) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(width=14, style="bold")
    table.add_column(width=10)
    table.add_column(justify="right", width=30)
    table.add_column()
    extra = ", ".join(
        f"{si.name_of(key).removesuffix(' bytes')} {_number(key, value)}"
        for key, value in row.items()
        if key not in ALWAYS and value
    )
    speed = f"{row['packet_hops_per_core_s'] / 1e6:.2f} M packet-hops/core-s"
    table.add_row(row["workload"], str(row.get("variant") or ""), speed, extra)
    return table


def _number(key: str, value: Any) -> str:
    return si.text(value, si.unit_of(key)) if isinstance(value, (int, float)) else str(value)
