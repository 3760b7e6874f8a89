"""Figures for papers: what is drawn where nothing is said, by which numbers, in which file."""

from __future__ import annotations

import math
import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection, PathCollection, PolyCollection
from matplotlib.colors import to_rgba, to_rgba_array
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from anabranch import (
    InputError,
    Scenario,
    comparison,
    figures,
    observed,
    plotting,
    results,
    si,
    stats,
    tables,
)
from anabranch import sweep as sweeps
from anabranch.nearest import one_of
from anabranch.plotting import Frame, Request, chart, drawing
from anabranch.studies import drawing as studies_drawing
from anabranch.studies.results import StudyResult
from anabranch.sweep import Metric, Parameter, Replications, Sweep
from conftest import TWO_HOSTS, Command

ROOT = Path(__file__).parents[1]
WINDOWS = {"reno": 5e6, "cubic": 8e6}


def frame(**given: object) -> Frame:
    """Two windows, three rates of loss, two buffers, four replications."""
    rows = [
        {"window": w, "loss": x, "buffer": f"{b} packets", "replication": r, "goodput_bps": y}
        for w, most in WINDOWS.items()
        for x in (0.1, 1.0, 2.0)
        for b in (10, 40)
        for r in range(4)
        for y in [most / (1 + x) + r * 1e5 + b * 1e4]
    ]
    return Frame(pd.DataFrame(rows), "goodput_bps", "bit/s", **given)  # type: ignore[arg-type]


VARIED = ("window", "loss", "buffer")


def test_numbers_go_on_the_axis_and_names_become_series() -> None:
    made = chart(frame(varied=VARIED), Request())
    assert (made.kind, made.x.column, made.series, made.panels) == (
        "line",
        "loss",
        "window",
        "buffer",
    )
    assert made.y == "goodput (Mbit/s)"
    assert made.intervals == "95 % intervals"


def test_labels_with_units_are_numbers_of_an_axis() -> None:
    made = chart(frame(varied=VARIED), Request(where={"loss": 1.0}))
    assert made.x.label == "buffer (packets)"
    assert sorted(set(made.data["x"])) == [10.0, 40.0]


def test_categories_are_bars_in_their_order() -> None:
    made = chart(frame(varied=VARIED), Request(where=["loss=1", "buffer=10 packets"]))
    assert (made.kind, made.x.values, made.series) == ("bars", ["reno", "cubic"], "")


def test_an_interval_is_over_runs() -> None:
    """Rows of one run count as their mean, and the interval is Student's t over runs."""
    made = chart(frame(varied=VARIED[:2]), Request(x="loss", by="window", where={"loss": 1.0}))
    row = made.data[made.data["series"] == "reno"].iloc[0]
    expected = stats.mean(5e6 / 2 + r * 1e5 + 25 * 1e4 for r in range(4)).scaled(1e-6)
    assert (row["y"], row["low"], row["high"]) == pytest.approx(
        (expected.mean, expected.ci_low, expected.ci_high)
    )


def test_paired_differences_are_those_of_the_same_replication() -> None:
    """Every replication has the same difference: the interval has no width."""
    one = Request(where=["buffer=10 packets"], kind="paired")
    made = chart(frame(varied=VARIED), one)
    assert made.y == "goodput, cubic: difference from reno (Mbit/s)"
    by_loss = dict(zip(made.data["x"], made.data["y"], strict=True))
    assert by_loss == pytest.approx({x: 3 / (1 + x) for x in (0.1, 1.0, 2.0)})
    assert (made.data["high"] - made.data["low"]).max() == pytest.approx(0, abs=1e-9)
    turned = chart(frame(varied=VARIED), Request(**{**vars(one), "against": "window=cubic"}))
    assert list(turned.data["y"]) == pytest.approx([-each for each in made.data["y"]])


