"""The figures: differences by the size of the transfer, model beside measurement, model error."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from anabranch import stats
from anabranch.figures import COLOURS, MARKERS, Look, Plot
from anabranch.stats import Estimate
from anabranch.studies import drawing
from anabranch.studies.results import FigureEntry
from anabranch.studies.sctp_slow_start import models
from anabranch.studies.sctp_slow_start.claims import Times, differences, model_errors
from anabranch.studies.sctp_slow_start.conditions import Run, plan

COMPARISONS = {
    "two segments (RFC 2581)": ("sctp-rfc4960", "tcp-rfc2581"),
    "three segments (RFC 3390)": ("sctp-rfc4960", "tcp-rfc3390"),
    "ten segments (RFC 6928)": ("sctp-rfc9260", "tcp-rfc6928"),
}
"""TCP's initial window, and the senders that are compared."""
PROMPT = "an ACK a packet"
SHOWN = ("sctp-rfc4960", "tcp-rfc2581", "tcp-rfc6928")
"""Senders whose times are drawn."""


def write_all(directory: Path, times: Times) -> list[FigureEntry]:
    """Writes every figure's CSV, SVG and PNG; returns their captions in order."""
    return [
        _differences(directory, times),
        _times(directory, times),
        _errors(directory, times),
    ]


def _differences(directory: Path, times: Times) -> FigureEntry:
    rows: list[dict[str, Any]] = []
    looks = {}
    for index, (name, (sctp, tcp)) in enumerate(COMPARISONS.items()):
        by_cell = differences(times, sctp, tcp, delayed=True, data_only=True)
        for kbytes in sorted({cell.kbytes for cell in by_cell}):
            chosen = [100 * value for cell, value in by_cell.items() if cell.kbytes == kbytes]
            rows.append(_row(name, kbytes, stats.mean(chosen)))
        looks[name] = Look("-", MARKERS[index], COLOURS[index])
    plot = Plot(
        "SCTP against TCP by TCP's initial window, delayed ACKs",
        "data (kB)",
        "SCTP sooner by (%)",
        looks,
        log="x",
        legend="upper right",
    )
    caption = (
        "How much less time the data takes over SCTP than over TCP; mean over rates and RTTs, and"
        " how much they differ."
    )
    return drawing.points(directory, "difference_by_size", rows, plot, caption)


def _times(directory: Path, times: Times) -> FigureEntry:
    cells = sorted({run.cell for run in times})
    rate, rtt = _middle([c.rate_mbps for c in cells]), _middle([c.rtt_ms for c in cells])
    rows, looks = [], {}
    for index, sender in enumerate(SHOWN):
        transport, packets = (plan()["senders"][sender][key] for key in ("transport", "packets"))
        for cell in (c for c in cells if (c.rate_mbps, c.rtt_ms) == (rate, rtt)):
            run = Run(sender, False, cell)
            if run not in times:
                continue
            rows.append(_row(sender, cell.kbytes, stats.mean([times[run]])))
            expected = models.seconds(transport, cell.octets, rate * 1e6, rtt / 1000, packets)
            rows.append(_row(f"{sender}, model", cell.kbytes, stats.mean([expected])))
        looks[sender] = Look("", MARKERS[index], COLOURS[index])
        looks[f"{sender}, model"] = Look("-", colour=COLOURS[index], label="_")
    plot = Plot(
        f"{rate:g} Mbit/s, RTT {rtt:g} ms, an ACK a packet",
        "data (kB)",
        "transfer time (s)",
        looks,
        log="xy",
    )
    caption = "Transfer time with the handshake, and the closed form as lines."
    return drawing.points(directory, "time_by_size", rows, plot, caption)


def _errors(directory: Path, times: Times) -> FigureEntry:
    rows = []
    looks = {PROMPT: Look("--", "s", "#000000", size=2.5)}
    chosen = {r: e for r, e in model_errors(times).items() if r.sender == "sctp-rfc4960"}
    prompt = {run: error for run, error in chosen.items() if not run.delayed}
    rows += _by_size(PROMPT, prompt)
    for index, rtt in enumerate(sorted({run.cell.rtt_ms for run in chosen})):
        name = f"RTT {rtt:g} ms"
        rows += _by_size(
            name, {r: e for r, e in chosen.items() if r.delayed and r.cell.rtt_ms == rtt}
        )
        looks[name] = Look("-", MARKERS[index], COLOURS[index], size=2.5)
    plot = Plot(
        "Closed form of SCTP's transfer time (RFC 4960)",
        "data (kB)",
        "model over measurement - 1 (%)",
        looks,
        log="x",
        legend="upper left",
    )
    caption = (
        "Error of the model: with delayed ACKs by RTT, and with an ACK for every packet over all"
        " RTTs; mean over rates, and how much they differ."
    )
    return drawing.points(directory, "model_error", rows, plot, caption)


def _by_size(name: str, errors: Mapping[Run, float]) -> list[dict[str, Any]]:
    """The mean error in per cent for each size."""
    sizes = sorted({run.cell.kbytes for run in errors})
    of_size = {k: [100 * e for run, e in errors.items() if run.cell.kbytes == k] for k in sizes}
    return [_row(name, kbytes, stats.mean(values)) for kbytes, values in of_size.items()]


def _middle(values: list[float]) -> float:
    ordered = sorted(set(values))
    return ordered[len(ordered) // 2]


def _row(series: str, x: float, estimate: Estimate) -> dict[str, Any]:
    return {"series": series, "x": x, **vars(estimate)}


def error_rows(times: Times) -> list[dict[str, Any]]:
    """Each run with its time and the closed form's error, for `cells.csv`."""
    errors = model_errors(times)
    return [
        {
            "sender": run.sender,
            "delayed_acks": run.delayed,
            "rate_mbps": run.cell.rate_mbps,
            "rtt_ms": run.cell.rtt_ms,
            "kbytes": run.cell.kbytes,
            "seconds": times[run],
            "model_seconds": times[run] * (1 + errors[run]),
            "model_error": errors[run],
        }
        for run in sorted(times)
    ]


CELL_COLUMNS = (
    "sender",
    "delayed_acks",
    "rate_mbps",
    "rtt_ms",
    "kbytes",
    "seconds",
    "model_seconds",
    "model_error",
)
