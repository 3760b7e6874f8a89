"""Scenarios built in code, results as Arrow tables, figures with one call."""

from __future__ import annotations

import dataclasses
import doctest
import os
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import numpy as np
import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from anabranch import (
    InputError,
    Network,
    RunResult,
    Scenario,
    experiment,
    nearest,
    network,
    observed,
    plot,
    si,
    units,
)
from anabranch.play.lab import answers
from anabranch.recorded import TABLES
from conftest import TWO_HOSTS

EXAMPLES = Path(__file__).parents[1] / "examples/python"


def built() -> Network:
    """What `TWO_HOSTS` says, in code."""
    net = Network("two hosts")
    a, b = net.host("a"), net.host("b")
    name = net.link(
        a,
        b,
        rate=units.Mbit_s(10),
        delay=units.ms(10),
        queue={"kind": "droptail", "limit": units.packets(50)},
        impairments=[{"kind": "bernoulli", "rate": 0.01}],
    )
    assert name == "a-b"
    assert net.flow(a, b, name="f", size=units.kB(300)) == "f"
    net.observe("cwnd")
    net.observe("packets")
    return net


@pytest.fixture(scope="module")
def result() -> RunResult:
    """A run of two hosts that also records what arrives."""
    net = built()
    net.observe("received")
    return net.scenario().run(seed=1)


def test_code_and_toml_make_the_same_scenario() -> None:
    net = built()
    assert net.scenario().resolved() == Scenario(TWO_HOSTS).resolved()
    assert tomllib.loads(net.toml()) == tomllib.loads(TWO_HOSTS)


def test_interfaces_of_both_families() -> None:
    net = Network()
    both: list[str | dict[str, object]] = ["x", {"name": "y", "ip": 6}]
    a, b = (net.host(name, interfaces=both) for name in "ab")
    for path in "xy":
        ends = a.interface(path), b.interface(path)
        net.link(*ends, rate=units.Mbit_s(10), delay=units.ms(5))
    net.flow(a, b, size=units.MB(1), protocol="mptcp")
    mptcp = tomllib.loads(net.scenario().resolved())["flows"][0]["mptcp"]
    assert mptcp["ipv6_mss"] == "1440 B"


def test_hosts_with_interfaces_and_links_with_two_sides() -> None:
    net = Network(duration=units.s(1))
    a, b = net.host("a", interfaces=["x", "y"]), net.host("b", processing=units.us(50))
    router = net.router("r")
    net.link(a.interface("x"), router, rate="1 Mbit/s", delay="1 ms", reverse={"rate": "2 Mbit/s"})
    net.link(a.interface("y"), router, rate="1 Mbit/s", delay="1 ms")
    net.link(router, b, rate="1 Mbit/s", delay="1 ms", name="last")
    assert [net.flow(a, b), net.flow(b, a.interface("y"))] == ["f0", "f1"]
    resolved = tomllib.loads(net.scenario().resolved())
    assert resolved["links"][0]["reverse"]["rate"] == "2 Mbit/s"
    assert [flow["from"] for flow in resolved["flows"]] == ["a", "b"]
    assert resolved["duration"] == "1 s"


def test_a_field_that_is_not_there_is_refused_by_its_name() -> None:
    net = built()
    net.link("a", "b", rate="1 Mbit/s", delay="1 ms", name="second", speed=1)
    with pytest.raises(InputError, match=r"network: field `links\[1\].speed`"):
        net.scenario().run()


@given(st.floats(0, 1e9))
def test_quantities_read_back_as_they_were(value: float) -> None:
    number, unit = units.ms(value).split(" ")
    assert (float(number), unit) == (value, "ms")
    assert "e" not in number


@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf")])
def test_quantities_are_finite_and_not_negative(value: float) -> None:
    with pytest.raises(ValueError, match="allowed: a finite number of 0 or more"):
        units.Mbit_s(value)


