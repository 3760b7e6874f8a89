"""`anabranch live`: programs, interrupts, what is missing, and what is left behind.

Needs network namespaces and TUN: in continuous integration (`CI` is set) it fails without,
elsewhere it is skipped.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import anabranch as anabranch_package
from anabranch import InputError, Scenario, live_speed, replay, tables
from conftest import Command
from needs import TWO_KERNELS

pytestmark = pytest.mark.needs("live")

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


def _wait_for_the_loop(process: subprocess.Popen[str]) -> None:
    """Until the thread is there that drives a live run."""
    deadline = time.monotonic() + 20
    threads = Path(f"/proc/{process.pid}/task")
    while "live\n" not in [path.read_text() for path in threads.glob("*/comm")]:
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.02)


def _suspended(link: Path, out: Path, *arguments: str) -> str:
    """Runs the scenario, with a second out of its middle; what it says."""
    command = [sys.executable, "-m", "anabranch", "live", str(link), "--out", str(out), *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    _wait_for_the_loop(process)
    time.sleep(0.5)
    process.send_signal(signal.SIGSTOP)
    time.sleep(1.1)
    process.send_signal(signal.SIGCONT)
    told, errors = process.communicate(timeout=30)
    assert process.returncode == 0, errors
    assert "doubtful: the emulator was not running for" in errors
    return told


def _namespace(marker: str) -> str:
    """The network namespace of the processes whose command line has `marker`."""
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if marker.encode() in (path / "cmdline").read_bytes() and path.name != str(os.getpid()):
                inside = str((path / "ns/net").readlink())
                if inside != str(Path("/proc/self/ns/net").readlink()):
                    return inside
        except OSError:
            continue
    raise AssertionError(f"no process has {marker}")


def _is_held(namespace: str) -> bool:
    """A process is in the namespace, or has a descriptor of it."""
    for path in [*Path("/proc").glob("[0-9]*/ns/net"), *Path("/proc").glob("[0-9]*/fd/*")]:
        with contextlib.suppress(OSError):
            if str(path.readlink()) == namespace:
                return True
    return False


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
        result = anabranch("live", file, *sizes, "--pcap", "--snaplen", "0", "--out", out)
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


def test_a_dual_stack_goes_on_over_ipv6(anabranch: Command, tmp_path: Path) -> None:
    """The kernel's path over IPv4 dies after 1.5 s."""
    example = EXAMPLES / "dual-stack.toml"
    result = anabranch("live", example, "--set", "flows.*.size=3 MB", "--pcap", "--out", tmp_path)
    assert result.returncode == 0, result.stderr
    flows = tables.read_csv(tmp_path / "flows.csv")
    assert [(flow["bytes"], flow["wrong_octets"]) for flow in flows] == [("3000000", "0")] * 2
    paths = {path["to"]: int(path["bytes"]) for path in tables.read_csv(tmp_path / "paths.csv")}
    assert set(paths) == {"kernel.four", "kernel.six", "b.four", "b.six"}
    assert all(octets > 100_000 for octets in paths.values()), paths
    told = replay(tmp_path / "capture.pcapng")
    assert {flow["protocol"] for flow in told.flows} == {"mptcp", "sctp"}


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
    assert result.returncode == 1 and result.stderr.endswith("exit 3` of a ended with 3\n")
    assert (out / "b.log").read_text() == "got 100000\n"
    assert (out / "a.log").read_text() == "ok\n"
    facts = json.loads((out / "run.json").read_text())["live"]
    assert {program["host"]: program["status"] for program in facts["programs"]}["a"] == 3


def test_a_command_runs_in_the_first_host(anabranch: Command, link: Path) -> None:
    code = "import socket; print(sorted(n for _, n in socket.if_nameindex()))"
    result = anabranch("live", link, "--out", link.parent / "o", "--", sys.executable, "-c", code)
    assert result.returncode == 0, result.stderr
    assert "['lo', 'tun0']" in result.stdout
    failed = anabranch("live", link, "--out", link.parent / "o", "--", "exit 4")
    assert failed.returncode == 1
    assert failed.stderr.endswith("anabranch: the program `'exit 4'` of a ended with 127\n")


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


OTHER_FAMILIES = """python3 -c 'import socket, random
s = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM)
r = random.Random(1)
for version, kind in ((6, 0x86DD), (4, 0x0800)):
    for i in range(100):
        head = bytes([version << 4 | (version == 4) * 5]) + r.randbytes(r.randrange(1, 1200))
        s.sendto(head, ("tun0", kind))
whole6 = bytes.fromhex("6000000000081140" "fd00616e616200000000000000000001"
    "fd00616e616200000000000000000002" "0009000900088026")
whole4 = bytes.fromhex("4500001c000040004011" "26cf" "0a0000010a000002" "0009000900080000")
s.sendto(whole6, ("tun0", 0x86DD))
s.sendto(whole4, ("tun0", 0x0800))
print("sent")'"""
"""Garbage of both versions, and a datagram of each from the first to the second address."""


