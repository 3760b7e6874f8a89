"""Window algorithms of ours in the running kernel: objects, commands, live runs, leftovers."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from anabranch import InputError, RunError, RunResult, Scenario, load
from anabranch.native import core, guarded
from conftest import Command

ROOT = Path(__file__).parents[1]
OBJECTS = ROOT / "crates" / "kernel" / "objects"
EXAMPLE = ROOT / "examples" / "kernel-coupled.toml"
AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
COUPLED = ("lia", "olia", "balia", "wvegas", "mcubic", "mcubic-share")
SINGLE = ("westwood", "vegas", "highspeed")

TWO_PATHS = """\
hosts = [
    { name = "a", interfaces = ["x", "y"], external = true },
    { name = "b", interfaces = ["x", "y"], external = true },
]

[[links]]
ends = ["a.x", "b.x"]
rate = "100 Mbit/s"
delay = "10 ms"
queue = { limit = "200 packets" }
impairments = [{ kind = "bernoulli", rate = 0.01 }]
reverse = { impairments = [] }

[[links]]
ends = ["a.y", "b.y"]
rate = "100 Mbit/s"
delay = "10 ms"
queue = { limit = "200 packets" }
impairments = [{ kind = "bernoulli", rate = 0.01 }]
reverse = { impairments = [] }

[[flows]]
name = "f"
from = "a"
to = "b"
size = "2 MB"
protocol = "mptcp"
tcp = { profile = "linux", window = "lia" }
mptcp = { path_manager = "pairs" }
"""


def _available() -> set[str]:
    return set(AVAILABLE.read_text(encoding="utf-8").split())


def _name(what: str) -> str:
    """A name that is this process's own."""
    return f"t_{what[-5:]}_{os.getpid() & 0xFFFF:x}"


@pytest.fixture
def loaded(request: pytest.FixtureRequest) -> Iterator[str]:
    """The kernel's name of an algorithm that is loaded for the test."""
    name = _name(request.param)
    with guarded():
        core.kernel_load(request.param, name)
    yield name
    with guarded(), contextlib.suppress(OSError):
        core.kernel_unload(name)


@pytest.mark.needs("clang-16")
def test_the_objects_are_those_of_their_source(tmp_path: Path) -> None:
    command = ["make", "-s", "kernel-objects", f"KERNEL_OBJECTS={tmp_path}"]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    made = {path.name: path.read_bytes() for path in tmp_path.glob("*.o")}
    kept = {path.name: path.read_bytes() for path in OBJECTS.glob("*.o")}
    assert sorted(made) == sorted(kept)
    assert [name for name in made if made[name] != kept[name]] == [], "run `make kernel-objects`"


def test_what_cannot_be_loaded_is_said(anabranch: Command) -> None:
    result = anabranch("kernel", "load", "cubic")
    assert result.returncode == 2
    assert "`cubic`: allowed: lia, olia, balia, wvegas, mcubic" in result.stderr
    listed = anabranch("kernel", "list").stdout
    assert [line.split()[0] for line in listed.splitlines()] == [*COUPLED, *SINGLE]


@pytest.mark.needs("kernel")
def test_a_name_that_the_kernel_has_is_refused() -> None:
    for name, said in [
        ("reno", "already; choose another name"),
        ("a name", "is no name of a congestion control: allowed are 1 to 15 letters"),
    ]:
        with guarded_error() as error:
            core.kernel_load("lia", name)
        assert said in error[0]
    with guarded_error() as error:
        core.kernel_unload("nobody")
    assert "no algorithm of ours is loaded as `nobody`; loaded are" in error[0]


@contextlib.contextmanager
def guarded_error() -> Iterator[list[str]]:
    """What the core says, as a user sees it."""
    told: list[str] = []
    with pytest.raises(RunError) as caught, guarded():
        yield told
    told.append(str(caught.value))


