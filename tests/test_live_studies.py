"""Studies on real packets: trials side by side, and `reproduce --live`.

What needs TUN fails in continuous integration without it, and is skipped elsewhere.
"""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from anabranch import Scenario, tables
from anabranch.rows import Lateness
from anabranch.studies import ALL
from anabranch.studies.mcubic import live as mcubic_live
from anabranch.studies.sack_recovery.conditions import paper_case, paper_schemes
from anabranch.studies.sack_recovery.study import STUDY as SACK
from anabranch.studies.sack_recovery.trace import Trace
from anabranch.studies.sctp_slow_start import conditions as slow_start
from anabranch.studies.sctp_slow_start import live as slow_start_live
from anabranch.trials import Trial, usrsctp, worlds
from anabranch.trials.parallel import batches, merged, parted, programs
from conftest import TWO_HOSTS, Command

OURS = ("C1", "C2", "today", "today-window", "counting", "model")
PROGRAMS = ("programs", "programs-window", "programs-today", "programs-today-window")
"""Claims of `sctp-slow-start`: from our senders, and from real programs at both ends."""


def _trial(name: str, *changes: str, key: str = "") -> Trial:
    scenario = Scenario(TWO_HOSTS).set(*changes)
    return Trial(key or name, name, scenario, ("b",), {"b": "peer {a} {b} '{print}'"})


def test_trials_side_by_side_give_what_each_gives_alone() -> None:
    """The names decide what links draw: a trial is the same in any batch."""
    x, y = _trial("x"), _trial("y", "flows.0.size=100 kB")
    both = dict(parted(merged([x, y], "both").run(), [x, y]))
    alone = dict(parted(merged([y], "alone").run(), [y]))
    # An ACK after the end of the shorter one may still be on its way when alone.
    assert both[y].flows[0]["finish_s"] == alone[y].flows[0]["finish_s"]
    kinds = ("cwnd", "sends", "acks", "sacks", "receives", "drops")
    assert set(both[y].series) == {f"f.{kind}" for kind in kinds}
    for name, series in alone[y].series.items():
        assert both[y].series[name]["value"][: len(series["value"])].tolist() == (
            series["value"].tolist()
        )
    assert both[x].flows[0]["bytes"] == 300_000 and both[y].flows[0]["bytes"] == 100_000
    assert [row["name"] for row in both[x].links] == ["a-b", "b-a"]


def test_names_inside_a_trial_become_its_own() -> None:
    drops = "links.0.impairments=[{kind='packets', flow='f', numbers=[3]}]"
    x, y = _trial("x", drops), _trial("y")
    whole = tomllib.loads(merged([x, y], "both").resolved())
    assert whole["links"][0]["impairments"][0]["flow"] == "x_f"
    assert whole["links"][1]["ends"] == ["y_a", "y_b"]
    assert [h["name"] for h in whole["hosts"] if isinstance(h, dict) and h.get("external")] == [
        "x_b",
        "y_b",
    ]
    # What is observed of all flows is asked for once.
    assert len(whole["observe"]) == 2
    assert programs([x, y])[1] == ("y_b", "peer {y_a} {y_b} '{print}'")
    with pytest.raises(ValueError, match="differs"):
        merged([x, _trial("z", "duration=5 s")], "both")


def test_batches_have_one_duration_and_no_name_twice() -> None:
    lengths = {"p": 1.0, "q": 9.0, "r": 2.0, "s": 3.0, "t": 4.0}
    trials = [
        _trial("x", key="p"),
        _trial("y", key="q"),
        _trial("x", key="r"),
        _trial("z", key="s"),
    ]
    trials.append(_trial("w", "duration=5 s", key="t"))
    found = batches(trials, 2, lambda trial: lengths[str(trial.key)])
    assert [[trial.key for trial in each] for each in found] == [["p", "s"], ["r", "q"], ["t"]]


def test_batches_stay_within_what_the_emulator_holds() -> None:
    """Loads add up; what is beyond the bound by itself runs alone."""
    loads = {"a": 10.0, "b": 6.0, "c": 4.0, "d": 3.0, "e": 30.0}
    trials = [_trial(name) for name in loads]
    found = batches(trials, 9, lambda _: 1.0, lambda each: loads[each.name], 13.0)
    assert [[trial.name for trial in each] for each in found] == [["a", "d"], ["b", "c"], ["e"]]


