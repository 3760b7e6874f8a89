"""Further worlds of live studies: kernels with our windows in the study of MCubic."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import live_page
from anabranch import tables
from anabranch.experiment import RunResult
from anabranch.report.study import write_study_report
from anabranch.stats import Sample
from anabranch.studies import ALL
from anabranch.studies.live import Further, LiveOutcome
from anabranch.studies.mcubic import conditions, live
from anabranch.studies.mcubic import measures as m
from anabranch.trials import worlds
from anabranch.trials.worlds import Timing
from anabranch.verdicts import Claim, Statement, at_least

TIMING = Timing("batch-00", 3, 1, 1000, 3e-5, 1e-4, 1e-3, 1e-3, ())


def _named(value: float, quantity: str) -> list[Statement]:
    return [Statement.of(quantity, Sample.of([value, value, value], ["x"]), at_least(1, 0.1))]


def _claim(value: float) -> Claim:
    return Claim("C1", "It is at least one.", _named(value, "a ratio"), "", [], "")


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


def test_a_page_has_each_claim_in_every_environment(tmp_path: Path) -> None:
    """A column for each, under its name and who is real there; a claim with its sentence."""
    _outcome([]).save(tmp_path / "mcubic")
    write_study_report(tmp_path)
    page = (tmp_path / "mcubic" / "report.html").read_text(encoding="utf-8")
    body = page.split('<section id="live-mcubic">')[1]
    assert ALL["mcubic"].question in html.unescape(page)
    for name, says in (
        ("simulated", "Virtual time, with our stack at every host."),
        ("live", "Real packets in real time. Ours to a kernel&#39;s."),
        ("kernel", "Real packets in real time. Kernels at both ends."),
    ):
        assert f"<dt><strong>{name}</strong></dt><dd>{says}</dd>" in body
    assert "The same 3 trials ran in 3 environments" in body
    assert "in every environment: 0 of 1. Verdicts differ for C1." in body
    head, row = (part.split("</tr>")[0] for part in body.split("<tr>")[1:3])
    named = ["claim", "number", "expected", "simulated", "live", "kernel"]
    assert re.findall(r'<th scope="col">(\w+)</th>', head) == named
    assert re.findall(r'data-label="(\w+)"', row) == named
    assert "<strong>C1</strong> It is at least one." in row and "a ratio" in row
    verdicts = re.findall(r'class="verdict ([\w-]+)"', row)
    assert verdicts == ["holds", "holds", "does-not-hold"]
    assert all(f"{value:.2f}" in row for value in (1.2, 1.1, 0.5))
    assert "numbers of C1" not in body  # its only one is in the row
    same = replace(_outcome([]), further=[])
    same.save(tmp_path / "mcubic")
    write_study_report(tmp_path)
    page = (tmp_path / "mcubic" / "report.html").read_text(encoding="utf-8")
    assert "2 environments" in page and "in every environment: 1 of 1.</p>" in page


def test_a_page_folds_the_other_numbers_of_a_claim(tmp_path: Path) -> None:
    first = _claim(1.2)
    more = Statement.of("another", Sample.of([3.0, 3.0], ["x"]))
    claim = replace(first, statements=[*first.statements, more], grid=first.statements)
    outcome = replace(_outcome([]), simulated=[claim], live=[claim], further=[])
    outcome.save(tmp_path / "mcubic")
    write_study_report(tmp_path)
    page = (tmp_path / "mcubic" / "report.html").read_text(encoding="utf-8")
    folded = page.split("<details><summary>All 3 numbers of C1</summary>")[1].split("</details>")[0]
    scopes = re.findall(r'data-label="case">([\w ]+)<', folded)
    assert scopes == ["as published", "as published", "over the grid"]
    assert folded.count('class="verdict holds"') == 4  # a number without a rule has none


def test_a_number_that_was_not_measured_somewhere_is_a_dash(tmp_path: Path) -> None:
    whole = replace(_claim(1.2), statements=[*_named(1.2, "first"), *_named(3.0, "second")])
    lacking = replace(whole, statements=_named(3.1, "second"))
    outcome = replace(_outcome([]), simulated=[whole], live=[lacking], further=[])
    outcome.save(tmp_path / "mcubic")
    write_study_report(tmp_path)
    page = (tmp_path / "mcubic" / "report.html").read_text(encoding="utf-8")
    folded = page.split("<details><summary>All 2 numbers of C1</summary>")[1]
    first, second = (row.split("</tr>")[0] for row in folded.split("<tr>")[2:4])
    assert "first" in first and "1.20" in first and first.count("\N{EN DASH}") == 1
    assert "second" in second and "3.00" in second and "3.10" in second


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
