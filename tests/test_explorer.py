"""Charts of a run: rates that links can carry, states by name, views that no spike flattens."""

from __future__ import annotations

import numpy as np

from anabranch.experiment import Scenario
from anabranch.observed import STATES
from anabranch.report import explorer, groups
from anabranch.report.capacity import Bottleneck, bottlenecks
from anabranch.report.cells import cell
from anabranch.report.charts import Chart
from conftest import TWO_HOSTS
from made import flow, result

TWO_PATHS = """\
hosts = [{ name = "a", interfaces = ["x", "y"] }, { name = "b", interfaces = ["x", "y"] }]

[[links]]
ends = ["a.x", "b.x"]
rate = "8 Mbit/s"
delay = "5 ms"

[[links]]
ends = ["a.y", "b.y"]
rate = "2 Mbit/s"
delay = "20 ms"

[[flows]]
name = "f"
from = "a"
to = "b"
size = "2 MB"
"""


def by_title(charts: list[Chart]) -> dict[str, Chart]:
    return {chart.title: chart for chart in charts}


def test_nothing_arrives_faster_than_links_carry() -> None:
    """After a hole is filled delivery in order is faster than the link; arrivals never are."""
    run = Scenario(TWO_HOSTS).explored().run(seed=3)
    charts = by_title(explorer.charts(run))
    arrivals = charts["Arrivals at the receiver"]
    capacity, lane = arrivals.traces
    assert capacity.name == "a-b can carry 10.0 Mbit/s"
    assert list(capacity.y) == [10.0, 10.0]
    # A packet that arrives at the edge of an interval counts whole.
    assert max(lane.y) <= 10.0 + 1500 * 8 / (run.run.end_s / 200) / 1e6
    assert "In-order delivery" in charts and "Throughput" not in charts


def test_bottlenecks_of_paths() -> None:
    resolved = Scenario(TWO_PATHS + 'protocol = "mptcp"\n').resolved()
    lanes = ["f.a.x-b.x", "f.a.y-b.y"]
    assert bottlenecks(resolved, lanes) == [Bottleneck("a-x-b-x", 8e6), Bottleneck("a-y-b-y", 2e6)]
    assert bottlenecks(resolved, ["f"]) == []  # of two ways none is the flow's
    sctp = Scenario(TWO_PATHS + 'protocol = "sctp"\n').resolved()
    assert [each.rate_bps for each in bottlenecks(sctp, ["f.b.x", "f.b.y"])] == [8e6, 2e6]
    assert bottlenecks("", ["f"]) == []
    several = Scenario(TWO_HOSTS.replace('name = "f"', 'name = "f"\ncount = 2')).resolved()
    assert [each.link for each in bottlenecks(several, ["f-0", "f-1"])] == ["a-b"]


def test_states_have_names_and_timeouts_their_own_chart() -> None:
    observe = "".join(f'\n[[observe]]\nwhat = "{each}"\n' for each in ("path_state", "path_rto"))
    run = Scenario(TWO_PATHS + 'protocol = "sctp"\n' + observe).explored().run(seed=1)
    charts = by_title(explorer.charts(run))
    states = charts["State of each path"]
    assert states.ynames == list(STATES) and states.ylim is None
    assert set(np.concatenate([trace.y for trace in states.traces])) <= {0, 1, 2, 3}
    names = {trace.name for trace in charts["Retransmission timeouts"].traces}
    assert names == {"f.b.x", "f.b.y"}
    assert all("rto" not in trace.name.lower() for trace in
               charts["Smoothed round-trip times"].traces)  # fmt: skip


def test_one_spike_does_not_flatten_a_view() -> None:
    times = np.arange(1001) / 10
    values = np.full(1001, 50e3)
    values[3] = 2e6
    series = {"f.cwnd": {"time_s": times, "value": values}}
    (chart,) = explorer.charts(result(series=series, end_s=100.0))
    assert chart.ylim == (0.0, 62.5) and chart.y == "windows (kB)"
    assert "The highest value, 2e+03 kB" in " ".join(chart.notes) or "2,000 kB" in " ".join(
        chart.notes
    )
    values[3] = 80e3
    (chart,) = explorer.charts(result(series=series, end_s=100.0))
    assert chart.ylim is None


def test_what_is_thinned_out_is_one_sentence() -> None:
    times = np.arange(20_000) / 100
    long = {"time_s": times, "value": np.arange(20_000) % 97.0}
    series = {f"f{n}.cwnd": long for n in range(3)}
    (chart,) = explorer.charts(result(series=series, end_s=200.0))
    (note,) = chart.notes
    assert note.startswith("3 series have more points than are drawn, up to 6,000 of each")
    assert all("of 20,000 are drawn" in trace.note for trace in chart.traces)


def test_series_are_in_the_order_that_people_count() -> None:
    series = {
        f"web-{n}.cwnd": {"time_s": np.array([0.0, 1.0]), "value": np.array([1.0, 2.0])}
        for n in (10, 9, 1, 2)
    }
    (chart,) = explorer.charts(result(series=series, end_s=1.0))
    assert [trace.name for trace in chart.traces] == ["web-1", "web-2", "web-9", "web-10"]
    assert len({(trace.colour, trace.dash) for trace in chart.traces}) == 4


def test_many_flows_at_one_look() -> None:
    flows = [
        flow(flow=f"web-{n}", finish_s=float(n + 1), bytes=1000, goodput_bps=1e6, timeouts=n % 2)
        for n in range(100)
    ]
    flows += [flow(flow="bulk", bytes=5), flow(flow="web-100", finish_s=None, goodput_bps=1e6)]
    table = groups.group_table(groups.groups(flows))
    assert table is not None
    (row,) = [[each.text for each in row] for row in table.rows]
    assert row[:4] == ["web", "101", "100", "100 kB"]
    assert row[-3:] == ["50.5 s", "95.0 s", "99.0 s"]
    assert table.columns[-4] == "completion, mean" and row[-4] == "50.5 s"
    chart = groups.completion_chart(flows)
    assert chart is not None and [trace.name for trace in chart.traces] == ["web"]
    assert chart.traces[0].y[-1] == 1.0
    assert groups.group_table(groups.groups(flows[:2])) is None


def test_cells_have_units_and_sort_by_number() -> None:
    each = cell("goodput_bps", 12988363.413333334)
    assert (each.text, each.value) == ("12.99 Mbit/s", "12988363.413333334")
    assert cell("established", True).text == "yes"
    assert cell("finish_s", None).text == ""