def test_a_trial_ends_with_its_own_transfer() -> None:
    """What its batch does afterwards is not its own."""
    short, long = _trial("x", "flows.0.size=50 kB"), _trial("y")
    lossless = ['observe=[{what = "cwnd", interval = "10 ms"}]', "links.0.impairments=[]"]
    trials = [replace(each, scenario=each.scenario.set(*lossless)) for each in (short, long)]
    found = worlds.simulated(trials)
    ends = {key: result.run["end_s"] for key, result in found.items()}
    assert ends["x"] < ends["y"] / 2
    for key, result in found.items():
        assert result.flows[0]["finish_s"] == ends[key]
        assert 0.5 * ends[key] < result.series["f.cwnd"]["time_s"][-1] <= ends[key]


def test_a_connection_has_all_its_paths(tmp_path: Path) -> None:
    """A kernel that opens no second subflow measures something else."""
    trial = mcubic_live.trials(True, tmp_path)[0]
    (whole,) = worlds.simulated([trial]).values()
    single = trial.scenario.set('flows.multipath.mptcp.path_manager="single"')
    (lacking,) = worlds.simulated([replace(trial, scenario=single)]).values()

    assert worlds.lacks("t0n0", whole, whole) == ""
    lack = worlds.lacks("t0n0", lacking, whole)
    assert lack == "multipath of t0n0 had 1 of 2 paths, not a.y to b.y"
    tried = worlds.Tried(lacking, True, (), lack)
    assert not tried.counts and tried.is_worth_more(1) and not tried.is_worth_more(2)
    assert tried.rank > worlds.Tried(whole, True, ("late",)).rank


def test_what_the_peer_says(tmp_path: Path) -> None:
    log = tmp_path / "b.log"
    log.write_text("got 1000 wrong 2 at 46591.779550094\n", encoding="utf-8")
    assert usrsctp.read(log) == (1000, 2, 46591.779550094)
    assert usrsctp.began(log) is None
    log.write_text("began at 46590.000250094\nsent 1000\n", encoding="utf-8")
    assert usrsctp.began(log) == 46590.000250094 and usrsctp.read(log) is None
    log.write_text("bind: Permission denied\n", encoding="utf-8")
    assert usrsctp.read(log) is None and usrsctp.read(tmp_path / "none.log") is None
    assert usrsctp.began(log) is None and usrsctp.began(tmp_path / "none.log") is None


def test_what_has_no_live_part_is_refused(anabranch: Command, tmp_path: Path) -> None:
    result = anabranch("reproduce", "response-functions", "--live", "--out", tmp_path)
    assert result.returncode == 2
    assert "with `--live` sack-recovery" in result.stderr


def test_every_paper_has_a_live_part() -> None:
    papers = {name for name in ALL if name != "response-functions"}
    assert {name for name in ALL if ALL[name].live} == papers


@pytest.mark.parametrize("always", [False, True])
def test_what_is_in_doubt_runs_again_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, always: bool
) -> None:
    """Of three trials one had late packets: it alone runs again, so often at most."""
    trials = [Trial(n, f"t{n}", Scenario(TWO_HOSTS), ("b",)) for n in range(3)]
    asked: list[list[str]] = []

    def attempt(scenario: Scenario, commands: object, logs: Path, limit: float) -> worlds.Batch:
        del commands, logs, limit
        result = scenario.run()
        asked.append(sorted(flow.flow for flow in result.flows))
        late = {"t1_b": ["packets left late"]} if always or len(asked) == 1 else {}
        lateness = Lateness(10, 1e-5, 1e-3, 1e-3, 1e-3)
        return worlds.Batch(result, worlds.Told(lateness, 0.0, 0.0, late, {}, {}))

    monkeypatch.setattr(worlds, "_attempt", attempt)
    found = worlds.run(trials, tmp_path, lambda _done, _all: None, together=3, resume=False)
    again = ["t1_f"]
    assert asked == [["t0_f", "t1_f", "t2_f"], *([again] * (worlds.ATTEMPTS - 1 if always else 1))]
    (timing,) = found.timings
    doubts = ("1 of 3 trials: packets left late",) if always else ()
    assert (timing.attempts, timing.doubts) == (len(asked), doubts)
    assert timing.doubtful == len(doubts)
    assert found.live.keys() == {0, 1, 2}


