"""`anabranch kernel`: window algorithms of ours in the running kernel."""

from __future__ import annotations

import click
from rich.table import Table

from anabranch.commands.options import console
from anabranch.native import core, guarded
from anabranch.rows import Control


@click.group()
def kernel() -> None:
    """Loads window algorithms into the running Linux, for TCP and coupled for Multipath TCP.

    What is loaded stays until it is unloaded or the machine restarts. Needs Linux 6.4 with BTF, and
    root.
    """


@kernel.command()
@click.argument("name")
@click.option(
    "--as",
    "kernel_name",
    metavar="KERNEL_NAME",
    help="What the kernel calls it, at most 15 letters, digits, `_` and `.`; ab_ and a short name "
    "by default.",
)
def load(name: str, kernel_name: str | None) -> None:
    """Loads an algorithm: see `anabranch kernel list`."""
    with guarded("kernel"):
        loaded = core.kernel_load(name, kernel_name)
    click.echo(f"loaded as {loaded}")
    click.echo(f"all new connections:  sysctl net.ipv4.tcp_congestion_control={loaded}")
    click.echo(f"one route:            ip route change ... congctl {loaded}")
    click.echo(f"one socket:           setsockopt(TCP_CONGESTION, {loaded!r})")


@kernel.command("list")
def list_algorithms() -> None:
    """Lists the algorithms that can be loaded."""
    with guarded("kernel"):
        known = core.kernel_algorithms()
    for name, coupled in known:
        click.echo(
            f"{name:<14}{'coupled over the subflows of MPTCP' if coupled else 'single path'}"
        )


@kernel.command()
def status() -> None:
    """Shows what is loaded, with its counters."""
    with guarded("kernel"):
        loaded = [Control.of(row) for row in core.kernel_status()]
    if not loaded:
        click.echo("nothing is loaded")
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("name", "sockets", "coupled subflows", "that did not fit"):
        table.add_column(heading)
    for each in loaded:
        table.add_row(each.name, str(each.flows), str(each.coupled), str(each.unfitting))
    console().print(table)


@kernel.command()
@click.argument("name", metavar="KERNEL_NAME")
def unload(name: str) -> None:
    """Takes an algorithm out of the kernel; open connections keep it until they end."""
    with guarded("kernel"):
        core.kernel_unload(name)
    click.echo(f"unloaded {name}")
