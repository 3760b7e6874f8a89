"""What tests need of the machine is asked for, said, and not skipped in continuous integration."""

from __future__ import annotations

import subprocess
from types import SimpleNamespace

import pytest

import needs


@pytest.fixture
def moon(monkeypatch: pytest.MonkeyPatch) -> str:
    """Something that no machine has."""
    lacks = needs.Need("build a rocket", lambda: "nothing above", ("rocket",))
    monkeypatch.setitem(needs.NEEDS, "moon", lacks)
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv("CI_MAY_LACK", raising=False)
    needs.missing.cache_clear()
    return "moon"


def test_what_is_missing_is_skipped_and_said(moon: str) -> None:
    with pytest.raises(pytest.skip.Exception) as skipped:
        needs.need(moon)
    reason = f"Skipped: {skipped.value.msg}"
    assert reason == "Skipped: moon is needed: nothing above (build a rocket)"
    report = SimpleNamespace(longrepr=("file.py", 1, reason))
    assert needs.told([report, report]) == ["NOT TESTED: 2 tests need moon: build a rocket"]


def test_continuous_integration_skips_what_it_was_told_to_alone(
    moon: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "true")
    monkeypatch.setenv("CI_MAY_LACK", "sun,stars")
    with pytest.raises(pytest.fail.Exception, match=r"skips nothing: moon is needed"):
        needs.need(moon)
    monkeypatch.setenv("CI_MAY_LACK", "sun,moon")
    with pytest.raises(pytest.skip.Exception):
        needs.need(moon)


def test_a_program_that_was_not_asked_for_is_not_started() -> None:
    with pytest.raises(pytest.fail.Exception, match=r"starts tshark without `pytest.mark.needs`"):
        subprocess.run(["tshark", "--version"], check=False)


def test_an_unknown_need_is_an_error(request: pytest.FixtureRequest) -> None:
    item = SimpleNamespace(
        nodeid="it", iter_markers=lambda _name: [SimpleNamespace(args=("nothing",))]
    )
    with pytest.raises(pytest.UsageError, match="it needs nothing; known are tshark, "):
        needs.asked_for(item)  # type: ignore[arg-type]
    assert needs.asked_for(request.node) == []
