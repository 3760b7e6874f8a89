"""The lab: its settings can be set, its notebooks and answers are those of its source."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from anabranch.play.lab import Exercise, exercises, setting
from anabranch.play.lab.answers import measured, page
from anabranch.play.lab.measures import MEASURES, run
from anabranch.play.lab.notebooks import notebook
from anabranch.play.lab.showing import show
from anabranch.play.running import answer
from anabranch.play.series import late_goodput, late_path_rate
from conftest import Command

ROOT = Path(__file__).parents[1]
EVERY = pytest.mark.parametrize("exercise", exercises(), ids=lambda each: each.id)


def test_the_lab_takes_ninety_minutes() -> None:
    assert sum(exercise.minutes for exercise in exercises()) == 90


@EVERY
def test_every_step_is_a_setting_that_runs(exercise: Exercise) -> None:
    for step in exercise.steps:
        for changes in (step.a, step.b):
            asked = {"scenario": exercise.scenario, "changes": changes or {}, "want": "run"}
            found = answer(asked, None)
            assert found["status"] == 200, found
            assert found["ignored"] == []
            known = {control["id"]: control["value"] for control in found["controls"]}
            assert {name: known[name] for name in changes or {}} == (changes or {})


def test_the_answers_are_those_of_runs() -> None:
    written = (ROOT / "docs" / "lab-answers.md").read_text(encoding="utf-8")
    assert page() == written, "run `anabranch lab --answers docs/lab-answers.md`"


@EVERY
def test_every_measure_is_told_in_the_answer(exercise: Exercise) -> None:
    names = {measure.name for measure in exercise.measures}
    assert set(re.findall(r"{(\w+)}", exercise.answer)) == names


@EVERY
def test_the_notebooks_are_those_of_the_source(exercise: Exercise) -> None:
    number = exercises().index(exercise) + 1
    path = ROOT / "examples" / "notebooks" / f"lab-{number}-{exercise.id}.ipynb"
    assert notebook(exercise, number) == path.read_text(encoding="utf-8"), (
        "run `anabranch lab --notebooks examples/notebooks`"
    )


def numbers(id: str) -> dict[str, float]:
    """What is measured of an exercise."""
    (exercise,) = [each for each in exercises() if each.id == id]
    return {name: float(text) for name, text in measured(exercise).items()}


def test_what_the_answers_explain_is_so() -> None:
    """The sentences around the numbers, as inequalities."""
    slow = numbers("slow-start")
    rtt = 0.1
    assert 2 * rtt < slow["two"] - slow["ten"] < 4 * rtt
    assert slow["one"] - slow["two"] == pytest.approx(rtt, abs=0.02)
    assert slow["lost"] == slow["dropped"] + 1  # the rescue retransmission
    assert slow["ten"] - slow["fast"] < 0.05 < slow["small"] - slow["ten"]
    saw = numbers("sawtooth")
    assert saw["full"] > 98 and saw["quarter"] < saw["cubic"] - 5 < saw["full"]
    assert saw["large"] - saw["full"] < 1 and saw["large_queue"] > 4 * saw["queue"]
    assert saw["vegas"] > 98 and saw["vegas_queue"] < 5
    far = numbers("rtt")
    assert 160 / 40 < far["near"] / far["far"] < (160 / 40) ** 2
    assert far["near_long"] / far["far_long"] < far["near"] / far["far"]
    assert far["near_fq"] / far["far_fq"] < 1.5
    bloat = numbers("bufferbloat")
    assert bloat["droptail"] > 5 * bloat["codel"] > 5 * 40
    assert bloat["small_slow"] > bloat["small"] + 20 > bloat["fq_slow"] + 20
    assert bloat["fq_slow"] == pytest.approx(bloat["fq"], abs=3)
    assert 350 < bloat["waiting"] < 500 and bloat["droptail"] < 300 + 40
    assert bloat["codel"] > bloat["fq"] and bloat["down"] - bloat["down_fq"] < 0.5
    losses = numbers("losses")
    assert losses["reno"] < losses["newreno"] < losses["sack"] <= losses["fack"]
    assert losses["reno_timeouts"] >= 1 and losses["one_newreno"] == losses["one_sack"]
    paths = numbers("two-paths")
    assert paths["tcp"] < paths["lia"] < paths["reno"]  # the first goal of RFC 6356
    assert paths["lia"] - paths["lia_lte"] <= paths["lia_tablet"]  # the second, over Wi-Fi
    assert paths["lia_lte"] <= paths["lia_laptop"]  # and over LTE
    assert paths["olia_lte"] < paths["lia_lte"]
    assert paths["small"] < paths["tcp"]


@pytest.mark.parametrize("buffer", [42, 168])
def test_the_tables_of_the_page_have_what_answers_speak_of(buffer: int) -> None:
    changes = {"links.bottleneck.buffer": buffer}
    asked = {"scenario": "lab:sawtooth", "changes": changes, "want": "run"}
    found = answer(asked, None)
    result = run("lab:sawtooth", changes)
    (flow,) = found["flows"]
    (link,) = [each for each in found["links"] if each["link"] == "bottleneck"]
    assert flow["segment"] == 1448
    assert flow["rtt_s"] * 1e3 == pytest.approx(MEASURES["rtt"](result, "long"))
    assert flow["mbps"] == pytest.approx(MEASURES["goodput"](result, "long"))
    assert link["queue"] == pytest.approx(MEASURES["queue"](result, "bottleneck"))
    assert link["used"] * 100 == pytest.approx(MEASURES["used"](result, "bottleneck 10"))


def test_flows_over_two_paths_have_a_row_for_each() -> None:
    """As the answers have them: of the second half of the run, after slow start."""
    changes = {"flows.phone.window": "lia"}
    found = answer({"scenario": "lab:two-paths", "changes": changes, "want": "run"}, None)
    phone, *others = found["flows"]
    assert [flow["paths"] for flow in others] == [[], []]
    result = run("lab:two-paths", changes)
    rates = {path["path"].rpartition(".")[2]: path["mbps"] for path in phone["paths"]}
    assert set(rates) == {"wifi", "lte"}
    for name, rate in rates.items():
        measured_here = MEASURES["path_rate"](result, f"phone phone.{name}")
        assert rate == pytest.approx(measured_here, rel=0.02)
    assert sum(rates.values()) == pytest.approx(phone["mbps"], rel=0.05)
    assert all(path["rtt_s"] > 0.02 and path["resent"] > 0 for path in phone["paths"])


def test_rates_of_flows_that_go_on_are_of_the_second_half() -> None:
    """Of those that end, of all of them."""
    scenario = setting("lab:rtt", {"duration": 20})
    whole, half = scenario.run(), scenario.set('duration="10 s"').run()
    for late, early in zip(whole.flows, half.flows, strict=True):
        expected = (late.bytes - early.bytes) * 8e-6 / 10
        assert late_goodput(whole, late) == pytest.approx(expected)
        assert late_goodput(whole, late) != pytest.approx(late.goodput_bps / 1e6, rel=0.001)
    ended = setting("lab:slow-start", {}).run()
    assert late_goodput(ended, ended.flows[0]) == ended.flows[0].goodput_bps / 1e6
    paths, earlier = (setting("lab:two-paths", {"duration": seconds}).run() for seconds in (20, 10))
    for late_path, early_path in zip(paths.paths, earlier.paths, strict=True):
        rate = late_path_rate(paths, paths.flows[0], late_path)
        assert late_path.new_bytes is not None and early_path.new_bytes is not None
        expected = (late_path.new_bytes - early_path.new_bytes) * 8e-6 / 10
        assert rate == pytest.approx(expected, rel=0.02)


def test_segments_are_without_timestamps_where_there_are_none() -> None:
    asked = {"scenario": "lab:losses", "changes": {}, "want": "run"}
    assert [flow["segment"] for flow in answer(asked, None)["flows"]] == [1000]


def test_a_setting_that_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="allowed: a whole number from 1"):
        setting("lab:sawtooth", {"links.bottleneck.buffer": 0})


def test_what_notebooks_show_has_units_that_fit(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside each other on one scale: a rate a thousand times smaller is no curve as high."""
    figure = Figure()
    monkeypatch.setattr("matplotlib.pyplot.show", lambda: None)
    monkeypatch.setattr("matplotlib.pyplot.subplots", lambda *a, **k: _drawn(figure, *a, **k))
    show("lab:slow-start", {}, {"links.bottleneck.rate": 0.1}, kinds=("delivery", "srtt"))
    fast, slow = (line for line in capsys.readouterr().out.splitlines() if "transfer: " in line)
    assert re.search(r"transfer: [0-9.]{4} Mbit/s, ", fast)
    assert re.search(r"transfer: [0-9.]{4} kbit/s, ", slow)
    labels = [axes.get_ylabel() for axes in figure.axes]
    assert labels[:2] == ["rate (Mbit/s)"] * 2
    assert labels[2] == labels[3] and labels[2].startswith("smoothed RTT (")


