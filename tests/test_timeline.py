"""The timeline: when it failed over, and why then."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from anabranch import Scenario, results, tables, timeline
from anabranch.experiment import RunResult
from anabranch.plotting import lanes
from anabranch.report import explorer
from anabranch.report.lanes import FORMS, timeline_chart
from anabranch.report.links import links
from anabranch.timeline import Event
from conftest import TWO_HOSTS, Command
from made import flow, result

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def failover() -> RunResult:
    """An association whose primary path carries nothing from 6 s to 20 s."""
    return Scenario.load(ROOT / "examples" / "sctp-multihoming.toml").explored().run()


def of(events: list[Event], lane: str, kind: str) -> list[Event]:
    return [event for event in events if (event.lane, event.kind) == (lane, kind)]


def test_it_says_when_it_failed_over_and_why(failover: RunResult) -> None:
    events = failover.timeline()
    assert [event.time_s for event in events] == sorted(event.time_s for event in events)
    (outage,) = of(events, "r0-s0", "outage")
    assert (outage.time_s, outage.until_s) == (6.0, 20.0)
    # Each timeout doubles the next (RFC 9260 §6.3.3): 1 s, then 2 s, then 4 s after the last.
    timeouts = of(events, "transfer.b.x", "timeout")
    gaps = np.diff([event.time_s for event in timeouts])
    assert len(timeouts) >= 3 and 6.0 < timeouts[0].time_s < 8.0
    assert gaps[:2] == pytest.approx([2.0, 4.0], abs=0.1)
    assert [event.cause for event in timeouts[:3]] == [
        "after 1.000 s, next after 2.000 s, 1 error in a row",
        "after 2.000 s, next after 4.000 s, 2 errors in a row",
        "after 4.000 s, next after 8.000 s, 3 errors in a row",
    ]
    # The path is given up at the last of them, and new data goes the other way at once.
    (down,) = (e for e in of(events, "transfer.b.x", "state") if e.detail == "inactive")
    assert down.time_s == timeouts[2].time_s
    assert down.cause == "3 errors in a row"
    moved = of(events, "transfer.b.y", "data")[0]
    assert moved.time_s == pytest.approx(down.time_s, abs=0.1)
    assert down.until_s is not None and down.until_s > 20.0


def test_a_cause_stands_above_what_it_brings_about(failover: RunResult) -> None:
    """A timeout above the state of the path and above what is sent again, all of one date."""
    mine = [event for event in failover.timeline() if event.lane == "transfer.b.x"]
    for timeout in [event for event in mine if event.kind == "timeout"]:
        kinds = [event.kind for event in mine if event.time_s == timeout.time_s]
        assert kinds[0] == "timeout" and len(kinds) > 1
        sent = [kind in ("retransmission", "data") for kind in kinds]
        assert sent == sorted(sent)


def test_a_state_ends_with_the_association() -> None:
    scenario = Scenario.load(ROOT / "examples" / "sctp-multihoming.toml")
    run = scenario.set("flows.0.size=500 kB", "duration=30 s").explored().run()
    closed = max(row.time_s for row in run.events if row.kind == "close")
    assert closed < 6 < run.run.end_s == 30
    states = [event for event in run.timeline() if event.kind == "state"]
    assert states and max(each.until_s or 0.0 for each in states) == closed


def test_both_directions_that_fail_together_have_one_lane() -> None:
    """Two where the dates differ, and that of one direction alone."""

    def outages(*back: str) -> list[tuple[str, float, str]]:
        form = '[{{ kind = "outage", intervals = [{{ at = "100 ms", for = "{}" }}] }}]'
        there, returns = form.format("200 ms"), form.format(*back) if back else "[]"
        mine = f'name = "l1"\nimpairments = {there}\nreverse = {{ impairments = {returns} }}'
        lossy = 'impairments = [{ kind = "bernoulli", rate = 0.01 }]'
        assert lossy in TWO_HOSTS
        events = Scenario(TWO_HOSTS.replace(lossy, mine)).run().timeline()
        found = [each for each in events if each.kind == "outage"]
        return [(each.lane, each.time_s, each.detail) for each in found]

    alone = ("l1", 0.1, "carries nothing")
    assert outages("200 ms") == [("l1", 0.1, "carries nothing in either direction")]
    assert outages("100 ms") == [alone, ("l1-reverse", 0.1, "carries nothing")]
    assert outages() == [alone]


def told(run: RunResult, host: str, kind: str) -> list[str]:
    """What happened at a host, of a kind, by date."""
    return [row.event for row in run.events if (row.host, row.kind) == (host, kind)]


def test_both_ends_of_a_handshake_and_of_the_end_are_told(failover: RunResult) -> None:
    """RFC 9260 §5.1: INIT, INIT ACK, COOKIE ECHO, COOKIE ACK; §9.2."""
    assert told(failover, "a", "handshake") == [
        "INIT sent",
        "INIT ACK received",
        "COOKIE ECHO sent",
        "COOKIE ACK received",
    ]
    assert told(failover, "b", "handshake") == [
        "INIT received",
        "INIT ACK sent",
        "COOKIE ECHO received",
        "COOKIE ACK sent",
    ]
    # Each end confirms the second path by a heartbeat and its answer (§5.4).
    for host in "ab":
        there = [row for row in failover.events if (row.host, row.path) == (host, "b.y")]
        dates = {row.event: row.time_s for row in reversed(there)}
        assert 0.05 < dates["HEARTBEAT ACK received"] - dates["HEARTBEAT sent"] < 0.1
        assert dates["HEARTBEAT ACK sent"] == dates["HEARTBEAT received"]


def test_a_run_that_does_not_ask_has_no_events() -> None:
    assert Scenario(TWO_HOSTS).run().events == []


EVENTS = '\n[[observe]]\nwhat = "events"\n'


def test_timeouts_and_fast_retransmits_of_tcp_are_those_that_the_flow_counts() -> None:
    run = Scenario(TWO_HOSTS + EVENTS).set("flows.f.size=2 MB").run(seed=5)
    (flow_row,) = run.flows
    for kind, count in (
        ("fast-retransmit", flow_row.fast_retransmits),
        ("timeout", flow_row.timeouts),
        ("probe", flow_row.tail_loss_probes),
    ):
        rows = [row for row in run.events if row.kind == kind]
        assert sum(row.count for row in rows) == count
        assert all(row.host == "a" and row.end == "sender" and row.path is None for row in rows)
    assert flow_row.fast_retransmits
    assert told(run, "a", "handshake") == ["SYN sent", "SYN-ACK received"]
    assert told(run, "b", "close")[0] == "FIN received"


def test_marks_are_told_where_they_arrive_and_what_they_cost() -> None:
    queue = 'queue = { kind = "threshold", limit = "50 packets", mark = "10 packets" }'
    text = TWO_HOSTS.replace(
        'queue = { kind = "droptail", limit = "50 packets" }\n'
        'impairments = [{ kind = "bernoulli", rate = 0.01 }]',
        queue,
    )
    assert queue in text
    run = Scenario(text + EVENTS).set("flows.f.tcp.ecn=on", "flows.f.size=2 MB").run()
    marks = [row for row in run.events if row.kind == "mark"]
    assert {row.host for row in marks} == {"b"}
    assert sum(row.count for row in marks) == run.links[0].marked > 0
    reductions = [row for row in run.events if row.kind == "ecn"]
    assert reductions and {row.host for row in reductions} == {"a"}
    # At most once a round trip (RFC 3168 §6.1.2), after the first mark has come.
    assert reductions[0].time_s > marks[0].time_s


def test_subflows_join_and_addresses_are_announced() -> None:
    example = Scenario.load(ROOT / "examples" / "mptcp.toml")
    run = Scenario(example.resolved() + EVENTS).run()
    mine = [row for row in run.events if row.flow == "multipath"]
    joins = [row for row in mine if row.event == "SYN with MP_JOIN sent"]
    opened = [row for row in mine if row.event == "SYN sent"]
    assert len(opened) == 1 and joins
    assert {row.path for row in joins}.isdisjoint({row.path for row in opened})
    paths = {f"{path.from_}-{path.to}" for path in run.paths}
    assert {row.path for row in joins + opened} <= paths


DEAD = 'impairments=[{ kind = "outage", intervals = [{ at = "0 s", for = "2 s" }] }]'


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ((f"links.0.{DEAD}",), ["SYN sent", "SYN sent again", "SYN sent again"]),
        (
            (f"links.0.reverse={{ {DEAD} }}",),
            ["SYN sent", "SYN-ACK sent", "SYN sent again", *["SYN-ACK sent again"] * 2],
        ),
        (
            (f"links.0.{DEAD}", "flows.f.protocol=sctp"),
            ["INIT sent", "INIT sent again", "INIT sent again"],
        ),
    ],
)
def test_a_repeated_syn_is_sent_again_and_no_timeout_of_data(
    changes: tuple[str, ...], told: list[str]
) -> None:
    run = Scenario(TWO_HOSTS).explored().set(*changes).run()
    events = run.timeline()
    sent = [e.detail for e in events if e.kind == "handshake" and " sent" in e.detail]
    assert sent[: len(told)] == told
    again = [e for e in events if e.detail.endswith("again") and e.kind == "handshake"]
    assert len(again) == sum("again" in each for each in told)
    (flow_row,) = run.flows
    assert flow_row.timeouts == len([e for e in events if e.kind == "timeout"])
    assert flow_row.retransmitted_packets == sum(
        int(e.detail.split()[0].replace(",", "")) for e in events if e.kind == "retransmission"
    )


def test_losses_and_retransmissions_are_told_in_bursts() -> None:
    run = Scenario(TWO_HOSTS).explored().run(seed=3)
    events = run.timeline()
    lost = [int(event.detail.split()[0]) for event in events if event.kind == "loss"]
    assert sum(lost) == len(run.series["f.drops"]["time_s"]) > 0
    again = [int(e.detail.split()[0]) for e in events if e.kind == "retransmission"]
    assert sum(again) == int(np.sum(run.series["f.sends"]["retransmission"])) > 0
    assert not any(event.kind == "data" for event in events)  # of one path nothing can move


def test_a_run_without_observations_has_its_flows() -> None:
    run = result([flow(flow="f", finish_s=2.0, bytes=2000)], end_s=4.0)
    (event,) = timeline.events(run)
    assert (event.until_s, event.kind, event.detail) == (2.0, "flow", "2.00 kB, complete")
    assert explorer.what_happened(run) is None


def test_it_is_a_table_and_a_chart(failover: RunResult, tmp_path: Path) -> None:
    tables.write_run(tmp_path, failover)
    with (tmp_path / "timeline.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(failover.timeline())
    assert tuple(rows[0]) == ("time_s", "until_s", "lane", "kind", "detail", "host", "cause")
    with (tmp_path / "events.csv").open(encoding="utf-8") as file:
        told = list(csv.DictReader(file))
    assert {row["end"] for row in told} == {"sender", "receiver"}
    assert len(told) == len(failover.events) == failover.table("events").num_rows
    beside = [name for name, _ in links(tmp_path, ".")]
    assert {"timeline.csv", "events.csv", "flows.csv", "paths.csv"} <= set(beside)
    chart = explorer.what_happened(failover)
    assert chart is not None
    assert chart.ynames == [
        "transfer.b.y (at b)",
        "transfer.b.y",
        "transfer.b.x (at b)",
        "transfer.b.x",
        "transfer",
        "r0-s0",
    ]
    assert [trace.name for trace in chart.traces] == [
        "flow lasts",
        "new data sent",
        "outage",
        "inactive",
        "heartbeat",
        "handshake",
        "timeout",
        "fast retransmit",
        "lost",
        "sent again",
    ]


def test_no_two_events_look_the_same() -> None:
    """Bars differ in colour, points in colour, mark or form; states have a colour each."""
    looks = [(form.form == "spans", form.form, form.colour, form.mark) for form in FORMS]
    assert len(set(looks)) == len(FORMS)
    states = ("active", "potentially failed", "inactive")
    every = [Event(n, n + 1.0, "f.p", "state", state) for n, state in enumerate(states)]
    chart = timeline_chart(every, 3.0, "")
    assert chart is not None
    assert [trace.name for trace in chart.traces] == ["potentially failed", "inactive"]


def test_it_is_drawn_in_lanes(failover: RunResult, anabranch: Command, tmp_path: Path) -> None:
    drawn = failover.plot("timeline")
    (axes,) = drawn.axes
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == list(reversed(timeline.lanes(failover.timeline())))
    legend = {entry.get_text() for entry in drawn.legends[0].get_texts()}
    assert {"outage", "inactive", "timeout", "new data sent"} <= legend
    (timeouts,) = (line for line in axes.lines if line.get_label() == "timeout")
    told = [event for event in failover.timeline() if event.kind == "timeout"]
    dates, at = np.asarray(timeouts.get_xdata()), np.asarray(timeouts.get_ydata())
    assert dates.tolist() == [event.time_s for event in told]
    assert {names[int(lane)] for lane in at} == {event.lane for event in told}
    # What the folder of the run holds is the same picture.
    tables.write_run(tmp_path, failover)
    events, end_s = results.happened(tmp_path)
    assert events == failover.timeline() and end_s == failover.run.end_s
    done = anabranch("plot", tmp_path, "--y", "timeline", "--out", tmp_path / "t.pdf")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "t.pdf").read_bytes().startswith(b"%PDF")


def test_kinds_of_events_can_be_chosen(
    failover: RunResult, anabranch: Command, tmp_path: Path
) -> None:
    tables.write_run(tmp_path, failover)
    events, end_s = results.happened(tmp_path)
    drawn = lanes.figure(events, end_s, kinds=("outage", "timeout"))
    assert {each.get_text() for each in drawn.legends[0].get_texts()} == {"outage", "timeout"}
    names = {label.get_text() for label in drawn.axes[0].get_yticklabels()}
    assert names == {event.lane for event in events if event.kind in ("outage", "timeout")}
    out = tmp_path / "t.svg"
    draw = ("plot", tmp_path, "--out", out, "--y", "timeline", "--events")
    assert anabranch(*draw, "outage, data").returncode == 0
    for command in (draw, ("timeline", tmp_path, "--events")):
        wrong = anabranch(*command, "outages")
        assert wrong.returncode == 2 and "did you mean `outage`" in wrong.stderr
    none = anabranch(*draw, "ecn")
    assert none.returncode == 2 and "what happened in the run: " in none.stderr
    other = anabranch("plot", tmp_path, "--out", out, "--events", "outage")
    assert other.returncode == 2 and "with --y timeline alone" in other.stderr


def test_it_is_printed_with_causes(failover: RunResult, anabranch: Command, tmp_path: Path) -> None:
    tables.write_run(tmp_path, failover)
    every = anabranch("timeline", tmp_path).stdout.splitlines()
    assert len(every) == 1 + len(failover.timeline())
    assert every[0].split() == ["from", "to", "lane", "kind", "detail", "cause"]
    some = anabranch("timeline", tmp_path, "--events", "timeout, outage").stdout.splitlines()
    told = [event for event in failover.timeline() if event.kind in ("timeout", "outage")]
    assert len(some) == 1 + len(told)
    assert "after 1.000 s, next after 2.000 s, 1 error in a row" in "\n".join(some)
    none = anabranch("timeline", tmp_path, "--events", "ecn")
    assert none.returncode == 2 and "what happened in the run: " in none.stderr
    absent = anabranch("timeline", tmp_path / "nothing")
    assert absent.returncode == 2 and "no such" in absent.stderr


def test_runs_are_drawn_below_each_other_to_the_end_of_the_longest(
    failover: RunResult, anabranch: Command, tmp_path: Path
) -> None:
    events, end_s = failover.timeline(), failover.run.end_s
    drawn = lanes.together([("a", events, end_s), ("b", events, 2 * end_s)])
    upper, lower = drawn.axes
    assert upper.get_xlim() == lower.get_xlim() == (0, 2 * end_s)
    assert [axes.get_title(loc="left") for axes in drawn.axes] == ["a", "b"]
    names = [entry.get_text() for entry in drawn.legends[0].get_texts()]
    assert len(names) == len(set(names)) > 2
    places = [tmp_path / name for name in "ab"]
    for place in places:
        tables.write_run(place, failover)
    done = anabranch("plot", *places, "--y", "timeline", "--out", tmp_path / "t.pdf")
    assert done.returncode == 0, done.stderr


def test_a_lane_of_which_nothing_is_drawn_is_left_out() -> None:
    every = [
        Event(0.0, 9.0, "f.p", "state", "active"),
        Event(1.0, None, "f.q", "timeout", "retransmission timeout"),
    ]
    chart = timeline_chart(every, 9.0, "")
    assert chart is not None and chart.ynames == ["f.q"]


@pytest.mark.parametrize("columns", [1.0, 2.0])
def test_the_legend_has_room(failover: RunResult, columns: float) -> None:
    drawn = lanes.figure(failover.timeline(), failover.run.end_s, columns=columns)
    drawn.draw_without_rendering()
    box = drawn.legends[0].get_window_extent()
    assert 0 <= box.x0 < box.x1 <= drawn.bbox.width
    assert drawn.axes[0].get_window_extent().y0 > box.y1


def test_a_timeline_takes_no_other_choice_and_needs_events(
    anabranch: Command, tmp_path: Path
) -> None:
    run = Scenario(TWO_HOSTS.partition("[[observe]]")[0]).run()
    tables.write_run(tmp_path, run)
    out = tmp_path / "t.pdf"
    nothing = anabranch("plot", tmp_path, "--y", "timeline", "--out", out)
    assert nothing.returncode == 2 and "--explore" in nothing.stderr
    other = anabranch("plot", tmp_path, "--y", "timeline", "--by", "flow", "--out", out)
    assert other.returncode == 2 and "beside --y timeline" in other.stderr
    assert "field `--by`: value `flow`" in other.stderr
    other = anabranch("plot", tmp_path, "--y", "timeline", "--where", "flow=f", "--out", out)
    assert "field `--where`: value `flow=f`" in other.stderr
    other = anabranch("plot", tmp_path, "--from", "1", "--out", out)
    assert other.returncode == 2 and "field `--from`: value `1`" in other.stderr
    assert not out.exists()


def test_a_part_of_the_time_is_drawn(
    failover: RunResult, anabranch: Command, tmp_path: Path
) -> None:
    """Nothing is drawn beside it, and lanes without anything in it are left out."""
    events, end_s = failover.timeline(), failover.run.end_s
    dates = sorted(event.time_s for event in events if event.kind == "timeout")
    begin, end = dates[0] - 0.25, dates[0] + 0.25
    axes = lanes.together([("", events, end_s)], span=(begin, end)).axes[0]
    assert axes.get_xlim() == pytest.approx((begin, end))
    marks = [float(x) for line in axes.lines for x in np.asarray(line.get_xdata(), dtype=float)]
    assert marks and all(begin <= x <= end for x in marks)
    tables.write_run(tmp_path, failover)
    draw = ("plot", tmp_path, "--y", "timeline", "--out", tmp_path / "t.pdf")
    assert anabranch(*draw, "--from", f"{begin:g}", "--to", f"{end:g}").returncode == 0
    wrong = anabranch(*draw, "--from", "5", "--to", "2")
    assert wrong.returncode == 2 and "field `--to`: value `2`" in wrong.stderr