def _transfer(name: str, octets: int) -> None:
    """Sends over the loopback with a congestion control."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        client = socket.socket()
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())
        client.connect(server.getsockname())
        accepted, _ = server.accept()

        def send() -> None:
            with client:
                client.sendall(b"x" * octets)

        sender = threading.Thread(target=send)
        sender.start()
        with accepted:
            received = 0
            while part := accepted.recv(1 << 16):
                received += len(part)
        sender.join()
    assert received == octets


@pytest.mark.needs("kernel")
@pytest.mark.parametrize("loaded", [*COUPLED, *SINGLE], indirect=True)
def test_every_object_carries_a_transfer(loaded: str, anabranch: Command) -> None:
    assert loaded in _available()
    _transfer(loaded, 3_000_000)
    status = anabranch("kernel", "status").stdout
    row = next(line.split() for line in status.splitlines() if line.startswith(loaded))
    assert int(row[1]) >= 1 and row[2:] == ["0", "0"]
    result = anabranch("kernel", "unload", loaded)
    assert result.returncode == 0, result.stderr
    assert loaded not in _available()


HOLDER = """
import sys, time
from anabranch import Scenario
Scenario(sys.stdin.read()).live()
"""


@pytest.mark.needs("kernel", "live")
def test_nothing_is_left_when_a_run_is_killed() -> None:
    before = _available()
    text = TWO_PATHS.replace("2 MB", "500 MB")
    command = [sys.executable, "-c", HOLDER]
    for wait in (0.1, 2.0):
        process = subprocess.Popen(command, stdin=subprocess.PIPE, text=True)
        assert process.stdin
        process.stdin.write(text)
        process.stdin.close()
        deadline = time.monotonic() + 20
        while not (ours := _available() - before):
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.01)
        time.sleep(wait)
        process.send_signal(signal.SIGKILL)
        process.wait()
        deadline = time.monotonic() + 20
        while ours & _available():
            assert time.monotonic() < deadline, ours
            time.sleep(0.05)


@pytest.mark.needs("kernel", "live")
@pytest.mark.parametrize("window", COUPLED)
def test_subflows_of_a_kernel_are_coupled(window: str) -> None:
    result = Scenario(TWO_PATHS).set(f"flows.0.tcp.window={window}").live()
    assert result.run.flows[0].bytes == 2_000_000
    (control,) = result.facts.controls
    assert (control.window, control.coupled, control.unfitting) == (window, 2, 0)
    assert control.name not in _available()


COUPLED_TERMS = {
    "lia": (0.05, 2.5),
    "olia": (0.01, 1.6),
    "balia": (0.01, 1.6),
    "wvegas": (2, 10),
    "mcubic": (0.01, 60),
    "mcubic-share": (0.1, 1),
}
"""Bounds of each term over two like paths: alpha, growth as a multiple of Reno's (which one of
them may have for a moment), segments, seconds, a share."""
OBSERVED = """
[[observe]]
what = "path_coupling"
interval = "20 ms"

[[observe]]
what = "path_cwnd"
"""


def _terms(result: RunResult) -> dict[str, NDArray[np.float64]]:
    names = (f"f.a.{path}-b.{path}.path_coupling" for path in "xy")
    return {name: result.series[name]["value"] for name in names}


@pytest.mark.parametrize("window", COUPLED)
def test_our_own_subflows_tell_what_couples_them(window: str) -> None:
    run = Scenario(TWO_PATHS + OBSERVED).set(f"flows.0.tcp.window={window}").run()
    low, high = COUPLED_TERMS[window]
    for values in _terms(run).values():
        known = values[values > 0]
        assert len(known) > 5 and low <= np.median(known) <= high, values


@pytest.mark.needs("kernel", "live")
@pytest.mark.parametrize("window", COUPLED)
def test_subflows_of_a_kernel_tell_what_couples_them(window: str) -> None:
    """Beside their windows, in the same series as our own; both subflows have one."""
    result = Scenario(TWO_PATHS + OBSERVED).set(f"flows.0.tcp.window={window}").live()
    low, high = COUPLED_TERMS[window]
    for name, values in _terms(result.run).items():
        known = values[values > 0]
        assert len(known) > 5 and low <= np.median(known) <= high, (name, values)
        assert len(result.run.series[name.replace("coupling", "cwnd")]["value"]) > 5


@pytest.mark.needs("kernel", "live")
def test_options_that_the_object_has_not_are_refused() -> None:
    window = '{ algorithm = "mcubic", floor_tenths = 20 }'
    with pytest.raises(InputError, match="options at their defaults"):
        Scenario(TWO_PATHS.replace('"lia"', window)).live()


@pytest.mark.needs("kernel", "live")
def test_lia_leaves_tcp_its_half_of_a_bottleneck(anabranch: Command, tmp_path: Path) -> None:
    """Uncoupled, two subflows have more than a TCP beside them; with LIA about as much.

    Single runs of 20 s vary, and in real time another program may be in the way: the sums of up to
    three decide.
    """
    octets = {window: np.zeros(2) for window in ("lia", "reno")}
    for seed in (1, 2, 3):
        for window, both in octets.items():
            run = load(EXAMPLE).set(f"flows.0.tcp.window={window}").live(seed=seed)
            both += [flow.bytes for flow in run.run.flows]
        ratios = {window: both[0] / both[1] for window, both in octets.items()}
        if 0.5 < ratios["lia"] < min(1.3, ratios["reno"]):
            break
    assert 0.5 < ratios["lia"] < 1.3, ratios
    assert ratios["lia"] < ratios["reno"], ratios
    out = tmp_path / "run"
    result = anabranch("live", EXAMPLE, "--set", "duration=1 s", "--out", out)
    assert result.returncode == 0, result.stderr
    controls = json.loads((out / "run.json").read_text())["live"]["controls"]
    assert [(each["window"], each["coupled"]) for each in controls] == [("lia", 2)]