def test_notebooks_print_round_trip_times_and_queues(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the exercises ask to read, as the answers have it; one is no plural."""
    figure = Figure()
    monkeypatch.setattr("matplotlib.pyplot.show", lambda: None)
    monkeypatch.setattr("matplotlib.pyplot.subplots", lambda *a, **k: _drawn(figure, *a, **k))
    show("lab:bufferbloat", {}, kinds=("cwnd",))
    told = capsys.readouterr().out
    call = r"  call: 64.0 kbit/s, mean RTT 28[0-9] ms, \d+ packets sent again, 1 timeout\n"
    assert re.search(call, told)
    assert re.search(r"^  bottleneck: mean queue 42[0-9] packets, 1,[0-9]{3} dropped$", told, re.M)
    assert "-left: " not in told  # nothing waits there


def test_notebooks_show_paths_and_windows_in_segments(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    figure = Figure()
    monkeypatch.setattr("matplotlib.pyplot.show", lambda: None)
    monkeypatch.setattr("matplotlib.pyplot.subplots", lambda *a, **k: _drawn(figure, *a, **k))
    show("lab:two-paths", {"duration": 5}, kinds=("cwnd",))
    rows = capsys.readouterr().out.splitlines()
    assert re.search(
        r"^    server.x to phone.wifi: [0-9.]{4} Mbit/s, \d+ packets", "\n".join(rows), re.M
    )
    assert sum(" to phone.lte: " in row for row in rows) == 1
    assert figure.axes[0].child_axes == []  # paths have segments of their own size
    figure.clear()
    (result,) = show("lab:sawtooth", {"duration": 5}, kinds=("cwnd",))
    (right,) = figure.axes[0].child_axes
    assert right.get_ylabel() == "segments of 1448 bytes"
    peak = result.series["long.cwnd"]["value"].max()
    figure.draw_without_rendering()
    assert right.get_ylim()[1] == pytest.approx(peak / 1448, rel=0.1)


def _drawn(figure: Figure, rows: int, columns: int, **_: object) -> tuple[Figure, object]:
    """Axes without a window to show them in."""
    return figure, figure.subplots(rows, columns, sharey="row", squeeze=False)


def test_the_command_writes_notebooks(anabranch: Command, tmp_path: Path) -> None:
    done = anabranch("lab", "--notebooks", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert len(list(tmp_path.glob("*.ipynb"))) == len(exercises())
