"""Tables, figures and stored runs: whole, readable again, the same every time."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch import cache, figures, tables
from anabranch.errors import InputError, RunError
from anabranch.experiment import RunResult, Scenario
from anabranch.files import output_directory, read_text, replacing, write_text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_reads_back_as_itself(value: float) -> None:
    assert float(tables.cell(value)) == value


def test_cells() -> None:
    values = [None, math.nan, np.float64(0.1), np.int64(3), True, "x"]
    assert [tables.cell(value) for value in values] == ["", "", "0.1", "3", "1", "x"]


def test_agreed_columns_come_first_and_added_ones_follow(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    tables.write_csv(path, ("a", "b"), [{"c": 3, "b": 2, "a": 1}])
    assert path.read_text() == "a,b,c\n1,2,3\n"
    tables.write_csv(path, ("a", "b"), [])
    assert path.read_text() == "a,b\n"


@pytest.mark.parametrize("name", ["../x", "a/b", ".", "", "f.cwnd"])
def test_a_series_name_is_a_safe_file_name(name: str) -> None:
    safe = tables.file_name(name)
    assert safe
    assert "/" not in safe
    assert not safe.startswith(".")


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "result.txt"
    write_text(path, "old")
    with pytest.raises(RuntimeError, match="half"), replacing(path) as temporary:
        temporary.write_text("new")
        raise RuntimeError("half way")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="--out"):
        output_directory(tmp_path / "file" / "below")
    with pytest.raises(RunError, match="cannot be written"):
        write_text(tmp_path / "file" / "x.csv", "")


def test_what_is_not_text(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"name = \xff\xfe")
    with pytest.raises(InputError, match="offset 7"):
        read_text(tmp_path / "binary")


def test_figures_are_the_same_octets_each_time(tmp_path: Path) -> None:
    csv = tmp_path / "f.csv"
    tables.write_csv(
        csv, tables.TIME_COLUMNS, [{"series": "s", "time_s": t, "value": t * t} for t in range(9)]
    )
    plot = figures.Plot("title", "x", "y")
    seen = set()
    for _ in range(2):
        figures.time_series(csv, plot)
        seen.add((csv.with_suffix(".svg").read_bytes(), csv.with_suffix(".png").read_bytes()))
    assert len(seen) == 1
    assert b"<dc:date>" not in csv.with_suffix(".svg").read_bytes()


def test_a_stored_run_reads_back_and_half_a_file_does_not(tmp_path: Path) -> None:
    series = {"f.cwnd": {"time_s": np.array([0.0, 1.5]), "value": np.array([2000, 3000])}}
    result = RunResult([{"flow": "f", "finish_s": None}], series, [], {"seed": 1})
    path = tmp_path / "run.npz"
    cache.store(path, result)
    again = cache.load(path)
    assert again is not None
    assert (again.flows, again.links, again.run) == (result.flows, [], {"seed": 1})
    assert again.series["f.cwnd"]["value"].tolist() == [2000, 3000]
    path.write_bytes(path.read_bytes()[:-40])
    assert cache.load(path) is None
    assert cache.load(tmp_path / "absent.npz") is None


def test_stored_runs_keep_every_table(tmp_path: Path) -> None:
    hosts = ", ".join(f'{{ name = "{name}", interfaces = ["x", "y"] }}' for name in "ab")
    link = 'rate = "10 Mbit/s", delay = "5 ms"'
    scenario = Scenario(f"""
        hosts = [{hosts}]
        links = [{{ ends = ["a.x", "b.x"], {link} }}, {{ ends = ["a.y", "b.y"], {link} }}]
        [[flows]]
        name = "subflows"
        from = "a"
        to = "b"
        size = "1 MB"
        protocol = "mptcp"
        [[flows]]
        name = "messages"
        from = "a"
        to = "b"
        size = "100 kB"
        protocol = "sctp"
        traffic = {{ kind = "messages", size = "1 kB" }}
        [[observe]]
        what = "path_cwnd"
        flow = "subflows"
        """)
    runs = cache.RunCache(tmp_path)
    fresh, known = runs.get(scenario)
    stored, again = runs.get(scenario)
    assert (known, again) == (False, True)
    assert "subflows.a.x-b.x.path_cwnd" in stored.series
    for name in cache.FACTS:
        assert getattr(stored, name) == getattr(fresh, name)
    assert {row["flow"] for row in stored.paths} == {"subflows", "messages"}
    assert sum(row["new_bytes"] or 0 for row in stored.paths) == 1_000_000
    assert stored.messages[0]["delivered"] == 100
    batch = runs.get_batch(scenario, 2)
    kept = runs.get_batch(scenario, 2)
    assert [run.paths for run in kept] == [run.paths for run in batch]
    assert kept[0].paths == fresh.paths
