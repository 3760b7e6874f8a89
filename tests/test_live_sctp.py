"""Our SCTP and usrsctp across an emulated network: both roles, loss, two addresses, failover.

The peer is python/anabranch/trials/usrsctp.c with Debian's libusrsctp-dev; needs what
live runs need.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from anabranch import Scenario, replay
from anabranch.trials import usrsctp

pytestmark = pytest.mark.needs("live", "usrsctp")

OCTETS = 1_000_000

SCENARIO = f"""\
hosts = [
    {{ name = "a", interfaces = ["x", "y"] }},
    {{ name = "b", interfaces = ["x", "y"], external = true }},
]
routers = ["r"]
links = [
    {{ ends = ["a.x", "r"], rate = "10 Mbit/s", delay = "5 ms" }},
    {{ ends = ["a.y", "r"], rate = "10 Mbit/s", delay = "5 ms" }},
    {{ ends = ["b.x", "r"], rate = "10 Mbit/s", delay = "5 ms" }},
    {{ ends = ["b.y", "r"], rate = "10 Mbit/s", delay = "5 ms" }},
]

[[flows]]
name = "f"
from = "a"
to = "b"
start = "1 s"
size = "{OCTETS} B"
protocol = "sctp"
sctp = {{ rto = {{ initial = "500 ms", min = "200 ms" }}, path_max_retrans = 1 }}
"""
"""Every address reaches every other: usrsctp chooses its source without asking for routes."""

LOSS = "[{ kind = 'bernoulli', rate = 0.02 }]"
OUTAGE = "[{ kind = 'outage', intervals = [{ at = '1500 ms', for = '1 h' }] }]"


@pytest.fixture(scope="module")
def peer(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The program, compiled into a folder whose name the shell would cut."""
    return usrsctp.built(tmp_path_factory.mktemp("a peer"))


def _run(changes: list[str], command: str, logs: Path) -> tuple[dict[str, Any], str]:
    """The flow's row with what our links lost of it, and what the peer said; the capture of
    our host tells the same."""
    scenario = Scenario(SCENARIO).set(*changes)
    capture = logs / "capture.pcapng"
    result = scenario.live(programs=[("b", command)], logs=logs, pcap=capture, capture=["a"])
    assert not result.facts["stopped"]
    (flow,), (told,) = result.run.flows, replay(capture).flows
    assert (told["protocol"], told["bytes"], told["established"]) == ("sctp", OCTETS, True)
    if told["flow"].startswith("a-"):
        assert told["retransmitted_packets"] == flow["retransmitted_packets"]
    lost = sum(link["dropped_loss"] for link in result.run.links[:4])
    carried = {path["to"]: path["bytes"] for path in result.run.paths}
    return {**flow, "lost": lost, "carried": carried}, (logs / "b.log").read_text()


def _version(changes: list[str]) -> str:
    """The family of the peer's socket; one of IPv6 has addresses of IPv4 as well."""
    return "ip=6" if any("ip=6" in change.replace(" ", "") for change in changes) else "ip=4"


def _we_send(changes: list[str], peer: str, logs: Path) -> dict[str, Any]:
    flow, _ = _run(changes, f"{peer} listen 49152 {_version(changes)}", logs)
    told = usrsctp.read(logs / "b.log")
    assert told is not None and told[:2] == (OCTETS, 0)
    assert flow["established"] and flow["closed"] == "normal"
    return flow


def _it_sends(changes: list[str], peer: str, logs: Path) -> dict[str, Any]:
    to_us = ["flows.0.from=b", "flows.0.to=a", *changes]
    command = f"{peer} connect {{a}} 49152 49152 {OCTETS} {_version(changes)}"
    flow, said = _run(to_us, command, logs)
    assert f"sent {OCTETS}\n" in said
    assert (flow["bytes"], flow["wrong_octets"]) == (OCTETS, 0)
    return flow


def _lossy(*links: int) -> list[str]:
    return [f"links.{i}.impairments={LOSS}" for i in links]


def test_we_send(peer: str, tmp_path: Path) -> None:
    _we_send([], peer, tmp_path)


def test_it_answers_at_once_where_we_ask(peer: str, tmp_path: Path) -> None:
    """A peer that acknowledges every eighth packet, or after 200 ms, and data with the I bit at
    once: without the bit the same takes more than 20 s."""
    command = f"{peer} listen 49152 ip=4 sack_frequency=8 sack_delay=200"
    _run(["flows.0.sctp.immediate_sacks=true"], command, tmp_path)
    told = usrsctp.read(tmp_path / "b.log")
    assert told is not None and told[:2] == (OCTETS, 0)
    (flow,) = replay(tmp_path / "capture.pcapng").flows
    assert flow["finish_s"] - flow["start_s"] < 3


