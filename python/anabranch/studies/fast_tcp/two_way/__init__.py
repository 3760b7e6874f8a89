"""Two-way TCP over a rate-controlled channel: claims C1 to C4, and remedies at the hosts."""

from __future__ import annotations

from anabranch.studies.fast_tcp.two_way import claims, conditions, figures, measures
from anabranch.studies.study import Context, Outcome

QUESTION = (
    "What does traffic in both directions cost a channel of explicit rate that loses nothing, and"
    " what gives it back?"
)
CHOICES = [
    "Two-way: 10 Mbit/s, 120 ms there and back, segments of 1500 octets, so that a window of one"
    " round trip is 100 segments; an ACK for every segment, windows fixed by the receivers.",
    "Two-way: the channel is one explicit rate a direction and has no buffer limit; nothing is"
    " lost. ACKs have 40 octets and take their time on the line.",
    "Two-way: the second connection begins at random within a second; intervals are over that.",
    "Two-way: the retransmission timeout is at least 5 s. With 1 s a connection that begins beside"
    " a window of ten round trips takes the wait of its ACKs for a loss and grows slowly then.",
    "Two-way: processing time is of each packet that a host receives and of each that it sends.",
]


def examine(context: Context) -> Outcome:
    """Every condition beside the closed form, and some of them packet by packet."""
    wanted = conditions.runs(context.quick)
    shown = conditions.shown()
    scenarios = [conditions.scenario(run) for run in (*wanted, *shown.values())]
    runs = context.compute(scenarios)
    values = {
        run: measures.value(run, result)
        for run, result in zip(wanted, runs.singles[: len(wanted)], strict=True)
    }
    details = dict(zip(shown, runs.singles[len(wanted) :], strict=True))
    return Outcome(
        claims=claims.judge(values, details, context.quick),
        figures=figures.write_all(context.directory, values, details, context.quick),
        scenario=scenarios[-len(shown) + 1],
        runs=runs,
    )
