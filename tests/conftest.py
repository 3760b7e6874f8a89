"""What the tests share: the command as a user starts it, and a small scenario."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from anabranch import RunError, Scenario

Command = Callable[..., "subprocess.CompletedProcess[str]"]

TWO_HOSTS = """\
name = "two hosts"
hosts = ["a", "b"]

[[links]]
ends = ["a", "b"]
rate = "10 Mbit/s"
delay = "10 ms"
queue = { kind = "droptail", limit = "50 packets" }
impairments = [{ kind = "bernoulli", rate = 0.01 }]

[[flows]]
name = "f"
from = "a"
to = "b"
size = "300 kB"

[[observe]]
what = "cwnd"

[[observe]]
what = "packets"
"""


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


@pytest.fixture(scope="session")
def live_machine() -> None:
    """This machine holds live runs; else the tests are skipped, or fail in CI."""
    try:
        Scenario(TWO_KERNELS).set("flows.0.size=1 kB").live()
    except RunError as missing:
        if os.environ.get("CI"):
            pytest.fail(f"continuous integration needs live runs: {missing}")
        pytest.skip(f"this machine holds no live runs: {missing}")


@pytest.fixture(scope="session")
def anabranch() -> Command:
    """Runs the command line in a process of its own, as a user does."""

    def run(*arguments: str | Path, timeout: float = 240) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "anabranch", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)

    return run


@pytest.fixture
def two_hosts(tmp_path: Path) -> Path:
    """A scenario file: one sized flow over a link that loses one packet in a hundred."""
    path = tmp_path / "two-hosts.toml"
    path.write_text(TWO_HOSTS, encoding="utf-8")
    return path