@pytest.mark.needs("live")
def test_recovery_schemes_meet_a_kernel(tmp_path: Path) -> None:
    """The paper's own case: seven segments lost, 200 ms; the receiver is a kernel."""
    assert SACK.live is not None
    case = paper_case()

    def of_the_paper() -> list[Trial]:
        assert SACK.live is not None
        every = SACK.live.trials(False, tmp_path)
        return [trial for trial in every if trial.key in {(s, case) for s in paper_schemes()}]

    trials = of_the_paper()
    found = worlds.run(trials, tmp_path, lambda _done, _all: None, together=40)
    assert len(found.live) == 4 and not any(
        "did not end" in d for t in found.timings for d in t.doubts
    )
    for results in (found.simulated, found.live):
        traces = {
            key[0]: Trace.of(each, case.first_drop, case.drops) for key, each in results.items()
        }
        assert 6.5 < traces["newreno"].recovery_rtts < 7.5
        assert traces["sack"].repair_rounds == 3
        assert traces["decoupled"].turns[:3] == [5, 6, 7]
        assert all(trace.timeouts == 0 for trace in traces.values())
    # What has finished is kept.
    kept = sorted((tmp_path / "runs").iterdir())
    again = worlds.run(trials, tmp_path, lambda _done, _all: None, together=40)
    assert sorted((tmp_path / "runs").iterdir()) == kept and again.timings == found.timings


@pytest.mark.needs("live")
def test_a_kernel_sends_to_a_kernel_with_the_initial_window_it_was_told(tmp_path: Path) -> None:
    """Every segment is acknowledged, so that nothing is the kernels' own way: the same round trips
    as in virtual time. Nine segments take three flights where two open, two where three do, one
    of ten."""
    cell = slow_start.Cell(10, 200, 12)
    senders = ("kernel-2", "kernel-3", "kernel-10")
    trials = [
        slow_start_live.trial(slow_start.Run(sender, False, cell), f"t{number}", peer="")
        for number, sender in enumerate(senders)
    ]
    found = worlds.run(trials, tmp_path, lambda _done, _all: None, together=3)
    times = {
        (world, run.sender): slow_start.seconds(result)
        for world, results in (("simulated", found.simulated), ("live", found.live))
        for run, result in results.items()
    }
    for sender, flights in zip(senders, (3, 2, 1), strict=True):
        handshake, way = 0.2, 0.1
        assert 0 < times["simulated", sender] - handshake - way - 0.2 * (flights - 1) < 0.05
        assert times["live", sender] == pytest.approx(times["simulated", sender], abs=0.05)


@pytest.mark.needs("live", "usrsctp")
def test_a_study_is_judged_live(anabranch: Command, tmp_path: Path) -> None:
    """Our SCTP to usrsctp and our TCP to a kernel, and real programs at both ends, beside the same
    in virtual time."""
    study = "sctp-slow-start"
    result = anabranch("reproduce", study, "--live", "--quick", "--out", tmp_path)
    assert result.returncode == 0, result.stderr
    assert "packets left late by" in result.stdout
    rows = {row["claim"]: row for row in tables.read_csv(tmp_path / "claims.csv")}
    assert list(rows) == [*OURS, *PROGRAMS]
    assert {row["world"] for row in rows.values()} == {"live"}
    # Handshake, rounds and the link's time explain the times with real receivers too.
    assert float(rows["model"]["measured"]) < 0.1
    assert rows["model"]["simulated_verdict"] == "holds"
    timing = tables.read_csv(tmp_path / study / "live" / "timing.csv")
    # 8 cells, two ways of acknowledging, nine senders of ours and six real ones.
    assert sum(int(row["trials"]) for row in timing) == 8 * 2 * (9 + 6)
    assert "did not end" not in "".join(row["doubts"] for row in timing)
    for claim in PROGRAMS:
        assert int(rows[claim]["n"]) == 8
        # On a busy machine programs take some milliseconds of a transfer of 100.
        near = float(rows[claim]["simulated_measured"])
        assert float(rows[claim]["measured"]) == pytest.approx(near, abs=0.25)
    assert all(float(row["median_s"]) <= float(row["p99_s"]) for row in timing)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert f"live-{study}" in page and ALL[study].title in page
