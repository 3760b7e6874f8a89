"""Further worlds of live studies: kernels with our windows in the study of MCubic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import live_page
from anabranch import tables
from anabranch.experiment import RunResult
from anabranch.stats import Sample
from anabranch.studies import ALL
from anabranch.studies.live import Further, LiveOutcome
from anabranch.studies.mcubic import conditions, live
from anabranch.studies.mcubic import measures as m
from anabranch.trials import worlds
from anabranch.trials.worlds import Timing
from anabranch.verdicts import Claim, Statement, at_least

TIMING = Timing("batch-00", 3, 1, 1000, 3e-5, 1e-4, 1e-3, 1e-3, ())


def _claim(value: float) -> Claim:
    statement = Statement.of("a ratio", Sample.of([value, value, value], ["x"]), at_least(1, 0.1))
    return Claim("C1", "It is at least one.", [statement], "", [], "")


def _outcome(rows: Sequence[Mapping[str, Any]]) -> LiveOutcome:
    return LiveOutcome(
        name="mcubic",
        quick=False,
        setting="Ours to a kernel's.",
        changed=("less",),
        left_out={"R": "more"},
        simulated=[_claim(1.2)],
        live=[_claim(1.1)],
        timings=[TIMING],
        further=[Further("kernel", "Kernels at both ends.", [_claim(0.5)], [TIMING])],
        tables=[dict(row) for row in rows],
    )


def test_a_further_world_is_kept_and_written(tmp_path: Path) -> None:
    row = {"table": "table2", "series": "lia", "x": 100, "ci_low": 1.0, "ci_high": 1.4, "n": 3}
    rows = [{**row, "world": world, "mean": 1.2} for world in ("simulated", "live", "kernel")]
    _outcome(rows).save(tmp_path)
    again = LiveOutcome.load(tmp_path)
    assert again is not None and again.further[0].claims[0].verdict.value == "does not hold"
    measured = tables.read_csv(tmp_path / "live" / "measures.csv")
    assert [each["world"] for each in measured] == ["simulated", "live", "kernel"]
    assert (tmp_path / "live" / "kernel" / "timing.csv").exists()
    text = live_page.section(again, "Run today.")
    assert "| C1 | holds | holds | does not hold | a ratio: 0.50" in text
    assert (
        "| `lia` | 100 | 1.20 (1.00 to 1.40) | 1.20 (1.00 to 1.40) | 1.20 (1.00 to 1.40) |" in text
    )
    before, first, second = "head\n\n", "## `fast-tcp`\n\nold\n", "\n## `mcubic`\n\nold\n"
    page = before + first + second
    assert live_page.with_section(page, "mcubic", text) == before + first + "\n" + text
    other = "## `fast-tcp`\n\nnew\n"
    assert live_page.with_section(page, "fast-tcp", other) == before + other + second


def test_the_kernels_of_the_world_have_every_host(tmp_path: Path) -> None:
    part = ALL["mcubic"].live
    assert part is not None
    trials = part.trials(True, tmp_path)
    (world,) = part.further
    for trial in trials:
        there = world.real(trial)
        assert isinstance(trial.key, tuple)
        assert (there.key, there.name, there.scenario) == (trial.key, trial.name, trial.scenario)
        hosts = {"a", "a1", "b"} | ({"a2"} if trial.key[0].bed == conditions.DISTINCT else set())
        assert set(there.external) == hosts and "a" not in trial.external


@pytest.mark.needs("kernel", "live")
def test_a_kernel_with_our_window_stands_in_the_study(tmp_path: Path) -> None:
    """MCubic beside further flows on its second path, in a kernel: its K' is a series."""
    size = "live_quick"
    runs = [conditions.shift(conditions.OURS, others, size) for others in (0, 3)]
    found = [trial for trial in live.trials(True, tmp_path) if trial.key in {(runs[1], 0)}]
    trials = [live.KERNEL.real(trial) for trial in found]
    results = worlds.run(trials, tmp_path, lambda _done, _all: None, together=4).live
    result: RunResult = results[runs[1], 0]
    k_prime = result.series[m.COUPLING]
    assert len(k_prime["value"]) > 5
    # Of a path whose losses are a second apart, within a minute.
    assert 0 < m.k_prime_of_first(runs[1], result) < 60
