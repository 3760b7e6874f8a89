"""Figures 3.2 and 3.3 of the paper, and the sweeps."""

from __future__ import annotations

from pathlib import Path

from anabranch.experiment import RunResult
from anabranch.figures import Plot
from anabranch.rows import CsvRow
from anabranch.studies import drawing
from anabranch.studies.fast_tcp.router import measures as m
from anabranch.studies.fast_tcp.router.conditions import SCALED, Run, plan, reading
from anabranch.studies.fast_tcp.router.found import Found
from anabranch.studies.fast_tcp.router.measures import MSS
from anabranch.studies.results import FigureEntry

PACKET_BITS = 1500 * 8
NO_ERRORS = 1e-9
SHOWN_ERRORS = 3e-8
LABELS = {"plain": "without Fast-TCP", "fast-tcp": "with Fast-TCP"}


def write_all(directory: Path, found: Found, seen: Found) -> list[FigureEntry]:
    """Writes every figure's CSV, SVG and PNG; returns their captions in order."""
    found_figures = []
    for stem, text, runs in _shown():
        series = {label: _first(seen, run) for label, run in runs.items()}
        found_figures += [
            _acknowledged(directory, f"fig3_2{stem}", series, text),
            _occupancy(directory, f"fig3_3{stem}", series, text),
        ]
    return [
        *found_figures,
        _ratios(directory, found),
        *(_sweep(directory, found, ber) for ber in (0.0, SHOWN_ERRORS)),
        _thresholds(directory, found),
    ]


def _shown() -> list[tuple[str, str, dict[str, Run]]]:
    """The runs over time: readings of the paper's case, and Reno without bit errors."""
    shown = []
    for stem, name in (("", "literal"), ("_bucket", "bucket")):
        runs = {router: reading(name, router) for router in LABELS}
        text = f"bit errors of {runs['plain'].ber:g}"
        shown.append((stem, f"{text}, ACK bucket" if stem else text, runs))
    clean = {router: Run(router, "reno") for router in LABELS}
    return [*shown, ("_clean", "no bit errors", clean)]


def _first(seen: Found, wanted: Run) -> RunResult:
    return seen.fixed[wanted] if wanted in seen.fixed else seen.results[wanted][0]


def _ratios(directory: Path, found: Found) -> FigureEntry:
    """What Fast-TCP moves over what plain routers do, against bit errors, with Reno."""
    pairs = found.pairs(
        lambda run: (
            run.flavour == "reno"
            and (run.window, run.mss, run.flows, run.cross) == (SCALED, MSS, 1, False)
            and run == run.with_router(run.router)
        )
    )
    rows = [
        {
            "series": f"{ours.buffer} packets",
            # None at all stands at the left end of the logarithmic axis.
            "x": ours.ber or NO_ERRORS,
            **vars((found.change(ours, plain) + 1).estimate),
        }
        for ours, plain in sorted(pairs, key=lambda pair: (pair[0].buffer, pair[0].ber))
    ]
    plot = Plot(
        "Reno, segments of 1460 octets", "bit error rate (left: none)", "ratio of octets", log="x"
    )
    caption = (
        "Octets after 25 s with Fast-TCP over those without, against the bit error rate; the paper"
        " has 3.1 at 1e-6."
    )
    return drawing.points(directory, "ratio_by_errors", rows, plot, caption)


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


def _series(runs: dict[str, RunResult], name: str, factor: float) -> list[CsvRow]:
    rows = []
    for router, run in runs.items():
        series = run.series[name]
        pairs = zip(series["time_s"].tolist(), series["value"].tolist(), strict=True)
        rows += [{"series": LABELS[router], "time_s": t, "value": v * factor} for t, v in pairs]
    return rows


def _sweep(directory: Path, found: Found, ber: float) -> FigureEntry:
    def kept(run: Run) -> bool:
        like = (run.ber, run.window, run.flows, run.cross) == (ber, SCALED, 1, False)
        return like and run.mss == MSS and run == run.with_router(run.router)

    rows = [
        {
            "series": f"{run.flavour}, {LABELS[run.router]}",
            "x": run.buffer,
            **vars(found.sample(run, m.megabytes).estimate),
        }
        for pair in found.pairs(kept)
        for run in pair
    ]
    rows.sort(key=lambda row: (str(row["series"]), row["x"]))
    text = f"bit errors of {ber:g}" if ber else "no bit errors"
    plot = Plot(f"25 s, {text}", "buffer (packets)", "octets received (10^6)", log="xy")
    caption = f"Octets received after 25 s against the buffer, {text}."
    stem = "sweep_errors" if ber else "sweep_clean"
    return drawing.points(directory, stem, rows, plot, caption)


def _thresholds(directory: Path, found: Found) -> FigureEntry:
    part = plan()["thresholds"]
    runs = [
        run
        for run in sorted(found.fixed)
        if (run.router, run.buffer, run.flavour) == ("fast-tcp", part["buffer"], "reno")
        and (run.window, run.mss) == (SCALED, MSS)
    ]
    rows = [
        {
            "series": f"{run.low:g} to {run.high:g} of the buffer",
            "x": run.delay_ms,
            **vars(found.sample(run, m.megabytes).estimate),
        }
        for run in runs
    ]
    plot = Plot("Reno, 100 packets", "longest delay (ms)", "octets received (10^6)", log="x")
    caption = "Octets received after 25 s against the law's thresholds and longest delay."
    return drawing.points(directory, "thresholds", rows, plot, caption)
