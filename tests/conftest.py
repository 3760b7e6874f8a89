"""What the tests share: the command as a user starts it, and a small scenario."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import needs
from forked import Forked

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


started = needs.Started()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Which tests continuous integration runs once more when it has installed something."""
    parser.addoption("--needing", default="", help="tests that need one of NAMES alone")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keeps what `--needing` asks for. What runs in real time has three attempts: on a busy machine
    a program starts late, after what the scenario does to its path, or is late itself.

    First of all hooks: xdist reads the groups in its own, and knows of none that come later."""
    for item in items:
        if "live" in needs.asked_for(item):
            item.add_marker(pytest.mark.flaky(reruns=2, reruns_delay=2))
        item.add_marker(pytest.mark.xdist_group(_group(item)))
    # The two groups that take longest begin together; files fill what is left of the time.
    items.sort(key=lambda item: {"live": 0, "studies": 1}.get(_group(item), 2))
    names = set(config.getoption("--needing").split(",")) - {""}
    if unknown := names - needs.NEEDS.keys():
        raise pytest.UsageError(f"--needing {min(unknown)}: known are {', '.join(needs.NEEDS)}")
    if names:
        kept = [item for item in items if names & set(needs.asked_for(item))]
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = kept


def pytest_collection_finish(session: pytest.Session) -> None:
    """xdist appends a test's group to its name, which not every pytest lets it do: without groups,
    live tests would run beside each other and studies be computed by every worker."""
    grouped = getattr(session.config.option, "loadgroup", False)
    if grouped and not all("@" in item.nodeid for item in session.items):
        raise pytest.UsageError("this pytest and this xdist have lost the groups of tests")


def _group(item: pytest.Item) -> str:
    """Tests of a group run one after the other: those that share the kernel's time and names, those
    that look at the same runs of studies, and those of a file."""
    if {"kernel", "live"} & set(needs.asked_for(item)):
        return "live"
    return "studies" if "quick" in getattr(item, "fixturenames", ()) else item.path.name


def pytest_configure(config: pytest.Config) -> None:
    """What a test needs of the machine is a marker."""
    config.addinivalue_line("markers", "needs(name, ...): what of tests/needs.py must be there")
    started.watch()


def pytest_unconfigure() -> None:
    """Programs are started as ever."""
    started.stop()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Before any fixture of the test."""
    started.item = item
    for name in needs.asked_for(item):
        needs.need(name)


def pytest_runtest_teardown() -> None:
    """What comes between tests is nobody's."""
    started.item = None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What was not tested, and how to get what it needs."""
    for line in needs.told(terminalreporter.stats.get("skipped", [])):
        terminalreporter.write_line(line, yellow=True)


@pytest.fixture(scope="session")
def anabranch() -> Command:
    """Runs the command line in a process of its own, as a user does."""

    def run(*arguments: str | Path, timeout: float = 240) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "anabranch", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)

    return run


@pytest.fixture(scope="session")
def forked() -> Iterator[Command]:
    """The same without its imports, for many commands of which each does little."""
    commands = Forked()
    yield commands
    commands.close()


Quick = Callable[[str], Path]


@pytest.fixture(scope="session")
def quick(anabranch: Command, tmp_path_factory: pytest.TempPathFactory) -> Quick:
    """The results of `anabranch reproduce STUDY --quick`, computed once for all tests.

    Runs are taken from the folder of results that `ANABRANCH_RESULTS` names, as continuous
    integration has one: each is found by a hash of its scenario and of the code that computed it.
    """
    known: dict[str, Path] = {}

    def results(study: str) -> Path:
        if study not in known:
            out = tmp_path_factory.mktemp(study)
            if earlier := os.environ.get("ANABRANCH_RESULTS"):
                runs = Path(earlier) / study / "runs"
                if runs.is_dir():
                    shutil.copytree(runs, out / study / "runs")
            done = anabranch("reproduce", study, "--quick", "--out", out, timeout=900)
            assert done.returncode == 0, done.stderr
            (out / "stdout").write_text(done.stdout, encoding="utf-8")
            known[study] = out
        return known[study]

    return results


@pytest.fixture
def two_hosts(tmp_path: Path) -> Path:
    """A scenario file: one sized flow over a link that loses one packet in a hundred."""
    path = tmp_path / "two-hosts.toml"
    path.write_text(TWO_HOSTS, encoding="utf-8")
    return path
