"""What is for Linux alone says so elsewhere, and nothing else does."""

from __future__ import annotations

import platform
import types
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from anabranch import RunError, Scenario, native
from anabranch.cli import command
from conftest import TWO_HOSTS


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The native module as it is built for another platform."""
    real = native._loaded()
    names = {name: getattr(real, name) for name in dir(real) if name not in native.LINUX_ONLY}
    assert len(names) == len(dir(real)) - len(native.LINUX_ONLY)
    smaller = types.ModuleType("anabranch._core")
    smaller.__dict__.update(names)
    monkeypatch.setattr(native, "_loaded", lambda: smaller)
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    yield


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize(
    "arguments",
    [
        ("live", "FILE"),
        ("compare", "FILE"),
        ("bench", "live"),
        ("reproduce", "--live"),
        ("drill", "--against", "kernel", "FILE"),
        ("kernel", "list"),
        ("kernel", "load", "lia"),
        ("kernel", "status"),
        ("kernel", "unload", "ab_lia"),
    ],
)
def test_runs_on_real_packets_say_that_they_need_linux(
    arguments: tuple[str, ...], two_hosts: Path
) -> None:
    filled = [str(two_hosts) if each == "FILE" else each for each in arguments]
    outcome = CliRunner().invoke(command, filled)
    assert isinstance(outcome.exception, RunError), outcome.output
    assert "need Linux, and this is Darwin" in str(outcome.exception)


@pytest.mark.usefixtures("elsewhere")
def test_simulation_works_elsewhere() -> None:
    assert Scenario(TWO_HOSTS).run().flows[0].goodput_bps > 0
    with pytest.raises(RunError, match="need Linux"):
        Scenario(TWO_HOSTS).live()