@pytest.mark.parametrize("log", ["", "x"])
def test_paired_marks_stand_beside_each_other(log: str) -> None:
    """Series of one x do not cover each other, nor do they reach those of the next x."""
    data = frame().data.assign(window=[f"w{n % 4}" for n in range(48)])
    data = data.assign(replication=[n // 4 % 4 for n in range(48)])
    rows = pd.concat([data.assign(loss=x, goodput_bps=data["goodput_bps"] * x) for x in (1, 3, 9)])
    request = Request(x="loss", by="window", kind="paired", against="window=w0", log=log)
    made = chart(Frame(rows, "goodput_bps", "bit/s", varied=("window", "loss")), request)
    figure = drawing.draw(made, 3.4, 2.0)
    offsets = [np.asarray(each.get_offsets()) for each in figure.axes[0].collections]
    marks = [each[:, 0] for each in offsets if len(each) == 3]
    places = sorted(float(x) for series in marks for x in series)
    assert len(set(places)) == 9
    middles = [sum(places[n : n + 3]) / 3 for n in (0, 3, 6)]
    assert middles == pytest.approx([0, math.log10(3), math.log10(9)] if log else [1, 3, 9])


def test_a_long_label_has_lines() -> None:
    rows = frame(name="a share with a long name").data.replace("reno", "a window with a longer one")
    made = chart(Frame(rows, "goodput_bps", "bit/s", varied=VARIED), Request(kind="paired"))
    figure = drawing.draw(made, 3.4, 2.24)
    figure.draw_without_rendering()
    (label,) = [each for each in figure.findobj(Text) if "difference" in each.get_text()]
    box = label.get_window_extent()
    assert "\n" in label.get_text()
    assert 0 <= box.y0 < box.y1 <= figure.bbox.height


def test_a_distribution_has_every_run() -> None:
    made = chart(frame(varied=VARIED), Request(kind="cdf", where=["loss=1", "buffer=10 packets"]))
    assert (made.series, len(made.data), made.y) == ("window", 8, "share of the runs")


def transfers(flows: int) -> Frame:
    """Two queues, five replications, each with so many flows."""
    rows = [
        {"queue": queue, "flow": f"web-{n}", "replication": r, "fct": 1.0 + n + r}
        for queue in ("drop-tail", "codel")
        for n in range(flows)
        for r in range(5)
    ]
    return Frame(pd.DataFrame(rows), "fct", varied=("queue", "flow"))


def test_a_distribution_pools_what_nobody_named() -> None:
    made = chart(transfers(5), Request(by="queue", kind="cdf"))
    assert (made.series, made.panels, list(made.pooled)) == ("queue", "", ["flow"])
    assert (len(made.data), made.y) == (50, "share of the samples")
    box = chart(transfers(5), Request(by="queue", kind="box"))
    assert (box.x.column, box.series, list(box.pooled)) == ("queue", "", ["flow"])
    assert len(box.data) == 50
    # Where nothing is named, columns with few values are told apart.
    few, many = (chart(transfers(n), Request(kind="cdf")) for n in (5, 100))
    assert (few.series, few.panels, few.pooled) == ("queue", "flow", {})
    assert (many.series, many.panels, list(many.pooled)) == ("queue", "", ["flow"])
    alone = chart(transfers(100), Request(panels="queue", kind="box"))
    assert (alone.x.values, alone.panels, list(alone.pooled)) == (["all"], "queue", ["flow"])
    assert drawing.draw(alone, 3.4, 2.0).axes


def test_what_is_pooled_is_said(anabranch: Command, tmp_path: Path) -> None:
    table, out = tmp_path / "fct.csv", tmp_path / "f.svg"
    transfers(100).data.to_csv(table, index=False)
    done = anabranch("plot", table, "--y", "fct", "--by", "queue", "--kind", "cdf", "--out", out)
    assert (done.returncode, "pooled over flow (100 values)" in done.stderr) == (0, True)


def test_a_series_keeps_its_look_whatever_else_is_drawn() -> None:
    every = chart(frame(varied=VARIED), Request(where=["buffer=10 packets"]))
    pairs = chart(
        frame(varied=VARIED), Request(where=["buffer=10 packets"], kind="paired", x="window")
    )
    assert every.known == ["reno", "cubic"] == list(pairs.known or every.known)
    assert (
        drawing.looks_of(every)["cubic"]
        == drawing.looks_of(
            chart(frame(varied=VARIED), Request(x="loss", by="window", panels="buffer"))
        )["cubic"]
    )


def test_no_two_series_look_the_same() -> None:
    rows = [{"flow": f"f{n}", "x": x, "y": float(n)} for n in range(28) for x in (1, 2)]
    made = chart(Frame(pd.DataFrame(rows), "y", varied=("flow",)), Request(x="x", by="flow"))
    assert len(set(drawing.looks_of(made).values())) == 28


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (Request(x="los"), "did you mean `loss`"),
        (Request(where=["window=cubik"]), "did you mean `cubic`"),
        (Request(where=["window=reno,cubik"]), "did you mean `cubic`"),
        (Request(where=["window"]), "NAME=VALUE"),
        (Request(where=["window<3"]), "a comparison of numbers"),
        (Request(kind="lines"), "did you mean `line`"),
        (Request(log="z"), "x, y or xy"),
        (Request(kind="paired", against="window=bbr"), "reno, cubic"),
    ],
)
def test_what_cannot_be_drawn_is_said(request_: Request, words: str) -> None:
    with pytest.raises(InputError, match=re.escape(words)):
        chart(frame(varied=VARIED), request_)


def test_more_than_three_parameters_need_a_condition() -> None:
    data = frame().data.assign(delay=[f"{n % 2} ms" for n in range(48)])
    with pytest.raises(InputError, match=r"`buffer` varies, too.*as with --where 'buffer=10 pack"):
        chart(Frame(data, "goodput_bps", varied=("window", "loss", "delay", "buffer")), Request())


