"""Report cards: rules, readings off runs, and what the command writes."""

from __future__ import annotations

import csv
import doctest
import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import made
from anabranch import InputError, evaluate, looks, stats
from anabranch.evaluate import evaluating, paths
from anabranch.evaluate.check import Rule, Scale
from anabranch.evaluate.checks import ALL, alone, sharing
from anabranch.experiment import RunResult
from anabranch.report.study import write_card
from anabranch.rows import Link
from anabranch.stats import Estimate
from anabranch.studies.results import StudyResult
from anabranch.verdicts import Claim, Verdict
from conftest import Command

ROOT = Path(__file__).parents[1]

AGGRESSIVE = (
    '{ algorithm = "highspeed", low_window = 4, low_p = 0.05, high_window = 2000,'
    " high_p = 0.001, high_decrease = 0.1 }"
)
"""Gives up a tenth of its window at a loss, and grows by many segments in a round trip."""


def exactly(mean: float, half: float = 0.0) -> Estimate:
    return Estimate(mean, mean - half, mean + half, 5)


def result(series: dict[str, tuple[list[float], list[float]]], **tables: Any) -> RunResult:
    found = {
        name: {"time_s": np.array(times), "value": np.array(values)}
        for name, (times, values) in series.items()
    }
    return made.result(series=found, **tables)


@pytest.mark.parametrize(
    ("rule", "bound"),
    [
        (Rule("at least", 0.9), 72.0),  # of the lower
        (Rule("at least", 1.0, 0.1), 79.9),
        (Rule("at most", 1.25), 125.0),  # of the higher
        (Rule("at most", 1.0, 10), 110.0),
    ],
)
def test_bounds_come_from_the_standard_that_is_kinder(rule: Rule, bound: float) -> None:
    assert rule.bound([exactly(80), exactly(100)]) == pytest.approx(bound)


def test_an_interval_across_the_bound_is_no_verdict() -> None:
    rule, standards = Rule("at most", 1.0), [exactly(5), exactly(10)]
    verdicts = [
        rule.judged("x", exactly(mean, half), standards).verdict
        for mean, half in ((9, 0.9), (9, 1.1), (11, 1.1), (11, 0.9))
    ]
    assert verdicts == [Verdict.HOLDS, Verdict.UNDECIDED, Verdict.UNDECIDED, Verdict.FAILS]


def test_what_is_read_off_runs() -> None:
    received = ([0.0, 1.0, 2.0, 3.0], [0.0, 1e6, 1.5e6, 4e6])
    run = result(
        {"f0.received": received, "path.queue": ([0.0, 1.0, 2.0], [9.0, 10.0, 30.0])},
        flows=[made.flow(flow="f0", bytes=4_000_000)],
        links=[made.row(Link, name="path", received=1000, dropped_queue=20, dropped_aqm=5)],
    )
    assert paths.delivered(run, "f0", 1, 3) == 3e6
    assert paths.goodput(run, "f", 1, 3) == 12e6  # 3 MB in 2 s
    assert paths.use(run, "20 Mbit/s", 1, 3) == 60.0
    assert paths.loss(run) == 2.5
    # 20 packets of 12000 bits at 12 Mbit/s.
    assert paths.waiting(run, "12 Mbit/s", 1) == pytest.approx(20.0)
    flows = [made.flow(start_s=1.0, finish_s=end) for end in (2.5, None)]
    assert paths.completion(flows) == 1.5


def test_the_card_of_an_earlier_check_stays(tmp_path: Path) -> None:
    """Another check of the same algorithm is added; another algorithm needs a folder of its own."""
    assert evaluate.with_earlier(tmp_path, "cubic", ("ecn",)) == ("ecn",)
    claims = [Claim(name, "", [], "") for name in ("fairness", "short-flows")]
    title = "Report card of cubic"
    StudyResult("evaluate", title, "", "", "", "quick", claims, [], [], [], "").save(tmp_path)
    kept = evaluate.with_earlier(tmp_path, "cubic", ("ecn", "fairness"))
    assert kept == ("fairness", "short-flows", "ecn")
    assert evaluate.with_earlier(tmp_path, "cubic", ()) == ()  # all checks
    fits = re.escape(f"--out {tmp_path}-m-py-Mine: this one has the card of cubic")
    with pytest.raises(InputError, match=fits):
        evaluate.with_earlier(tmp_path, "m.py:Mine", ())