def test_examples_in_the_documentation() -> None:
    for module in (answers, experiment, nearest, network, si, units):
        outcome = doctest.testmod(module)
        assert outcome.attempted > 0
        assert outcome.failed == 0


def test_tables_reach_polars_and_pandas(result: RunResult) -> None:
    frame = polars.from_arrow(result.table("flows"))
    assert isinstance(frame, polars.DataFrame)
    assert frame["bytes"].to_list() == [300_000]
    assert result.table("links").num_rows == 2
    for name in TABLES:
        assert result.table(name).num_rows == len(getattr(result, name))
    with pytest.raises(InputError, match="field `table`: value `rows`: allowed: flows"):
        result.table("rows")


def test_a_series_is_not_copied(result: RunResult) -> None:
    table = result.series_table("f.cwnd")
    (chunk,) = table["value"].chunks
    ours = result.series["f.cwnd"]["value"]
    assert chunk.buffers()[1].address == ours.__array_interface__["data"][0]
    with pytest.raises(InputError, match=r"field `series`: value `g.cwnd`: allowed: .*f.cwnd"):
        result.series_table("g.cwnd")


def test_ten_million_samples_reach_polars_in_a_second(result: RunResult) -> None:
    many = {"time_s": np.arange(10_000_000.0), "value": np.ones(10_000_000)}
    large = dataclasses.replace(result, series={"f.cwnd": many})
    started = time.perf_counter()
    frame = polars.from_arrow(large.series_table("f.cwnd"))
    assert time.perf_counter() - started < 1
    assert isinstance(frame, polars.DataFrame)
    assert frame.shape == (10_000_000, 2)
    (chunk,) = frame["value"].to_arrow().buffers()[1:]
    assert chunk.address == many["value"].__array_interface__["data"][0]


def lines(figure: Figure) -> dict[str, int]:
    """Points of each labelled line of a figure."""
    return {str(line.get_label()): len(line.get_xdata()) for line in figure.axes[0].lines}  # type: ignore[arg-type]


def test_one_call_one_figure(result: RunResult) -> None:
    samples = len(result.series["f.cwnd"]["value"])
    assert lines(result.plot("cwnd")) == {"f": samples + 1}, "the last value lasts to the finish"
    drawn = lines(result.plot("time-sequence", "f"))
    again = int(np.sum(result.series["f.sends"]["retransmission"]))
    assert again > 0
    assert drawn["f, again"] == again
    assert drawn["f"] + again == len(result.series["f.sends"]["value"])
    axes = Figure().add_subplot()
    assert result.plot("cwnd", axes=axes) is axes.get_figure()


def test_axes_have_the_prefix_that_fits() -> None:
    """As tables have: kB of 300 kB, MB of 2 MB, and rates likewise."""
    small, large = (
        Scenario(TWO_HOSTS).set(f"flows.f.size={size}").explored().run(seed=3)
        for size in ("300 kB", "2 MB")
    )
    for kind, one, two in (
        ("time-sequence", "offset in the stream (kB)", "offset in the stream (MB)"),
        ("received", "octets received in order (kB)", "octets received in order (MB)"),
    ):
        for run, label, most in ((large, two, 2.0), (small, one, 300.0)):
            (axes,) = run.plot(kind).axes
            assert axes.get_ylabel() == label
            drawn = max(float(np.max(line.get_ydata())) for line in axes.lines)
            assert 0.99 * most <= drawn <= most
    slow = Scenario(TWO_HOSTS).set("links.0.rate=100 kbit/s").explored().run(seed=3)
    for kind in ("arrivals", "delivery"):
        assert slow.plot(kind).axes[0].get_ylabel() == "rate (kbit/s)"
        assert large.plot(kind).axes[0].get_ylabel() == "rate (Mbit/s)"