def test_numbers_have_units() -> None:
    assert si.text(12988363.413333334, "bit/s") == "13.0 Mbit/s"
    assert si.text(999.96e3, "bit/s") == "1.00 Mbit/s"
    assert si.text(0.0, "s") == "0 s"
    assert si.text(None, "s") == si.text(float("nan")) == si.MISSING
    assert si.text(4096, si.COUNT) == "4,096"
    assert si.estimate(stats.mean([12e6, 13e6, 14e6]), "bit/s") == "13.0 (10.5 to 15.5) Mbit/s"
    assert si.estimate(stats.mean([3.0, 3.0]), "s") == "3.00 s"
    # What differs in the tenth digit does not vary, and nobody reads eight digits.
    assert si.estimate(stats.mean([77452.754, 77452.754 + 1e-6]), "B") == "77.45 kB"
    assert si.estimate(stats.mean([77452.754, 77454.0]), "B") == "77.45 (77.45 to 77.46) kB"
    assert si.estimate(stats.mean([-1e-9, -2e-9]), "B") == "0 B"
    assert si.scale([0.0421, 0.0002], "s").unit == "ms"


def test_arrivals_are_what_came_and_not_what_was_in_order() -> None:
    """A packet is lost, three arrive behind the hole, the hole is filled: nothing arrives faster
    than it was sent."""
    sends = {"time_s": [0, 1, 2, 3, 4], "value": [0, 100, 200, 300, 0], "len": [100] * 5}
    receives = {"time_s": [1.5, 2.5, 3.5, 4.5], "value": [100, 200, 300, 0]}
    _, rates = observed.arrivals(receives, sends, 1.0, 5.0)
    assert list(rates) == [0, 800, 800, 800, 800]


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("swept")
    Sweep(
        Scenario(TWO_HOSTS).set("flows.f.size=30 kB"),
        [
            Parameter.of("window", "flows.*.tcp.window", ["reno", "cubic"]),
            Parameter.of("loss", "links.0.impairments.0.rate", [0.01, 0.02]),
        ],
        Replications.exactly(4),
        [Metric("goodput", "goodput_bps", of="f")],
    ).run(folder)
    return folder


@pytest.mark.parametrize(
    "options",
    [
        ("--kind", "line"),
        ("--kind", "bars"),
        ("--kind", "cdf", "--where", "loss=0.01"),
        ("--kind", "box"),
        ("--kind", "heatmap"),
        ("--kind", "paired"),
        ("--y", "timeouts", "--by", "window", "--log", "x"),
    ],
)
def test_every_kind_of_a_sweep(
    swept: Path, forked: Command, tmp_path: Path, options: tuple[str, ...]
) -> None:
    out = tmp_path / "figure.pdf"
    done = forked("plot", swept, *options, "--out", out)
    assert done.returncode == 0, done.stderr
    kind = options[options.index("--kind") + 1] if "--kind" in options else ""
    says = {"cdf": "", "box": "", "heatmap": "means of 4 runs\n"}
    same = "; each the same in all its runs\n"
    says[""] = f"means of 4 runs{same}"
    zero = "".join(f"  cubic - reno, {x}: 0 bit/s\n" for x in (0.01, 0.02))
    says["paired"] = f"means of 4 runs, paired differences with 95 % intervals{same}{zero}"
    assert done.stderr == says.get(kind, "means of 4 runs, 95 % intervals\n")
    octets = out.read_bytes()
    assert octets.startswith(b"%PDF") and b"/FontFile2" in octets, "fonts are embedded"
    (box,) = re.findall(rb"/MediaBox \[ *0 0 ([0-9.]+) ([0-9.]+)", octets)
    assert float(box[0]) == pytest.approx(3.4 * 72, abs=0.5)


def test_the_same_figure_is_the_same_file(swept: Path, anabranch: Command, tmp_path: Path) -> None:
    for kind in ("pdf", "svg", "png"):
        files = [tmp_path / name / f"f.{kind}" for name in "ab"]
        for file in files:
            assert anabranch("plot", swept, "--out", file).returncode == 0
        assert files[0].read_bytes() == files[1].read_bytes(), kind


def test_a_sweep_draws_itself(swept: Path) -> None:
    from anabranch.sweep import reading  # noqa: PLC0415

    figure = reading.read(swept).plot("goodput", x="window", by="loss", columns=2)
    assert tuple(figure.get_size_inches()) == pytest.approx((7.0, 3.6))
    assert [each.get_ylabel() or True for each in figure.axes]


def test_a_run_draws_itself_in_the_size_of_a_paper() -> None:
    """As sweeps do: as wide as columns, with letters of 8 points, without a title."""
    run = Scenario(TWO_HOSTS).explored().run()
    for kind in ("cwnd", "delivery", "time-sequence", "arrivals"):
        for given, inches in (
            ({"columns": 1}, (3.4, 0.66 * 3.4)),
            ({"columns": 2, "height": 2.5}, (7.0, 2.5)),
            ({"height": 1.5}, (3.4, 1.5)),
        ):
            figure = run.plot(kind, **given)
            assert tuple(figure.get_size_inches()) == pytest.approx(inches)
            (axes,) = figure.axes
            assert axes.get_title() == "" and axes.xaxis.label.get_fontsize() == 8
    assert tuple(run.plot("cwnd").get_size_inches()) == (6.4, 4.0)
    lanes = run.plot("timeline", columns=1, height=2.0)
    assert tuple(lanes.get_size_inches()) == pytest.approx((3.4, 2.0))
    with pytest.raises(InputError, match=r"columns.*`2`.*axes"):
        run.plot("cwnd", axes=run.plot("cwnd").axes[0], columns=2)
    for columns in (0, 9):
        with pytest.raises(InputError, match=r"columns.*0\.5 to 4"):
            run.plot("cwnd", columns=columns)


