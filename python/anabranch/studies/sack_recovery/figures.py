"""Figures 4 to 7 of the paper and two of our own: CSV first, then drawn from it."""

from __future__ import annotations

from math import isfinite
from pathlib import Path

from anabranch import stats
from anabranch.figures import Look, Plot
from anabranch.rows import CsvRow
from anabranch.studies import drawing
from anabranch.studies.results import FigureEntry
from anabranch.studies.sack_recovery.claims import RIVALS, Traces, lead_seconds
from anabranch.studies.sack_recovery.conditions import (
    Condition,
    paper_case,
    paper_schemes,
    plan,
    schemes,
)
from anabranch.studies.sack_recovery.trace import Trace
from anabranch.studies.sack_recovery.worked_example import LOST, WINDOW

FIG5 = {
    "fig5a": ("newreno", "NewReno, slow-but-steady"),
    "fig5b": ("sack", "SACK, the pipe of ns-2's older code"),
    "fig5c": ("fack", "FACK"),
    "fig5d": ("decoupled", "the decoupled scheme"),
    "fig5e": ("sack-rfc6675", "SACK, the pipe of RFC 6675 (not in the paper)"),
    "fig5f": ("newreno-impatient", "NewReno, impatient (not in the paper)"),
}
DOTS = {
    "send": Look("", "o", "#0072b2", 2.2, "sent"),
    "retransmission": Look("", "D", "#d55e00", 3.0, "sent again"),
    "ack": Look("", ".", "#000000", 3.0, "ACK arrives"),
}
LINES = {
    "newreno": Look("--", colour="#009e73", label="NewReno", steps=True),
    "sack": Look("-.", colour="#e69f00", label="SACK", steps=True),
    "fack": Look(":", colour="#cc79a7", label="FACK", steps=True),
    "decoupled": Look("-", colour="#0072b2", label="decoupled", steps=True),
    "sack-rfc6675": Look("--", colour="#d55e00", label="SACK, RFC 6675", steps=True),
    "newreno-impatient": Look(":", colour="#56b4e9", label="NewReno, impatient", steps=True),
}


def write_all(
    directory: Path, traces: Traces, grid: list[Condition], example: Trace
) -> list[FigureEntry]:
    """Writes every figure's CSV, SVG and PNG; returns their captions in order."""
    paper = plan()["paper"]
    seconds = paper["seconds"]
    seven = paper_case()
    entries = [_worked_example(directory, example)]
    for stem, (scheme, caption) in FIG5.items():
        rows = _sequence(traces[scheme, seven], seconds)
        plot = Plot(
            f"Seven drops: {caption}", "time (s)", "segment number", DOTS, (0, seconds), (0, 300)
        )
        entries.append(drawing.times(directory, stem, rows, plot, f"Seven drops: {caption}."))
    rows = [
        row for scheme in paper_schemes() for row in _window(scheme, traces[scheme, seven], seconds)
    ]
    plot = Plot("Seven drops", "time (s)", "cwnd (segments)", LINES, (0, 4), (0, 20))
    entries.append(
        drawing.times(directory, "fig6", rows, plot, "Congestion window of the same runs.")
    )
    for letter, drops in zip("abcdef", paper["drop_counts"], strict=True):
        condition = Condition(paper["rtt_ms"], drops, paper["first_drop"])
        rows = [
            row
            for scheme in schemes()
            for row in _progress(scheme, traces[scheme, condition], seconds)
        ]
        title = f"{drops} packet drop{'s' if drops > 1 else ''}"
        plot = Plot(title, "time (s)", "highest segment sent", LINES, (0, seconds), (0, 300))
        caption = f"Sequence growth with {title} from segment {condition.first_drop}."
        entries.append(drawing.times(directory, f"fig7{letter}", rows, plot, caption))
    entries.append(_leads(directory, "lead_by_drops", traces, grid))
    entries.append(_leads(directory, "lead_by_rtt", traces, grid))
    return entries


def _sequence(trace: Trace, seconds: float) -> list[CsvRow]:
    sends = zip(trace.sent_at.tolist(), trace.sent.tolist(), trace.resent.tolist(), strict=True)
    rows = [
        {"series": "retransmission" if again else "send", "time_s": at, "value": segment}
        for at, segment, again in sends
        if at <= seconds
    ]
    acks = zip(trace.acked_at.tolist(), trace.acked.tolist(), strict=True)
    rows += [{"series": "ack", "time_s": at, "value": n} for at, n in acks if at <= seconds]
    return sorted(rows, key=lambda row: ("send", "retransmission", "ack").index(row["series"]))


def _worked_example(directory: Path, trace: Trace) -> FigureEntry:
    last, highest = float(trace.sent_at[-1]), int(trace.sent.max())
    title = f"Window of {WINDOW}, segment {LOST} lost"
    plot = Plot(title, "time (s)", "segment number", DOTS, (0, 1.1 * last), (0, highest + 1))
    caption = "The paper's worked example: 1 to 6; then 1, 7 and 8; then four from 9 on."
    return drawing.times(directory, "fig4", _sequence(trace, last), plot, caption)


def _window(scheme: str, trace: Trace, seconds: float) -> list[CsvRow]:
    records = zip(trace.cwnd_at.tolist(), trace.cwnd.tolist(), strict=True)
    return [
        {"series": scheme, "time_s": at, "value": window} for at, window in records if at <= seconds
    ]


def _progress(scheme: str, trace: Trace, seconds: float) -> list[CsvRow]:
    rows: list[CsvRow] = []
    for at, highest in zip(trace.sent_at, trace.highest_sent(trace.sent_at), strict=True):
        if at <= seconds and (not rows or highest > rows[-1]["value"]):
            rows.append({"series": scheme, "time_s": float(at), "value": int(highest)})
    return rows


def _leads(directory: Path, stem: str, traces: Traces, grid: list[Condition]) -> FigureEntry:
    """The lead with its interval, by number of drops (in RTTs) or by RTT (in ms)."""
    drops = stem == "lead_by_drops"
    rows = []
    for scheme in RIVALS:
        for x in sorted({c.drops if drops else c.rtt_ms for c in grid}):
            cell = [c for c in grid if (c.drops if drops else c.rtt_ms) == x]
            unit = [c.rtt_ms if drops else 1.0 for c in cell]
            leads = [lead_seconds(traces, scheme, c) * 1000 for c in cell]
            known = [lead / u for lead, u in zip(leads, unit, strict=True) if isfinite(lead)]
            estimate = stats.mean(known)
            rows.append({"series": scheme, "x": x, **vars(estimate)})
    looks = {
        name: Look(look.line, marker, look.colour, label=f"over {look.label}")
        for (name, look), marker in zip(LINES.items(), "osD^vx", strict=True)
    }
    if drops:
        plot = Plot("Lead of the decoupled scheme", "drops in a row", "lead (RTT)", looks)
        caption = "Lead 20 segments past the losses by number of drops; mean and 95 % interval."
    else:
        plot = Plot("Lead of the decoupled scheme", "RTT (ms)", "lead (ms)", looks)
        caption = "The same lead in time by RTT; mean and 95 % interval."
    return drawing.points(directory, stem, rows, plot, caption)
