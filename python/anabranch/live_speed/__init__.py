"""`anabranch bench live`: how fast and how precise the emulator and our stacks are on real packets.

Every row is one measure, by its median over the repeats; the repeats go through all measures
before the next begins, so that what else happens on the machine meets them alike. What a row
needs and the machine has not is a row with `missing`.
"""

from __future__ import annotations

import os
import shlex
import statistics
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anabranch.errors import RunError
from anabranch.experiment import LiveResult
from anabranch.live_speed import sctp
from anabranch.live_speed.running import Missing, live
from anabranch.live_speed.scenarios import PORT, forwarding, links, ours, shaped

PEER = Path(__file__).with_name("peer.py")

Values = dict[str, float]


@dataclass(frozen=True)
class Size:
    """The size of the measures: octets, seconds, repetitions."""

    megabytes: int = 300
    sctp_megabytes: int = 30
    shaped_s: int = 10
    links: int = 50
    links_s: int = 8


QUICK = Size(megabytes=5, sctp_megabytes=1, shaped_s=1, links=3, links_s=1)
"""For tests: every measure, and no figure worth anything."""


@dataclass
class Row:
    """A measure with the values of its runs."""

    name: str
    measure: Callable[[Path], Values]
    aims: dict[str, str] = field(default_factory=dict)
    runs: list[Values] = field(default_factory=list)
    missing: str | None = None

    def facts(self) -> dict[str, Any]:
        """Returns the row as `--json` has it: of each value the median, the least and the most."""
        told: dict[str, Any] = {"workload": "live", "variant": self.name, "aims": self.aims}
        if self.missing is not None:
            return told | {"missing": self.missing}
        for name in self.runs[0] if self.runs else ():
            values = [run[name] for run in self.runs]
            told[name] = statistics.median(values)
            told[f"{name}_least"], told[f"{name}_most"] = min(values), max(values)
        return told | {"runs": len(self.runs)}


def rows(size: Size) -> list[Row]:
    """Returns a row for each measure, whose runs are still to come."""
    forwards = {"packets_per_cpu_s": "at least 180,000"}
    punctual = {"late_p99_us": "at most 200, idle", "late_p999_us": "at most 1000, idle"}
    mb = size.megabytes
    list_ = [
        Row("forwarding, kernel sockets in the loop", _forwarding(mb, []), forwards),
        Row("forwarding, programs", _forwarding(mb, _pair(mb)), forwards),
        Row("forwarding, programs, receive_offload", _forwarding(mb, _pair(mb), True), forwards),
        Row("one flow, 100 Mbit/s, 10 ms", lambda _: _late(shaped(size.shaped_s)), punctual),
        Row(
            f"{size.links} links, 2 Mbit/s, 35 ms",
            lambda _: _late(links(size.links, size.links_s, own=False)),
            punctual,
        ),
        Row(
            f"{size.links} links, senders of ours",
            lambda _: _late(links(size.links, size.links_s, own=True)),
            punctual,
        ),
    ]
    for offload in (False, True):
        how = ", receive_offload" if offload else ""
        list_.append(Row(f"our TCP from the kernel{how}", _tcp("receive", mb, offload)))
        list_.append(Row(f"our TCP to the kernel{how}", _tcp("send", mb, offload)))
    for name, measure in sctp.measures(size.sctp_megabytes):
        aims = {} if name == sctp.ITSELF else {"mbit_s": "at least usrsctp with itself"}
        list_.append(Row(name, measure, aims))
    return list_


def measure(size: Size, repeats: int) -> list[Row]:
    """All measures after `repeats` runs of each."""
    all_rows = rows(size)
    with tempfile.TemporaryDirectory() as logs:
        for _ in range(repeats):
            for row in all_rows:
                if row.missing is not None:
                    continue
                try:
                    row.runs.append(row.measure(Path(logs)))
                except Missing as missing:
                    row.missing = str(missing)
    return all_rows


def conditions() -> dict[str, Any]:
    """Of the machine: figures under load are not those of an idle one."""
    load = os.getloadavg()
    return {"load_1": load[0], "load_5": load[1], "processors": os.cpu_count() or 0}


def _pair(megabytes: int) -> list[tuple[str, str]]:
    return [("a", _source("{b}", megabytes)), ("b", _sink())]


def _source(address: str, megabytes: int) -> str:
    return f"exec {_peer()} source {address} {PORT} {megabytes}"


def _sink() -> str:
    return f"exec {_peer()} sink {PORT}"


def _peer() -> str:
    """The program, as words of the shell."""
    return shlex.join([sys.executable, str(PEER)])


def _forwarding(
    megabytes: int, programs: list[tuple[str, str]], offload: bool = False
) -> Callable[[Path], Values]:
    """Packets for each second of the loop's processor time; each enters and leaves."""

    def run(logs: Path) -> Values:
        result = live(forwarding(megabytes, offload), programs, logs)
        packets = sum(port.entered for port in result.facts.ports)
        cpu = result.facts.loop_cpu_s
        if packets * 1500 < megabytes * 1e6:
            raise RunError(f"the transfer did not happen: {packets} packets; {_said(logs)}")
        return {"packets_per_cpu_s": packets / cpu, "us_per_packet": 1e6 * cpu / packets}

    return run


def _late(scenario: str) -> Values:
    result = live(scenario)
    late = result.facts.lateness
    values = {
        "late_p50_us": 1e6 * late.median_s,
        "late_p99_us": 1e6 * late.p99_s,
        "late_p999_us": 1e6 * late.p999_s,
        "late_max_us": 1e6 * late.max_s,
    }
    goodput = [flow.goodput_bps / 1e6 for flow in result.run.flows]
    seconds = result.run.run.end_s
    share = result.facts.loop_cpu_s / seconds
    return values | {"mbit_s": statistics.median(goodput), "processors": share}


def _tcp(towards: str, megabytes: int, offload: bool) -> Callable[[Path], Values]:
    """Our stack against a kernel that a program of its own drives, so that the loop's processor
    time is our stack's, with the pattern of the octets that it sends."""

    def run(logs: Path) -> Values:
        sends = towards == "send"
        program = _sink() if sends else _source("{ours}", megabytes)
        result = live(ours(sends, megabytes, offload), [("kernel", program)], logs)
        seconds = _seconds(result, logs / "kernel.log")
        packets = sum(port.entered + port.left for port in result.facts.ports)
        cpu = result.facts.loop_cpu_s
        return {"gbit_s": megabytes * 8e-3 / seconds, "us_per_packet": 1e6 * cpu / packets}

    return run


def _seconds(result: LiveResult, log: Path) -> float:
    """What the program says of the transfer."""
    said = log.read_text(encoding="utf-8", errors="replace").split()
    log.unlink()
    try:
        return float(said[-1])
    except (IndexError, ValueError):
        flow = result.run.flows[0]
        raise RunError(f"the kernel's side failed: {' '.join(said)}; {flow}") from None


def _said(logs: Path) -> str:
    texts = (path.read_text(errors="replace") for path in sorted(logs.glob("*.log")))
    return " ".join(" ".join(texts).split())[-400:]


__all__ = ["QUICK", "Row", "Size", "conditions", "measure", "rows"]
