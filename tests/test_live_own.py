"""Algorithms of one's own on real packets: beside themselves in virtual time.

What needs TUN fails in continuous integration without it, and is skipped elsewhere.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from anabranch import AlgorithmError, InputError, Scenario

pytestmark = pytest.mark.needs("live")

ALGORITHMS = Path(__file__).parents[1] / "examples" / "algorithms"

OWN = f"""\
hosts = ["a", {{ name = "b", external = true }}]
routers = ["r"]

[[links]]
ends = ["a", "r"]
delay = "1 ms"
rate = "100 Mbit/s"

[[links]]
ends = ["r", "b"]
rate = "10 Mbit/s"
delay = "10 ms"
queue = {{ limit = "40 packets" }}
impairments = [{{ kind = "periodic", every = 300 }}]
reverse = {{ impairments = [] }}
regulator = {{ law = "{ALGORITHMS}/ackdelay.py:AsLongAsTheQueue", share = 0.5 }}

[[flows]]
name = "f"
from = "a"
to = "b"
size = "2 MB"
tcp = {{ profile = "linux", window = "{ALGORITHMS}/aimd.py:Aimd" }}

[[observe]]
what = "cwnd"
"""


def test_algorithms_of_ones_own_meet_a_kernel() -> None:
    """A controller and a law that holds ACKs back, in Python: as in virtual time."""
    scenario = Scenario(OWN)
    simulated, live = scenario.run(), scenario.live()
    assert live.facts["kernel_senders"] == [] and not live.facts["stopped"]
    for run in (simulated, live.run):
        (flow,) = run.flows
        assert flow["bytes"] == 2_000_000 and flow["wrong_octets"] == 0
        assert flow["retransmitted_packets"] >= 4
    before, after = (run.flows[0] for run in (simulated, live.run))
    assert after["finish_s"] == pytest.approx(before["finish_s"], rel=0.2)
    again = [flow["retransmitted_packets"] for flow in (before, after)]
    assert again[1] == pytest.approx(again[0], rel=0.5)
    # The window is the controller's, from the first to the last: its own law of decrease.
    tops = [run.series["f.cwnd"]["value"].max() for run in (simulated, live.run)]
    assert tops[1] == pytest.approx(tops[0], rel=0.3)


def test_an_algorithm_of_ones_own_is_not_the_kernel_s(tmp_path: Path) -> None:
    said = "a congestion control of this kernel, or one of ours that .* external sender a: "
    with pytest.raises(InputError, match=said):
        Scenario(OWN).set("hosts.a.external=true").live()
    (tmp_path / "raises.py").write_text(
        "from anabranch.algorithms import WindowControl\n"
        "class Bad(WindowControl):\n"
        "    def on_ack(self, ack): raise ValueError('no idea')\n"
        "    def on_loss(self, signal): pass\n",
        encoding="utf-8",
    )
    # What it raises ends the run, with its line and its flow.
    with pytest.raises(AlgorithmError, match=r"in on_ack: ValueError: no idea .* of flow f"):
        Scenario(OWN).set(f'flows.0.tcp.window="{tmp_path / "raises.py"}:Bad"').live()
