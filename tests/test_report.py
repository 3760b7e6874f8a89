"""What reports are made of: thinning, charts, links; and what stops a run."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import tomllib
import urllib.request
import webbrowser
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from anabranch import InputError, Scenario, looks, report, si
from anabranch.commands.view import view
from anabranch.figures import Plot
from anabranch.looks import Look
from anabranch.report import explorer, thinning
from anabranch.report import study as study_report
from anabranch.report.bullets import bullet
from anabranch.report.cells import cell
from anabranch.report.charts import encode, from_figure
from anabranch.report.run import write_run_report
from anabranch.report.sweep import sweep_charts
from anabranch.stats import Estimate, Exact
from anabranch.studies import drawing
from anabranch.studies.results import FigureEntry, StudyResult
from anabranch.sweep import Metric, Parameter, Replications, Sweep
from anabranch.verdicts import Claim, Statement, near
from conftest import TWO_HOSTS, Command

EXAMPLES = Path(__file__).parents[1] / "examples"

TWO_PATHS = """
hosts = [{ name = "a", interfaces = ["x", "y"] }, { name = "b", interfaces = ["x", "y"] }]
links = [
  { ends = ["a.x", "b.x"], rate = "5 Mbit/s", delay = "10 ms",
    impairments = [{ kind = "bernoulli", rate = 0.02 }] },
  { ends = ["a.y", "b.y"], rate = "5 Mbit/s", delay = "20 ms" },
]
[[flows]]
name = "f"
from = "a"
to = "b"
size = "400 kB"
"""


@given(
    st.lists(st.tuples(st.floats(0, 10), st.floats(-5, 5)), min_size=1, max_size=300),
    st.integers(4, 60),
)
def test_a_thinned_curve_has_its_peaks(samples: list[tuple[float, float]], most: int) -> None:
    times, values = np.array(sorted(samples)).T
    kept = thinning.curve(times, values, most)
    assert list(kept) == sorted(set(kept))
    assert {0, len(times) - 1} <= set(kept)
    assert values[kept].min() == values.min()
    assert values[kept].max() == values.max()
    assert len(kept) <= max(most, 4)


def test_of_many_packets_about_as_many_as_asked_for_are_kept() -> None:
    assert len(thinning.packets(1001, 100)) == 91
    assert list(thinning.packets(50, 100)) == list(range(50))


def test_columns_as_text() -> None:
    assert encode([1, 2]) == "u4:AQAAAAIAAAA="
    assert encode([0.5]) == "f8:AAAAAAAA4D8="
    assert encode([]) == "f8:"
    assert encode([2.0**32]).startswith("f8:")
    assert encode([-1]).startswith("f8:")


@pytest.mark.parametrize(
    ("protocol", "lanes"),
    [("mptcp", {"f.a.x-b.x", "f.a.y-b.y"}), ("sctp", {"f.b.x"}), ("tcp", {"f"})],
)
def test_the_explorer_has_each_path(protocol: str, lanes: set[str]) -> None:
    text = TWO_PATHS + f'protocol = "{protocol}"\n'
    if protocol == "tcp":
        text = TWO_HOSTS
    result = Scenario(text).explored().run(seed=2)
    charts = explorer.charts(result)
    assert charts[0].title == "Time-sequence"
    groups = {trace.group for trace in charts[0].traces}
    assert groups >= lanes
    assert {"Windows", "Queues", "Smoothed round-trip times", "In-order delivery"} <= {
        chart.title for chart in charts
    }
    for lane in groups:
        series = {kind: result.series[f"{lane}.{kind}"] for kind in ("sends", "drops")}
        again = series["sends"]["value"][series["sends"]["retransmission"]]
        assert set(series["drops"]["value"]) <= set(again)  # all that was lost was repaired
    lost = sum(
        len(each["value"]) for name, each in result.series.items() if name.endswith(".drops")
    )
    assert lost > 0


def test_explored_adds_what_is_missing_and_changes_nothing() -> None:
    plain = Scenario(TWO_HOSTS)
    explored = plain.explored()
    assert explored.resolved().count('what = "cwnd"') == 1  # observed already
    assert explored.resolved().count('what = "queue"') == 1
    assert explored.explored() == explored
    runs = [each.run(seed=4, trace_hash=True) for each in (plain, explored)]
    assert runs[0].run["trace_hash"] == runs[1].run["trace_hash"]
    assert runs[0].flows == runs[1].flows


@pytest.mark.parametrize(
    ("example", "change"),
    [
        ("mptcp-failover", "flows.0.tcp.profile=linux"),
        ("sctp-multihoming", "flows.0.sctp.preset=rfc2960"),
        ("two-hosts", "flows.0.protocol=sctp"),
    ],
)
def test_an_explored_scenario_takes_profiles_and_presets(example: str, change: str) -> None:
    scenario = Scenario.load(EXAMPLES / f"{example}.toml")
    orders = [scenario.set(change).explored(), scenario.explored().set(change), scenario]
    hashes = [each.run(trace_hash=True).run["trace_hash"] for each in orders]
    assert hashes[0] == hashes[1] != hashes[2]
    assert orders[0].resolved() == orders[1].resolved()


def test_an_explored_scenario_keeps_its_own_observations_and_lists_written_in_a_line() -> None:
    plain = Scenario('observe = [{ what = "cwnd", flow = "f", interval = "1 s" }]\n' + TWO_PATHS)
    explored = plain.explored().set("observe.0.interval=2 s", "flows.0.name=g")
    with pytest.raises(InputError, match=r"observe\[0\].flow"):
        explored.run()
    explored = explored.set("observe.0.flow=g")
    observed = tomllib.loads(explored.resolved())["observe"]
    assert observed[0] == {"what": "cwnd", "flow": "g", "interval": "2 s"}
    assert {"what": "packets"} in observed


def test_a_report_links_what_lies_beside_it(anabranch: Command, two_hosts: Path) -> None:
    out = two_hosts.parent / "out"
    result = anabranch("run", two_hosts, "--explore", "--pcap", "--out", out)
    assert result.returncode == 0, result.stderr
    page = (out / "report.html").read_text(encoding="utf-8")
    links = set(re.findall(r'href="([^"#]+)"', page)) - {"data:,"}
    assert {"scenario.toml", "run.json", "capture.pcapng", "flows.csv", "series"} <= links
    assert all((out / link).exists() for link in links)
    assert "In the folder of this page:" in page
    assert all(f'<span class="soft">({link})</span>' in page for link in links)
    again = Scenario.load(out / "scenario.toml").run(trace_hash=True)
    assert f"trace {again.run['trace_hash']}" in result.stdout


def test_what_a_link_received_is_a_count_and_what_a_flow_received_octets() -> None:
    result = Scenario(TWO_HOSTS).explored().run()
    link = result.links[0]
    received = cell("received", link["received"]).text
    assert received == f"{link['received']:,}" == si.number(link["received"])
    (delivery,) = [c for c in explorer.charts(result) if c.title == "In-order delivery"]
    assert "bit/s" in delivery.y
    assert si.unit_of_series("received") == "B" == si.unit_of("bytes_received")


def test_only_a_run_with_packets_has_the_explorer(tmp_path: Path) -> None:
    heads = []
    for kind in ("cwnd", "packets"):
        scenario = Scenario(TWO_PATHS + f'\n[[observe]]\nwhat = "{kind}"\n')
        write_run_report(tmp_path, "two hosts", scenario.run())
        page = (tmp_path / "report.html").read_text("utf-8")
        heads += re.findall(r"<h2>(Charts|Time-sequence explorer)</h2>", page)
    assert heads == ["Charts", "Time-sequence explorer"]


def test_a_report_is_called_as_its_scenario_is(tmp_path: Path) -> None:
    """Not by the folder that it was read from, which is nobody else's business."""
    for name, title in (("two hosts", "two hosts"), ("", "lossy.toml")):
        scenario = Scenario(TWO_HOSTS.replace('name = "two hosts"', f'name = "{name}"'))
        write_run_report(tmp_path, "/home/somebody/lossy.toml", scenario.run())
        page = (tmp_path / "report.html").read_text(encoding="utf-8")
        assert f"<h1>{title}</h1>" in page
        assert "lossy.toml" in page and "somebody" not in page