def test_the_example_of_wifi_and_lte(tmp_path: Path) -> None:
    """Coupled windows move the download from Wi-Fi, which loses packets, to LTE."""
    plan = sweeps.load(ROOT / "examples" / "sweeps" / "wifi-lte.toml")
    result = replace(plan, replications=Replications.exactly(3)).run(tmp_path)
    made = chart(result.frame("LTE share"), Request(where=["window=cubic,lia"]))
    assert (made.kind, made.y) == ("bars", "LTE share (%)")
    cubic, lia = made.data["y"]
    assert 40 < cubic < lia < 100
    lost = chart(result.frame("goodput"), Request(kind="paired", where=["window=cubic,lia"]))
    assert lost.data["high"].max() < 0
    # As the example says, that is Wi-Fi's losses: without them the algorithms are alike.
    without = replace(plan, scenario=plan.scenario.set("links.wifi.impairments.0.rate=0"))
    every = replace(without, replications=Replications.exactly(1)).run(tmp_path / "without")
    goodput = {row["window"]: float(row["mean"] or 0) for row in every.summary()[::2]}
    last = goodput.pop("balia")
    assert max(goodput.values()) < 1.005 * min(goodput.values()) and last < min(goodput.values())


def test_both_worlds_of_a_comparison(tmp_path: Path) -> None:
    """Their intervals are those of the comparison; worlds are series, points the axis."""
    slow, fast = (Scenario(TWO_HOSTS).set(f"links.0.rate={r} Mbit/s") for r in (8, 10))
    one, two = slow.run_batch(3), fast.run_batch(3)
    rows = [row for d in ("5 ms", "9 ms") for row in comparison.compared({"delay": d}, one, two)]
    table = [row.cells() for row in rows]
    tables.write_csv(tmp_path / "compare.csv", ("delay", *comparison.COLUMNS), table)
    made = chart(results.frame([tmp_path], "goodput"), Request())
    assert (made.kind, made.x.values, made.series) == ("bars", ["5 ms", "9 ms"], "world")
    assert made.y == "goodput (Mbit/s)"
    row = made.data[(made.data["series"] == "live") & (made.data["x"] == "5 ms")].iloc[0]
    live = next(each for each in rows if each.measure == "goodput Mbit/s").live
    assert (row["y"], row["low"], row["high"]) == pytest.approx(
        (live.mean, live.ci_low, live.ci_high)
    )
    with pytest.raises(InputError, match="did you mean `goodput`"):
        results.frame([tmp_path], "godput")


UDP_BESIDE_TCP = """
duration = "2 s"
hosts = ["a", "b"]
links = [{ ends = ["a", "b"], rate = "10 Mbit/s", delay = "10 ms" }]
observe = [{ what = "srtt" }]
[[flows]]
name = "bulk"
from = "a"
to = "b"
[[flows]]
name = "ping"
from = "a"
to = "b"
protocol = "udp"
traffic = { kind = "ping", interval = "200 ms" }
"""


def test_a_flow_without_samples_is_left_out(forked: Command, tmp_path: Path) -> None:
    """Datagrams have no smoothed round-trip time: their series is a header alone."""
    scenario = tmp_path / "ping.toml"
    scenario.write_text(UDP_BESIDE_TCP)
    runs = [tmp_path / name for name in ("one", "two")]
    for run in runs:
        assert forked("run", scenario, "--out", run).returncode == 0
    assert (runs[0] / "series" / "ping.srtt.csv").is_file()
    found = results.frame(runs, "srtt")
    assert set(found.data["flow"]) == {"bulk"}
    shown = forked("view", *runs, "--out", tmp_path / "both")
    assert shown.returncode == 0, shown.stderr


def test_what_was_not_observed_is_told_with_the_command_that_does(
    forked: Command, tmp_path: Path
) -> None:
    """The command in the message does what it says; a series without samples is told as such."""
    scenario, run = tmp_path / "ping.toml", tmp_path / "a run"
    scenario.write_text(UDP_BESIDE_TCP.replace("observe = [", "# ["), encoding="utf-8")
    assert forked("run", scenario, "--seed", "7", "--out", run).returncode == 0
    done = forked("plot", run, "--y", "cwnd", "--out", tmp_path / "f.pdf")
    again = f"`anabranch run '{run}/scenario.toml' --seed=7 --explore --out '{run}'`"
    assert done.returncode == 2 and again in done.stderr, done.stderr
    assert 'or `[[observe]]` with `what = "cwnd"`' in done.stderr
    for y, what in (("arrivals", "packets"), ("delivery", "received"), ("timeline", "events")):
        done = forked("plot", run, "--y", y, "--out", tmp_path / "f.pdf")
        assert again in done.stderr and f'`what = "{what}"`' in done.stderr, done.stderr
    done = forked("plot", run, "--y", "path_coupling", "--out", tmp_path / "f.pdf")
    assert "--explore" not in done.stderr and '`what = "path_coupling"`' in done.stderr
    with pytest.raises(InputError, match=r'explored\(\) or `\[\[observe\]\]` with `what = "cwnd"`'):
        Scenario.load(scenario).run().plot("cwnd")
    done = forked(*shlex.split(again.strip("`"))[1:])
    assert done.returncode == 0, done.stderr
    done = forked("plot", run, "--y", "cwnd", "--out", tmp_path / "f.pdf")
    assert done.returncode == 0, done.stderr
    (run / "series" / "bulk.srtt.csv").unlink()  # datagrams have no round-trip time
    done = forked("plot", run, "--y", "srtt", "--out", tmp_path / "f.pdf")
    assert done.returncode == 2 and "nothing in this run has any" in done.stderr, done.stderr


