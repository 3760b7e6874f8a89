"""`anabranch drill`: verdicts, exit status, JUnit XML, captures, wrong input."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
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
        ((OWN, "--against", "windows"), ("--against", "windows", "kernel", "usrsctp")),
        ((OWN, "--ip-version", "5"), ("--ip-version", "5", "ipv6")),
    ],
)
def test_wrong_input_is_named(
    anabranch: Command, arguments: tuple[str | Path, ...], parts: tuple[str, ...]
) -> None:
    complaint(anabranch("drill", *arguments), *parts)


@pytest.mark.needs("live")
@pytest.mark.parametrize("version", ["ipv4", "ipv6", "ipv4-mapped-ipv6"])
def test_the_kernel_runs_the_same_scripts(anabranch: Command, tmp_path: Path, version: str) -> None:
    script, traces = OWN / "recovery" / "fast-retransmit.pkt", tmp_path / "traces"
    kernel = ("--against", "kernel", "--ip-version", version)
    result = anabranch("drill", script, *kernel, "--pcap", traces)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "1 passed" in result.stdout
    capture = (traces / "fast-retransmit.pcapng").read_bytes()
    local = bytes.fromhex("fd3d0a0b17d60000") if version == "ipv6" else bytes([192, 168, 0, 1])
    assert local in capture


@pytest.mark.needs("usrsctp")
def test_usrsctp_runs_scripts_of_sctp_and_says_what_it_lacks(
    anabranch: Command, tmp_path: Path
) -> None:
    scripts = tmp_path / "scripts"
    scripts.mkdir()
    for source in (OWN / "sctp" / "passive.pkt", OWN / "open" / "passive.pkt"):
        text = source.read_text(encoding="utf-8")
        (scripts / f"{source.parent.name}-{source.name}").write_text(text, encoding="utf-8")
    traces, junit = tmp_path / "traces", tmp_path / "verdicts.xml"
    options = ("--against", "usrsctp", "--pcap", traces, "--junit", junit)
    result = anabranch("drill", scripts, *options)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "1 passed, 1 not applicable" in result.stdout
    assert "not applicable: sockets of IPPROTO_TCP" in result.stdout
    suite = ET.parse(junit).getroot()
    assert (suite.get("failures"), suite.get("skipped")) == ("0", "1")
    captures = sorted(traces.glob("*.pcapng"))
    assert bytes([192, 168, 0, 1]) in captures[1].read_bytes()


@pytest.mark.needs("usrsctp")
def test_what_usrsctp_fails_is_shown_like_any_other(anabranch: Command, tmp_path: Path) -> None:
    script = tmp_path / "wrong.pkt"
    script.write_text(
        "0 socket(..., SOCK_STREAM, IPPROTO_SCTP) = 3\n"
        "+0 fcntl(3, F_SETFL, O_RDWR|O_NONBLOCK) = 0\n"
        "+0 connect(3, ..., ...) = -1 EINPROGRESS (Operation now in progress)\n"
        "+0 > sctp: SHUTDOWN[flgs=0, cum_tsn=0]\n",
        encoding="utf-8",
    )
    result = anabranch("drill", script, "--against", "usrsctp")
    assert result.returncode == 1
    assert "wrong.pkt:4:1" in result.stdout
    assert "actual:   > sctp: INIT[" in result.stdout


SLEEPS = """\
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0...60 accept(3, ..., ...) = 4
+60 < S 0:0(0) win 1000 <mss 1000>
"""


@pytest.mark.needs("live")
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_ends_early_leaves_no_namespace(tmp_path: Path, end: signal.Signals) -> None:
    script = tmp_path / "sleeps.pkt"
    script.write_text(SLEEPS, encoding="utf-8")
    command = [sys.executable, "-m", "anabranch", "drill", str(script), "--against", "kernel"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 20
    while not (theirs := _namespaces(process.pid) - _namespaces(os.getpid())):
        assert process.poll() is None and time.monotonic() < deadline, process.communicate()
        time.sleep(0.05)
    process.send_signal(end)
    _, errors = process.communicate(timeout=20)
    assert process.returncode == (130 if end == signal.SIGINT else -end), errors
    everybody = [int(it.name) for it in Path("/proc").iterdir() if it.name.isdigit()]
    assert not any(theirs & _namespaces(pid) for pid in everybody)


def _namespaces(pid: int) -> set[str]:
    """The network namespaces in which threads of a process are."""
    found = set()
    for link in Path(f"/proc/{pid}/task").glob("*/ns/net"):
        try:
            found.add(str(link.readlink()))
        except OSError:  # the thread has ended
            continue
    return found
