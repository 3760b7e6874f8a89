"""`anabranch compare`: copies of a scenario in both worlds, and what is said of them.

What needs TUN fails in continuous integration without it, and is skipped elsewhere.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from anabranch import InputError, Scenario, comparison, report, stats, tables
from anabranch.comparison import Row
from anabranch.report.comparison import comparison_charts, shown
from anabranch.stats import Estimate
from anabranch.trials import Trial, worlds
from conftest import TWO_HOSTS, Command
from needs import TWO_KERNELS

ROOT = Path(__file__).parents[1]

TO_A_KERNEL = TWO_KERNELS.replace('{ name = "a", external = true }', '"a"')
"""Our sender, a kernel's receiver."""

LOSSY = 'impairments = [{ kind = "bernoulli", rate = 0.02 }]\nreverse = { impairments = [] }\n'


def _row(simulated: list[float], live: list[float]) -> Row:
    estimates = (stats.mean(simulated), stats.mean(live), stats.paired(live, simulated))
    return Row({"window": "reno"}, "f", "completion s", *estimates)


def test_a_verdict_is_of_the_intervals() -> None:
    # Without chance in either world the intervals have no width.
    assert _row([10.0, 10.0], [10.1, 10.1]).verdict == "agree"
    assert _row([10.0, 10.0], [11.0, 11.0]).verdict == "differ"
    assert _row([10.0], [10.0]).verdict == ""
    # Pairs decide: both worlds vary much, and together.
    assert _row([1.0, 12.0, 5.0], [1.01, 12.02, 5.0]).verdict == "agree"
    # No difference is shown, and nor is that there is none.
    wide = Row({}, "f", "m", Estimate(30, 20, 40, 3), Estimate(29.5, 20, 39, 3),
               Estimate(-0.5, -16, 15, 3))  # fmt: skip
    assert wide.verdict == "undecided"
    assert replace(wide, margin=0.6).verdict == "agree"
    apart = Row(
        {}, "f", "m", Estimate(1, 0, 2, 3), Estimate(3.1, 2.1, 4.1, 3), Estimate(2, 1, 3, 3)
    )
    assert apart.verdict == "differ"
    # One packet more or less sent again of few does not matter.
    assert replace(_row([2, 2], [3, 3]), measure="retransmissions").verdict == "agree"
    cells = apart.cells()
    assert list(cells) == ["flow", "measure", *comparison.COLUMNS[2:]]
    assert (cells["simulated_high"], cells["live_low"], cells["n"]) == (2, 2.1, 3)


def test_a_row_has_one_unit() -> None:
    """In both worlds, the difference and the margin; what does not vary has no interval."""
    row = replace(_row([77.452754, 77.452754 + 1e-9], [77.9, 78.1]), measure="mean cwnd kB")
    rate = replace(_row([9.5, 9.51, 9.52], [9.5, 9.51, 9.53]), measure="goodput Mbit/s")
    for each, unit in ((row, "kB"), (rate, "Mbit/s")):
        texts = shown(each, [each])
        assert all(text.endswith(f" {unit}") for text in texts), texts
        assert all(len(number.lstrip("0.")) <= 5 for text in texts
                   for number in re.findall(r"[0-9.]+", text)), texts  # fmt: skip
    assert shown(row, [row])[0] == "77.45 kB"


def test_a_comparison_has_a_report(tmp_path: Path) -> None:
    run = Scenario(TWO_HOSTS).run()
    rows = comparison.compared({"delay": "2 <ms>"}, [run, run], [run, run])
    report.write_comparison_report(tmp_path, "a", comparison.Comparison(rows, [], [], 1), 2)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<strong>5</strong> agree: goodput, completion, retransmissions, timeouts" in page
    assert page.index("<h2>All measures</h2>") < page.index('data-chart="0"')
    assert "Mbit/s" in page and "2 &lt;ms&gt;" in page
    assert page.count('data-chart="') >= 3


def test_differences_are_drawn_over_their_margins() -> None:
    rates = replace(_row([9.5, 9.51, 9.52], [9.5, 9.51, 9.56]), measure="goodput Mbit/s")
    slow = replace(_row([0.9, 0.91, 0.9], [0.9, 0.9, 0.92]), measure="goodput Mbit/s", flow="g")
    nothing = replace(_row([0.0, 0.0], [0.0, 0.0]), measure="timeouts")
    worlds, differences = comparison_charts([rates, slow, nothing])
    assert (worlds.title, differences.title) == ("goodput", "goodput, live - simulated")
    assert differences.xnames == worlds.xnames == ["reno, f", "reno, g"]
    assert differences.y == "paired difference (kbit/s)"
    margin, drawn = differences.traces
    assert (margin.kind, drawn.kind) == ("bands", "marks")
    assert margin.high == pytest.approx([row.bound * 1e3 for row in (rates, slow)])
    assert margin.low == [-each for each in margin.high]
    for name, end in (("y", "mean"), ("low", "ci_low"), ("high", "ci_high")):
        expected = [getattr(row.difference, end) * 1e3 for row in (rates, slow)]
        assert getattr(drawn, name) == pytest.approx(expected)


def test_measures_of_a_flow() -> None:
    run = Scenario(TWO_HOSTS).run()
    rows = {row.measure: row for row in comparison.compared({}, [run, run], [run, run])}
    assert set(rows) == set(comparison.MEASURES)
    flow = run.flows[0]
    assert rows["completion s"].live.mean == flow["finish_s"]
    assert rows["retransmissions"].simulated.mean == flow["retransmitted_packets"] > 0
    assert rows["goodput Mbit/s"].difference.mean == 0
    window = run.series["f.cwnd"]["value"] / 1e3
    assert window.min() < rows["mean cwnd kB"].live.mean < window.max()
    # A flow without an end has a goodput and a window, but no completion.
    run = Scenario(TWO_HOSTS.replace('size = "300 kB"\n', "")).set('duration="2 s"').run()
    rows = {row.measure: row for row in comparison.compared({}, [run], [run])}
    assert set(rows) == set(comparison.MEASURES) - {"completion s"}