LASTS = """
duration = "30 s"
hosts = ["a", "b"]
[[links]]
ends = ["a", "b"]
rate = "10 Mbit/s"
delay = "10 ms"
[[flows]]
name = "ends"
from = "a"
to = "b"
size = "20 kB"
[[flows]]
name = "stays"
from = "a"
to = "b"
tcp = { receive_buffer = "64 KiB" }
[[observe]]
what = "cwnd"
flow = "ends"
[[observe]]
what = "cwnd"
flow = "stays"
"""


def test_a_value_lasts_until_its_flow_ends(forked: Command, tmp_path: Path) -> None:
    """Series have samples where they change: a curve must not stop at the last of them."""
    scenario, run = tmp_path / "lasts.toml", tmp_path / "run"
    scenario.write_text(LASTS, encoding="utf-8")
    done = forked("run", scenario, "--out", run)
    assert done.returncode == 0, done.stderr
    result = Scenario.load(scenario).run()
    finish = result.flows[0].finish_s
    assert finish is not None and finish < 10
    ends = {"ends": finish, "stays": 30.0}
    for name, series in result.series.items():
        assert series["time_s"][-1] < 20, f"{name}: the test needs one that stops early"
    found = results.frame([run], "cwnd")
    made = chart(found, Request())
    last = made.data.groupby("series", observed=True)["x"].max()
    assert dict(last) == pytest.approx(ends)
    samples = sum(len(series["value"]) for series in result.series.values())
    assert len(chart(found, Request(where=("time_s<29",))).data) == samples + 1
    assert len(chart(found, Request(kind="cdf")).data) == samples
    drawn = {str(line.get_label()): line for line in result.plot("cwnd").axes[0].lines}
    assert {name: line.get_xdata()[-1] for name, line in drawn.items()} == pytest.approx(ends)  # type: ignore[index]


def test_runs_lie_over_each_other(forked: Command, two_hosts: Path, tmp_path: Path) -> None:
    runs = [tmp_path / name for name in ("one", "two")]
    for seed, run in enumerate(runs):
        done = forked("run", two_hosts, "--seed", str(seed), "--explore", "--out", run)
        assert done.returncode == 0, done.stderr
    for options in ([], ["--y", "cwnd"], ["--y", "delivery"], ["--y", "links.delivered"]):
        out = tmp_path / "f.svg"
        done = forked("plot", *runs, *options, "--out", out)
        assert done.returncode == 0, done.stderr
        assert out.read_text(encoding="utf-8").startswith("<?xml")
    shown = forked("view", *runs, "--out", tmp_path / "both")
    assert shown.returncode == 0, shown.stderr
    page = (tmp_path / "both" / "report.html").read_text(encoding="utf-8")
    assert "one, two" in page and "Arrivals at the receiver" in page
    assert re.search(r"Mbit/s \([+-][0-9.]+ %\)", page)
    wrong = forked("plot", runs[0], "--y", "cwmd", "--out", tmp_path / "f.svg")
    assert wrong.returncode == 2 and "did you mean `cwnd`" in wrong.stderr
    assert forked("plot", runs[0], "--out", tmp_path / "f.gif").returncode == 2
    nothing = forked("plot", tmp_path, "--out", tmp_path / "f.svg")
    assert nothing.returncode == 2 and f"value `{tmp_path}`" in nothing.stderr


def test_what_is_pooled_is_counted_among_the_rows_that_are_drawn() -> None:
    rows = [
        {"flow": f"{kind}-{n}", "queue": queue, "y": float(n)}
        for kind in ("bulk", "web")
        for n in range(10)
        for queue in ("red", "pie")
    ]
    made = chart(
        Frame(pd.DataFrame(rows), "y", varied=("flow", "queue")),
        Request(where=["flow=bulk-*"], kind="cdf"),
    )
    assert made.pooled == {"flow": 10}


@pytest.mark.parametrize("against", ["window=reno2", "reno2", "windw=reno"])
def test_a_wrong_baseline_is_said_of_its_option(against: str) -> None:
    with pytest.raises(InputError, match="`--against`") as found:
        chart(frame(varied=VARIED), Request(kind="paired", against=against))
    assert "--where" not in str(found.value)


