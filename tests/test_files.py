"""Tables, figures and stored runs: whole, readable again, the same every time."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import made
from anabranch import cache, figures, tables
from anabranch.errors import InputError, RunError
from anabranch.experiment import RunResult, Scenario
from anabranch.files import output_directory, read_text, replacing, write_text
from conftest import TWO_HOSTS


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_reads_back_as_itself(value: float) -> None:
    assert float(tables.cell(value)) == value


def test_a_missing_example_says_where_examples_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="in a clone of the repository"):
        read_text(Path("examples/lossy.toml"))
    (tmp_path / "examples").mkdir()
    with pytest.raises(InputError) as found:
        read_text(Path("examples/lossy.toml"))
    assert "clone" not in str(found.value)


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


def test_a_file_without_end_is_not_read_to_it() -> None:
    said = (
        "^/dev/zero: is larger than 64 MiB; allowed: a readable UTF-8 text file of at most 64 MiB$"
    )
    with pytest.raises(InputError, match=said):
        read_text(Path("/dev/zero"))


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
    result = made.result([made.flow(flow="f", timeouts=2)], series, end_s=3.5)
    path = tmp_path / "run.npz"
    cache.store(path, result)
    again = cache.load(path)
    assert again is not None
    assert (again.flows, again.links, again.run) == (result.flows, [], result.run)
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


def singles(count: int) -> list[Scenario]:
    """Short transfers of different sizes that nobody observes."""
    plain = TWO_HOSTS.partition("[[observe]]")[0]
    return [Scenario(plain).set(f'flows.0.size="{n + 1} kB"') for n in range(count)]


def counted_runs(monkeypatch: pytest.MonkeyPatch) -> list[Scenario]:
    """The scenarios that are run from now on."""
    run, started = Scenario.run, []

    def counting(scenario: Scenario) -> RunResult:
        started.append(scenario)
        return run(scenario)

    monkeypatch.setattr(Scenario, "run", counting)
    return started


def ignored(_done: int, _total: int) -> None:
    """Nobody watches."""


def test_many_small_runs_are_few_files_and_run_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = counted_runs(monkeypatch)
    scenarios = singles(40)
    fresh = cache.RunCache(tmp_path).get_all(scenarios, 2, ignored)
    assert len(started) == 40
    assert len(list(tmp_path.iterdir())) < 10
    assert [run.flows[0]["bytes"] for run in fresh] == [1000 * (n + 1) for n in range(40)]
    again = cache.RunCache(tmp_path).get_all(scenarios, 2, ignored)
    assert len(started) == 40
    assert again == fresh
    # More of them are computed beside those that are there.
    more = cache.RunCache(tmp_path).get_all(singles(45), 2, ignored)
    assert len(started) == 45
    assert more[:40] == fresh


def test_small_runs_of_an_interrupted_study_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed between two runs, all but the last second of them is there."""
    monkeypatch.setattr(cache, "SINGLES_S", 0.0)

    def stop(done: int, _total: int) -> None:
        if done == 10:
            raise KeyboardInterrupt

    # What is in a file when the process is killed has not waited for the end.
    monkeypatch.setattr(cache.Singles, "__exit__", lambda *_: None)
    with pytest.raises(KeyboardInterrupt):
        cache.RunCache(tmp_path).get_all(singles(40), 1, stop)
    monkeypatch.undo()
    started = counted_runs(monkeypatch)
    cache.RunCache(tmp_path).get_all(singles(40), 1, ignored)
    # The run that was under way may still have started when they were counted.
    assert 20 < len({each.overrides for each in started}) <= 30


def test_small_runs_that_cannot_be_read_are_computed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh = cache.RunCache(tmp_path).get_all(singles(3), 1, ignored)
    (file,) = tmp_path.iterdir()
    whole = file.read_text(encoding="utf-8")
    started = counted_runs(monkeypatch)
    for damaged in (whole[:-9], "", "[]", "\x00", whole.replace('"flows"', '"flaws"')):
        started.clear()
        file.write_text(damaged, encoding="utf-8")
        again = cache.RunCache(tmp_path).get_all(singles(3), 1, ignored)
        assert len(started) == 3, "and the file is whole again"
        assert [(run.flows, run.links) for run in again] == [
            (run.flows, run.links) for run in fresh
        ]
        assert cache.RunCache(tmp_path).get_all(singles(3), 1, ignored) == again
        assert len(started) == 3
