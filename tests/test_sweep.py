"""Sweeps: what is computed, kept, continued and refused."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch import InputError, RunError, Scenario, tables
from anabranch import sweep as sweeps
from anabranch.plotting import where
from anabranch.plotting.chart import Request, chart
from anabranch.report.sweep import sweep_tables, write_sweep_report
from anabranch.rows import CsvRow
from anabranch.stats import Estimate
from anabranch.sweep import Metric, Parameter, Replications, Sweep, reading, shown
from anabranch.sweep.executors import Local
from anabranch.sweep.parameters import Value
from anabranch.sweep.schedule import Progress, compute
from anabranch.sweep.store import Point, Store
from conftest import TWO_HOSTS, Command

GOODPUT = Metric("goodput", "goodput_bps", of="f")
GOODPUT_OF_ALL = Metric("goodput", "goodput_bps")
LOSS = "links.0.impairments.0.rate"


def small(count: int = 6, size: str = "30 kB") -> Sweep:
    """Two windows at two rates of loss, `count` runs of a few milliseconds each."""
    return Sweep(
        Scenario(TWO_HOSTS).set(f"flows.f.size={size}"),
        [
            Parameter.of("window", "flows.*.tcp.window", ["reno", "cubic"]),
            Parameter.of("loss", LOSS, [0.01, 0.02]),
        ],
        Replications.exactly(count),
        [GOODPUT],
        seed=7,
    )


def data(table: pa.Table) -> pa.Table:
    """A table without what tells how the work was cut and how long it took."""
    return table.drop_columns([name for name in ("cpu_s",) if name in table.column_names])


def test_every_combination_runs_as_often_as_asked(tmp_path: Path) -> None:
    result = small().run(tmp_path)
    flows = result.table("flows")
    assert flows.num_rows == 2 * 2 * 6
    assert flows.column_names[:4] == ["window", "loss", "replication", "seed"]
    counted = flows.group_by(["window", "loss"]).aggregate([("replication", "count_distinct")])
    assert counted["replication_count_distinct"].to_pylist() == [6] * 4
    assert set(flows["seed"].to_pylist()) == {7}


def test_a_row_is_what_a_single_run_gives(tmp_path: Path) -> None:
    result = small().run(tmp_path)
    single = (
        Scenario(TWO_HOSTS)
        .set("flows.f.size=30 kB", "flows.*.tcp.window=cubic", f"{LOSS}=0.02")
        .run(seed=7, replication=4, trace_hash=True)
    )
    at = [
        row
        for row in result.table("runs").to_pylist()
        if (row["window"], row["loss"], row["replication"]) == ("cubic", 0.02, 4)
    ]
    assert [row["trace_hash"] for row in at] == [single.run["trace_hash"]]


def test_the_summary_has_means_and_intervals(tmp_path: Path) -> None:
    result = small().run(tmp_path)
    estimate = result.estimate("goodput", window="reno", loss=0.01)
    assert estimate.n == 6
    assert estimate.ci_low < estimate.mean < estimate.ci_high
    reno: dict[str, Value] = {"window": "reno", "loss": 0.01}
    cubic: dict[str, Value] = {"window": "cubic", "loss": 0.01}
    assert result.paired("goodput", reno, reno).mean == 0.0
    difference = result.paired("goodput", reno, cubic)
    expected = estimate.mean - result.estimate("goodput", **cubic).mean
    assert difference.mean == pytest.approx(expected)
    assert re.fullmatch(r"\S+ \(\S+ to \S+, n = 6\) [kM]?bit/s", difference.text())
    assert estimate.text().endswith(" Mbit/s")
    assert "bit/s" not in estimate.scaled(1e-6).text()


def test_duckdb_and_polars_read_the_dataset(tmp_path: Path) -> None:
    result = small().run(tmp_path)
    flows = tmp_path / "runs/*/*/flows.parquet"
    count, code = duckdb.sql(
        f"select count(*), count(distinct points.code) from read_parquet('{flows}') flows"
        f" join read_parquet('{tmp_path}/points.parquet') points on points.point = flows.point"
    ).fetchall()[0]
    assert (count, code) == (24, 1)
    frame = polars.scan_parquet(flows, hive_partitioning=True).collect()
    assert frame["goodput_bps"].sum() == pytest.approx(sum(r.mean * 6 for r in estimates(result)))
    scenario = polars.read_parquet(tmp_path / "points.parquet")["scenario"][0]
    assert Scenario(scenario).run(seed=7).flows


def test_a_column_has_one_type_whatever_is_missing(tmp_path: Path) -> None:
    # The short transfer ends and has nothing to say in `why`; the long one has no end.
    sizes = Parameter.of("size", "flows.f.size", ["1 kB", "100 MB"])
    scenario = Scenario(TWO_HOSTS).set("duration=2 s")
    result = Sweep(scenario, [sizes], Replications.exactly(3), [GOODPUT]).run(tmp_path)
    flows = polars.scan_parquet(tmp_path / "runs/*/*/flows.parquet", hive_partitioning=True)
    by_size = flows.collect().group_by("size").agg(polars.col("why", "finish_s").null_count())
    assert sorted(by_size.rows()) == [("1 kB", 3, 0), ("100 MB", 0, 3)]
    table = result.table("flows")
    assert [table.schema.field(name).type for name in ("why", "closed", "fallback")] == [
        pa.string(),
        pa.string(),
        pa.bool_(),
    ]


def estimates(result: sweeps.SweepResult) -> list[Estimate]:
    return [result.estimate("goodput", **state.point.labels) for state in result.states]


def test_threads_change_nothing(tmp_path: Path) -> None:
    tables = []
    for jobs in (1, 4):
        executor = Local(jobs)
        tables.append(small().run(tmp_path / str(jobs), executor=executor).table("flows"))
        executor.close()
    assert tables[0].equals(tables[1])


def test_a_finished_sweep_is_not_computed_again(tmp_path: Path) -> None:
    first = small().run(tmp_path)
    stamps = {path: path.stat().st_mtime_ns for path in (tmp_path / "runs").rglob("*.parquet")}
    again = small().run(tmp_path, resume=True)
    assert again.summary() == first.summary()
    assert stamps == {p: p.stat().st_mtime_ns for p in (tmp_path / "runs").rglob("*.parquet")}


def test_more_replications_add_to_what_is_there(tmp_path: Path) -> None:
    small(3).run(tmp_path)
    grown = small(6).run(tmp_path, resume=True)
    fresh = small(6).run(tmp_path.with_name("fresh"))
    assert data(grown.table("runs")).equals(data(fresh.table("runs")))


def flip(path: Path) -> None:
    """Changes one octet and leaves length and date as they were."""
    stamp, octets = path.stat(), bytearray(path.read_bytes())
    octets[len(octets) // 2] ^= 1
    path.write_bytes(octets)
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-10])


def without_a_file(marker: Path) -> None:
    """A marker that no longer names a file which it should."""
    read = json.loads(marker.read_text(encoding="utf-8"))
    del read["files"]["flows.parquet"]
    marker.write_text(json.dumps(read), encoding="utf-8")
    (marker.parent / "flows.parquet").unlink()


@pytest.mark.parametrize(
    ("name", "damage", "said"),
    [
        ("flows.parquet", Path.unlink, "flows.parquet: missing"),
        ("links.parquet", cut, r"links.parquet: (\d+) octets of (\d+)"),
        ("runs.parquet", flip, "runs.parquet: changed"),
        ("flows.parquet", lambda path: path.write_bytes(b""), "flows.parquet: 0 octets of"),
        ("_unit.json", Path.unlink, "_unit.json: missing"),
        ("_unit.json", cut, "_unit.json: changed or cut off"),
        ("_unit.json", flip, "_unit.json: changed or cut off"),
        ("_unit.json", without_a_file, "_unit.json: changed or cut off"),
        ("_unit.json", lambda path: path.write_text("[]"), "_unit.json: changed or cut off"),
        ("more.parquet", lambda path: path.write_bytes(b"x"), "more.parquet: not one of"),
    ],
)
def test_what_is_damaged_is_said_and_computed_again(
    tmp_path: Path, name: str, damage: Callable[[Path], Any], said: str
) -> None:
    whole = small(2).run(tmp_path).table("flows")
    unit = sorted((tmp_path / "runs").glob("point=*/first=*"))[2]
    kept = {p: p.stat().st_mtime_ns for p in (tmp_path / "runs").rglob("*") if p.is_file()}
    damage(unit / name)
    heard: list[str] = []
    again = small(2).run(tmp_path, resume=True, damaged=heard.append)
    assert len(heard) == 1 and re.fullmatch(f"{re.escape(str(unit))}/{said}.*", heard[0]), heard
    assert again.table("flows").equals(whole)
    others = {path: stamp for path, stamp in kept.items() if path.parent != unit}
    assert others.items() <= {path: path.stat().st_mtime_ns for path in kept}.items()
    assert (tmp_path / "superseded" / unit.parent.name / unit.name).is_dir()
    small(2).run(tmp_path, resume=True, damaged=heard.append)
    assert len(heard) == 1


def test_a_folder_that_is_no_unit_is_set_aside(tmp_path: Path) -> None:
    whole = small(2).run(tmp_path).table("flows")
    unit = next((tmp_path / "runs").glob("point=*/first=0"))
    shutil.copytree(unit, unit.with_name("first=0 (copy)"))
    unit.with_name("first=7").write_text("no folder", encoding="utf-8")
    heard: list[str] = []
    again = small(2).run(tmp_path, resume=True, damaged=heard.append)
    assert ["the name of no unit" in heard[0], "cannot be read" in heard[1]] == [True, True]
    assert again.table("flows").equals(whole)
    assert not {"first=0 (copy)", "first=7"} & {path.name for path in unit.parent.iterdir()}


def test_the_command_says_what_is_damaged(two_hosts: Path, anabranch: Command) -> None:
    plan = two_hosts.parent / "plan.toml"
    plan.write_text(PLAN.replace("150", "2"), encoding="utf-8")
    out = two_hosts.parent / "out"
    assert anabranch("sweep", plan, "--out", out).returncode == 0
    lost = next(out.glob("runs/*/first=0/flows.parquet"))
    lost.unlink()
    resumed = anabranch("sweep", plan, "--out", out, "--resume")
    assert resumed.returncode == 0
    assert resumed.stderr == f"{lost}: missing; its runs are computed again\n"
    assert lost.exists()


PLAN = """\
scenario = "two-hosts.toml"
seed = 7
replications = 150
[[parameters]]
name = "loss"
field = "links.0.impairments.0.rate"
values = [0.001, 0.01, 0.02]
"""


def test_kill_9_loses_nothing(two_hosts: Path, anabranch: Command) -> None:
    tmp_path = two_hosts.parent
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN, encoding="utf-8")
    out = tmp_path / "out"
    command = [sys.executable, "-m", "anabranch", "sweep", str(plan), "--out", str(out)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and len(list(out.glob("runs/*/*/runs.parquet"))) < 3:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    kept = {path: path.read_bytes() for path in out.glob("runs/*/*/*.parquet")}
    assert kept
    refused = anabranch("sweep", plan, "--out", out)
    assert refused.returncode == 2
    assert "--resume" in refused.stderr
    resumed = anabranch("sweep", plan, "--out", out, "--resume")
    assert resumed.returncode == 0, resumed.stderr
    assert kept.items() <= {p: p.read_bytes() for p in out.glob("runs/*/*/*.parquet")}.items()
    assert anabranch("sweep", plan, "--out", tmp_path / "whole").returncode == 0
    summary = (out / "summary.csv").read_text(encoding="utf-8")
    assert summary == (tmp_path / "whole/summary.csv").read_text(encoding="utf-8")
    numbers = [
        n for p in out.glob("runs/*/*/runs.parquet") for n in pq.read_table(p)["replication"]
    ]
    assert len(numbers) == 450


def test_two_sweeps_in_one_folder_are_refused(tmp_path: Path) -> None:
    sweep = small()
    points = sweep.points()
    store = Store(tmp_path)
    with (
        store.opened(points, {"version": "0"}, resume=False),
        pytest.raises(InputError, match="no other sweep is running"),
    ):
        sweep.run(tmp_path, resume=True)


def test_points_no_longer_asked_for_are_set_aside(tmp_path: Path) -> None:
    small().run(tmp_path)
    changed = Sweep(
        Scenario(TWO_HOSTS).set("flows.f.size=30 kB"),
        [Parameter.of("loss", LOSS, [0.01])],
        seed=7,
    )
    assert changed.run(tmp_path, resume=True).table("flows").num_rows == 1
    assert len(list((tmp_path / "superseded").glob("point=*"))) == 4


def test_runs_go_on_until_the_interval_is_narrow(tmp_path: Path) -> None:
    rule = Replications(5, 400, "goodput", relative=0.04)
    sweep = Sweep(
        Scenario(TWO_HOSTS), [Parameter.of("loss", LOSS, [0.0, 0.01])], rule, [GOODPUT], seed=1
    )
    result = sweep.run(tmp_path)
    lossless = result.estimate("goodput", loss=0.0)
    assert (lossless.n, lossless.ci_low) == (5, lossless.ci_high)
    lossy = result.estimate("goodput", loss=0.01)
    assert lossy.n > 5
    assert (lossy.ci_high - lossy.ci_low) / 2 <= 0.04 * lossy.mean
    samples = result.values("goodput", result.states[1])
    earlier = round(lossy.n / 1.5)
    assert not rule.satisfied(samples[:earlier])


@given(st.lists(st.floats(0.5, 1.5), min_size=40, max_size=40), st.integers(0, 40))
def test_where_a_sweep_stops_does_not_depend_on_interruptions(
    samples: list[float], done: int
) -> None:
    """The rule looks at whole rounds: with more at hand than it needs it stops where it did."""
    rule = Replications(4, 40, "m", relative=0.1)
    known = dict(enumerate(samples))
    final = rule.target(40, known)
    early = rule.target(done, {n: known[n] for n in range(done)})
    assert early == final if done >= final else early <= final


@given(st.dictionaries(st.integers(0, 30), st.integers(1, 5)), st.integers(0, 40))
def test_gaps_and_finished_units_cover_what_is_wanted(
    finished: dict[int, int], target: int
) -> None:
    state = Progress(Point("p", {}, "", 0), finished)
    covered = {first + n for first, count in finished.items() for n in range(count)}
    missing = {first + n for first, count in state.gaps(target) for n in range(count)}
    assert covered.isdisjoint(missing)
    assert set(range(target)) <= covered | missing
    assert max(missing, default=-1) < target


def test_a_plan_of_the_examples_runs(anabranch: Command, tmp_path: Path) -> None:
    plan = Path(__file__).parents[1] / "examples/sweeps/windows.toml"
    sweep = sweeps.load(plan)
    assert [parameter.name for parameter in sweep.parameters] == ["window", "loss_percent"]
    result = anabranch("sweep", plan, "--out", tmp_path / "out")
    assert result.returncode == 0, result.stderr
    assert "cubic" in result.stdout


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("two-hosts.toml", "none.toml", "none.toml: there is no such file"),
        ("replications = 150", "replications = 0", "field `replications`: value `0`"),
        ("replications = 150", "repetitions = 1", "no field `repetitions`; the fields are"),
        ("seed = 7", "seed = -1", "field `seed`: value `-1`"),
        ('name = "loss"', 'name = "a=b"', "field `parameters.name`: value `a=b`"),
        ('name = "loss"', 'name = "seed"', "field `parameters.name`: value `seed`"),
        ('name = "loss"', "", "field `parameters.0.name`: value `(missing)`"),
        ("[0.001, 0.01, 0.02]", "[]", "field `parameters.0.values`: value `[]`"),
        ("[0.001, 0.01, 0.02]", "[0.01, 0.01]", "allowed: every value once"),
        ("[0.001, 0.01, 0.02]", "[2.0]", "field `links[0].impairments[0].rate`: value `2"),
        (
            'impairments.0.rate"\nvalues = [0.001, 0.01, 0.02]',
            'delay"\nvalues = ["10 ms", "10000 us"]',
            "combinations that give different scenarios",
        ),
        ("replications = 150", "replications = { relative = 0.1 }", "`replications.metric`"),
        (
            "replications = 150",
            'replications = { relative = 0.1, metric = "x" }',
            "field `replications.metric`: value `x`: allowed: goodput_bps",
        ),
        (
            "replications = 150",
            'replications = { metric = "goodput_bps" }',
            "field `replications.relative`: value `(missing)`",
        ),
        ("[[parameters]]", "[[metrics]]\nname = 'm'\n[[parameters]]", "`metrics.0.column`"),
        ("seed = 7", "seed = 7 8", "field `TOML`"),
    ],
)
def test_wrong_plans_are_refused(two_hosts: Path, old: str, new: str, message: str) -> None:
    assert old in PLAN
    plan = two_hosts.parent / "plan.toml"
    plan.write_text(PLAN.replace(old, new), encoding="utf-8")
    with pytest.raises(InputError, match=re.escape(message)):
        sweeps.load(plan).run(two_hosts.parent / "out")
    assert not (two_hosts.parent / "out").exists()


def test_a_wrong_plan_ends_with_status_2(anabranch: Command, two_hosts: Path) -> None:
    plan = two_hosts.parent / "plan.toml"
    plan.write_text(PLAN + "speed = 1", encoding="utf-8")
    result = anabranch("sweep", plan, "--out", two_hosts.parent / "out")
    assert (result.returncode, result.stdout) == (2, "")
    assert "there is no field `parameters.0.speed`; the fields are" in result.stderr
    plan.write_text(PLAN, encoding="utf-8")
    result = anabranch("sweep", plan, "--executor", "cloud")
    assert result.returncode == 2
    assert "field `--executor`: value `cloud`: allowed: local, ray" in result.stderr


def test_a_column_that_is_not_there_is_refused(tmp_path: Path) -> None:
    sweep = Sweep(Scenario(TWO_HOSTS), [], metrics=[Metric("m", "speed")])
    with pytest.raises(
        InputError, match=r"field `column`: value `speed`: allowed: of flows one of .*bytes"
    ):
        sweep.run(tmp_path)
    near = Sweep(Scenario(TWO_HOSTS), [], metrics=[Metric("m", "completion")])
    with pytest.raises(InputError, match=r"did you mean `completion_s`\?"):
        near.run(tmp_path)
    taken = Sweep(Scenario(TWO_HOSTS), [Parameter.of("bytes", LOSS, [0.0])])
    with pytest.raises(InputError, match="value `bytes`: allowed: a name that is no column"):
        taken.run(tmp_path / "taken")


TWO_PATHS = """\
hosts = [{ name = "a", interfaces = ["wifi", "lte"] }, { name = "b", interfaces = ["x", "y"] }]

