"""Charts of a run: rates that links can carry, states by name, views that no spike flattens."""

from __future__ import annotations

import re
from importlib import resources

import numpy as np
from numpy.typing import NDArray

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


EYES = {
    "trichromat": np.eye(3),
    "protanope": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranope": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
}
"""What is seen of linear red, green and blue: Machado, Oliveira and Fernandes, IEEE TVCG 2009."""
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE = np.array([0.9505, 1.0, 1.089])


def seen(colour: str, eye: str) -> NDArray[np.float64]:
    """A colour in CIELAB, as somebody sees it."""
    part = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    linear = np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
    x, y, z = np.cbrt(np.maximum(XYZ @ np.clip(EYES[eye] @ linear, 0, 1) / WHITE, 0.008856))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def palette() -> dict[int, tuple[str, str]]:
    """The colours of a page by number, on light and on dark ground."""
    styles = resources.files("anabranch.report").joinpath("assets", "report.css")
    found = re.findall(
        r"--c(\d): light-dark\((#\w{6}), (#\w{6})\)", styles.read_text(encoding="utf-8")
    )
    return {int(number): (light, dark) for number, light, dark in found}


def test_the_two_ends_are_told_apart() -> None:
    """By colours that no kind of colour blindness mixes up, and by marks."""
    run = Scenario(TWO_PATHS + 'protocol = "mptcp"\n').explored().run()
    traces = by_title(explorer.charts(run))["Time-sequence"].traces
    ends: dict[str, set[int]] = {"sender": set(), "receiver": set()}
    for trace in traces:
        kind = trace.name.rpartition(": ")[2]
        if kind != "lost":
            of = "receiver" if kind in ("received", "SACK blocks") else "sender"
            ends[of].add(trace.colour)
    assert len(ends["sender"]) == 5  # of flow and paths, what is sent again, and acknowledged
    for eye in EYES:
        for ground in (0, 1):
            for ours in ends["sender"]:
                for theirs in ends["receiver"]:
                    one, two = (seen(palette()[each][ground], eye) for each in (ours, theirs))
                    assert np.linalg.norm(one - two) > 30, (eye, ground, ours, theirs)
    looks = {(each.kind, each.mark) for each in traces}
    assert len(looks) == len({each.name.rpartition(": ")[2] for each in traces}) == 6