def test_means_of_a_sweep_as_charts() -> None:
    rows = [
        {"window": w, "loss": x, "metric": m, "mean": 1.0, "ci_low": 0.5, "ci_high": 1.5, "n": 3}
        for m in ("goodput", "delay")
        for w in ("cubic", "reno")
        for x in (0.02, 0.01)
    ]
    units = {"goodput": "bit/s", "delay": "s"}
    first, second = sweep_charts(["window", "loss"], rows, units)
    assert (first.title, first.x, second.title) == ("goodput", "loss", "delay")
    assert (first.y, second.y) == ("goodput (bit/s)", "delay (s)")
    assert [trace.name for trace in first.traces] == ["cubic", "reno"]
    assert first.series == "window"
    assert list(first.traces[0].x) == [0.01, 0.02]
    assert len({(trace.colour, trace.dash) for trace in first.traces}) == 2


def test_names_are_columns_and_quantities_an_axis_of_numbers() -> None:
    means = {"cubic": 2e6, "reno": 4e6}
    rows = [
        {
            "window": w, "buffer": b, "metric": "goodput",
            "mean": mean, "ci_low": mean, "ci_high": mean, "n": 3,
        }
        for w, mean in means.items()
        for b in ("5 kB", "10 kB")
    ]  # fmt: skip
    one = [row for row in rows if row["buffer"] == "5 kB"]
    (chart,) = sweep_charts(["window", "buffer"], one, {"goodput": "bit/s"})
    (trace,) = chart.traces
    assert (chart.xnames, trace.kind, chart.y) == (["cubic", "reno"], "columns", "goodput (Mbit/s)")
    assert (list(trace.x), list(trace.y)) == ([0.0, 1.0], [2.0, 4.0])
    (chart,) = sweep_charts(["window", "buffer"], rows, {"goodput": "bit/s"})
    assert (chart.x, list(chart.traces[0].x)) == ("buffer (kB)", [5.0, 10.0])
    assert sweep_charts(["window", "buffer"], one[:1], {}) == []
    named = [row | {"metric": "goodput_bps"} for row in rows]
    (chart,) = sweep_charts(["window", "buffer"], named, {"goodput_bps": "bit/s"})
    assert (chart.title, chart.y.partition(" (")[0]) == ("goodput", "goodput")


