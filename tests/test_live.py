"""`anabranch live`: programs, interrupts, what is missing, and what is left behind.

Needs network namespaces and TUN: in continuous integration (`CI` is set) it fails without,
elsewhere it is skipped.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from anabranch import InputError, Scenario, replay, tables
from conftest import TWO_KERNELS, Command

pytestmark = pytest.mark.usefixtures("live_machine")

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.fixture
def link(tmp_path: Path) -> Path:
    """A scenario file with two external hosts."""
    path = tmp_path / "link.toml"
    path.write_text(TWO_KERNELS, encoding="utf-8")
    return path


def _running(marker: str) -> list[str]:
    """Processes whose command line has `marker`."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            text = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if marker in text and f"/{os.getpid()}/" not in str(path):
            found.append(text)
    return found


def _wait_until_gone(marker: str) -> None:
    deadline = time.monotonic() + 5
    while left := _running(marker):
        assert time.monotonic() < deadline, left
        time.sleep(0.05)


def test_examples_run_live(anabranch: Command, tmp_path: Path) -> None:
    for name in ("live-kernels", "live-interop"):
        out = tmp_path / name
        file = EXAMPLES / f"{name}.toml"
        sizes = [f"--set=flows.{i}.size=400 kB" for i in range(file.read_text().count("[[flows]]"))]
        result = anabranch("live", file, *sizes, "--pcap", "--out", out)
        assert result.returncode == 0, result.stderr
        flows = tables.read_csv(out / "flows.csv")
        assert tuple(flows[0])[: len(tables.FLOW_COLUMNS)] == tables.FLOW_COLUMNS
        assert all(flow["bytes"] == "400000" and flow["finish_s"] for flow in flows)
        assert all(flow["wrong_octets"] == "0" for flow in flows)
        facts = json.loads((out / "run.json").read_text())["live"]
        assert facts["lateness"]["packets"] > 300
        assert (out / "capture.pcapng").stat().st_size > 400_000
        assert not list(out.rglob("*.part"))


def test_a_kernels_subflows_are_paths(anabranch: Command, tmp_path: Path) -> None:
    arguments = ("live", EXAMPLES / "live-ipv6.toml", "--capture", "kernel.x", "--out", tmp_path)
    result = anabranch(*arguments, "--set", "flows.0.size=1 MB")
    assert result.returncode == 0, result.stderr
    paths = tables.read_csv(tmp_path / "paths.csv")
    assert [(path["from"], path["to"]) for path in paths] == [
        ("kernel.x", "ours.x"),
        ("kernel.y", "ours.y"),
    ]
    assert all(int(path["bytes"]) > 100_000 for path in paths)
    assert (tmp_path / "series" / "multipath.kernel.y-ours.y.path_cwnd.csv").is_file()
    sockets = json.loads((tmp_path / "run.json").read_text())["live"]["sockets"]
    assert [socket["ends"] is None for socket in sockets] == [True, False, False]
    assert sockets[0]["bytes_sent"] == 1_000_000 and sockets[1]["delivered"] > 50
    told = replay(tmp_path / "capture.pcapng")
    assert told.flows[0]["protocol"] == "mptcp" and told.flows[0]["flow"].startswith("kernel.x-")


def test_what_a_kernel_does_not_tell_is_empty(anabranch: Command, link: Path) -> None:
    out = link.parent / "out"
    assert anabranch("live", link, "--out", out).returncode == 0
    flow = tables.read_csv(out / "flows.csv")[0]
    assert flow["fast_retransmits"] == "" and flow["retransmitted_packets"] == "0"


SERVER = """python3 -c 'import socket
s = socket.create_server(("", 7000)); c, _ = s.accept()
n = 0
while d := c.recv(65536): n += len(d)
print("got", n, flush=True); c.sendall(b"ok"); c.close()'"""
CLIENT = """python3 -c 'import socket, sys
c = socket.create_connection(("{b}", 7000)); c.sendall(bytes(100000)); c.shutdown(1)
print(c.recv(10).decode())'; exit 3"""


