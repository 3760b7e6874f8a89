"""`anabranch bench`: the speed workloads, one row a variant."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from anabranch.commands.options import PATH, console, interruptible
from anabranch.experiment import bench as run_workload
from anabranch.files import output_directory, write_text

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
ALWAYS = ("workload", "variant", "sim_s", "cpu_s", "packet_hops", "packet_hops_per_core_s")


@click.command()
@click.argument("workloads", nargs=-1, type=click.Choice(WORKLOADS), metavar="[WORKLOAD]...")
@click.option("--json", "file", type=PATH, metavar="FILE", help="Also write the rows as JSON.")
def bench(workloads: tuple[str, ...], file: Path | None) -> None:
    """Measures packet-hops per core-second and memory (all workloads by default)."""
    if file is not None:
        output_directory(file.parent)
    rows: list[dict[str, Any]] = []
    terminal = console()
    for workload in workloads or WORKLOADS:
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


def _line(row: dict[str, Any]) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(width=14, style="bold")
    table.add_column(width=10)
    table.add_column(justify="right", width=30)
    table.add_column()
    extra = ", ".join(
        f"{key} {_number(value)}" for key, value in row.items() if key not in ALWAYS and value
    )
    speed = f"{row['packet_hops_per_core_s'] / 1e6:.2f} M packet-hops/core-s"
    table.add_row(row["workload"], str(row.get("variant") or ""), speed, extra)
    return table


def _number(value: Any) -> str:
    return f"{value:,.1f}" if isinstance(value, float) else str(value)
