"""Measures what a controller in Python costs: `anabranch bench own-controller`."""

from __future__ import annotations

from typing import Any

from anabranch._core import Ack, Congestion
from anabranch.algorithms.window import WindowControl
from anabranch.errors import RunError
from anabranch.experiment import RunResult
from anabranch.network import Network

TIMES = 5
"""Runs of each, of which the fastest counts."""


class Reno(WindowControl):
    """Reno as the core has it, and a count of its ACKs."""

    acks = 0

    def on_ack(self, ack: Ack) -> None:
        if not ack.app_limited and not self.slow_start(ack):
            self.cwnd += ack.mss * min(1.0, ack.acked / self.cwnd)

    def on_loss(self, signal: Congestion) -> None:
        self.ssthresh = max(signal.in_flight / 2, 2.0 * signal.mss)
        self.cwnd = min(self.cwnd, self.ssthresh)


class Counted(Reno):
    """The same, counting."""

    def on_ack(self, ack: Ack) -> None:
        Counted.acks += 1
        super().on_ack(ack)


def own_controller(workload: str) -> list[dict[str, Any]]:
    """A row for Reno in the core, and one for the same in Python."""
    Counted.acks = 0
    _run(Counted)
    core, python = (min((_run(each) for _ in range(TIMES)), key=_cpu) for each in ("reno", Reno))
    if core.run.trace_hash != python.run.trace_hash:
        raise RunError("the same rules in Python and in the core are different runs")
    rows = []
    for variant, result in (("core", core), ("python", python)):
        hops, cpu = result.run.packet_hops, _cpu(result)
        row = {"workload": workload, "variant": variant, "sim_s": result.run.end_s}
        row |= {"cpu_s": cpu, "packet_hops": hops, "packet_hops_per_core_s": hops / cpu}
        rows.append(row)
    rows[1]["acks"] = Counted.acks
    rows[1]["us_per_ack"] = 1e6 * (_cpu(python) - _cpu(core)) / Counted.acks
    return rows


def _cpu(result: RunResult) -> float:
    return result.run.cpu_s


def _run(window: str | type) -> RunResult:
    net = Network("bulk", seed=1)
    a, b = net.host("a"), net.host("b")
    net.link(a, b, rate="1 Gbit/s", delay="5 ms", queue={"limit": "500 packets"})
    net.flow(a, b, size="300 MB", tcp={"window": window, "receive_buffer": "16 MiB"})
    return net.scenario().run(trace_hash=True)