def test_bars_beyond_the_colours_are_hatched() -> None:
    """And an interval is seen over a black bar."""
    rows = [
        {"window": f"w{n:02}", "where": at, "replication": r, "y": 5.0 + n + r}
        for n in range(12)
        for at in ("here", "there")
        for r in range(3)
    ]
    made = chart(
        Frame(pd.DataFrame(rows), "y", varied=("where", "window")),
        Request(x="where", by="window", kind="bars"),
    )
    assert len({look[:2] for look in drawing.looks_of(made).values()}) == 12
    figure = drawing.draw(made, 7.0, 3.0)
    bars = [each for each in figure.axes[0].collections if isinstance(each, PolyCollection)]
    looks = {
        (each.get_hatch(), tuple(c)) for each in bars for c in to_rgba_array(each.get_facecolor())
    }
    assert len(looks) == 12
    hatches = [each.get_hatch() for each in figure.findobj(Rectangle) if each.get_hatch()]
    assert len(hatches) == 5
    whiskers = [each for each in figure.axes[0].collections if isinstance(each, LineCollection)]
    colours = {tuple(c) for each in whiskers for c in to_rgba_array(each.get_color())}
    assert colours == {to_rgba("white"), to_rgba("#222222")}


def test_caps_have_no_halo_and_are_narrow() -> None:
    """A white cap would cut a notch into the top of the bar; a wide one joins with the other."""
    one = chart(frame(varied=VARIED), Request(where=["loss=1", "buffer=10 packets"]))
    axes = drawing.draw(one, 3.4, 2.24).axes[0]
    lines = [each for each in axes.collections if isinstance(each, LineCollection)]
    white = [each for each in lines if tuple(to_rgba_array(each.get_color())[0])[:3] == (1, 1, 1)]
    ends = [np.asarray(part) for each in white for part in each.get_segments()]
    assert ends and all(part[0, 0] == part[-1, 0] for part in ends)
    dark = [np.asarray(part) for e in lines if e not in white for part in e.get_segments()]
    assert 0 < max(abs(part[-1, 0] - part[0, 0]) for part in dark) < 0.2


def test_an_interval_is_seen_beside_its_mark(anabranch: Command, tmp_path: Path) -> None:
    """Of paired differences; where it is not, the command says so."""
    spread = np.array([-1.0, 1.0, -1.0, 1.0, -1.0, 1.0])
    for width, said in ((0.1, False), (0.001, True)):
        rows = [
            {"window": w, "replication": r, "goodput": y + (e * width if w == "b" else 0.0)}
            for w, y in (("a", 1.0), ("b", 2.0))
            for r, e in enumerate(spread)
        ]
        table, out = tmp_path / "t.csv", tmp_path / "f.png"
        pd.DataFrame(rows).to_csv(table, index=False)
        done = anabranch("plot", table, "--y", "goodput", "--kind", "paired", "--out", out)
        assert done.returncode == 0, done.stderr
        assert ("1 interval is narrower than the mark" in done.stderr) == said
        made = chart(results.frame([table], "goodput"), Request(kind="paired"))
        figure = drawing.draw(made, 3.4, 2.24)
        figure.draw_without_rendering()
        (mark,) = figure.axes[0].findobj(PathCollection)
        tall = math.sqrt(mark.get_sizes()[0]) * figure.dpi / 72
        ends = figure.axes[0].transData.transform(
            [(0, made.data["low"][0]), (0, made.data["high"][0])]
        )
        assert (ends[1, 1] - ends[0, 1] < tall) == said