def test_a_sweep_has_a_report(tmp_path: Path) -> None:
    loss = Parameter.of("loss", "links.0.impairments.0.rate", [0.01, 0.02])
    result = Sweep(Scenario(TWO_HOSTS), [loss]).run(tmp_path)
    report.write_sweep_report(tmp_path, "a <sweep>", result)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "a &lt;sweep&gt;" in page
    assert 'data-chart="0"' in page
    assert "<p>2 points, 2 runs. Varied: loss (0.01, 0.02).</p>" in page
    # The figures are first; the table of all points is folded below them, and there are no pairs.
    folded = '<details class="wide"><summary>The mean of each metric at each point ('
    assert f"{folded}{len(result.summary())} rows)" in page
    assert page.index('data-chart="0"') < page.index("<h2>All points</h2>") < page.index(folded)
    assert "Paired differences" not in page
    assert "</script><" not in page.split('id="charts">')[1].split("</script>")[0]


def test_a_sweep_says_its_scenario_and_has_no_chart_of_zeros(tmp_path: Path) -> None:
    losses = Parameter.of("loss", "links.0.impairments.0.rate", [n / 1000 for n in range(9)])
    metrics = [Metric(name, name) for name in ("goodput_bps", "spurious_retransmissions")]
    small = Scenario(TWO_HOSTS).set("flows.f.size=10 kB")
    result = Sweep(small, [losses], metrics=metrics).run(tmp_path)
    report.write_sweep_report(tmp_path, "losses", result)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<h1>two hosts</h1>" in page and ">losses. Means" in page
    assert "Varied: loss (9 values from 0 to 0.008)." in page
    assert page.count("data-chart=") == 1
    assert "0 at every point: spurious_retransmissions." in page


def test_a_sweep_of_one_point_has_its_table_open(tmp_path: Path) -> None:
    """There is nothing else on the page."""
    result = Sweep(Scenario(TWO_HOSTS), [], Replications(2, 2, confidence=0.9)).run(tmp_path)
    report.write_sweep_report(tmp_path, "one", result)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<p>1 point, 2 runs.</p>" in page and "their 90 % intervals" in page
    assert '<details class="wide">' not in page and 'aria-label="all points"' in page