def test_copies_draw_for_themselves() -> None:
    """And the same in any batch, so that both worlds see the same fates."""
    scenario = Scenario(TWO_HOSTS)
    trials = [Trial((0, r), f"p0r{r}", scenario, ("b",)) for r in range(6)]
    every = worlds.simulated(trials)
    drops = [tuple(every[trial.key].series["f.drops"]["value"]) for trial in trials]
    assert len(set(drops)) == 6
    alone = worlds.simulated(trials[3:4])[0, 3]
    assert tuple(alone.series["f.drops"]["value"]) == drops[3]
    assert worlds.load(alone) == pytest.approx(
        sum(link["delivered"] for link in alone.links) / alone.flows[0]["finish_s"]
    )


def test_a_sweep_is_compared_point_by_point() -> None:
    found, count = comparison.points(ROOT / "examples/sweeps/fidelity.toml", [])
    assert count and len(found) == 6 * 3 * 2
    assert found[0].labels == {"path": "2 Mbit/s, no loss", "window": "cubic", "sender": "ours"}
    found, count = comparison.points(
        ROOT / "examples/fidelity.toml", ["links.path.rate='1 Mbit/s'"]
    )
    assert count is None and [point.labels for point in found] == [{}]
    assert 'rate = "1 Mbit/s"' in found[0].scenario.text


def test_what_no_comparison_can_be_is_named(anabranch: Command, tmp_path: Path) -> None:
    scenario = tmp_path / "s.toml"
    scenario.write_text(TWO_KERNELS, encoding="utf-8")
    sweep = tmp_path / "sweep.toml"
    plan = "scenario = 's.toml'\n[[parameters]]\nname = '{}'\nfield = 'seed'\nvalues = [1, 2]\n"
    sweep.write_text(plan.format("verdict"), encoding="utf-8")
    with pytest.raises(InputError, match=r"parameters\.name.*`verdict`.*none of flow, measure"):
        comparison.points(sweep, [])
    rule = "replications = { metric = 'goodput_bps', relative = 0.1 }\n"
    sweep.write_text(rule + plan.format("s"), encoding="utf-8")
    with pytest.raises(InputError, match=r"replications.*a number"):
        comparison.points(sweep, [])
    result = anabranch("compare", tmp_path / "none.toml", "--out", tmp_path / "out")
    assert result.returncode == 2 and "none.toml" in result.stderr


@pytest.mark.needs("live")
@pytest.mark.parametrize("name", ["two-hosts.toml", "sweeps/windows.toml"])
def test_who_compares_algorithms_is_sent_to_a_sweep(anabranch: Command, name: str) -> None:
    result = anabranch("compare", Path(__file__).parents[1] / "examples" / name)
    assert result.returncode == 2
    for part in ("no host is external", "by `anabranch sweep`: docs/howto/compare.md"):
        assert part in " ".join(result.stderr.split()), result.stderr


def test_both_worlds_side_by_side(anabranch: Command, tmp_path: Path) -> None:
    """Our sender to a kernel, ten links at once: it sends again what it sends again in virtual
    time, for the same packets are lost."""
    link, out = tmp_path / "link.toml", tmp_path / "out"
    link.write_text(TO_A_KERNEL.replace("[[flows]]", f"{LOSSY}\n[[flows]]"), encoding="utf-8")
    result = anabranch("compare", link, "--replications", "10", "--out", out)
    assert result.returncode == 0, result.stderr
    assert "live - simulated" in result.stdout and "10 copies" in result.stdout
    rows = {row["measure"]: row for row in tables.read_csv(out / "compare.csv")}
    assert tuple(rows["completion s"]) == comparison.COLUMNS
    again = rows["retransmissions"]
    assert again["n"] == "10" and float(again["simulated"]) > 1
    assert abs(float(again["difference"])) < 0.3 * float(again["simulated"])
    assert again["verdict"] in ("agree", "undecided")
    (timing,) = tables.read_csv(out / "timing.csv")
    assert timing["trials"] == "10" and float(timing["load_pps"]) > 1000
    assert (out / "batch-00.toml").is_file() and not (out / "runs").exists()


@pytest.mark.needs("live")
def test_points_and_batches(anabranch: Command, tmp_path: Path) -> None:
    """A sweep of two delays, two copies at a time; the slower path is the slower one live too."""
    (tmp_path / "link.toml").write_text(TWO_KERNELS, encoding="utf-8")
    sweep, out = tmp_path / "sweep.toml", tmp_path / "out"
    sweep.write_text(
        "scenario = 'link.toml'\nreplications = 2\n[[parameters]]\nname = 'delay'\n"
        "field = 'links.0.delay'\nvalues = ['2 ms', '20 ms']\n",
        encoding="utf-8",
    )
    result = anabranch("compare", sweep, "--parallel", "2", "--out", out)
    assert result.returncode == 0, result.stderr
    assert "delay: 20 ms" in result.stdout
    rows = {
        row["delay"]: row
        for row in tables.read_csv(out / "compare.csv")
        if row["measure"] == "completion s"
    }
    for world in ("simulated", "live"):
        assert float(rows["20 ms"][world]) > 2 * float(rows["2 ms"][world])
    timings = tables.read_csv(out / "timing.csv")
    assert [row["trials"] for row in timings] == ["2", "2"]
