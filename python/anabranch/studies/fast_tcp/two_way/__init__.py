"""Two-way TCP over a rate-controlled channel: claims C1 to C4 and C10 to C15, and remedies at the
hosts."""

from __future__ import annotations

import itertools

from anabranch.studies.fast_tcp.two_way import (
    carried,
    claims,
    conditions,
    figures,
    measures,
    model,
    networks,
)
from anabranch.studies.study import Context, Outcome, Runs

QUESTION = (
    "What does traffic in both directions cost a channel of explicit rate that loses nothing, and"
    " what gives it back?"
)
CHOICES = [
    "Two-way: 10 Mbit/s, 120 ms there and back, segments of 1500 octets, so that a window of one"
    " round trip is 100 segments; an ACK for every segment, windows fixed by the receivers.",
    "Two-way: the channel is one explicit rate a direction and has no buffer limit; nothing is"
    " lost. ACKs have 40 octets and take their time on the line.",
    "Two-way: nothing is left to chance; the second connection begins 0.3 s after the first, and at"
    " other dates where that is varied.",
    "Two-way: the retransmission timeout is at least 5 s. With 1 s a connection that begins beside"
    " a window of ten round trips takes the wait of its ACKs for a loss and grows slowly then.",
    "Two-way: over ATM a virtual channel carries packets without a header of their own (RFC 2684"
    " §6.1), lines are as fast as makes data packets leave each 1.2 ms, and sources have the"
    " defaults of TM 4.0, but for initial rates of an equal share where several share a line."
    " ERICA's target is 0.9; exact rates use the whole line.",
    "Two-way: processing time is of each packet that a host receives and of each that it sends.",
]


def examine(context: Context) -> Outcome:
    """Every condition beside the closed form, and some of them packet by packet."""
    wanted = conditions.runs(context.quick)
    shown = {name: conditions.scenario(run) for name, run in conditions.shown().items()}
    shown |= networks.scenarios() | carried.scenarios()
    runs = context.compute([*map(conditions.scenario, wanted), *shown.values()])
    values = {
        run: measures.value(run, result)
        for run, result in zip(wanted, runs.singles[: len(wanted)], strict=True)
    }
    details = dict(zip(shown, runs.singles[len(wanted) :], strict=True))
    rates = conditions.plan()["losses"]["rate"]
    lossy = {
        (rate, two_way, False): networks.lossy(rate, two_way)
        for rate, two_way in itertools.product(rates, (True, False))
    }
    judged = conditions.plan()["losses"]["judged"]
    lossy |= {(judged, two_way, True): carried.lossy(judged, two_way) for two_way in (True, False)}
    losses = context.decide(
        lossy,
        lambda results: [model.judge_losses(results, details)],
        series=True,
    )
    return Outcome(
        claims=[
            *claims.judge(values, context.quick),
            *losses.claims,
            *model.judge(details),
        ],
        figures=figures.write_all(context.directory, values, details, context.quick),
        scenario=shown["two-way"],
        runs=Runs(runs.singles, list(losses.results.values())),
    )
