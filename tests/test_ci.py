"""What continuous integration runs beside the tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from anabranch import Scenario

ROOT = Path(__file__).parents[1]


def test_the_trace_hash_is_that_of_a_run() -> None:
    """Of the module that is installed, and of another, as that of debug beside release."""
    scenario = ROOT / "examples" / "two-hosts.toml"
    core = next((ROOT / "python" / "anabranch").glob("_core*.so")).parent
    for directory in ((), (core,)):
        printed = subprocess.run(
            ["sh", ROOT / ".ci" / "trace-hash", sys.executable, scenario, *directory],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        assert printed.strip() == Scenario.load(scenario).run(trace_hash=True).run.trace_hash