[[links]]
ends = ["a.wifi", "b.x"]
rate = "8 Mbit/s"
delay = "5 ms"

[[links]]
ends = ["a.lte", "b.y"]
rate = "2 Mbit/s"
delay = "20 ms"

[[flows]]
name = "get"
from = "a"
to = "b"
size = "400 kB"
protocol = "mptcp"
mptcp = { path_manager = "full-mesh" }

[[flows]]
name = "web"
from = "a"
to = "b"
size = "10 kB"
start = "0.1 s"
count = 3
"""


def test_metrics_of_paths_groups_and_shares(tmp_path: Path) -> None:
    paths = {"table": "paths", "column": "new_bytes", "of": "get"}
    sweep = Sweep(
        Scenario(TWO_PATHS),
        [],
        metrics=[
            Metric("lte", path="a.lte", reduce="sum", **paths),
            Metric("all", reduce="sum", **paths),
            Metric("share", path="a.lte", reduce="share", **paths),
            Metric("rest", path="a.wifi>b.*", reduce="share", **paths),
            Metric("webs", "bytes", of="web-*", reduce="sum"),
            Metric("two", "bytes", of=["web-0", "web-2"], reduce="sum"),
            Metric("part", "bytes", of="web-*", reduce="share"),
        ],
    )
    result = sweep.run(tmp_path)
    found = {row["metric"]: row["mean"] for row in result.summary()}
    lte, total = float(found["lte"] or 0), float(found["all"] or 0)
    assert 0 < lte < total
    assert found["share"] == pytest.approx(lte / total)
    assert float(found["share"] or 0) + float(found["rest"] or 0) == pytest.approx(1)
    assert (found["webs"], found["two"]) == (30_000, 20_000)
    assert found["part"] == pytest.approx(30_000 / (400_000 + 30_000))
    # What a folder holds is the same result.
    read = reading.read(tmp_path)
    assert read.summary() == result.summary()
    assert [metric.unit for metric in read.metrics] == ["B", "B", "%", "%", "B", "B", "%"]


def test_a_printed_sweep_is_its_table_of_means(tmp_path: Path) -> None:
    result = small(3).run(tmp_path)
    lines = repr(result).splitlines()
    assert lines[0].split() == [*result.states[0].point.labels, "metric", "mean", "n"]
    assert len(lines) == 1 + len(result.summary())
    assert repr(reading.read(tmp_path)) == repr(result)
    assert result._repr_html_().count("<tr>") == len(lines)


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        (Metric("m", "bytes", of="gett"), "metric m: field `of`: value `gett`.*did you mean `get`"),
        (Metric("m", "bytes", of="web-?-*"), "field `of`: value `web-"),
        (Metric("m", "delivered", "links", of="a-c"), "field `of`: value `a-c`"),
        (
            Metric("m", "new_bytes", "paths", path="a.let"),
            "field `path`: value `a.let`.*did you mean `a.lte`",
        ),
        (Metric("m", "bytes", path="a.lte"), "metrics.path"),
        (Metric("m", "end_s", "runs", of="get"), "metrics.of"),
    ],
)
def test_a_metric_that_names_nothing_is_refused_before_the_first_run(
    tmp_path: Path, metric: Metric, words: str
) -> None:
    with pytest.raises(InputError, match=words):
        Sweep(Scenario(TWO_PATHS), [], metrics=[metric]).run(tmp_path)
    assert not (tmp_path / "sweep.json").exists()
    with pytest.raises(InputError, match="no flow has several paths"):
        Sweep(Scenario(TWO_HOSTS), [], metrics=[Metric("m", "cwnd", "paths")]).run(tmp_path)


def test_pairs_of_a_categorical_parameter(tmp_path: Path) -> None:
    result = small().run(tmp_path)
    pairs = result.pairs()
    assert [(row["parameter"], row["value"], row["against"], row["loss"]) for row in pairs] == [
        ("window", "cubic", "reno", 0.01),
        ("window", "cubic", "reno", 0.02),
    ]
    expected = result.paired(
        "goodput", {"window": "cubic", "loss": 0.01}, {"window": "reno", "loss": 0.01}
    )
    assert (pairs[0]["difference"], pairs[0]["n"]) == (expected.mean, 6)
    written = tables.read_csv(tmp_path / "paired.csv")
    assert [float(row["difference"]) for row in written] == [row["difference"] for row in pairs]


def test_a_series_is_no_metric(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"`path_cwnd`.*keeps the series.*`series = true`"):
        small().run(tmp_path).frame("path_cwnd")


def test_tables_have_the_metrics_that_are_named(
    two_hosts: Path, anabranch: Command, tmp_path: Path
) -> None:
    plan, out = two_hosts.parent / "plan.toml", tmp_path / "out"
    metrics = '[[metrics]]\nname = "goodput"\ncolumn = "goodput_bps"\n'
    metrics += '[[metrics]]\nname = "ends at"\ncolumn = "finish_s"\n'
    plan.write_text(PLAN.replace("150", "3") + metrics, encoding="utf-8")
    command = ("sweep", plan, "--out", out, "--table", "markdown")
    one = anabranch(*command, "--metric", "ends at")
    assert one.returncode == 0, one.stderr
    assert "| ends at |" in one.stdout and "| goodput |" not in one.stdout
    wrong = anabranch(*command, "--metric", "godput")
    assert wrong.returncode == 2 and "did you mean `goodput`" in wrong.stderr
    drawn = anabranch("plot", out, "--y", "ends at", "--out", tmp_path / "f.svg")
    assert drawn.returncode == 0, drawn.stderr
    assert "means of 3 runs, 95 % intervals" in drawn.stderr


def test_differences_of_shares_are_points(tmp_path: Path) -> None:
    """From 40 % to 50 % it is 10 points, not 10 %: in tables and in figures."""
    paths = {"table": "paths", "column": "new_bytes", "of": "get"}
    sweep = Sweep(
        Scenario(TWO_PATHS),
        [Parameter.of("manager", "flows.0.mptcp.path_manager", ["full-mesh", "single"])],
        Replications.exactly(2),
        [Metric("share", path="a.wifi", reduce="share", **paths), GOODPUT_OF_ALL],
    )
    result = sweep.run(tmp_path)
    (mean, _), (pair, other) = (each.rows[:2] for each in sweep_tables(result))
    means = {row["manager"]: float(row["mean"] or 0) for row in result.summary()[::2]}
    assert means["single"] == 1.0 and 0.5 < means["full-mesh"] < 0.95
    assert mean[-2].endswith(" %")
    apart = float(result.pairs()[0]["difference"] or 0)
    assert apart == pytest.approx(1.0 - means["full-mesh"])
    assert pair[-2].startswith(f"{100 * apart:.1f}") and pair[-2].endswith(" points")
    assert other[-2].endswith("bit/s")
    drawn = chart(result.frame("share"), Request(kind="paired"))
    assert drawn.y == "share, single: difference from full-mesh (points)"
    assert list(drawn.data["y"]) == pytest.approx([100 * apart])
    write_sweep_report(tmp_path, "shares", result)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert " points</td>" in page and "percentage points" in page


def test_the_command_shows_units_and_pairs(
    two_hosts: Path, anabranch: Command, tmp_path: Path
) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(
        f"scenario = '{two_hosts}'\nset = ['flows.f.size=30 kB']\nreplications = 4\n"
        "[[parameters]]\nname = 'window'\nfield = 'flows.f.tcp.window'\n"
        "values = ['reno', 'cubic', 'vegas']\n",
        encoding="utf-8",
    )
    done = anabranch("sweep", plan, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert re.search(r"reno .* [0-9]\.[0-9]{2} \([0-9.]+ to [0-9.]+\) Mbit/s", done.stdout)
    assert re.search(r"cubic - reno .* Mbit/s +4", done.stdout)
    assert "e+0" not in done.stdout
    again = ("sweep", plan, "--out", tmp_path / "out", "--resume", "--table")
    both = anabranch(*again, "markdown")
    told = both.stdout
    assert told.startswith(
        "| window | metric | mean | n |\n|---|---|---|---|\n| reno | goodput_bps |"
    )
    assert "\n\n**Differences, paired by replication**\n\n| pair |" in told
    assert told.endswith("|\n") and "report.html" in both.stderr
    both = anabranch(*again, "latex")
    told = both.stdout
    assert r"cubic - reno & goodput\_bps & " in told and told.count(r"\toprule") == 2
    assert told.startswith(r"\begin{tabular}") and told.endswith("\\end{tabular}\n")
    assert (
        "\n% Differences, paired by replication\n\\begin" in told and "report.html" in both.stderr
    )
    assert "did you mean `latex`?" in anabranch(*again, "latx").stderr
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "cubic - reno" in page and '"xnames": ["reno", "cubic", "vegas"]' in page


def test_tables_are_told_apart_by_their_kind_and_a_name_may_have_blanks(tmp_path: Path) -> None:
    queues = [{"kind": "droptail", "limit": "400 packets"}, {"kind": "fq-codel"}]
    base = small(1)
    kinds = Parameter.of("LTE queue", "links.0.queue", queues)
    sweep = Sweep(base.scenario, [kinds], base.replications, base.metrics)
    result = sweep.run(tmp_path)
    assert [row["LTE queue"] for row in result.summary()] == ["droptail", "fq-codel"]
    assert {"LTE queue", "goodput_bps"} <= set(result.table("flows").column_names)
    kept = where.keep(result.frame("goodput"), ["LTE queue=fq-codel"])
    assert set(kept.data["LTE queue"]) == {"fq-codel"}


def test_a_mean_over_several_flows_is_told(
    anabranch: Command, two_hosts: Path, tmp_path: Path
) -> None:
    """Without metrics the goodput of all flows is one number."""
    scenario = tmp_path / "two.toml"
    second = "\n[[flows]]\nname = 'g'\nfrom = 'a'\nto = 'b'\nsize = '30 kB'\n"
    scenario.write_text(two_hosts.read_text(encoding="utf-8") + second, encoding="utf-8")
    plan = tmp_path / "plan.toml"
    plan.write_text(f"scenario = '{scenario}'\nreplications = 2\n", encoding="utf-8")
    done = anabranch("sweep", plan, "--out", tmp_path / "all")
    assert "goodput_bps is the mean of 2 flows of each run. A metric with `of`" in done.stdout
    one = "[[metrics]]\nname = 'g'\ncolumn = 'goodput_bps'\nof = 'g'\n"
    plan.write_text(plan.read_text(encoding="utf-8") + one, encoding="utf-8")
    assert "is the mean of" not in anabranch("sweep", plan, "--out", tmp_path / "one").stdout


def test_differences_are_from_any_value(
    anabranch: Command, two_hosts: Path, tmp_path: Path
) -> None:
    """The table, `paired.csv` and the report, of a finished sweep, too; plot prints the same."""
    plan, out = tmp_path / "plan.toml", tmp_path / "out"
    plan.write_text(
        f"scenario = '{two_hosts}'\nset = ['flows.f.size=30 kB']\nreplications = 4\n"
        "[[parameters]]\nname = 'window'\nfield = 'flows.f.tcp.window'\n"
        "values = ['reno', 'cubic', 'vegas']\n"
        f"[[parameters]]\nname = 'loss'\nfield = '{LOSS}'\nvalues = [0.01, 0.05]\n",
        encoding="utf-8",
    )
    wrong = anabranch("sweep", plan, "--out", out, "--against", "window=vegsa")
    assert wrong.returncode == 2 and "did you mean `window=vegas`" in wrong.stderr
    assert not (out / "runs").exists()
    first = anabranch("sweep", plan, "--out", out)
    assert first.returncode == 0, first.stderr
    told = anabranch("sweep", plan, "--out", out, "--resume", "--against", "window=vegas").stdout
    found = [line for line in told.splitlines() if " - vegas" in line]
    assert len(found) == 4 and " - reno" not in told
    assert "cubic - vegas" in (out / "report.html").read_text(encoding="utf-8")
    rows = tables.read_csv(out / "paired.csv")
    assert {row["against"] for row in rows} == {"vegas"}
    both = anabranch("sweep", plan, "--out", out, "--resume", "--against", "0.05").stdout
    assert both.count("0.01 - 0.05") == 3 and both.count(" - reno") == 4
    at = ("--where", "loss=0.05", "--against", "window=vegas", "--out", tmp_path / "f.svg")
    drawn = anabranch("plot", out, "--kind", "paired", *at)
    assert re.search(r"  reno - vegas: -?[0-9.]+ \(.* to .*\) [kM]?bit/s\n", drawn.stderr)
    assert drawn.stdout.count("\n") == 1


def test_a_metric_of_an_entry_with_a_count_is_of_all_its_flows(
    anabranch: Command, two_hosts: Path, tmp_path: Path
) -> None:
    """As of the pattern, also where the count varies; of a group nobody need be told."""
    scenario = tmp_path / "web.toml"
    more = "\n[[flows]]\nname = 'web'\ncount = 3\nfrom = 'a'\nto = 'b'\nsize = '30 kB'\n"
    scenario.write_text(two_hosts.read_text(encoding="utf-8") + more, encoding="utf-8")
    plan = tmp_path / "plan.toml"
    plan.write_text(
        f"scenario = '{scenario}'\nreplications = 2\n"
        "[[parameters]]\nname = 'many'\nfield = 'flows.web.count'\nvalues = [1, 2, 3]\n"
        "[[metrics]]\nname = 'entry'\ncolumn = 'completion_s'\nof = 'web'\n"
        "[[metrics]]\nname = 'octets'\ncolumn = 'bytes'\nof = ['web']\nreduce = 'sum'\n"
        "[[metrics]]\nname = 'pattern'\ncolumn = 'completion_s'\nof = 'web*'\n",
        encoding="utf-8",
    )
    done = anabranch("sweep", plan, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert "is the mean of" not in done.stdout
    result = reading.read(tmp_path / "out")
    found = {(row["many"], row["metric"]): row["mean"] for row in result.summary()}
    for many in (1, 2, 3):
        assert found[many, "entry"] == found[many, "pattern"]
        assert found[many, "octets"] == 30e3 * many
    plan.write_text(plan.read_text(encoding="utf-8").replace("of = 'web'", "of = 'wbe'"))
    wrong = anabranch("sweep", plan, "--out", tmp_path / "wrong")
    assert "value `wbe`" in wrong.stderr and "did you mean `web`" in wrong.stderr


def test_a_metric_has_one_unit_in_a_table() -> None:
    rows: list[CsvRow] = [
        {"metric": "goodput", "parameter": "p", "value": value, "against": "a", "difference": mean,
         "ci_low": mean - 31_718.0, "ci_high": mean + 31_718.0, "n": 4}
        for value, mean in (("b", -621.0), ("c", -1_260_000.0), ("d", 3_900.0))
    ]  # fmt: skip
    summary: list[CsvRow] = [
        {"metric": "goodput", "mean": mean, "ci_low": mean, "ci_high": mean, "n": 4}
        for mean in (9e5, 5.1e6)
    ]
    table = shown.differences([], rows, {"goodput": "bit/s"}, summary)
    assert [line[-2] for line in table.rows] == [
        "-0.001 (-0.032 to 0.031) Mbit/s",
        "-1.260 (-1.292 to -1.228) Mbit/s",
        "0.004 (-0.028 to 0.036) Mbit/s",
    ]
    # That of the means, even where all differences are small.
    table = shown.differences([], rows[::2], {"goodput": "bit/s"}, summary)
    assert [line[-2].split()[-1] for line in table.rows] == ["Mbit/s"] * 2


def test_a_metric_that_is_constant_is_told_by_name_and_point(
    anabranch: Command, two_hosts: Path, tmp_path: Path
) -> None:
    """One metric varies and another does not, at one of the points: its mean has no interval."""
    plan = tmp_path / "plan.toml"
    plan.write_text(
        f"scenario = '{two_hosts}'\nset = ['flows.f.size=30 kB']\nreplications = 4\n"
        f"[[parameters]]\nname = 'loss'\nfield = '{LOSS}'\nvalues = [0.0, 0.05]\n"
        "[[metrics]]\nname = 'goodput'\ncolumn = 'goodput_bps'\n"
        "[[metrics]]\nname = 'octets'\ncolumn = 'bytes'\n",
        encoding="utf-8",
    )
    done = anabranch("sweep", plan, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert "goodput is constant over 4 replications at loss=0." in done.stdout
    assert "octets is constant over 4 replications at every point." in done.stdout
    one = anabranch("sweep", plan, "--out", tmp_path / "out", "--resume", "--metric", "goodput")
    assert "goodput is constant" in one.stdout and "octets is constant" not in one.stdout


def test_replications_without_a_random_draw_are_told(
    anabranch: Command, two_hosts: Path, tmp_path: Path
) -> None:
    assert not small(3).run(tmp_path / "random").alike()
    plan = tmp_path / "plan.toml"
    plan.write_text(
        f'scenario = "{two_hosts}"\nreplications = 3\nset = ["{LOSS}=0"]\n', encoding="utf-8"
    )
    done = anabranch("sweep", plan, "--out", tmp_path / "same")
    assert done.returncode == 0, done.stderr
    assert "nothing in this scenario draws at random" in done.stdout
    assert reading.read(tmp_path / "same").alike()


def test_a_point_that_fails_stops_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails_for_cubic(scenario: str, *arguments: Any) -> Any:
        if "cubic" in scenario:
            raise RunError("the run failed: broken invariant: a test")
        return compute(scenario, *arguments)

    monkeypatch.setattr("anabranch.sweep.schedule.compute", fails_for_cubic)
    result = small().run(tmp_path)
    assert result.table("flows").num_rows == 2 * 6
    failed = [(labels["window"], "a test" in reason) for labels, reason in result.failures()]
    assert failed == [("cubic", True)] * 2
    monkeypatch.undo()
    assert small().run(tmp_path, resume=True).table("flows").num_rows == 4 * 6


def test_series_are_kept_where_asked_for(tmp_path: Path) -> None:
    sweep = Sweep(Scenario(TWO_HOSTS).set("flows.f.size=30 kB"), [], series=True)
    series = sweep.run(tmp_path).table("series")
    single = sweep.scenario.run().series
    recorded = sum(len(columns["time_s"]) for columns in single.values())
    assert series.num_rows == recorded
    # What never happened, a drop say, has no rows.
    happened = {name for name, columns in single.items() if len(columns["time_s"])}
    assert set(series["series"].to_pylist()) == happened


def test_series_that_are_asked_for_later_are_computed(tmp_path: Path) -> None:
    """A sweep that is continued with `series = true` has those of the runs that it had, too."""
    sweep = Sweep(Scenario(TWO_HOSTS).set("flows.f.size=30 kB"), [], Replications.exactly(2))
    before = sweep.run(tmp_path)
    with pytest.raises(InputError, match=r"`series = true`"):
        before.frame("cwnd")
    told: list[str] = []
    after = replace(sweep, series=True).run(tmp_path, resume=True, damaged=told.append)
    assert told == [f"{tmp_path}: its runs kept no series"]
    assert set(after.frame("cwnd").data["replication"]) == {0, 1}

    def written() -> dict[Path, int]:
        return {file: file.stat().st_mtime_ns for file in (tmp_path / "runs").rglob("*.parquet")}

    files = written()
    replace(sweep, series=True).run(tmp_path, resume=True)
    assert files == written()