def test_a_sweep_folds_many_pairs(tmp_path: Path) -> None:
    windows = Parameter.of("window", "flows.f.tcp.window", ["reno", "cubic", "vegas", "htcp"])
    metrics = [Metric(name, name) for name in ("goodput_bps", "timeouts")]
    result = Sweep(Scenario(TWO_HOSTS), [windows], metrics=metrics).run(tmp_path)
    report.write_sweep_report(tmp_path, "many", result)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<summary>Each pair and metric (6 rows)</summary>" in page
    assert "<summary>The mean of each metric at each point (8 rows)</summary>" in page


def test_the_headline_of_a_study_stands_behind_its_claims(tmp_path: Path) -> None:
    folder = tmp_path / "mcubic"
    rows = [{"series": "a", "x": x, "mean": x, "ci_low": x, "ci_high": x, "n": 1} for x in (1, 2)]
    plot = Plot("Points", "x", "y")
    figures = [drawing.points(folder, stem, rows, plot, stem.upper()) for stem in ("one", "two")]
    claim = Claim("C1", "It is.", [Statement.of("it", Estimate(1.0, 1.0, 1.0, 1), near(1, 1))], "")
    StudyResult(
        "mcubic", "M", "", "", "", "quick", [claim], figures, [], [], "", headline="two"
    ).save(folder)
    study_report.write_study_report(tmp_path)
    overview = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert overview.count("TWO") == 1 and "ONE" not in overview
    assert 'href="mcubic/report.html#C1"' in overview
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert page.count("TWO") == page.count("ONE") == 1
    assert page.index('id="C1"') < page.index("TWO") < page.index("ONE")
    assert "<strong>two</strong>" not in page  # a name of a file says nothing to a reader


def test_each_number_of_a_claim_has_its_verdict(tmp_path: Path) -> None:
    """Also the first, beside which the claim's own verdict may be another. The second is folded on
    a phone."""
    mean = Statement.of("mean", Exact.mean_of([0.1, 0.2, 0.6]), near(0.15, 0.05))
    each = Statement.of("each", Exact.of([0.1, 0.2, 0.6]), near(0.15, 0.05))
    claim = Claim("C1", "It is.", [mean, each], "")
    folder = tmp_path / "mcubic"
    StudyResult("mcubic", "M", "", "", "", "quick", [claim], [], [], [], "").save(folder)
    study_report.write_study_report(tmp_path)
    page = (folder / "report.html").read_text(encoding="utf-8")
    lists = page.split('<dl class="measures">')[1:]
    rows = [row for each in lists for row in each.split("</dl>")[0].split("<div>")[1:]]
    assert len(rows) == 2
    assert "does not hold</span> <span" in rows[0] and "by the mean over" in rows[0]
    assert "holds in part</span> <span" in rows[1] and "in 2 of 3 conditions" in rows[1]
    assert "judged by that mean" in page


def test_claims_come_first_and_the_rest_is_folded(tmp_path: Path) -> None:
    """The rule of verdicts stands behind them; source, note and other numbers are folded."""
    statement = Statement.of("it", Exact.of([1.0]), near(1, 1))
    claim = Claim("C1", "It is.", [statement, statement], "A note.", source="section 4")
    folder = tmp_path / "mcubic"
    StudyResult("mcubic", "M", "R", "Q?", "An abstract.", "full", [claim], [], [], [], "").save(
        folder
    )
    study_report.write_study_report(tmp_path)
    page = (folder / "report.html").read_text(encoding="utf-8")
    body = page[page.index("<h1>") :]
    open_ = re.sub(r"<details.*?</details>", "", body, flags=re.DOTALL)
    assert all(text in open_ for text in ("Q?", "It is.", 'class="measures"', "verdict holds"))
    for text in ("An abstract.", "A note.", "section 4", "judged by that mean", "Marks of claims"):
        assert text in body and text not in open_, text
    assert body.index('id="C1"') < body.index("judged by that mean")
    name = '<span class="sr">C1: </span>All 2 numbers, source, note'
    assert f"<summary>{name}</summary>" in body