def test_runs_on_one_axis_have_one_scale() -> None:
    """Whether they are drawn into each other, or beside each other with a shared axis."""
    small, large = (
        Scenario(TWO_HOSTS).set(f"flows.f.size={size}").explored().run(seed=3)
        for size in ("300 kB", "2 MB")
    )
    figure = Figure()
    left, right = figure.subplots(1, 2, sharey=True)
    small.plot("received", axes=left)
    for axes in (left, right):
        large.plot("received", axes=axes)
        assert axes.get_ylabel() == "octets received in order (kB)"
        drawn = float(np.max(axes.lines[-1].get_ydata()))
        assert drawn == pytest.approx(2000)
    # A number of another unit has a scale of its own.
    large.plot("queue", axes=right)
    assert right.get_ylabel() == "waiting packets"


def test_arrivals_are_all_that_was_received(result: RunResult) -> None:
    end = float(result.run["end_s"])
    (line,) = plot.arrived(result, interval_s=end / 8).axes[0].lines
    received = len(result.series["f.receives"]["time_s"])
    total = float(np.sum(np.asarray(line.get_ydata(), dtype=float))) * 1e6 * end / 8 / 8
    assert 300_000 <= total <= received * 1460
    assert lines(result.plot("arrivals")) == lines(plot.arrived(result))


def test_throughput_is_what_arrived(result: RunResult) -> None:
    series, end = result.series["f.received"], float(result.run["end_s"])
    middles, rates = observed.rate(series, end / 8, end)
    assert len(middles) == 8
    assert np.sum(rates) * end / 8 / 8 == pytest.approx(300_000)
    assert lines(plot.throughput(result, interval_s=end / 8)) == {"f": 8}
    with pytest.raises(ValueError, match="interval_s = 0"):
        observed.rate(series, 0, end)


def test_a_distribution_ends_at_one() -> None:
    figure = plot.cdf({"a": [3.0, 1.0, 2.0], "b": [1.0]}, "s")
    (first, _) = figure.axes[0].lines
    assert list(first.get_ydata()) == pytest.approx([1 / 3, 2 / 3, 1])  # type: ignore[arg-type]


def test_what_was_not_observed_cannot_be_drawn(result: RunResult) -> None:
    with pytest.raises(
        InputError, match="value `queue`: allowed: what the scenario observes: acks"
    ):
        result.plot("queue")
    with pytest.raises(InputError, match="field `of`: value `g`: allowed: f"):
        result.plot("cwnd", "g")


def test_notebooks_show_the_flows(result: RunResult) -> None:
    html = result._repr_html_()
    assert "<th>goodput</th>" in html
    assert "<td>300.0 kB</td>" in html


def test_a_printed_result_is_a_table(result: RunResult) -> None:
    head, row, facts, series = repr(result).splitlines()
    assert head.split()[:2] == ["flow", "protocol"]
    assert "300.0 kB" in row and head.index("goodput") + len("goodput") == row.index("bit/s") + 5
    assert facts.startswith("seed ") and facts.endswith(f" {result.run.events:,} events")
    assert series.startswith("series ") and "f.cwnd" in series


@pytest.mark.parametrize("example", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_examples_run(example: Path, tmp_path: Path) -> None:
    # One that repeats its runs takes how often.
    repeats = ["2"] if "REPLICATIONS" in example.read_text(encoding="utf-8") else []
    command = [sys.executable, "-W", "error", str(example), *repeats]
    done = subprocess.run(
        command, cwd=tmp_path, env=os.environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_a_series_that_was_not_observed_says_how_to_get_it() -> None:
    run = Scenario(TWO_HOSTS.partition("[[observe]]")[0]).run()
    with pytest.raises(KeyError, match=r'`what = "cwnd"`.*there are none'):
        run.series["f.cwnd"]
    explored = Scenario(TWO_HOSTS).explored().run()
    with pytest.raises(KeyError, match=r"did you mean `f.cwnd`"):
        explored.series["f0.cwnd"]
    assert "f0.cwnd" not in explored.series and explored.series.get("f0.cwnd") is None
