"""The figures: measured points with intervals, and the closed forms as lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from anabranch.figures import COLOURS, MARKERS, Look, Plot
from anabranch.rows import CsvRow
from anabranch.stats import Estimate
from anabranch.studies import drawing
from anabranch.studies.response_functions import models
from anabranch.studies.response_functions.claims import MIN_RTO, Values, estimates
from anabranch.studies.response_functions.conditions import plan, rtt
from anabranch.studies.results import FigureEntry

CURVE_POINTS = 60
MODEL = "model"

DOTS = {
    "reno": Look("", "o", "#0072b2", label="reno"),
    "cubic": Look("", "s", "#d55e00", label="cubic"),
    "highspeed": Look("", "^", "#009e73", label="highspeed"),
}


def write_all(directory: Path, values: Values) -> list[FigureEntry]:
    """Writes every figure's CSV, SVG and PNG; returns their captions in order."""
    return [
        _periodic(directory, values),
        _random(directory, values),
        _timeouts(directory, values),
        _lossy_link(directory, values),
        _buffer(directory, values),
        _window(directory, values),
        _slow_start(directory, values),
    ]


def _periodic(directory: Path, values: Values) -> FigureEntry:
    forms: dict[str, tuple[str, Callable[[float], float]]] = {
        "reno": ("sqrt(3/2p)", models.mathis),
        "cubic": ("RFC 9438", lambda p: models.cubic(p, rtt())),
        "highspeed": ("RFC 3649", models.highspeed),
    }
    rows, looks = [], dict(DOTS)
    for algorithm in plan()["loss"]["algorithms"]:
        label, form = forms[algorithm]
        measured = estimates(values, "loss", algorithm, "periodic")
        rows += _points(algorithm, measured)
        name = f"{algorithm} {MODEL}"
        rows += _curve(name, form, measured)
        looks[name] = Look("-", colour=DOTS[algorithm].colour, label=label)
    plot = Plot(
        "Periodic loss, RTT 100 ms",
        "loss rate p",
        "average window (segments)",
        looks,
        log="xy",
        legend="upper right",
    )
    caption = "Average window against loss rate, one loss every 1/p packets; lines: closed forms."
    return drawing.points(directory, "window_by_periodic_loss", rows, plot, caption)


def _random(directory: Path, values: Values) -> FigureEntry:
    rows = []
    for algorithm in plan()["loss"]["random_algorithms"]:
        rows += _points(algorithm, estimates(values, "loss", algorithm, "random"))
    name = f"reno {MODEL}"
    reno = estimates(values, "loss", "reno", "random")
    rows += _curve(name, lambda p: models.mathis(p, random=True), reno)
    looks = {**DOTS, name: Look("-", colour=DOTS["reno"].colour, label="1.31/sqrt(p)")}
    plot = Plot(
        "Random loss, RTT 100 ms",
        "loss rate p",
        "average window (segments)",
        looks,
        log="xy",
        legend="upper right",
    )
    caption = "The same under independent random loss; mean and 95 % interval over replications."
    return drawing.points(directory, "window_by_random_loss", rows, plot, caption)


def _timeouts(directory: Path, values: Values) -> FigureEntry:
    measured = estimates(values, "timeouts", "reno", "random")
    rows = _points("reno", measured)
    rows += _curve("PFTK", lambda p: models.pftk(p, rtt(), MIN_RTO, 2), measured)
    rows += _curve("Mathis", lambda p: models.mathis(p, 2, random=True), measured)
    looks = {
        "reno": DOTS["reno"],
        "PFTK": Look("-", colour="#0072b2"),
        "Mathis": Look(":", colour="#000000"),
    }
    plot = Plot(
        "Reno with timeouts, delayed ACKs",
        "loss rate p",
        "segments per RTT",
        looks,
        log="xy",
        legend="upper right",
    )
    caption = "Reno's rate under heavy loss: the PFTK model has the timeouts, Mathis' has none."
    return drawing.points(directory, "rate_with_timeouts", rows, plot, caption)