def test_we_send_across_loss(peer: str, tmp_path: Path) -> None:
    assert _we_send(_lossy(0, 1, 2, 3), peer, tmp_path)["retransmitted_packets"] > 0


def test_we_send_over_ipv6(peer: str, tmp_path: Path) -> None:
    changes = ["ip=6", *_lossy(0, 1, 2, 3)]
    assert _we_send(changes, peer, tmp_path)["retransmitted_packets"] > 0


def test_it_sends_over_ipv6(peer: str, tmp_path: Path) -> None:
    _it_sends(["ip=6", *_lossy(0, 1, 2, 3)], peer, tmp_path)


def test_it_sends(peer: str, tmp_path: Path) -> None:
    _it_sends([], peer, tmp_path)


def test_it_sends_across_loss(peer: str, tmp_path: Path) -> None:
    _it_sends(_lossy(0, 1, 2, 3), peer, tmp_path)


def test_we_fail_over(peer: str, tmp_path: Path) -> None:
    """Our first interface loses its link while data flows."""
    both = [f"links.0.impairments={OUTAGE}", f"links.0.reverse.impairments={OUTAGE}"]
    assert _we_send(both, peer, tmp_path)["lost"] > 0


def test_we_fail_over_over_ipv6(peer: str, tmp_path: Path) -> None:
    both = [f"links.0.impairments={OUTAGE}", f"links.0.reverse.impairments={OUTAGE}"]
    assert _we_send(["ip=6", *both], peer, tmp_path)["lost"] > 0


def test_it_fails_over(peer: str, tmp_path: Path) -> None:
    """The same while the peer sends to us."""
    both = [f"links.0.impairments={OUTAGE}", f"links.0.reverse.impairments={OUTAGE}"]
    assert _it_sends(both, peer, tmp_path)["lost"] > 0


def test_it_fails_over_over_ipv6(peer: str, tmp_path: Path) -> None:
    """usrsctp leaves its source to the kernel, which sends from one address to both of ours: what
    comes to our second is answered from our second."""
    both = [f"links.0.impairments={OUTAGE}", f"links.0.reverse.impairments={OUTAGE}"]
    assert _it_sends(["ip=6", *both], peer, tmp_path)["lost"] > 0


DUAL = [f"hosts.{i}.interfaces=['x', {{ name = 'y', ip = 6 }}]" for i in (0, 1)]
"""The first path over IPv4, the second over IPv6."""

SIX_FIRST = [f"hosts.{i}.interfaces=[{{ name = 'x', ip = 6 }}, 'y']" for i in (0, 1)]
"""The other way round, where usrsctp tells its address of IPv4 only if it is not a private one."""

GLOBAL = 'first_ipv4="198.18.0.1"'

CUT = [f"links.0.{way}impairments={OUTAGE}" for way in ("", "reverse.")]


def test_we_fail_over_to_the_other_family(peer: str, tmp_path: Path) -> None:
    """An association of addresses of both families (RFC 9260, 5.1.2), whose first path dies."""
    flow = _we_send([*DUAL, *CUT], peer, tmp_path)
    assert flow["lost"] > 0
    assert all(flow["carried"][name] > 100_000 for name in ("b.x", "b.y"))


def test_it_fails_over_to_the_other_family(peer: str, tmp_path: Path) -> None:
    assert _it_sends([*DUAL, *CUT], peer, tmp_path)["lost"] > 0


def test_we_fail_over_from_ipv6_to_ipv4(peer: str, tmp_path: Path) -> None:
    flow = _we_send([*SIX_FIRST, GLOBAL, *CUT], peer, tmp_path)
    assert flow["lost"] > 0
    assert all(flow["carried"][name] > 100_000 for name in ("b.x", "b.y"))


def test_it_fails_over_from_ipv6_to_ipv4(peer: str, tmp_path: Path) -> None:
    assert _it_sends([*SIX_FIRST, GLOBAL, *CUT], peer, tmp_path)["lost"] > 0


def test_private_addresses_are_not_told_over_ipv6(peer: str, tmp_path: Path) -> None:
    """Without `first_ipv4` the association has one path of usrsctp's, though both work."""
    flow = _we_send(SIX_FIRST, peer, tmp_path)
    assert flow["carried"] == {"b.x": OCTETS}
