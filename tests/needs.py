"""What tests need of the machine beyond `make setup`, asked for in one place.

`@pytest.mark.needs("tshark")` on a test, or `pytestmark` in a module, skips it where that is
missing, and the end of the test run says what was not tested and how to get it. Where `CI` is set
nothing may be skipped but what `CI_MAY_LACK` names, with commas between: the test fails. A test
that starts a program of the machine without asking fails everywhere (see `Started`).
`pytest --needing NAMES` runs the tests that need one of these.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from anabranch import RunError, Scenario
from anabranch.native import core, guarded

TWO_KERNELS = """\
hosts = [{ name = "a", external = true }, { name = "b", external = true }]

[[links]]
ends = ["a", "b"]
rate = "50 Mbit/s"
delay = "5 ms"

[[flows]]
name = "f"
from = "a"
to = "b"
size = "200 kB"
"""

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")


@dataclass(frozen=True)
class Need:
    """Something that a machine may lack."""

    how: str
    """How to get it."""
    missing: Callable[[], str | None]
    """What is missing, if anything is."""
    programs: Sequence[str] = ()
    """The programs that come with it."""


def _program(*names: str) -> Callable[[], str | None]:
    """All of these programs must be there."""
    return lambda: next((f"no {name} in PATH" for name in names if not shutil.which(name)), None)


def _ns3() -> str | None:
    tools = _program("g++", "pkg-config")()
    for header in ("ns3/core-module.h", "valgrind/callgrind.h"):
        if tools is None and not (Path("/usr/include") / header).exists():
            return f"{header} is not installed"
    return tools


def _usrsctp() -> str | None:
    header = Path("/usr/include/usrsctp.h")
    return _program("cc")() or (None if header.exists() else f"no {header}")


def _chromium() -> str | None:
    if not any(map(shutil.which, BROWSERS)):
        return "no Chromium in PATH"
    return _package("playwright")()


def _package(name: str) -> Callable[[], str | None]:
    return lambda: None if find_spec(name) else f"no package {name} in this environment"


def _live() -> str | None:
    try:
        Scenario(TWO_KERNELS).set("flows.0.size=1 kB").live()
    except RunError as missing:
        return str(missing)
    return None


def _kernel() -> str | None:
    """Loads an algorithm and takes it out again."""
    name = f"ab_probe_{os.getpid() & 0xFFFF:x}"
    try:
        with guarded():
            core.kernel_load("lia", name)
            core.kernel_unload(name)
    except RunError as missing:
        return str(missing)
    return None


def _accurate_ecn() -> str | None:
    """Whether this kernel's TCP has Accurate ECN, which it has where `tcp_ecn` takes 3."""
    try:
        Scenario(TWO_KERNELS).set("flows.0.size=1 kB").set("flows.0.tcp.ecn=accurate").live()
    except RunError as missing:
        return str(missing)
    return None


def _other_users() -> str | None:
    if os.geteuid() != 0:
        return "only root can become somebody else"
    limit = Path("/proc/sys/user/max_user_namespaces")
    if not limit.exists() or limit.read_text(encoding="utf-8").strip() == "0":
        return "this kernel gives users no namespaces"
    return _program("unshare", "setpriv")()


