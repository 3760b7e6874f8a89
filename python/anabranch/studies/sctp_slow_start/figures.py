"""The figures: times by rate, by round-trip time, by size and by initial window; differences by
size; the model's error."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from anabranch import stats
from anabranch.figures import COLOURS, DASHES, MARKERS, Look, Plot
from anabranch.rows import CsvRow
from anabranch.stats import Estimate
from anabranch.studies import drawing
from anabranch.studies.results import FigureEntry
from anabranch.studies.sctp_slow_start import models
from anabranch.studies.sctp_slow_start.claims import (
    ACKS,
    Times,
    data_time,
    differences,
    model_errors,
)
from anabranch.studies.sctp_slow_start.conditions import Cell, Run, plan

COMPARISONS = {
    "two segments (RFC 2581)": ("sctp-rfc4960", "tcp-rfc2581"),
    "three segments (RFC 3390)": ("sctp-rfc4960", "tcp-rfc3390"),
    "ten segments (RFC 6928)": ("sctp-rfc9260", "tcp-rfc6928"),
}
"""TCP's initial window, and the senders that are compared."""
PROMPT = ACKS[False]
SHOWN = ("sctp-rfc4960", "tcp-rfc2581", "tcp-rfc6928")
"""Senders whose times are drawn beside the model."""
PUBLISHED_AND_TODAY = {
    "sctp-rfc4960": "SCTP of 2007 (RFC 4960)",
    "tcp-rfc2581": "TCP of 2007: 2 segments (RFC 2581)",
    "sctp-rfc9260": "SCTP today (RFC 9260)",
    "tcp-rfc6928": "TCP today: 10 segments (RFC 6928)",
}
"""Senders of the figures that the paper has, and how they are called there."""
BY_ACKS = "Delayed ACKs (solid lines) and an ACK for each packet (dashed)"
TIME = "mean transfer time (s)"
SAME_SCTP = "With an ACK for each packet SCTP of 2007 and of today take the same time."
DATA_ALONE = "Time of the data, without the handshake; mean over"


def write_all(
    directory: Path, times: Times, openings: Mapping[tuple[str, int], int]
) -> list[FigureEntry]:
    """Writes every figure's CSV, SVG and PNG; returns their captions in order. `openings` are the
    packets of the first flight by sender and kilobytes of data."""
    return [
        _by_network(
            directory,
            times,
            "rate_mbps",
            Plot(BY_ACKS, "rate of the link (Mbit/s)", TIME, legend="upper right", log="x"),
            f"{DATA_ALONE} RTTs and lengths of data. {SAME_SCTP}",
        ),
        _by_network(
            directory,
            times,
            "rtt_ms",
            Plot(BY_ACKS, "round-trip time (ms)", TIME),
            f"{DATA_ALONE} rates and lengths of data. {SAME_SCTP}",
        ),
        _by_window(directory, times),
        _openings(directory, openings),
        _differences(directory, times),
        _times(directory, times),
        _errors(directory, times),
    ]


def _ended_by_all(times: Times, senders: Iterable[str]) -> list[Cell]:
    """The cells in which no transfer of these senders left slow start: their means are of the same
    networks."""
    every = [
        {run.cell for run in times if (run.sender, run.delayed) == (sender, delayed)}
        for sender in senders
        for delayed in ACKS
    ]
    return sorted(set.intersection(*every))


def _mean_time(times: Times, sender: str, delayed: bool, cells: Sequence[Cell]) -> Estimate:
    """The mean time of the data over the cells; nothing is random, hence no interval."""
    chosen = [data_time(times, Run(sender, delayed, cell)) for cell in cells]
    mean = sum(chosen) / len(chosen)
    return Estimate(mean, mean, mean, len(chosen))


def _by_network(
    directory: Path, times: Times, parameter: str, plot: Plot, caption: str
) -> FigureEntry:
    """The mean time by a field of the cells."""
    cells = _ended_by_all(times, PUBLISHED_AND_TODAY)
    values = sorted({getattr(cell, parameter) for cell in cells})
    rows, looks = [], {}
    for index, (sender, label) in enumerate(PUBLISHED_AND_TODAY.items()):
        for delayed, line in ((True, "-"), (False, "--")):
            name = f"{sender}, {ACKS[delayed]}"
            for value in values:
                chosen = [cell for cell in cells if getattr(cell, parameter) == value]
                rows.append(_row(name, value, _mean_time(times, sender, delayed, chosen)))
            shown = label if delayed else "_"
            looks[name] = Look(line, MARKERS[index], COLOURS[index], label=shown)
    plot = replace(plot, looks=looks, xticks=tuple(values))
    stem = f"time_by_{parameter.partition('_')[0]}"
    return drawing.points(directory, stem, rows, plot, caption)