def _lossy_link(directory: Path, values: Values) -> FigureEntry:
    part = plan()["lossy_link"]
    rows = []
    for algorithm in part["algorithms"]:
        rows += _points(algorithm, estimates(values, "lossy_link", algorithm, "random"))
    title = (
        f"{part['rate_mbps']} Mbit/s, RTT {part['rtt_ms']} ms, {part['queue']} packets of buffer"
    )
    plot = Plot(title, "random loss rate", "share of the link", log="x", legend="lower left")
    caption = "Share of a slow link that one flow gets under random loss, by window algorithm."
    return drawing.points(directory, "share_by_random_loss", rows, plot, caption)


def _buffer(directory: Path, values: Values) -> FigureEntry:
    rows = []
    for algorithm in plan()["buffer"]["algorithms"]:
        rows += _points(algorithm, estimates(values, "buffer", algorithm))
    grid = np.linspace(0, max(plan()["buffer"]["bdp"]), CURVE_POINTS)
    rows += [_row(MODEL, float(b), models.utilisation(float(b))) for b in grid]
    looks = {**DOTS, MODEL: Look("-", colour=DOTS["reno"].colour, label="AIMD, closed form")}
    title = f"One flow, {plan()['buffer']['rate_mbps']} Mbit/s, RTT 100 ms"
    plot = Plot(
        title, "buffer (bandwidth-delay products)", "share of the link", looks, legend="lower right"
    )
    caption = "Share of a link that one flow uses, by the size of the drop-tail buffer."
    return drawing.points(directory, "utilisation_by_buffer", rows, plot, caption)


def _window(directory: Path, values: Values) -> FigureEntry:
    rows = []
    for rtt_ms in plan()["window"]["rtt_ms"]:
        measured = estimates(values, "window", "reno", f"{rtt_ms}")
        per_second = 1000 / rtt_ms
        rates = {w: estimate.scaled(per_second) for w, estimate in measured.items()}
        rows += _points(f"RTT {rtt_ms} ms", rates)
        name = f"RTT {rtt_ms} ms, {MODEL}"
        rows += _curve(name, lambda w, rate=per_second: w * rate, rates)  # type: ignore[misc]
    looks = {}
    for index, rtt_ms in enumerate(plan()["window"]["rtt_ms"]):
        colour, marker = COLOURS[index], MARKERS[index]
        looks[f"RTT {rtt_ms} ms"] = Look("", marker, colour)
        looks[f"RTT {rtt_ms} ms, {MODEL}"] = Look(
            "-", colour=colour, label="_" if index else "W/RTT"
        )
    plot = Plot(
        "Limited by the receiver's window", "W (segments)", "segments per s", looks, log="xy"
    )
    caption = "Rate of a flow that the receiver's window limits, by window and RTT."
    return drawing.points(directory, "rate_by_window", rows, plot, caption)


def _slow_start(directory: Path, values: Values) -> FigureEntry:
    rows, looks = [], {}
    for index, initial in enumerate(plan()["slow_start"]["initial"]):
        measured = estimates(values, "slow-start", "reno", f"{initial}")
        rows += _points(f"initial window {initial}", measured)
        name = f"initial window {initial}, {MODEL}"
        looks[f"initial window {initial}"] = Look("", MARKERS[index], COLOURS[index])
        label = "_" if index else "closed form"
        looks[name] = Look("-", colour=COLOURS[index], label=label, steps=True)
        grid = np.unique(np.geomspace(1, max(measured), CURVE_POINTS).round())
        rows += [_row(name, float(n), models.slow_start_rounds(int(n), initial, 2.0)) for n in grid]
    plot = Plot("Slow start without loss", "transfer (segments)", "rounds", looks, log="x")
    caption = "Rounds that a transfer takes, by its size and the initial window."
    return drawing.points(directory, "slow_start_rounds", rows, plot, caption)


def _points(series: str, measured: Mapping[float, Estimate]) -> list[CsvRow]:
    return [{"series": series, "x": x, **vars(estimate)} for x, estimate in measured.items()]


def _curve(
    series: str, model: Callable[[float], float], measured: Mapping[float, Estimate]
) -> list[CsvRow]:
    grid = np.geomspace(min(measured), max(measured), CURVE_POINTS)
    return [_row(series, float(x), model(float(x))) for x in grid]


def _row(series: str, x: float, y: float) -> CsvRow:
    """A point of a closed form: no samples behind it."""
    return {"series": series, "x": x, "mean": y, "ci_low": y, "ci_high": y, "n": 0}
