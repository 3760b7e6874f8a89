"""`anabranch run`: one scenario, its tables and its flow table on the terminal."""

from __future__ import annotations

import contextlib
import json
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from anabranch import measured, report, si, tables
from anabranch.commands.options import (
    PATH,
    capture_options,
    console,
    explore_option,
    seed_option,
    set_option,
    waiting,
)
from anabranch.experiment import RunResult
from anabranch.files import output_directory, replacing, write_text
from anabranch.library import load
from anabranch.native import interruptible
from anabranch.options import MOST_CORES
from anabranch.report import groups
from anabranch.rows import Flow, Transfer, plain


@click.command()
@click.argument("scenario", type=PATH, metavar="SCENARIO.toml|library:NAME")
@seed_option
@set_option
@capture_options
@explore_option
@click.option(
    "--out",
    type=PATH,
    default=Path("results/run"),
    show_default=True,
    metavar="DIR",
    help="Where the results go.",
)
@click.option(
    "--complete",
    is_flag=True,
    help="End with status 1 unless every flow with a size is complete.",
)
@click.option(
    "--cores",
    type=click.IntRange(1, MOST_CORES),
    default=1,
    show_default=True,
    metavar="N",
    help="Threads to divide the run over, with the same results; without a hash of the packets.",
)
def run(
    *,
    scenario: Path,
    seed: int | None,
    assignments: tuple[str, ...],
    pcap: bool,
    explore: bool,
    places: tuple[str, ...],
    pcap_side: str,
    snaplen: int | None,
    out: Path,
    complete: bool,
    cores: int,
) -> None:
    """Runs one scenario in virtual time and prints a row per flow."""
    experiment = load(scenario).set(*assignments)
    # Wrong input is told before anything is written, and so is what is hardly meant.
    for warning in experiment.warnings():
        click.echo(f"{scenario}: warning: {warning}", err=True)
    if explore:
        experiment = experiment.explored()
    directory = output_directory(out)
    with contextlib.ExitStack() as stack:
        wanted = pcap or places
        file = stack.enter_context(replacing(directory / "capture.pcapng")) if wanted else None
        with waiting(str(scenario)):
            result = interruptible(
                lambda: experiment.run(
                    seed=seed,
                    pcap=file,
                    capture=places,
                    capture_end=pcap_side,
                    snaplen=snaplen,
                    trace_hash=cores == 1,
                    cores=cores,
                )
            )
    if result.run.one_core:
        click.echo(f"{scenario}: run on one core: {result.run.one_core}", err=True)
    tables.write_run(directory, result)
    write_text(directory / "run.json", json.dumps(result.run, indent=2, default=plain) + "\n")
    report.write_run_report(directory, experiment.file, result)
    _print(result, directory)
    if _tell_unfinished(result, complete):
        sys.exit(1)


DIGITS = 4
"""Of dates and sizes on the terminal; files have all."""

# Outcomes of flows of known size that are told on standard error.
_INCOMPLETE = ("ended", "unfinished", "stalled", "not-started")


def _tell_unfinished(result: RunResult, complete: bool) -> bool:
    """Says which flows are not complete, how far they came and why; whether the run has failed."""
    lacking = [flow for flow in result.flows if flow.outcome in _INCOMPLETE]
    if result.run.ended == "time-limit":
        click.echo(f"the run ended at its time_limit, {result.run.end_s:g} s", err=True)
    for flow in lacking[:20]:
        why = f": {flow.why}" if flow.why else ""
        click.echo(f"{flow.flow} {flow.outcome}{why}", err=True)
    if len(lacking) > 20:
        click.echo(f"... and {len(lacking) - 20} more, see outcome in flows.csv", err=True)
    stalled = any(flow.outcome == "stalled" for flow in lacking)
    return stalled or (complete and bool(lacking))


MOST = 50
"""Flows that have a row of their own on the terminal."""
MANY = 9
"""Flows of one name, such as `web-0`, `web-1`, ..., that share a row."""
OF_GROUPS = (
    "group", "flows", "finished", "completion, mean", "completion, 95 %", "bytes", "goodput, mean",
    "retransmitted", "timeouts",
)  # fmt: skip
"""Of the table of groups what the terminal shows."""