def test_programs_talk_across_the_network(anabranch: Command, link: Path) -> None:
    out = link.parent / "out"
    result = anabranch("live", link, "--out", out, "--exec", f"b={SERVER}", "--exec", f"a={CLIENT}")
    assert result.returncode == 0, result.stderr
    assert (out / "b.log").read_text() == "got 100000\n"
    assert (out / "a.log").read_text() == "ok\n"
    facts = json.loads((out / "run.json").read_text())["live"]
    assert {program["host"]: program["status"] for program in facts["programs"]}["a"] == 3
    assert "ended with 3" in result.stdout


def test_a_command_runs_in_the_first_host(anabranch: Command, link: Path) -> None:
    code = "import socket; print(sorted(n for _, n in socket.if_nameindex()))"
    result = anabranch("live", link, "--out", link.parent / "o", "--", sys.executable, "-c", code)
    assert result.returncode == 0, result.stderr
    assert "['lo', 'tun0']" in result.stdout


def test_garbage_is_counted_and_harms_nobody(anabranch: Command, link: Path) -> None:
    garbage = """python3 -c 'import socket, random
s = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM)
r = random.Random(1)
for i in range(300):
    n = r.randrange(1, 1400)
    s.sendto(bytes([0x45]) + r.randbytes(n), ("tun0", 0x0800))
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
u.sendto(b"to nobody", ("10.9.9.9", 9))
print("sent")'"""
    out = link.parent / "out"
    result = anabranch("live", link, "--out", out, "--exec", f"a={garbage}")
    assert result.returncode == 0, result.stderr
    assert "sent" in (out / "a.log").read_text()
    ports = json.loads((out / "run.json").read_text())["live"]["ports"]
    ignored = {port["name"]: port["ignored"] for port in ports}
    assert ignored["tun0 of a"] >= 300 and ignored["tun0 of b"] == 0
    assert "ignored" in result.stdout


def _start(link: Path, marker: str) -> subprocess.Popen[str]:
    """An endless run with a stubborn program and a child of its own on `a`."""
    ours = f"trap '' TERM INT; : {marker}-child; sleep 60; true"
    stubborn = f"""trap '' TERM INT; setsid sh -c "{ours}" & : {marker}; sleep 61"""
    command = [sys.executable, "-m", "anabranch", "live", str(link), "--exec", f"a={stubborn}"]
    command += ["--set", "duration=100 s", "--out", str(link.parent / "out")]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    deadline = time.monotonic() + 20
    while not any(it.startswith("sh -c") for it in _running(f"{marker}-child")):
        assert process.poll() is None and time.monotonic() < deadline, process.communicate()
        time.sleep(0.05)
    return process


def test_an_interrupt_leaves_results_and_no_process(link: Path) -> None:
    marker = f"marker-{os.getpid()}-int"
    process = _start(link, marker)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert process.returncode == 130, errors
    assert json.loads((link.parent / "out" / "run.json").read_text())["live"]["stopped"]
    _wait_until_gone(marker)


def test_a_killed_run_leaves_no_program_nor_what_it_started(link: Path) -> None:
    marker = f"marker-{os.getpid()}-kill"
    process = _start(link, marker)
    process.kill()
    process.communicate(timeout=20)
    _wait_until_gone(marker)


