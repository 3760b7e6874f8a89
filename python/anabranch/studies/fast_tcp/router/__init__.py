"""Routers that delay ACKs by the occupancy of their forward buffer (claims C5 to C8)."""

from __future__ import annotations

from anabranch.studies.fast_tcp.router import claims, conditions, figures
from anabranch.studies.study import Context, Outcome

QUESTION = (
    "What does a router gain that delays ACKs while its forward buffer fills, and whom does it"
    " harm?"
)
CHOICES = [
    "Delay law: none up to a low threshold, growing linearly to a maximum at a high threshold,"
    " both shares of the buffer (0.2, 0.8, 200 ms where they are not varied).",
    "Buffer, TCP flavour and receive window: a sweep; judged with Reno, scaled windows and 100"
    " packets.",
    "Segments of 1460 octets; bit errors in both directions of the satellite link.",
    "Flavours: Reno; SACK; modern (RACK-TLP with PRR, CUBIC); BBR. All open with four segments and"
    " delay ACKs.",
]


def examine(context: Context) -> Outcome:
    """Every condition, and the series of some."""
    conditions_ = conditions.runs(context.quick)
    watched = conditions.watched(context.quick)
    runs = context.compute(
        [conditions.watched_scenario(run, seed) for run, seed in watched],
        [
            (conditions.scenario(run), conditions.replications(run, context.quick))
            for run in conditions_
        ],
    )
    results = dict(zip(conditions_, runs.batches, strict=True))
    series = [(run, result) for (run, _), result in zip(watched, runs.singles, strict=True)]
    return Outcome(
        claims=claims.judge(results, series),
        figures=figures.write_all(context.directory, results, series),
        scenario=conditions.scenario(conditions.paper("fast-tcp")),
        runs=runs,
    )
