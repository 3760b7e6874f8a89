"""Standard output that takes nothing: one line at most, and no status of success."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
COMMANDS = [
    ("--help",),
    ("--version",),
    ("list", "algorithms"),
    ("schema",),
    ("run", "SCENARIO", "--out", "OUT"),
    ("drill", str(ROOT / "tests/packetdrill/open")),
    ("check", "reno", "--cases", "1"),
]


def ended(arguments: tuple[str, ...], scenario: Path, redirection: str) -> tuple[int, list[str]]:
    """Status and standard error of a command with its output redirected by a shell."""
    named = {"SCENARIO": str(scenario), "OUT": str(scenario.parent / "out")}
    words = [
        sys.executable,
        "-m",
        "anabranch",
        *(named.get(argument, argument) for argument in arguments),
    ]
    # The shell replaces the command, so that the status is its own.
    shell = ["sh", "-c", f'exec "$@" {redirection}', "sh", *words]
    done = subprocess.run(shell, stderr=subprocess.PIPE, text=True, timeout=120, check=False)
    return done.returncode, done.stderr.splitlines()


@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda each: each[0])
@pytest.mark.parametrize(
    ("redirection", "reason"),
    [(">/dev/full", "No space left on device"), (">&-", "Bad file descriptor")],
)
def test_an_output_that_takes_nothing_is_said(
    arguments: tuple[str, ...], two_hosts: Path, redirection: str, reason: str
) -> None:
    status, lines = ended(arguments, two_hosts, redirection)
    assert lines == [f"anabranch: standard output: cannot be written: {reason}"]
    assert status == 1


@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda each: each[0])
def test_of_a_reader_that_left_nothing_is_said(arguments: tuple[str, ...], two_hosts: Path) -> None:
    named = {"SCENARIO": str(two_hosts), "OUT": str(two_hosts.parent / "out")}
    words = [
        sys.executable,
        "-m",
        "anabranch",
        *(named.get(argument, argument) for argument in arguments),
    ]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    told = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=120) == 1
    assert told == ""


def test_results_are_written_before_what_is_printed(two_hosts: Path) -> None:
    status, _ = ended(("run", "SCENARIO", "--out", "OUT"), two_hosts, ">/dev/full")
    assert status == 1
    written = {path.name for path in (two_hosts.parent / "out").iterdir()}
    assert {"flows.csv", "run.json", "report.html"} <= written
