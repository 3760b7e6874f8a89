"""What reports are made of: thinning, charts, links; and what stops a run."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch import Scenario, report
from anabranch.figures import Plot
from anabranch.report import explorer, thinning
from anabranch.report import study as study_report
from anabranch.report.charts import encode, from_figure
from anabranch.report.sweep import sweep_charts
from anabranch.stats import Estimate
from anabranch.studies import drawing
from anabranch.studies.results import StudyResult
from anabranch.verdicts import Claim, Statement, near
from conftest import TWO_HOSTS, Command

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


def test_thinned_packets_keep_what_is_marked() -> None:
    keep = np.zeros(1000, dtype=bool)
    keep[[3, 500, 501, 999]] = True
    kept = thinning.packets(1000, 100, keep)
    assert set(np.flatnonzero(keep)) <= set(kept)
    assert len(kept) <= 104
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
    assert {"Windows", "Queues", "Round-trip times", "Throughput"} <= {it.title for it in charts}
    for lane in groups:
        series = {kind: result.series[f"{lane}.{kind}"] for kind in ("sends", "drops")}
        again = series["sends"]["value"][series["sends"]["retransmission"]]
        assert set(series["drops"]["value"]) <= set(again)  # all that was lost was repaired
    lost = sum(len(it["value"]) for name, it in result.series.items() if name.endswith(".drops"))
    assert lost > 0


def test_explored_adds_what_is_missing_and_changes_nothing() -> None:
    plain = Scenario(TWO_HOSTS)
    explored = plain.explored()
    assert explored.text.count('what = "cwnd"') == 1  # observed already
    assert explored.text.count('what = "queue"') == 1
    runs = [it.run(seed=4, trace_hash=True) for it in (plain, explored)]
    assert runs[0].run["trace_hash"] == runs[1].run["trace_hash"]
    assert runs[0].flows == runs[1].flows


def test_a_report_links_what_lies_beside_it(anabranch: Command, two_hosts: Path) -> None:
    out = two_hosts.parent / "out"
    result = anabranch("run", two_hosts, "--explore", "--pcap", "--out", out)
    assert result.returncode == 0, result.stderr
    page = (out / "report.html").read_text(encoding="utf-8")
    links = set(re.findall(r'href="([^"#]+)"', page)) - {"data:,"}
    assert {"scenario.toml", "run.json", "capture.pcapng", "flows.csv", "series"} <= links
    assert all((out / link).exists() for link in links)
    again = Scenario.load(out / "scenario.toml").run(trace_hash=True)
    assert f"trace {again.run['trace_hash']}" in result.stdout


def test_means_of_a_sweep_as_charts() -> None:
    rows = [
        {"window": w, "loss": x, "metric": m, "mean": 1.0, "ci_low": 0.5, "ci_high": 1.5, "n": 3}
        for m in ("goodput", "delay")
        for w in ("cubic", "reno")
        for x in (0.02, 0.01)
    ]
    first, second = sweep_charts(["window", "loss"], rows)
    assert (first.title, first.x, second.title) == ("goodput", "loss", "delay")
    assert [trace.name for trace in first.traces] == ["window cubic", "window reno"]
    assert list(first.traces[0].x) == [0.01, 0.02]
    assert sweep_charts(["window"], rows) == []


def test_a_sweep_has_a_report(tmp_path: Path) -> None:
    rows = [
        {"loss": x, "metric": "goodput", "mean": 1.0, "ci_low": 0.5, "ci_high": 1.5, "n": 3}
        for x in (0.1, 0.2)
    ]
    report.write_sweep_report(tmp_path, "a <sweep>", ["loss"], rows)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "a &lt;sweep&gt;" in page
    assert 'data-chart="0"' in page
    assert "</script><" not in page.split('id="charts">')[1].split("</script>")[0]


def test_the_headline_of_a_study_stands_before_its_claims(tmp_path: Path) -> None:
    folder = tmp_path / "mcubic"
    rows = [{"series": "a", "x": x, "mean": x, "ci_low": x, "ci_high": x, "n": 1} for x in (1, 2)]
    plot = Plot("Points", "x", "y")
    figures = [drawing.points(folder, stem, rows, plot, stem.upper()) for stem in ("one", "two")]
    claim = Claim("C1", "It is.", [Statement.of("it", Estimate(1.0, 1.0, 1.0, 1), near(1, 1))], "")
    StudyResult(
        "mcubic", "M", "", "", "", "quick", [claim], figures, [], [], "", headline="two"
    ).save(folder)
    study_report.write_study_report(tmp_path)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.count("TWO") == page.count("ONE") == 1
    assert page.index("TWO") < page.index('id="mcubic-C1"') < page.index("ONE")


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


def test_what_is_no_figure_is_no_chart(tmp_path: Path) -> None:
    assert from_figure(tmp_path / "none.csv") is None


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
