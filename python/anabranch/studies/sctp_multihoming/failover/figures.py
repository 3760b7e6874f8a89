"""The figures: detection, gap and goodput by Path.Max.Retrans, failback by HB.interval."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from anabranch import stats
from anabranch.experiment import RunResult
from anabranch.figures import COLOURS, MARKERS, Look, Plot
from anabranch.rows import CsvRow
from anabranch.studies import drawing
from anabranch.studies.results import FigureEntry
from anabranch.studies.sctp_multihoming.failover import models
from anabranch.studies.sctp_multihoming.failover.claims import Failures, failback_form
from anabranch.studies.sctp_multihoming.failover.conditions import OFF, Run, Setting
from anabranch.studies.sctp_multihoming.failover.measures import Failure

RETRANS = "Path.Max.Retrans"


def write_all(
    directory: Path, failures: Failures, results: Mapping[Run, RunResult]
) -> list[FigureEntry]:
    """Writes every figure's CSV, SVG and PNG; returns their captions in order."""
    return [
        _detection(directory, failures),
        _by_policy(
            directory, failures, "failover_gap", lambda f: f.gap, _plot("longest gap (s)", "y")
        ),
        _by_policy(
            directory,
            failures,
            "failover_goodput",
            lambda f: f.share,
            _plot("goodput in the minute after / before"),
        ),
        _delivery(directory, results),
        _failback(directory, failures),
    ]


def _row(series: str, x: float, samples: list[float]) -> CsvRow:
    return {"series": series, "x": x, **vars(stats.mean(samples))}


def _detection(directory: Path, failures: Failures) -> FigureEntry:
    rows, looks = [], {}
    chosen = [s for s in failures if s.kind == "busy" and s.destination == "fr-same-rto-alt"]
    plain = [s for s in chosen if s.potentially_failed == OFF]
    for index, bounds in enumerate(sorted({(s.least, s.most) for s in plain}, reverse=True)):
        name = f"RTO {bounds[0]:g} to {bounds[1]:g} s"
        looks[name] = Look("none", MARKERS[index], COLOURS[index])
        looks[f"{name}, closed form"] = Look("-", colour=COLOURS[index], label="_")
        for s in (s for s in plain if (s.least, s.most) == bounds):
            found = failures[s]
            rows.append(_row(name, s.retrans, [f.detection for f in found if f.detection]))
            closed = [models.detection(f.rto, s.retrans, s.most) for f in found]
            rows.append(_row(f"{name}, closed form", s.retrans, closed))
    name = "RTO 1 to 60 s, PFMR 0: failover"
    looks[name] = Look("none", "x", COLOURS[6])
    for s in (s for s in chosen if s.potentially_failed == 0 and (s.least, s.most) == (1, 60)):
        rows.append(_row(name, s.retrans, [f.failover for f in failures[s] if f.failover]))
    plot = Plot(
        "The primary path fails under data", RETRANS, "until it is left (s)", looks, log="y"
    )
    caption = (
        "Time from the failure until the path is inactive (with PFMR 0: until new data leaves it),"
        " and the sum of doubling timeouts as lines."
    )
    return drawing.points(directory, "failover_detection", rows, plot, caption)


def _plot(axis: str, log: str = "") -> Plot:
    return Plot("The primary path fails under data, RTO 1 to 60 s", RETRANS, axis, log=log)


def _by_policy(
    directory: Path,
    failures: Failures,
    stem: str,
    measured: Callable[[Failure], float],
    plot: Plot,
) -> FigureEntry:
    usual = [s for s in failures if s.kind == "busy" and (s.least, s.most) == (1, 60)]
    rows = [
        _row(s.name(), s.retrans, [measured(f) for f in failures[s]])
        for s in sorted(usual, key=lambda s: (s.name(), s.retrans))
    ]
    caption = f"What the receiving application sees of the failure: {plot.y}, by policy."
    return drawing.points(directory, stem, rows, plot, caption)


def _delivery(directory: Path, results: Mapping[Run, RunResult]) -> FigureEntry:
    rows = []
    shown = [
        run
        for run in results
        if run.phase == 0
        and run.setting.kind == "busy"
        and run.setting.retrans == 5
        and (run.setting.least, run.setting.most) == (1, 60)
    ]
    for run in shown:
        series = results[run].series["transfer.received"]
        last = -1.0
        for time, octets in zip(series["time_s"].tolist(), series["value"].tolist(), strict=True):
            if time - last >= 0.1:  # what the eye can see
                name = run.setting.name()
                rows.append({"series": name, "time_s": time - run.fails, "value": octets / 1e6})
                last = time
    plot = Plot(
        "Delivery around the failure, Path.Max.Retrans 5",
        "time since the failure (s)",
        "received (MB)",
    )
    caption = "What has arrived, one run of each policy; the primary path fails at 0 s."
    return drawing.times(directory, "failover_delivery", rows, plot, caption)


def _failback(directory: Path, failures: Failures) -> FigureEntry:
    rows, looks = [], {}
    names: dict[str, list[Setting]] = {}
    for s in (s for s in failures if s.kind == "back"):
        names.setdefault(f"RTO.Max {s.most:g} s", []).append(s)
    for index, (name, settings) in enumerate(names.items()):
        looks[name] = Look("none", MARKERS[index], COLOURS[index])
        looks[f"{name}, closed form"] = Look("-", colour=COLOURS[index], label="_")
        for s in settings:
            found = failures[s]
            rows.append(_row(name, s.interval, [f.failback for f in found if f.failback]))
            closed = [failback_form(s, f) for f in found]
            mean = sum(closed) / len(closed)
            rows.append(_row(f"{name}, closed form", s.interval, [mean]))
    plot = Plot(
        "The primary path works again",
        "HB.interval (s)",
        "until it is active (s)",
        looks,
    )
    caption = "Time from the repair until the path is active again; closed forms as lines."
    return drawing.points(directory, "failover_back", rows, plot, caption)
