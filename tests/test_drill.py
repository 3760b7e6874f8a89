"""`anabranch drill`: verdicts, exit status, JUnit XML, captures, wrong input."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from conftest import Command
from test_cli_input import complaint

OWN = Path(__file__).parent / "packetdrill"
FAILING = """\
// A reset has no other answer than none.
0 < S 7:7(0) win 100
+0 > R. 0:0(0) ack 2
"""


def test_own_scripts_pass(anabranch: Command, tmp_path: Path) -> None:
    junit = tmp_path / "verdicts.xml"
    result = anabranch("drill", OWN, "--quiet", "--junit", junit)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "passed" in result.stdout
    suite = ET.parse(junit).getroot()
    assert (suite.get("failures"), suite.get("errors")) == ("0", "0")
    assert len(suite.findall("testcase")) == len(list(OWN.rglob("*.pkt")))


def test_a_failure_shows_both_packets_and_the_status_is_1(
    anabranch: Command, tmp_path: Path
) -> None:
    script = tmp_path / "wrong.pkt"
    script.write_text(FAILING, encoding="utf-8")
    traces, junit = tmp_path / "traces", tmp_path / "junit" / "verdicts.xml"
    result = anabranch("drill", script, "--pcap", traces, "--junit", junit, "--profile", "rfc")
    assert result.returncode == 1
    assert "wrong.pkt:3:1: at 0.000000 s: the acknowledgment is 1, not 2" in result.stdout
    assert "expected: > R. 0:0(0) ack 2" in result.stdout
    assert "actual:   > R. 0:0(0) ack 1" in result.stdout
    assert (traces / "wrong.pcapng").read_bytes()[:4] == b"\x0a\x0d\x0d\x0a"
    case = ET.parse(junit).getroot().find("testcase")
    assert case is not None
    assert case.find("failure") is not None


def test_symbols_and_sysctls_reach_the_script(anabranch: Command, tmp_path: Path) -> None:
    script = tmp_path / "symbols.pkt"
    script.write_text(
        "#ifdef MINE\n0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n"
        "+0 fcntl(3, F_SETFL, O_RDWR|O_NONBLOCK) = 0\n"
        "+0 connect(3, ..., ...) = -1 EINPROGRESS (Operation now in progress)\n"
        "+0 > SEW 0:0(0) <mss SIZE,nop,nop,sackOK,nop,wscale 7>\n#endif\n",
        encoding="utf-8",
    )
    settings = ("--set", "net.ipv4.tcp_ecn=1", "--set", "net.ipv4.tcp_timestamps=0")
    result = anabranch("drill", script, "-D", "MINE", "--define", "SIZE=1460", *settings)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (("missing.pkt",), ("missing.pkt", "a script (.pkt)")),
        ((OWN, "--set", "nothing"), ("--set", "nothing", "NAME=VALUE")),
        ((OWN, "--define", "=3"), ("--define", "=3")),
        ((OWN, "--profile", "windows"), ("--profile", "windows", "linux")),
    ],
)
def test_wrong_input_is_named(
    anabranch: Command, arguments: tuple[str | Path, ...], parts: tuple[str, ...]
) -> None:
    complaint(anabranch("drill", *arguments), *parts)
