"""Low latency on the wire of a live run: ECT(1) and Accurate ECN, by tshark and the kernel.

RFC 9331 for the codepoint, RFC 9768 for the handshake, the field ACE and the option.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from anabranch import RunError, Scenario, live_speed

pytestmark = [pytest.mark.needs("live"), pytest.mark.needs("tshark")]

NOT_ECT, ECT1, ECT0, CE = range(4)
"""The field of the IP header (RFC 3168 §5, RFC 9331 §4.1)."""

SYN, ACK = 0x02, 0x10

FIELDS = (
    "ip.src",
    "ip.dsfield.ecn",
    "tcp.flags",
    "tcp.len",
    "tcp.options.acc_ecn.ee1b",
    "tcp.options.acc_ecn.eceb",
)

WORLD = """
hosts = ["a", {{ name = "b"{b} }}, {{ name = "kernel", external = true }}]
routers = ["r"]
links = [
    {{ ends = ["a", "r"], rate = "100 Mbit/s", delay = "2 ms" }},
    {{ ends = ["r", "b"], rate = "10 Mbit/s", delay = "5 ms", queue = {{ kind = "dualpi2" }} }},
    {{ ends = ["kernel", "r"], rate = "10 Mbit/s", delay = "5 ms" }},
]

[[flows]]
name = "low"
from = "a"
to = "b"
size = "2 MB"
tcp = {{ window = "prague", {tcp} }}
"""
ACCURATE = 'ecn = "accurate", ecn_codepoint = "ect1"'
INSIDE = ""
EXTERNAL = ", external = true"
CLASSIC = f'{EXTERNAL}, sysctl = ["net.ipv4.tcp_ecn=1"]'
"""A kernel that agrees to RFC 3168 alone."""


@dataclass(frozen=True)
class Segment:
    """What of a segment this is about."""

    sent: bool
    """It is the data sender's."""
    ecn: int
    is_syn: bool
    is_ack: bool
    ace: int
    """AE, CWR and ECE as one number."""
    octets: int
    ect1: int | None
    """Of the option: octets that came with ECT(1), plus 1; none without the option."""
    ce: int | None
    """Of the option: octets that came with CE."""


def wire(capture: Path) -> list[Segment]:
    """Every segment of a capture at the data sender, in order."""
    command = ["tshark", "-n", "-r", str(capture), "-Y", "tcp", "-T", "fields"]
    command += [word for field in FIELDS for word in ("-e", field)]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rows = [line.split("\t") for line in told.splitlines()]
    client = rows[0][0]

    return [
        Segment(
            row[0] == client,
            int(row[1], 0),
            bool(int(row[2], 0) & SYN),
            bool(int(row[2], 0) & ACK),
            int(row[2], 0) >> 6 & 0b111,
            int(row[3]),
            int(row[4]) if row[4] else None,
            int(row[5]) if row[5] else None,
        )
        for row in rows
    ]


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., list[Segment]]:
    """Runs the world live, and gives the segments at its sender."""

    def ran(b: str, tcp: str = ACCURATE) -> list[Segment]:
        capture = tmp_path / "low.pcapng"
        result = Scenario(WORLD.format(b=b, tcp=tcp)).live(pcap=capture, capture=["a"])
        (flow,) = result.run.flows
        assert flow["bytes"] == 2_000_000 and flow["wrong_octets"] == 0
        return wire(capture)

    return ran