@pytest.mark.filterwarnings("error")
def test_a_logarithmic_axis_has_no_zero() -> None:
    """A distribution counts zeros in its shares; of means the command says what is not drawn."""
    rows = [
        {"window": w, "replication": r, "timeouts": float(r // 2 * 10)}
        for w in "ab"
        for r in range(8)
    ]
    zeros = Frame(pd.DataFrame(rows), "timeouts", varied=("window",))
    made = chart(zeros, Request(kind="cdf", log="x"))
    axes = drawing.draw(made, 3.4, 2.24).axes[0]
    assert made.beyond == 4
    for line in axes.lines:
        x, y = (np.asarray(each, dtype=float) for each in line.get_data())
        assert np.isfinite(x).all() and (y[0], y.max()) == (0.25, 1.0)
        assert 10 ** x[y >= 0.75].min() == pytest.approx(20)
    labels = [each.get_text() for each in axes.get_xticklabels()]
    assert labels and all(labels)
    means = [{"loss": x, "replication": r, "y": x * (r - 1)} for x in (0, 1, 2) for r in range(4)]
    mean = chart(Frame(pd.DataFrame(means), "y", varied=("loss",)), Request(log="xy"))
    assert (mean.beyond, sorted(mean.data["x"])) == (1, [1, 2])
    assert drawing.draw(mean, 3.4, 2.24).axes
    with pytest.raises(InputError, match=r"`--log`: value `x`.*no value is above 0"):
        nothing = zeros.only(zeros.data.assign(timeouts=0.0))
        chart(nothing, Request(kind="cdf", log="x"))


def test_the_figures_of_a_study_are_listed(anabranch: Command, tmp_path: Path) -> None:
    """Unless one was named; which is drawn is said."""
    rows = [{"series": "a", "x": 1, "mean": 2, "ci_low": 1, "ci_high": 3, "n": 4}]
    entries = [
        studies_drawing.points(tmp_path, stem, rows, figures.Plot("", "x", stem), "")
        for stem in ("harm-to-cubic", "harm-to-reno")
    ]
    names = ("name", "title", "reference", "question", "abstract", "scenario")
    texts: dict[str, Any] = dict.fromkeys(names, "")
    StudyResult(
        **texts, strength="full", claims=[], figures=entries, choices=[], findings=[],
        headline="harm-to-reno",
    ).save(tmp_path)  # fmt: skip
    done = anabranch("plot", tmp_path, "--out", tmp_path / "f.svg")
    said = "figure harm-to-reno of harm-to-cubic, harm-to-reno; --figure chooses"
    assert (done.returncode, said in done.stderr) == (0, True), done.stderr
    named = anabranch("plot", tmp_path, "--figure", "harm-to-cubic", "--out", tmp_path / "f.svg")
    assert (named.returncode, named.stderr) == (0, "")
    wrong = anabranch("plot", tmp_path, "--kind", "bars", "--out", tmp_path / "f.svg")
    assert "field `--kind`: value `bars`" in wrong.stderr


def test_one_name_is_not_said_twice() -> None:
    assert one_of("cwnd", ["path_cwnd"]) == "path_cwnd"
    assert one_of("cwnd", ["path_cwnd", "queue"]).endswith("; did you mean `path_cwnd`?")


def steps(runs: list[list[tuple[float, float]]], **more: object) -> Frame:
    """Runs of one series, each with its samples."""
    rows = [
        {"replication": n, "time_s": time, "cwnd": value}
        for n, samples in enumerate(runs)
        for time, value in samples
    ]
    given = {"x": "time_s", "kind": "line", "steps": True} | more
    return Frame(pd.DataFrame(rows), "cwnd", **given)  # type: ignore[arg-type]


def test_a_band_is_of_the_values_in_force() -> None:
    """At each date the median and the percentiles of the runs; no line where fewer than half of
    them have a value: runs begin at 0, 1 and 0, and end at 10, 4 and 8 s."""
    runs = [
        [(0.0, 2.0), (5.0, 8.0), (10.0, 8.0)],
        [(1.0, 4.0), (4.0, 4.0)],
        [(0.0, 6.0), (8.0, 6.0)],
    ]
    made = chart(steps(runs), Request())
    at = made.data.set_index("x")[["y", "low", "high"]].apply(tuple, axis=1)
    assert at.loc[0.5] == pytest.approx((4.0, 2.4, 5.6))  # of 2 and 6
    assert at.loc[2.0] == pytest.approx((4.0, 2.4, 5.6))  # of 2, 4 and 6
    assert at.loc[4.5] == pytest.approx((4.0, 2.4, 5.6))  # of 2 and 6
    assert at.loc[6.0] == pytest.approx((7.0, 6.2, 7.8))  # of 8 and 6
    assert made.data["x"].max() == pytest.approx(8.0, abs=10 / 300)
    assert (made.kind, made.runs, made.steps) == ("line", (2, 3), False)
    says = "medians of 2 to 3 runs, bands from the 10th to the 90th percentile"
    assert plotting.caption(made) == says


def test_samples_of_packets_are_means_of_their_interval() -> None:
    """No value of a round-trip time lasts until the next: where nothing came, there is nothing."""
    runs = [[(0.0, 2.0), (0.01, 4.0), (9.0, 8.0)], [(0.0, 7.0), (9.0, 8.0)]]
    made = chart(steps(runs, moments=True), Request())
    assert list(made.data["y"]) == pytest.approx([(3.0 + 7.0) / 2, 8.0])
    assert list(made.data["x"]) == pytest.approx([0.015, 8.985])


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (Request(kind="bars"), r"--kind.*`bars`.*line, runs, cdf, box of a series"),
        (Request(kind="paired"), r"--kind.*`paired`"),
        (Request(x="replication"), r"--x.*`replication`.*time_s"),
    ],
)
def test_a_series_of_many_runs_is_drawn_over_time(asked: Request, words: str) -> None:
    with pytest.raises(InputError, match=words):
        chart(steps([[(0.0, 1.0), (1.0, 2.0)], [(0.0, 1.0), (1.0, 3.0)]]), asked)