WINDOWS = {
    "TCP, ACKs counted": ("tcp-rfc2581-1", "tcp-rfc2581", "tcp-rfc3390"),
    "TCP, octets counted": ("tcp-rfc3465", "tcp-rfc6928"),
    "SCTP": ("sctp-rfc9260", "sctp-10"),
}
"""Senders that differ in their initial window alone."""


def _by_window(directory: Path, times: Times) -> FigureEntry:
    senders = [sender for group in WINDOWS.values() for sender in group]
    cells = _ended_by_all(times, senders)
    rows, looks = [], {}
    for index, (group, members) in enumerate(WINDOWS.items()):
        for delayed, line in ((True, "-"), (False, "--")):
            name = f"{group}, {ACKS[delayed]}"
            for sender in members:
                window = plan()["senders"][sender]["packets"]
                rows.append(_row(name, window, _mean_time(times, sender, delayed, cells)))
            looks[name] = Look(line, MARKERS[index], COLOURS[index])
    plot = Plot(
        "Data over SCTP and TCP by initial window",
        "initial window (packets)",
        TIME,
        looks,
        legend="upper right",
        xticks=(1, 2, 3, 10, 11),
    )
    caption = f"{DATA_ALONE} all cells of the grid. SCTP's window of ten packets lets eleven go."
    return drawing.points(directory, "time_by_window", rows, plot, caption)


def _openings(directory: Path, openings: Mapping[tuple[str, int], int]) -> FigureEntry:
    rows = [
        _row(sender, kbytes, stats.mean([packets]))
        for (sender, kbytes), packets in sorted(openings.items())
    ]
    looks = {
        sender: Look(DASHES[index], MARKERS[index], COLOURS[index], label=label)
        for index, (sender, label) in enumerate(PUBLISHED_AND_TODAY.items())
    }
    plot = Plot(
        "Initial window as it comes out",
        "data (kB)",
        "packets before the first ACK",
        looks,
        ylim=(0, 14),
        log="x",
        xticks=tuple(sorted({kbytes for _, kbytes in openings})),
    )
    caption = "Packets that leave before the first of them is acknowledged, by the length of data."
    return drawing.points(directory, "window_by_size", rows, plot, caption)


def _differences(directory: Path, times: Times) -> FigureEntry:
    rows: list[CsvRow] = []
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
        xticks=_sizes(times),
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
        f"{rate:g} Mbit/s, RTT {rtt:g} ms, an ACK for each packet",
        "data (kB)",
        "transfer time (s)",
        looks,
        log="x",
        xticks=_sizes(times),
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
        xticks=_sizes(times),
        log="x",
        legend="upper left",
    )
    caption = (
        "Error of the model: with delayed ACKs by RTT, and with an ACK for every packet over all"
        " RTTs; mean over rates, and how much they differ."
    )
    return drawing.points(directory, "model_error", rows, plot, caption)


def _by_size(name: str, errors: Mapping[Run, float]) -> list[CsvRow]:
    """The mean error in per cent for each size."""
    sizes = sorted({run.cell.kbytes for run in errors})
    of_size = {k: [100 * e for run, e in errors.items() if run.cell.kbytes == k] for k in sizes}
    return [_row(name, kbytes, stats.mean(values)) for kbytes, values in of_size.items()]


def _sizes(times: Times) -> tuple[int, ...]:
    """The lengths of data, in kilobytes."""
    return tuple(sorted({run.cell.kbytes for run in times}))


def _middle(values: list[float]) -> float:
    ordered = sorted(set(values))
    return ordered[len(ordered) // 2]


def _row(series: str, x: float, estimate: Estimate) -> CsvRow:
    return {"series": series, "x": x, **vars(estimate)}


def error_rows(times: Times) -> list[CsvRow]:
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