def test_a_figure_stands_with_the_claim_that_it_shows() -> None:
    claims = [
        Claim("C1", "It is.", [], "", source="\u00a73, figures 5(a) and 6: segments 24 to 30"),
        Claim("C2", "It is not.", [], "", source="section 4, figure 6"),
        Claim("N1", "Is it?", [], ""),
    ]
    stems = {"fig5a": (), "fig6": (), "fig24": (), "ours": ("N1", "C2"), "head": ("C1",)}
    figures = [FigureEntry(stem, stem, names) for stem, names in stems.items()]
    study = StudyResult("s", "S", "", "", "", "quick", claims, figures, [], [], "", headline="head")
    shown = study_report.figures_of_claims(study)
    assert {claim: [each.stem for each in mine] for claim, mine in shown.items()} == {
        "C1": ["fig5a", "fig6"],
        "C2": ["ours"],
        "N1": [],
    }


@pytest.mark.parametrize(
    ("mean", "verdict", "inside"), [(0.5, "holds", True), (1.5, "does not hold", False)]
)
def test_a_statement_as_a_picture(mean: float, verdict: str, inside: bool) -> None:
    measured = Estimate(mean, mean - 0.1, mean + 0.1, 5)
    drawn = bullet(Statement.of("a <share>", measured, near(0.5, 0.25)))
    assert f": {verdict}" in drawn
    band = re.search(r'class="allowed" x="([0-9.]+)" y="1" width="([0-9.]+)"', drawn)
    dot = re.search(r'cx="([0-9.]+)"', drawn)
    assert band and dot
    left, width = float(band[1]), float(band[2])
    assert (left < float(dot[1]) < left + width) == inside
    assert bullet(Statement.of("a number", measured)) == ""


def test_the_example_of_a_study_stays_small(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = StudyResult(
        "s", "S", "", "", "", "quick", [], [], [], [], Scenario(TWO_HOSTS).resolved()
    )
    sizes = []
    for hops in (study_report.EXAMPLE_HOPS, 20):
        monkeypatch.setattr(study_report, "EXAMPLE_HOPS", hops)
        study_report.write_example(tmp_path, study)
        sizes.append((tmp_path / "example" / "capture.pcapng").stat().st_size)
    assert sizes[1] < sizes[0] * 0.8
    assert "the first" in (tmp_path / "example" / "report.html").read_text(encoding="utf-8")


def test_a_chart_takes_any_colour_of_a_figure(tmp_path: Path) -> None:
    """Curves of formulas are black by name; the page has its own palette."""
    csv_file = tmp_path / "f.csv"
    csv_file.write_text("series,time_s,value\na,0,1\na,1,2\nb,0,1\nb,1,3\n", encoding="utf-8")
    series = {"a": Look(colour="black"), "b": Look(colour="#0072b2")}
    plot = Plot("t", "x", "y", series)
    described = {"form": "times", **dataclasses.asdict(plot)}
    looks.description(csv_file).write_text(json.dumps(described), encoding="utf-8")
    chart = from_figure(csv_file)
    assert chart is not None
    assert [looks.COLOURS[trace.colour] for trace in chart.traces] == ["#000000", "#0072b2"]


def test_what_is_no_figure_is_no_chart(tmp_path: Path) -> None:
    assert from_figure(tmp_path / "none.csv") is None


@pytest.mark.parametrize(("option", "opened"), [((), 1), (("--no-browse",), 0)])
def test_a_browser_opens_unless_told_otherwise(
    option: tuple[str, ...], opened: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "report.html").write_text("a report", encoding="utf-8")
    addresses: list[str] = []
    monkeypatch.setattr(webbrowser, "get", lambda: None)
    monkeypatch.setattr(webbrowser, "open", addresses.append)
    done = CliRunner().invoke(view, [str(tmp_path), *option])
    assert (done.exit_code, done.output.strip()) == (0, str(tmp_path / "report.html"))
    assert len(addresses) == opened


def test_a_report_is_served(tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text("a report", encoding="utf-8")
    command = [sys.executable, "-u", "-m", "anabranch", "view", str(tmp_path)]
    command += ["--serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(address, timeout=10) as answer:
            assert answer.read() == b"a report"
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 130


def test_ctrl_c_stops_a_run() -> None:
    """In the main thread, where Python handles signals, and soon."""
    endless = Scenario(TWO_HOSTS.replace('size = "300 kB"', 'duration = "100000 s"'))
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    started = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        endless.run()
    assert time.monotonic() - started < 10
    assert Scenario(TWO_HOSTS).run().flows[0]["bytes"] == 300_000