OBSERVED = """
[[observe]]
what = "received"
[[observe]]
what = "queue"
link = "a-b"
"""


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sweep of four runs of each of two windows, with their series. A parameter has the name
    of a series."""
    folder = tmp_path_factory.mktemp("kept")
    limits = ["5 packets", "20 packets"]
    Sweep(
        Scenario(TWO_HOSTS + OBSERVED).set("flows.f.size=60 kB"),
        [
            Parameter.of("window", "flows.*.tcp.window", ["reno", "cubic"]),
            Parameter.of("queue", "links.0.queue.limit", limits),
        ],
        Replications.exactly(4),
        series=True,
    ).run(folder)
    return folder


def test_the_series_of_a_sweep_are_medians_of_its_runs(kept: Path) -> None:
    swept = sweeps.reading.read(kept)
    made = chart(swept.frame("cwnd"), Request(where=["queue=20 packets"]))
    assert (made.kind, made.x.label, made.y) == ("line", "time (ms)", "congestion window (kB)")
    assert (made.series, made.panels, made.known) == ("window", "", ["reno", "cubic"])
    table = swept.table("series").to_pandas()
    rows = table[(table["series"] == "f.cwnd") & (table["queue"] == "20 packets")]
    for window in ("reno", "cubic"):
        drawn = made.data[made.data["series"] == window]
        middle = drawn.iloc[len(drawn) // 3]
        of_runs = [
            run[run["time_s"] <= middle["x"] / 1e3]["value"].iloc[-1] / 1e3
            for _, run in rows[rows["window"] == window].groupby("replication")
        ]
        assert middle["y"] == pytest.approx(np.median(of_runs))
        assert middle["high"] == pytest.approx(np.quantile(of_runs, 0.9))
    assert made.intervals == "bands from the 10th to the 90th percentile"
    panels = chart(swept.frame("queue"), Request(by="queue"))
    assert (panels.series, panels.panels) == ("queue", "window")


def test_delivery_of_a_sweep_is_its_rate(kept: Path) -> None:
    """Octets that were read by its end: the area below the curve of each run."""
    swept = sweeps.reading.read(kept)
    of = swept.frame("delivery")
    assert of.unit == "bit/s"
    run = of.data[(of.data["window"] == "reno") & (of.data["queue"] == "20 packets")]
    run = run[run["replication"] == 0]
    octets = (run["delivery"][:-1] * np.diff(run["time_s"])).sum() / 8
    assert octets == pytest.approx(60_000, rel=0.03)  # an interval that is not whole is left out
    assert run["time_s"].iloc[0] == 0


def test_every_run_of_a_sweep_is_a_thin_line(kept: Path) -> None:
    made = chart(sweeps.reading.read(kept).frame("cwnd"), Request(kind="runs"))
    assert (made.kind, made.panels, plotting.caption(made)) == ("runs", "queue", "")
    assert made.data.groupby("run")["x"].apply(lambda x: x.is_monotonic_increasing).all()
    figure = drawing.draw(made, 7, 3)
    assert [len(axes.lines) for axes in figure.axes] == [8, 8]
    assert made.data["run"].nunique() == 16


def test_a_sweep_without_series_says_how_to_keep_them(
    swept: Path, forked: Command, tmp_path: Path
) -> None:
    done = forked("plot", swept, "--y", "cwnd", "--out", tmp_path / "f.pdf")
    assert done.returncode == 2
    for words in ("`series = true`", '`[[observe]]` with `what = "cwnd"`', "`sweep --resume`"):
        assert words in done.stderr


def test_what_a_sweep_did_not_observe_is_said(kept: Path) -> None:
    swept = sweeps.reading.read(kept)
    with pytest.raises(InputError, match=r"`srtt`.*delivery, .*cwnd.*`what = \"srtt\"`"):
        swept.plot("srtt")
    with pytest.raises(InputError, match=r"`arrivals`.*delivery.*no lengths of packets"):
        swept.plot("arrivals")
    with pytest.raises(InputError, match=r"`runs`.*a series over time"):
        swept.plot(kind="runs")


def test_a_series_without_a_band_has_none_in_the_legend() -> None:
    """One series is the same in all its runs: the caption says so, and its key has no band."""
    rows = [
        {"path": path, "loss": x, "replication": r, "y": 2.0 + (r * x if path == "wifi" else 0.0)}
        for path in ("wifi", "lte")
        for x in (0.1, 1.0, 2.0)
        for r in range(4)
    ]
    made = chart(Frame(pd.DataFrame(rows), "y", varied=("path", "loss")), Request())
    assert made.constant == ["0.1, lte", "1, lte", "2, lte"]
    constant = "the same in all runs: 0.1, lte; 1, lte; 2, lte"
    assert plotting.caption(made) == f"means of 4 runs, 95 % intervals; {constant}"
    figure = drawing.draw(made, 3.4, 2.0)
    keys = [each for each in figure.findobj(Rectangle) if 0 < (each.get_alpha() or 1) <= 1]
    filled = [to_rgba(each.get_facecolor())[3] for each in keys]
    assert [each for each in filled if 0 < each < 1] == [pytest.approx(0.18, abs=0.01)]
    every = chart(
        Frame(pd.DataFrame(rows), "y", varied=("path", "loss")), Request(where=["path=lte"])
    )
    assert plotting.caption(every) == "means of 4 runs; each the same in all its runs"
    paired = chart(Frame(pd.DataFrame(rows), "y", varied=("path", "loss")), Request(kind="paired"))
    assert paired.constant == []