def test_a_suspended_emulator_says_so(link: Path) -> None:
    text = TWO_KERNELS.replace("200 kB", "2 MB").replace("50 Mbit/s", "10 Mbit/s")
    link.write_text(text, encoding="utf-8")
    out = link.parent / "out"
    command = [sys.executable, "-m", "anabranch", "live", str(link), "--out", str(out)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    # The interpreter starts, then 1.7 s of transfer.
    deadline = time.monotonic() + 20
    while not list(Path(f"/proc/{process.pid}/task").glob("*/comm")) or (
        "live"
        not in "".join(p.read_text() for p in Path(f"/proc/{process.pid}/task").glob("*/comm"))
    ):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.02)
    time.sleep(0.4)
    process.send_signal(signal.SIGSTOP)
    time.sleep(1)
    process.send_signal(signal.SIGCONT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 0, errors
    assert "doubtful: the emulator was not running for" in errors
    facts = json.loads((out / "run.json").read_text())["live"]
    assert 0.9 < facts["longest_absence_s"] < 3
    assert tables.read_csv(out / "flows.csv")[0]["bytes"] == "2000000"


def test_wrong_input_is_named(anabranch: Command, link: Path, two_hosts: Path) -> None:
    for arguments, said in [
        ((two_hosts,), "at least one host as a table with `external = true`"),
        ((link, "--exec", "a"), "field `--exec`: value `a`: allowed: HOST='COMMAND'"),
    ]:
        result = anabranch("live", *arguments)
        assert result.returncode == 2, (arguments, result.stderr)
        assert said in result.stderr, (said, result.stderr)
    scenario = Scenario(TWO_KERNELS)
    with pytest.raises(InputError, match="value `c`: allowed: an external host: a, b"):
        scenario.live(programs=[("c", "true")])
    for change, said in [
        ("window=bic", "flows.0..tcp.window"),
        ("window=westwood", "a congestion control of this kernel, for the external sender a: "),
        ("ecn=accurate", "flows.0..tcp.ecn"),
    ]:
        with pytest.raises(InputError, match=said):
            scenario.set(f"flows.0.tcp.{change}").live()


def test_both_worlds_side_by_side(anabranch: Command, link: Path) -> None:
    out = link.parent / "out"
    result = anabranch("compare", link, "--replications", "2", "--out", out)
    assert result.returncode == 0, result.stderr
    rows = {row["measure"]: row for row in tables.read_csv(out / "compare.csv")}
    # Without losses both worlds take what the link takes: 139 packets and three trips.
    completion = rows["completion s"]
    assert completion["n"] == "2" and rows["retransmissions"]["live"] == "0.0"
    assert abs(float(completion["difference"])) < 0.2 * float(completion["simulated"])
    assert "live - simulated" in result.stdout


RECEIVER = """
hosts = ["client", {{ name = "server", external = {external} }}]

[[links]]
ends = ["client", "server"]
rate = "20 Mbit/s"
delay = "10 ms"
queue = {{ kind = "droptail", limit = "2000 packets" }}

[[flows]]
name = "f"
from = "client"
to = "server"
size = "600 kB"
tcp = {{ profile = "linux", receive_buffer = "{buffer}" }}
"""


def _one_by_one(capture: Path) -> int:
    """Segments acknowledged alone before the first two that are acknowledged together."""
    series = replay(capture).series
    (acks,) = (series[name] for name in series if name.endswith(".acks"))
    steps = np.diff(acks["value"])
    return int(np.argmax(steps > 1448))


@pytest.mark.parametrize(("buffer", "growing"), [("256 KiB", 18), ("1 MiB", 72)])
def test_a_kernels_receiver_acknowledges_as_ours_does(
    buffer: str, growing: int, tmp_path: Path
) -> None:
    """One by one while the window grows, by a fifth of `buffer` and 2896 octets a segment, and
    16 more (docs/algorithms/ack-timing.md)."""
    counts = {}
    for external in (True, False):
        text = RECEIVER.format(external=str(external).lower(), buffer=buffer)
        capture = tmp_path / f"{external}.pcapng"
        run = Scenario(text).live if external else Scenario(text).run
        run(pcap=capture, capture=["client"])
        counts[external] = _one_by_one(capture)
    assert abs(counts[False] - (growing + 16)) <= 1, counts
    assert abs(counts[True] - counts[False]) <= 2, counts