NEEDS = {
    "tshark": Need("apt-get install tshark", _program("tshark"), ("tshark",)),
    "editcap": Need("apt-get install wireshark-common", _program("editcap"), ("editcap",)),
    "cargo": Need("https://rustup.rs", _program("cargo"), ("cargo",)),
    "cc": Need("apt-get install gcc libc6-dev", _program("cc"), ("cc",)),
    "usrsctp": Need("apt-get install libusrsctp-dev gcc libc6-dev", _usrsctp, ("cc",)),
    "chromium": Need(
        "apt-get install chromium; make setup",
        _chromium,
        (*BROWSERS, "node"),  # Playwright brings its own
    ),
    "live": Need("run as root on Linux with /dev/net/tun", _live),
    "accecn": Need("run as root on a Linux whose net.ipv4.tcp_ecn takes 3", _accurate_ecn),
    "kernel": Need("run as root on Linux 6.4 or later with BTF", _kernel),
    "clang-16": Need(
        "apt-get install clang-16 llvm-16",
        _program("clang-16", "llvm-strip-16"),
        ("make", "clang-16", "llvm-strip-16"),
    ),
    "ns-2": Need("apt-get install ns2", _program("ns"), ("ns",)),
    "ns-3": Need(
        "apt-get install libns3-dev g++ pkg-config valgrind",
        _ns3,
        ("g++", "pkg-config", "ns3bench"),
    ),
    "bash": Need("apt-get install bash", _program("bash"), ("bash",)),
    "ip": Need("apt-get install iproute2", _program("ip"), ("ip",)),
    "other users": Need(
        "run as root on a kernel with user namespaces; apt-get install util-linux",
        _other_users,
        ("unshare", "setpriv"),
    ),
    "ray": Need("make setup", _package("ray"), ("gcs_server", "raylet")),
    "nbclient": Need("make setup", _package("nbclient")),
    "rattler-build": Need("make setup", _package("rattler_build")),
}


@cache
def missing(name: str) -> str | None:
    """What is missing of a need on this machine."""
    return NEEDS[name].missing()


def need(name: str) -> None:
    """Skips the test unless this is there; fails it in continuous integration."""
    if (what := missing(name)) is None:
        return
    said = f"{name} is needed: {what} ({NEEDS[name].how})"
    if os.environ.get("CI") and name not in os.environ.get("CI_MAY_LACK", "").split(","):
        pytest.fail(f"continuous integration skips nothing: {said}", pytrace=False)
    pytest.skip(said)


def told(reports: Iterable[Any]) -> list[str]:
    """A line for each need that skipped tests, of their reports."""
    reasons = [report.longrepr[2] for report in reports if isinstance(report.longrepr, tuple)]
    counts = Counter(
        name for reason in reasons for name in NEEDS if f"{name} is needed: " in reason
    )
    return [
        f"NOT TESTED: {count} tests need {name}: {NEEDS[name].how}"
        for name, count in sorted(counts.items())
    ]


def asked_for(item: pytest.Item) -> list[str]:
    """The needs of a test, those of its module included."""
    names = [str(name) for marker in item.iter_markers("needs") for name in marker.args]
    if unknown := [name for name in names if name not in NEEDS]:
        raise pytest.UsageError(f"{item.nodeid} needs {unknown[0]}; known are {', '.join(NEEDS)}")
    return names


ALWAYS = {Path(sys.executable).name, "python", "python3", "sh", "git"}
"""Programs that every machine has which has come this far; of `git` what asks it does without."""


class Started:
    """Sees which programs tests start: those that a machine may lack are asked for first."""

    def __init__(self) -> None:
        self.item: pytest.Item | None = None
        """The test that runs."""
        self._begin: Any = subprocess.Popen.__init__

    def watch(self) -> None:
        """From now on."""
        begin = self._begin

        def begun(process: Any, args: Any, *more: Any, **options: Any) -> None:
            self._check(args)
            begin(process, args, *more, **options)

        subprocess.Popen.__init__ = begun  # type: ignore[method-assign,assignment]

    def stop(self) -> None:
        """No longer."""
        subprocess.Popen.__init__ = self._begin  # type: ignore[method-assign]

    def _check(self, args: Any) -> None:
        if self.item is None:
            return
        first = args if isinstance(args, str | bytes | os.PathLike) else args[0]
        program = Path(os.fsdecode(first)).name
        allowed = {program for name in asked_for(self.item) for program in NEEDS[name].programs}
        if program not in ALWAYS | allowed:
            pytest.fail(f"{self.item.nodeid} starts {program} without `pytest.mark.needs`")
