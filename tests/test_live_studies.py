"""Studies on real packets: trials side by side, and `reproduce --live`.

What needs TUN fails in continuous integration without it, and is skipped elsewhere.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from anabranch import Scenario, tables
from anabranch.studies import ALL
from anabranch.studies.live import Trial, usrsctp
from anabranch.studies.live.parallel import companies, merged, parted, programs
from conftest import TWO_HOSTS, Command


def _trial(name: str, *changes: str, key: str = "") -> Trial:
    scenario = Scenario(TWO_HOSTS).set(*changes)
    return Trial(key or name, name, scenario, ("b",), {"b": "peer {a} {b} '{print}'"})


def test_trials_side_by_side_give_what_each_gives_alone() -> None:
    """The names decide what links draw: a trial is the same in any company."""
    x, y = _trial("x"), _trial("y", "flows.0.size=100 kB")
    both = dict(parted(merged([x, y], "both").run(), [x, y]))
    alone = dict(parted(merged([y], "alone").run(), [y]))
    # An ACK after the end of the shorter one may still be on its way when alone.
    assert both[y].flows[0]["finish_s"] == alone[y].flows[0]["finish_s"]
    assert set(both[y].series) == {"f.cwnd", "f.sends", "f.acks", "f.receives"}
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


def test_companies_have_one_duration_and_no_name_twice() -> None:
    lengths = {"p": 1.0, "q": 9.0, "r": 2.0, "s": 3.0, "t": 4.0}
    trials = [
        _trial("x", key="p"),
        _trial("y", key="q"),
        _trial("x", key="r"),
        _trial("z", key="s"),
    ]
    trials.append(_trial("w", "duration=5 s", key="t"))
    found = companies(trials, 2, lambda trial: lengths[str(trial.key)])
    assert [[trial.key for trial in it] for it in found] == [["p", "s"], ["r", "q"], ["t"]]


def test_what_the_peer_says(tmp_path: Path) -> None:
    log = tmp_path / "b.log"
    log.write_text("got 1000 wrong 2 at 46591.779550094\n", encoding="utf-8")
    assert usrsctp.read(log) == (1000, 2, 46591.779550094)
    log.write_text("bind: Permission denied\n", encoding="utf-8")
    assert usrsctp.read(log) is None and usrsctp.read(tmp_path / "none.log") is None


def test_what_has_no_live_part_is_refused(anabranch: Command, tmp_path: Path) -> None:
    result = anabranch("reproduce", "response-functions", "--live", "--out", tmp_path)
    assert result.returncode == 2
    assert "with `--live` sack-recovery" in result.stderr


@pytest.mark.usefixtures("live_machine")
def test_a_study_is_judged_live(anabranch: Command, tmp_path: Path) -> None:
    """Our sender's recovery schemes against a kernel's receiver, as in the simulator."""
    result = anabranch("reproduce", "sack-recovery", "--live", "--quick", "--out", tmp_path)
    assert result.returncode == 0, result.stderr
    assert "packets left late by" in result.stdout
    rows = {row["claim"]: row for row in tables.read_csv(tmp_path / "claims.csv")}
    assert list(rows) == [f"C{number}" for number in range(1, 8)]
    assert {row["world"] for row in rows.values()} == {"live"}
    # One hole a round trip, three rounds of SACK: whoever receives, within a fifth.
    for claim, expected in (("C1", 7), ("C2", 3)):
        assert abs(float(rows[claim]["measured"]) / expected - 1) < 0.2
        assert rows[claim]["simulated_verdict"] == "holds"
    timing = tables.read_csv(tmp_path / "sack-recovery" / "live" / "timing.csv")
    assert sum(int(row["trials"]) for row in timing) == 244
    assert all(float(row["median_s"]) <= float(row["p99_s"]) for row in timing)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "live-sack-recovery" in page and ALL["sack-recovery"].title in page
    # What is finished is kept: the second time nothing runs but the judgement.
    again = anabranch(
        "reproduce", "sack-recovery", "--live", "--quick", "--out", tmp_path, timeout=30
    )
    assert again.returncode == 0 and again.stdout.splitlines()[2:] == result.stdout.splitlines()[2:]