@pytest.mark.parametrize("version", [4, 6])
def test_packets_of_the_other_ip_are_ignored(version: int, link: Path) -> None:
    scenario = Scenario(TWO_KERNELS).set(f"ip={version}")
    result = scenario.live(programs=[("a", OTHER_FAMILIES)], logs=link.parent)
    assert (link.parent / "a.log").read_text() == "sent\n"
    a, b = result.facts["ports"]
    # What is whole and of this network's version crosses; the rest is counted.
    assert (a["ignored"], b["left"], b["refused"]) == (201, 1, 0), (a, b)
    assert a["first_ignored"]


SUSPENDED = """python3 -c 'import socket, sys, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
n, end = 0, time.monotonic() + 3
while time.monotonic() < end:
    n += s.sendto(bytes(100), ("{b}", 9)) == 100
print(n)'"""


def test_a_suspended_emulator_counts_what_its_devices_lost(link: Path) -> None:
    """Its programs go on meanwhile, faster than a device can hold."""
    out = link.parent / "out"
    told = _suspended(link, out, "--exec", f"a={SUSPENDED}")
    a, b = json.loads((out / "run.json").read_text())["live"]["ports"]
    sent = int((out / "a.log").read_text())
    assert a["overrun"] > 0 and a["entered"] + a["overrun"] == sent, (a, sent)
    assert f"tun0 of a: {a['overrun']} packets lost in the full queue of the device" in told
    assert b["overrun"] == 0


@pytest.mark.needs("cc")
def test_the_date_may_be_set_at_any_moment(link: Path) -> None:
    """Every question for the date gets another answer, days apart; no time of a run moves."""
    source, library = link.parent / "date.c", link.parent / "date.so"
    source.write_text(WRONG_DATES, encoding="utf-8")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    ask = [sys.executable, "-c", "import time; print(time.time() - time.time())"]
    environment = os.environ | {"LD_PRELOAD": str(library)}
    done = subprocess.run(ask, env=environment, capture_output=True, text=True, check=True)
    assert abs(float(done.stdout)) > 80_000, "the date steps"
    out = link.parent / "out"
    command = [sys.executable, "-m", "anabranch", "live", str(link), "--out", str(out)]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    facts = json.loads((out / "run.json").read_text())["live"]
    assert facts["longest_absence_s"] < 1 and facts["lateness"]["max_s"] < 1
    flow = tables.read_csv(out / "flows.csv")[0]
    assert flow["bytes"] == "200000" and 0.03 < float(flow["finish_s"]) < 2


