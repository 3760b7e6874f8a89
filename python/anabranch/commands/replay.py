"""`anabranch replay`: the tables, series and figures of a packet capture."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import click
import numpy as np

from anabranch import report, tables
from anabranch.capture import CaptureResult
from anabranch.capture import replay as read
from anabranch.commands.options import PATH, console
from anabranch.commands.run import print_flows
from anabranch.files import output_directory, write_text
from anabranch.observed import LANE
from anabranch.rows import plain


def _with_lanes(result: CaptureResult) -> CaptureResult:
    """With empty series for what a capture does not tell of a flow or of one of its paths, and the
    report looks for."""
    nothing = {name: np.empty(0) for name in ("time_s", "value", "len", "retransmission")}
    ways = {name.rpartition(".")[0] for name in result.series if name.endswith((".sends", ".acks"))}
    lanes = ways | {flow.flow for flow in result.flows if flow.protocol != "sctp"}
    series = {f"{lane}.{kind}": nothing for lane in sorted(lanes) for kind in LANE}
    return replace(result, series=series | result.series)


@click.command()
@click.argument("capture", type=PATH, metavar="CAPTURE.pcapng")
@click.option(
    "--out",
    type=PATH,
    default=Path("results/replay"),
    show_default=True,
    metavar="DIR",
    help="Where the results go.",
)
def replay(capture: Path, out: Path) -> None:
    """Reads a packet capture as if it were a run.

    CAPTURE is what `run --pcap`, `live --pcap` or `--capture` has written, or a pcapng or pcap
    file of another program. Each direction of a TCP connection or an SCTP association becomes a
    flow, with its row, its series and its figures.
    """
    result = read(capture)
    directory = output_directory(out)
    tables.write_run(directory, result)
    write_text(directory / "run.json", json.dumps(result.run, indent=2, default=plain) + "\n")
    report.write_run_report(directory, str(capture), _with_lanes(result))
    terminal = console()
    print_flows(terminal, result.flows, directory)
    places = result.run.interfaces
    packets = sum(place.packets for place in places)
    others = result.run.other_packets
    terminal.print(
        f"{packets} packets at {len(places)} interfaces, {others} of them neither TCP nor SCTP"
    )
    if result.run.cut:
        click.echo(f"{capture}: warning: the file ends within a packet", err=True)
    terminal.print(f"results in {directory}")