def test_no_interval_goes_beyond_what_a_quantity_can_be() -> None:
    sample = stats.Sample.of([0.99, 0.95, 1.0, 0.98]).within(0, 1)
    assert sample.estimate.ci_high == 1.0 > sample.estimate.mean
    (jain,) = next(check.quantities for check in ALL if check.name == "fairness")
    assert jain.most == 1.0


def test_harm_is_the_share_that_a_flow_loses() -> None:
    def run(**flows: float) -> RunResult:
        rates = {f"{name}.received": ([0.0, 4.0], [0.0, rate * 4]) for name, rate in flows.items()}
        rows = [made.flow(flow=name) for name in flows]
        shifted = {k: ([0.0, 1.0, 4.0], [0.0, v[1][1] / 4, v[1][1]]) for k, v in rates.items()}
        return result(shifted, flows=rows)

    alone_, shared = (
        run(standard=10e6),
        run(**{"standard-0": 3e6, "standard-1": 2e6, "candidate-0": 5e6}),
    )
    # 10 alone, 2.5 on average beside the candidate.
    harm = sharing.CHECKS[0].quantities[0].read([alone_, shared])
    assert harm == pytest.approx(0.75)


def test_round_trip_times_that_make_no_difference_have_the_exponent_0() -> None:
    series = {f"f{n}.received": ([0.0, 25.0, 100.0], [0.0, 25e6, 100e6]) for n in range(4)}
    flows = [made.flow(flow=f"f{n}") for n in range(4)]
    assert alone._exponent([result(series, flows=flows)]) == pytest.approx(0.0, abs=1e-9)
    inverse = {
        f"f{n}.received": ([0.0, 25.0, 100.0], [0.0, 25e6 / 2**n, 100e6 / 2**n]) for n in range(4)
    }
    assert alone._exponent([result(inverse, flows=flows)]) == pytest.approx(1.0)


def test_every_check_can_be_run_and_is_on_the_page() -> None:
    page = (ROOT / "docs" / "evaluate.md").read_text(encoding="utf-8")
    names = [check.name for check in ALL]
    assert len(set(names)) == len(names) >= 20
    for check in ALL:
        for scenario in check.scenarios("reno", Scale(quick=True)):
            assert scenario.resolved() and not scenario.warnings()
        (row,) = [line for line in page.splitlines() if line.startswith(f"| `{check.name}` |")]
        assert check.section in row
        for quantity in check.quantities:
            assert quantity.rule.text().replace(" of reno and cubic", "") in row, quantity.name


OWN = """
from anabranch.algorithms import WindowControl

class Mine(WindowControl):
    needs = {"ecn": "accurate"}

    def on_ack(self, ack):
        self.cwnd += ack.mss

    def on_loss(self, signal):
        self.cwnd = 2.0 * signal.mss
"""


def test_an_algorithm_gets_what_it_needs(tmp_path: Path) -> None:
    """DCTCP its echo of marks, in every check and over what a check asks; others nothing."""
    (tmp_path / "mine.py").write_text(OWN, encoding="utf-8")
    asked = {
        "dctcp": "dctcp",
        '{ algorithm = "dctcp", g = 0.1 }': "dctcp",
        f"{tmp_path / 'mine.py'}:Mine": "accurate",
        "reno": None,
    }
    for window, mode in asked.items():
        for check in ALL:
            for scenario in check.scenarios(window, Scale(quick=True)):
                flows = tomllib.loads(scenario.resolved())["flows"]
                for tcp in (flow["tcp"] for flow in flows if flow["protocol"] == "tcp"):
                    if tcp["window"]["algorithm"] in ("reno", "cubic"):
                        assert tcp["ecn"] == ("on" if check.name == "ecn" else "off")
                    else:
                        assert tcp["ecn"] == mode, check.name