WRONG_DATES = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/time.h>
#include <time.h>
static long step(void) { static long n; return ++n % 2 ? 86400 : -86400; }
int clock_gettime(clockid_t id, struct timespec *t)
{
	static int (*real)(clockid_t, struct timespec *);
	if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
	int status = real(id, t);
	if (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE) t->tv_sec += step();
	return status;
}
int gettimeofday(struct timeval *t, void *zone)
{
	struct timespec now;
	(void)zone;
	clock_gettime(CLOCK_REALTIME, &now);
	t->tv_sec = now.tv_sec, t->tv_usec = now.tv_nsec / 1000;
	return 0;
}
time_t time(time_t *t)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	if (t) *t = now.tv_sec;
	return now.tv_sec;
}
"""


def test_programs_that_crash_are_told(anabranch: Command, link: Path) -> None:
    out = link.parent / "out"
    programs = ["--exec", "a=kill -SEGV $$", "--exec", "b=/no/such/program"]
    result = anabranch("live", link, "--out", out, *programs)
    assert result.returncode == 1
    facts = json.loads((out / "run.json").read_text())["live"]
    assert {fact["host"]: fact["status"] for fact in facts["programs"]} == {"a": 139, "b": 127}
    crashed = "the program `kill -SEGV $$` of a ended with 139"
    absent = "the program `/no/such/program` of b ended with 127"
    assert result.stderr.endswith(f"anabranch: {crashed}; {absent}\n")
    assert "not found" in (out / "b.log").read_text()


def _hidden(path: Path) -> Path | None:
    """The first folder on the way to `path` that others than its owner may not enter."""
    folders = [*reversed(path.parents), path]
    return next((folder for folder in folders if not folder.stat().st_mode & 0o001), None)


def _as_nobody(link: Path, tun: str) -> subprocess.CompletedProcess[str]:
    """`anabranch live` as the user `nobody`, who sees a device node with the mode `tun`, and
    the interpreter, the package and the scenario wherever they are."""
    out = link.parent / "nobody"
    out.mkdir()
    out.chmod(0o777)
    link.parent.chmod(0o755)
    package = Path(anabranch_package.__file__).parent.parent
    wanted = sorted({Path(sys.prefix), Path(sys.base_prefix), package, link.parent})
    covers = {path: top for path in wanted if (top := _hidden(path))}
    lines = ["set -e; mount -t tmpfs -o mode=755 none /mnt"]
    for i, path in enumerate(covers):
        lines.append(f"mkdir /mnt/{i}; mount --bind {path} /mnt/{i}")
    lines += [f"mount -t tmpfs -o mode=755 none {top}" for top in sorted(set(covers.values()))]
    for i, path in enumerate(covers):
        lines.append(f"mkdir -p {path}; mount --bind /mnt/{i} {path}")
    lines.append(f"mknod -m {tun} /mnt/tun c 10 200; mount --bind /mnt/tun /dev/net/tun; cd /")
    user = "setpriv --reuid 65534 --regid 65534 --clear-groups"
    live = f"{sys.executable} -m anabranch live {link} --out {out}"
    lines.append(f"HOME={out} PYTHONPATH={package} exec {user} {live}")
    command = ["unshare", "--mount", "sh", "-c", "\n".join(lines)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.needs("other users")
def test_somebody_else_than_root_needs_the_device_alone(link: Path) -> None:
    refused = _as_nobody(link, "600")
    assert refused.returncode == 1
    assert "/dev/net/tun: Permission denied" in refused.stderr
    assert "run as root, or let this user read and write /dev/net/tun" in refused.stderr
    shutil.rmtree(link.parent / "nobody")
    done = _as_nobody(link, "666")
    assert done.returncode == 0, done.stderr
    facts = json.loads((link.parent / "nobody" / "run.json").read_text())["live"]
    assert facts["unprivileged"] and facts["scheduling"] == "SCHED_OTHER"
    assert tables.read_csv(link.parent / "nobody" / "flows.csv")[0]["bytes"] == "200000"


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
    while not any(running.startswith("sh -c") for running in _running(f"{marker}-child")):
        assert process.poll() is None and time.monotonic() < deadline, process.communicate()
        time.sleep(0.05)
    return process


def test_an_interrupt_leaves_results_and_no_process(link: Path) -> None:
    marker = f"marker-{os.getpid()}-int"
    process = _start(link, marker)
    namespace = _namespace(f"{marker}-child")
    assert _is_held(namespace)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert process.returncode == 130, errors
    assert json.loads((link.parent / "out" / "run.json").read_text())["live"]["stopped"]
    _wait_until_gone(marker)
    assert not _is_held(namespace)


def test_a_killed_run_leaves_no_program_nor_what_it_started(link: Path) -> None:
    marker = f"marker-{os.getpid()}-kill"
    process = _start(link, marker)
    namespace = _namespace(f"{marker}-child")
    devices = set(Path("/sys/class/net").iterdir())
    process.kill()
    process.communicate(timeout=20)
    _wait_until_gone(marker)
    assert not _is_held(namespace)
    assert set(Path("/sys/class/net").iterdir()) == devices


@pytest.mark.needs("ip")
def test_an_interface_that_a_program_removes_ends_the_run(anabranch: Command, link: Path) -> None:
    marker = f"marker-{os.getpid()}-gone"
    programs = ["--exec", f"b=sleep 60; : {marker}", "--exec", "a=sleep 0.3; ip link del tun0"]
    result = anabranch("live", link, "--out", link.parent / "out", *programs)
    assert result.returncode == 1
    assert "the interface tun0 of a has disappeared" in result.stderr
    _wait_until_gone(marker)


def test_a_suspended_emulator_says_so(link: Path) -> None:
    text = TWO_KERNELS.replace("200 kB", "2 MB").replace("50 Mbit/s", "10 Mbit/s")
    link.write_text(text, encoding="utf-8")
    out = link.parent / "out"
    _suspended(link, out)  # the transfer takes 1.7 s
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
        ("window=none-such", "flows.0..tcp.window"),
        ("window=veno", "a congestion control of this kernel, or one of ours that .* sender a: "),
    ]:
        with pytest.raises(InputError, match=said):
            scenario.set(f"flows.0.tcp.{change}").live()


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

    def count(external: bool) -> int:
        text = RECEIVER.format(external=str(external).lower(), buffer=buffer)
        capture = tmp_path / f"{external}.pcapng"
        run = Scenario(text).live if external else Scenario(text).run
        run(pcap=capture, capture=["client"])
        return _one_by_one(capture)

    ours = count(external=False)
    assert abs(ours - (growing + 16)) <= 1
    # In real time another program may be in the way.
    kernels = [count(external=True)]
    while abs(kernels[-1] - ours) > 2 and len(kernels) < 3:
        kernels.append(count(external=True))
    assert abs(kernels[-1] - ours) <= 2, (ours, kernels)


PUSHES = """
hosts = [{{ name = "kernel", external = true, sysctl = {sysctl} }}, "ours"]

