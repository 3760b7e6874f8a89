"""Wrong input: status 2 and one line that names the file, field, value and what is allowed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from conftest import TWO_HOSTS, Command


@pytest.fixture
def anabranch(forked: Command) -> Command:
    """Without imports, which would be most of what these tests take."""
    return forked


def complaint(result: subprocess.CompletedProcess[str], *parts: str) -> None:
    """Asserts status 2 and a single line on standard error that holds every part."""
    assert result.returncode == 2, result.stderr
    assert "Traceback" not in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1, result.stderr
    for part in parts:
        assert part in result.stderr, result.stderr


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        ('rate = "10 Mbit/s"', "rate = 10", ("links[0].rate", "10")),
        ('rate = "10 Mbit/s"', 'rate = "10 Mbit"', ("links[0].rate", "10 Mbit")),
        ('rate = "10 Mbit/s"', 'rate = "-1 Mbit/s"', ("links[0].rate", "-1 Mbit/s")),
        ('delay = "10 ms"', 'delay = "10"', ("links[0].delay", "10")),
        ('ends = ["a", "b"]', 'ends = ["a", "x"]', ("links[0].ends", "x")),
        ('kind = "droptail"', 'kind = "nosuch"', ("links[0].queue.kind", "nosuch", "droptail")),
        ("rate = 0.01 }", "rate = 1.5 }", ("links[0].impairments[0].rate", "1.5")),
        ('to = "b"', 'to = "z"', ("flows[0].to", "z")),
        ('size = "300 kB"', 'size = "a lot"', ("flows[0].size", "a lot")),
        ('size = "300 kB"', 'sise = "300 kB"', ("sise",)),
        ('what = "cwnd"', 'what = "mood"', ("observe[0].what", "mood", "cwnd")),
        ('name = "two hosts"', "name = ", ()),
    ],
)
def test_a_wrong_field_is_named(
    anabranch: Command, tmp_path: Path, old: str, new: str, parts: tuple[str, ...]
) -> None:
    assert old in TWO_HOSTS
    path = tmp_path / "wrong.toml"
    path.write_text(TWO_HOSTS.replace(old, new), encoding="utf-8")
    out = tmp_path / "out"
    complaint(anabranch("run", path, "--out", out), "wrong.toml", *parts)
    assert not out.exists()


@pytest.mark.parametrize(
    ("assignment", "parts"),
    [
        ("nothing", ("--set", "nothing", "KEY=VALUE")),
        ("=3", ("--set",)),
        ("flows.0.tcp.recovery=magic", ("flows[0].tcp.recovery", "magic", "newreno")),
        ("flows.0.tcp.window=magic", ("flows[0].tcp.window", "magic", "cubic")),
        ("flows.7.size=1 MB", ("flows.7",)),
        ("flows.0.tcp.mss=0 B", ("flows[0].tcp.mss", "`0 B`")),
    ],
)
def test_a_wrong_override_is_named(
    anabranch: Command, two_hosts: Path, tmp_path: Path, assignment: str, parts: tuple[str, ...]
) -> None:
    result = anabranch("run", two_hosts, "--set", assignment, "--out", tmp_path / "out")
    complaint(result, *parts)


def test_the_nearest_kind_is_told(anabranch: Command) -> None:
    complaint(anabranch("list", "destinatons"), "destinatons", "did you mean `destinations`?")
    complaint(anabranch("list", "colours"), "colours", "algorithms, destinations")


def test_files_that_cannot_be_read(anabranch: Command, tmp_path: Path) -> None:
    binary = tmp_path / "binary.toml"
    binary.write_bytes(bytes(range(256)))
    complaint(anabranch("run", binary), "binary.toml", "UTF-8")
    complaint(anabranch("run", tmp_path), str(tmp_path), "directory", "allowed")
    complaint(anabranch("run", tmp_path / "absent.toml"), "absent.toml: there is no such file")
    (tmp_path / "present.toml").write_text("", encoding="utf-8")
    complaint(anabranch("run", tmp_path / "presen.toml"), "did you mean", "present.toml`?")


@pytest.mark.parametrize("command", ["run", "reproduce"])
def test_an_output_that_cannot_be_written(
    anabranch: Command, two_hosts: Path, command: str
) -> None:
    arguments = [two_hosts] if command == "run" else []
    # A file stands where a folder is needed: true for root, too.
    complaint(anabranch(command, *arguments, "--out", two_hosts / "below"), "--out", "below")


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (("reproduce", "nosuch"), ("STUDY", "nosuch", "sack-recovery")),
        (("reproduce", "--jobs", "0"), ("--jobs", "0")),
        (("run",), ("SCENARIO",)),
        (("run", "x.toml", "--seed", "-1"), ("--seed", "-1")),
        (("run", "x.toml", "--seed", "one"), ("--seed", "one")),
        (("list", "everything"), ("everything", "studies")),
        (("bench", "fast"), ("fast", "long-flow")),
        (("view", "/nonexistent"), ("/nonexistent: there is no such folder",)),
        (("plot", "/nonexistent"), ("/nonexistent: there is no such result",)),
        (("run", "/nonexistent.toml"), ("/nonexistent.toml: there is no such file",)),
        (("list", "windows"), ("windows", "did you mean `algorithms`?")),
        (("run", "library:dumbell"), ("dumbell", "did you mean `dumbbell`?")),
        (("run", "dumbbell"), ("dumbbell", "`library:dumbbell`")),
        (("evaluate", "cubic", "--check", "fair"), ("--check", "did you mean `fairness`?")),
        (("check", "mine.py"), ("mine.py", "mine.py:CLASS")),
        (("nosuch",), ("nosuch",)),
        (("run", "--nosuch"), ("--nosuch",)),
    ],
)
def test_wrong_options(
    anabranch: Command, arguments: tuple[str, ...], parts: tuple[str, ...]
) -> None:
    complaint(anabranch(*arguments), *parts)


def test_a_folder_of_results_names_the_reports_below_it(
    anabranch: Command, two_hosts: Path, tmp_path: Path
) -> None:
    results = tmp_path / "results"
    assert anabranch("run", two_hosts, "--out", results / "first").returncode == 0
    complaint(anabranch("view", results), str(results), "report.html", str(results / "first"))


def test_only_runs_are_laid_over_each_other(
    anabranch: Command, two_hosts: Path, tmp_path: Path
) -> None:
    assert anabranch("run", two_hosts, "--out", tmp_path / "run").returncode == 0
    (tmp_path / "sweep").mkdir()
    (tmp_path / "sweep" / "report.html").write_text("a sweep's")
    both = anabranch("view", tmp_path / "run", tmp_path / "sweep", "--out", tmp_path / "both")
    complaint(both, str(tmp_path / "sweep"), "a folder of one run")


def test_a_file_of_another_kind_is_called_what_it_is(
    anabranch: Command, two_hosts: Path, tmp_path: Path
) -> None:
    sweep = Path(__file__).parents[1] / "examples" / "sweeps" / "windows.toml"
    out = tmp_path / "out"
    complaint(anabranch("run", sweep, "--out", out), "a sweep's file, for `anabranch sweep`")
    complaint(anabranch("sweep", two_hosts, "--out", out), "a scenario, for `anabranch run`")


@pytest.mark.parametrize(
    ("field", "wrong", "right"),
    [("window", "renno", "reno"), ("recovery", "rakc", "rack")],
)
def test_the_name_of_an_algorithm_is_suggested(
    anabranch: Command, two_hosts: Path, field: str, wrong: str, right: str
) -> None:
    setting = f"flows.0.tcp.{field}={wrong}"
    done = anabranch("run", two_hosts, "--set", setting, "--out", two_hosts.parent / "out")
    complaint(done, field, wrong, f"did you mean `{right}`?")