def judge_accurate(segments: list[Segment], marks: bool) -> None:
    """Accurate ECN was agreed on, data is ECT(1), and the feedback is that of what came."""
    syn, answer = segments[0], segments[1]
    assert syn.is_syn and not syn.is_ack and syn.ace == 0b111 and syn.ecn == NOT_ECT
    # Table 2: the SYN came as not-ECT, and the server has Accurate ECN.
    assert answer.is_syn and answer.is_ack and answer.ace == 0b010 and not answer.sent
    data = [each for each in segments if each.sent and each.octets]
    # Data that is sent again is not ECN-capable (RFC 3168 §6.1.5).
    assert {each.ecn for each in data} <= {ECT1, NOT_ECT}
    assert sum(each.octets for each in data if each.ecn == ECT1) == 2_000_000
    # The first ACK tells how the SYN-ACK came (table 3): as not-ECT.
    third = next(each for each in segments if each.sent and not each.is_syn)
    assert third.ace == 0b010
    # ACE counts packets with CE from 5 on, modulo 8; the option counts octets by codepoint.
    echoes = [each for each in segments if not each.sent and not each.is_syn]
    assert echoes[0].ace == 5
    options = [each for each in echoes if each.ect1 is not None]
    assert options
    counts = [each.ect1 - 1 for each in options if each.ect1 is not None]
    assert counts == sorted(counts)
    marked = [each.ce for each in options if each.ce is not None]
    assert marked == sorted(marked)
    assert (marked[-1] > 0) == marks
    assert (len({each.ace for each in echoes}) > 1) == marks
    # What came with ECT(1) or CE is nearly all: the last option may be older than the last data.
    assert 1_000_000 < counts[-1] + marked[-1] <= 2_000_000


def test_our_ends_have_accurate_ecn_live(run: Callable[..., list[Segment]]) -> None:
    """Over a queue that marks: DualPI2's for low latency."""
    judge_accurate(run(INSIDE), marks=True)


@pytest.mark.needs("accecn")
def test_a_kernel_and_our_end_have_accurate_ecn(run: Callable[..., list[Segment]]) -> None:
    judge_accurate(run(EXTERNAL), marks=True)


def test_a_kernel_with_rfc_3168_has_no_ect1(run: Callable[..., list[Segment]]) -> None:
    """Our SYN asks for Accurate ECN, the kernel answers by RFC 3168 (table 2 of RFC 9768), and data
    is ECT(0): ECT(1) is for those who have accurate feedback (RFC 9331 §4.2)."""
    segments = run(CLASSIC)
    assert segments[0].is_syn and segments[0].ace == 0b111
    assert segments[1].is_syn and segments[1].ace == 0b001
    data = [each for each in segments if each.sent and each.octets]
    assert {each.ecn for each in data} <= {ECT0, NOT_ECT}
    assert sum(each.octets for each in data if each.ecn == ECT0) == 2_000_000
    assert all(each.ect1 is None for each in segments)
    assert any(each.ace == 0b001 for each in segments if not each.sent and not each.is_syn)


@pytest.mark.parametrize(
    ("tcp", "counted"),
    [(ACCURATE, "InECT0Pkts"), ('ecn = "dctcp", ecn_codepoint = "ect1"', "InECT1Pkts")],
)
def test_the_kernel_counts_the_codepoint(tcp: str, counted: str, tmp_path: Path) -> None:
    """In packets that its device took: the counters of its IP, as a program there reads them."""
    sink = Path(live_speed.__file__).with_name("peer.py")
    told = "cat /proc/net/netstat"
    program = f"trap '{told}; exit' TERM; {sys.executable} {sink} sink 49152 & wait; {told}"
    scenario = Scenario(WORLD.format(b=CLASSIC, tcp=tcp)).set(
        "flows.0.start=2 s"
    )  # it listens by then
    result = scenario.live(programs=[("b", program)], logs=tmp_path)
    assert result.run.flows[0]["established"]
    lines = re.findall(r"^IpExt: (.+)$", (tmp_path / "b.log").read_text(), re.MULTILINE)
    counters = dict(zip(lines[-2].split(), map(int, lines[-1].split()), strict=True))
    others = {"InECT0Pkts", "InECT1Pkts"} - {counted}
    # The kernel takes segments together that come together.
    assert counters[counted] > 50
    assert all(counters[other] == 0 for other in others)


def test_a_kernel_without_accurate_ecn_is_named() -> None:
    """With what to write for it; one that has it takes the setting."""
    scenario = Scenario(WORLD.format(b=EXTERNAL, tcp=ACCURATE)).set("flows.0.size=1 kB")
    try:
        scenario.live()
    except RunError as error:
        said = str(error)
        assert "this kernel has no Accurate ECN" in said
        assert 'sysctl = ["net.ipv4.tcp_ecn=1"]' in said