[[links]]
ends = ["kernel", "ours"]
rate = "10 Mbit/s"
delay = "20 ms"
queue = {{ limit = "200 packets" }}

[[flows]]
name = "f"
from = "kernel"
to = "ours"
size = "1 MB"
tcp = {{ profile = "linux", segmentation_offload = {offload} }}
"""


@pytest.mark.needs("tshark")
def test_a_kernel_pushes_what_leaves_together_as_ours_does(tmp_path: Path) -> None:
    """Packets of two segments with PSH on the second, where an ACK lets two leave; none but the
    last for a kernel whose packets have one."""

    def pushed(offload: bool, external: bool) -> list[bool]:
        sysctl = [] if offload else ["net.ipv4.tcp_min_tso_segs=1"]
        text = PUSHES.format(sysctl=json.dumps(sysctl), offload=str(offload).lower())
        capture = tmp_path / "f.pcapng"
        world = Scenario(text).live if external else Scenario(text).run
        world(pcap=capture, capture=["kernel"])
        fields = ["-Y", "tcp.len > 0", "-T", "fields", "-e", "tcp.flags.push"]
        command = ["tshark", "-r", str(capture), *fields]
        told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        return [each in ("1", "True") for each in told.split()]

    ours, kernels = (pushed(offload=True, external=external) for external in (False, True))
    # Slow start: each ACK lets two leave.
    assert ours[:60] == [False, True] * 30
    assert sum(ours) >= 100
    # In real time another program may be in the way.
    assert abs(sum(kernels) - sum(ours)) <= 0.15 * sum(ours), (sum(kernels), sum(ours))
    for external in (False, True):
        assert sum(pushed(offload=False, external=external)) <= 2


@pytest.mark.needs("usrsctp")
def test_the_benchmark_measures_everything(anabranch: Command, tmp_path: Path) -> None:
    """Whether each of its rows works; its figures want a machine of their own."""
    file = tmp_path / "bench.json"
    done = anabranch("bench", "live", "--quick", "--repeats", "1", "--json", file)
    assert done.returncode == 0, done.stderr
    rows = {row["variant"]: row for row in json.loads(file.read_text())}
    assert len(rows) == 14
    for row in rows.values():
        assert "missing" not in row
        values = [row[key] for key in row if key.endswith("_least")]
        assert min(values) > 0 and row["before"]["processors"] > 0, row


def test_programs_of_the_benchmark_may_be_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/a folder/python")
    monkeypatch.setattr(live_speed, "PEER", Path("/another folder/peer.py"))
    words = ["exec", "/a folder/python", "/another folder/peer.py"]
    assert shlex.split(live_speed._sink())[:3] == words
    assert shlex.split(live_speed._source("{b}", 3))[:5] == [*words, "source", "{b}"]


def test_a_run_does_not_wait_for_time_wait(tmp_path: Path) -> None:
    """Our side ends connections to kernels and to a program, and waits a minute in TIME-WAIT each:
    the run does not."""
    hosts = ", ".join(f'"{i}", {{ name = "k{i}", external = true }}' for i in range(3))
    text = f"hosts = [{hosts}]\n"
    for i, protocol in enumerate(("tcp", "mptcp", "tcp")):
        text += (
            f'[[links]]\nends = ["{i}", "k{i}"]\nrate = "100 Mbit/s"\ndelay = "5 ms"\n'
            f'[[flows]]\nname = "f{i}"\nfrom = "{i}"\nto = "k{i}"\nsize = "200 kB"\n'
            f'protocol = "{protocol}"\nstart = "500 ms"\n'
        )
    sink = Path(anabranch_package.__file__).with_name("live_speed") / "peer.py"
    programs = [("k2", f"exec {sys.executable} {sink} sink 49152")]
    result = Scenario(text).live(programs=programs, logs=tmp_path)
    assert [flow["bytes"] for flow in result.run.flows[:2]] == [200_000, 200_000]
    assert float((tmp_path / "k2.log").read_text()) > 0  # the sink saw the end
    assert not result.facts["stopped"]
    assert result.run.run["end_s"] < 2.5