def test_dctcp_hears_its_marks(anabranch: Command, tmp_path: Path) -> None:
    """Beside a queue that marks it keeps the queue short, and loses nothing."""
    done = anabranch("evaluate", "dctcp", "--quick", "--check", "ecn", "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    stored = StudyResult.load(tmp_path)
    assert stored is not None
    used, delay, lost = (measure.measured.mean for measure in stored.claims[0].statements[:3])
    assert used > 90 and delay < 10 and lost < 0.1


def test_a_greedy_algorithm_is_found_out(anabranch: Command, tmp_path: Path) -> None:
    checks = ["--check", "harm-to-reno", "--check", "small-buffer"]
    arguments = ["evaluate", AGGRESSIVE, "--label", "greedy", "--quick", *checks, "--jobs", "2"]
    done = anabranch(*arguments, "--against", "cubic", "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    with (tmp_path / "checks.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["algorithm"] for row in rows} == {"greedy", "reno", "cubic"}
    verdicts = {
        (row["check"], row["quantity"]): row["verdict"]
        for row in rows
        if row["algorithm"] == "greedy"
    }
    assert verdicts["harm-to-reno", "harm, buffer of 1 BDP"] == "does not hold"
    assert verdicts["small-buffer", "packets lost, %"] == "does not hold"
    assert verdicts["small-buffer", "use, %"] == "holds"
    reno = [row for row in rows if row["algorithm"] == "reno" and row["check"] != "harm-to-reno"]
    assert {row["verdict"] for row in reno} == {"holds"}
    stored = StudyResult.load(tmp_path)
    assert stored is not None and stored.claims[0].verdict is Verdict.FAILS
    assert "Beyond the bounds: harm-to-reno" in stored.findings[-1]
    report = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Report card of greedy" in report and "harm-to-reno" in report
    assert (tmp_path / "harm-to-reno.svg").exists()
    assert looks.read(tmp_path / "harm-to-reno.csv")[1].y == "harm to reno"
    # Nothing is computed twice.
    before = sorted((path.name, path.stat().st_mtime_ns) for path in (tmp_path / "runs").iterdir())
    assert anabranch(*arguments, "--against", "cubic", "--out", str(tmp_path)).returncode == 0
    after = sorted((path.name, path.stat().st_mtime_ns) for path in (tmp_path / "runs").iterdir())
    assert before == after


def test_a_card_without_figures_has_no_heading_for_them(tmp_path: Path) -> None:
    """As that of a check which draws none."""
    card = evaluate.Card("cubic", ["cubic"], [], {}, {})
    found = StudyResult("evaluate", "Report card", "", "", "", "quick", [], [], [], [], "")
    write_card(tmp_path, card, found)
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Figures</h2>" not in text and "Drag" not in text.partition("<script")[0]


def test_a_controller_of_ones_own(anabranch: Command, tmp_path: Path) -> None:
    """It fills a short buffer, and loses more there than the standards."""
    checks = ["--check", "small-buffer", "--check", "data-centre"]
    done = anabranch(
        "evaluate",
        f"{ROOT / 'examples' / 'algorithms' / 'greedy.py'}:Greedy",
        *("--quick", *checks, "--against", "reno", "--out", str(tmp_path)),
    )
    assert done.returncode == 0, done.stderr
    assert "Greedy" in done.stdout and "greedy.py" not in done.stdout
    stored = StudyResult.load(tmp_path)
    assert stored is not None
    use, lost = stored.claims[0].statements[:2]
    assert (use.verdict, lost.verdict) == (Verdict.HOLDS, Verdict.FAILS)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["tahoe"], "tahoe"),
        (["reno", "--against", "tahoe"], "tahoe"),
        (["reno", "--check", "speed"], "field `--check`: value `speed`: allowed: collapse"),
        (["{ algorithm = reno"], "field `window`"),
    ],
)
def test_wrong_input_is_told_before_anything_runs(
    forked: Command, tmp_path: Path, arguments: list[str], expected: str
) -> None:
    done = forked("evaluate", *arguments, "--quick", "--out", str(tmp_path))
    assert done.returncode == 2 and expected in done.stderr, done.stderr
    assert not (tmp_path / "runs").exists()


def test_the_help_lists_the_checks(forked: Command) -> None:
    told = " ".join(forked("evaluate", "--help").stdout.split())
    assert f"Checks of RFC 9743, {len(ALL)}: collapse, " in told
    assert "share-beside-cubic, share-beside-reno, random-loss." in told


def test_descriptions_show_what_happens() -> None:
    assert doctest.testmod(evaluating).failed == 0 < doctest.testmod(evaluating).attempted


def test_selected_checks_stand_once_in_the_order_given() -> None:
    assert [each.name for each in evaluating.selected(["wired", "loss", "wired"])] == [
        "wired",
        "loss",
    ]
