"""Figures 3.2 and 3.3 of the paper, and the sweeps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from anabranch import stats
from anabranch.experiment import RunResult
from anabranch.figures import Plot
from anabranch.studies import drawing
from anabranch.studies.fast_tcp.router import measures as m
from anabranch.studies.fast_tcp.router.claims import Watched
from anabranch.studies.fast_tcp.router.conditions import Run, paper, plan
from anabranch.studies.results import FigureEntry

PACKET_BITS = 1500 * 8
LABELS = {"plain": "without Fast-TCP", "fast-tcp": "with Fast-TCP"}


def write_all(directory: Path, results: m.Results, watched: Watched) -> list[FigureEntry]:
    """Writes every figure's CSV, SVG and PNG; returns their captions in order."""
    case = plan()["paper"]
    errors = {router: _first(watched, paper(router)) for router in LABELS}
    clean = {
        router: _first(watched, Run(router, case["flavour"], buffer=case["buffer"]))
        for router in LABELS
    }
    ber = f"bit errors of {case['ber']:g}"
    return [
        _acknowledged(directory, "fig3_2", errors, ber),
        _occupancy(directory, "fig3_3", errors, ber),
        _acknowledged(directory, "fig3_2_clean", clean, "no bit errors"),
        _occupancy(directory, "fig3_3_clean", clean, "no bit errors"),
        _sweep(directory, results, 0.0),
        _sweep(directory, results, case["ber"]),
        _thresholds(directory, results),
    ]


def _first(watched: Watched, wanted: Run) -> RunResult:
    return next(result for run, result in watched if run == wanted)


def _acknowledged(directory: Path, stem: str, runs: dict[str, RunResult], text: str) -> FigureEntry:
    rows = _series(runs, "f.acks", 1.0)
    plot = Plot(f"Acknowledged at the source, {text}", "time (s)", "octets acknowledged")
    caption = f"Octets acknowledged at the source, Reno, {text}."
    return drawing.times(directory, stem, rows, plot, caption)


def _occupancy(directory: Path, stem: str, runs: dict[str, RunResult], text: str) -> FigureEntry:
    rows = _series(runs, "uplink.queue", PACKET_BITS)
    plot = Plot(f"Router 1's forward buffer, {text}", "time (s)", "occupancy (bit)")
    caption = f"Occupancy of router 1's forward buffer, in packets of 1500 octets, {text}."
    return drawing.times(directory, stem, rows, plot, caption)


def _series(runs: dict[str, RunResult], name: str, factor: float) -> list[dict[str, Any]]:
    rows = []
    for router, run in runs.items():
        series = run.series[name]
        pairs = zip(series["time_s"].tolist(), series["value"].tolist(), strict=True)
        rows += [{"series": LABELS[router], "time_s": t, "value": v * factor} for t, v in pairs]
    return rows


def _sweep(directory: Path, results: m.Results, ber: float) -> FigureEntry:
    runs = [
        run
        for run in sorted(results)
        if (run.ber, run.window, run.flows, run.cross) == (ber, "scaled", 1, False)
        and run == run.with_router(run.router)
        and run.router in LABELS
    ]
    rows = [
        {
            "series": f"{run.flavour}, {LABELS[run.router]}",
            "x": run.buffer,
            **vars(stats.mean(map(m.megabytes, results[run]))),
        }
        for run in runs
    ]
    text = f"bit errors of {ber:g}" if ber else "no bit errors"
    plot = Plot(f"25 s, {text}", "buffer (packets)", "octets received (10^6)", log="xy")
    caption = f"Octets received after 25 s against the buffer, {text}."
    stem = "sweep_errors" if ber else "sweep_clean"
    return drawing.points(directory, stem, rows, plot, caption)


def _thresholds(directory: Path, results: m.Results) -> FigureEntry:
    part = plan()["thresholds"]
    runs = [
        run
        for run in sorted(results)
        if (run.router, run.buffer, run.ber, run.flows) == ("fast-tcp", part["buffer"], 0.0, 1)
        and run.flavour == "reno"
        and run.window == "scaled"
        and not run.cross
    ]
    rows = [
        {
            "series": f"{run.low:g} to {run.high:g} of the buffer",
            "x": run.delay_ms,
            **vars(stats.mean(map(m.megabytes, results[run]))),
        }
        for run in runs
    ]
    plot = Plot("Reno, 100 packets", "longest delay (ms)", "octets received (10^6)", log="x")
    caption = "Octets received after 25 s against the law's thresholds and longest delay."
    return drawing.points(directory, "thresholds", rows, plot, caption)