def print_flows(
    terminal: Console, flows: Sequence[Transfer], directory: Path, resolved: str = ""
) -> None:
    """A row for each flow, and one for each group of many of one name; of a `resolved` scenario
    whose flows have different window algorithms these, too."""
    found = groups.groups(flows, MANY)
    grouped = {flow.flow for group in found.values() for flow in group}
    alone = [flow for flow in flows if flow.flow not in grouped]
    if alone:
        windows = _windows(resolved) if resolved and len(alone) > 1 else {}
        terminal.print(flow_table(alone[:MOST], windows))
    if len(alone) > MOST:
        terminal.print(f"... and {len(alone) - MOST} more in {directory / 'flows.csv'}")
    if by_group := groups.group_table(found):
        table = Table(
            title=f"flows by group, each in {directory / 'flows.csv'}",
            title_justify="left", box=None, header_style="bold",
        )  # fmt: skip
        for name in OF_GROUPS:
            table.add_column(name, justify="left" if name == "group" else "right")
        for row in by_group.rows:
            table.add_row(*(row[by_group.columns.index(name)].text for name in OF_GROUPS))
        terminal.print(table)


def _windows(resolved: str) -> dict[str, str]:
    """The window algorithm of each entry of flows that has one, by its name."""
    found = {}
    for flow in tomllib.loads(resolved).get("flows", ()):
        window = flow.get("sctp" if flow.get("protocol") == "sctp" else "tcp", {}).get("window")
        if window is not None:
            name = window["algorithm"] if isinstance(window, dict) else window
            found[str(flow["name"])] = str(name)
    return found


def flow_table(flows: Sequence[Transfer], windows: Mapping[str, str]) -> Table:
    """Returns a table of flows, a row each, with the `windows` of their entries if they differ."""
    own = [windows.get(_entry(flow.flow, windows), "") for flow in flows]
    table = Table(box=None, header_style="bold")
    table.add_column("flow")
    table.add_column("protocol")
    differ = len(set(own)) > 1
    if differ:
        table.add_column("window")
    for heading in ("completion time", "bytes", "goodput", "retransmitted", "fast", "timeouts"):
        table.add_column(heading, justify="right")
    took = si.texts([flow.completion_s for flow in flows], "s", DIGITS)
    received = si.scale([max(flow.bytes, _back(flow)) for flow in flows], "B")
    goodput = si.texts([flow.goodput_bps for flow in flows], "bit/s")
    for at, flow in enumerate(flows):
        table.add_row(
            flow.flow,
            flow.protocol,
            *([own[at]] if differ else []),
            took[at],
            _bytes(flow, received),
            goodput[at],
            f"{flow.retransmitted_packets:,}",
            _cell(flow.fast_retransmits),
            _cell(flow.timeouts),
        )
    return table


def _entry(flow: str, entries: Mapping[str, str]) -> str:
    """The entry of a flow: one with a count has flows `NAME-0`, `NAME-1`, ..."""
    return flow if flow in entries else flow.rpartition("-")[0]


def _bytes(flow: Transfer, scaled: si.Scale) -> str:
    """Octets that `to` received, and those that came back, where there are any."""
    text = si.text(flow.bytes, "B", DIGITS, scaled)
    back = _back(flow)
    return f"{text}, {si.text(back, 'B', DIGITS, scaled)} back" if back else text


def _back(flow: Transfer) -> int:
    return flow.reverse_bytes if isinstance(flow, Flow) else 0


def _cell(value: int | None) -> str:
    """Nothing for what is not known."""
    return "" if value is None else f"{value:,}"


def _print(result: RunResult, directory: Path) -> None:
    terminal = console()
    print_flows(terminal, result.flows, directory, result.run.resolved)
    for table in measured.tables(result):
        terminal.print(table)
    terminal.print(
        f"{result.run.events:,} events, {result.run.packet_hops:,} packet-hops,"
        f" trace {result.run.trace_hash}; results in {directory}"
    )
