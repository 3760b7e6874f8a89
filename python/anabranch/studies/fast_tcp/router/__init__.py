"""Routers that delay ACKs by the occupancy of their forward buffer (claims C5 to C9)."""

from __future__ import annotations

from anabranch.studies.fast_tcp.router import beyond, claims, conditions, figures
from anabranch.studies.fast_tcp.router.conditions import Run
from anabranch.studies.fast_tcp.router.found import Found
from anabranch.studies.replications import Replicated
from anabranch.studies.study import Context, Outcome, Runs
from anabranch.verdicts import Claim

QUESTION = (
    "What does a router gain that delays ACKs while its forward buffer fills, and whom does it"
    " harm?"
)
CHOICES = [
    "Delay law: none up to a low threshold, growing linearly to a maximum at a high threshold,"
    " both shares of the buffer (0.2, 0.8, 200 ms where they are not varied).",
    "Buffer, sender, segments and bit errors: a sweep. As published: Reno over Ethernet at the"
    " published bit errors; segments of IP over ATM with SACK there, under which the number without"
    " Fast-TCP comes out; and two settings with fewer bit errors, under which both numbers come out"
    " nearest, one with thresholds and one with an ACK bucket (docs/forensics.md).",
    "Windows are scaled: 64 KiB bring at most 6.2 million octets in 25 s. Bit errors are in both"
    " directions of the satellite link.",
    "Senders: Reno, NewReno, SACK; modern (RACK-TLP with PRR, CUBIC); BBR. All open with four"
    " segments and delay ACKs. The paper names none; each is judged by itself.",
]


def examine(context: Context) -> Outcome:
    """Every condition, and the series of some."""
    wanted, watched = conditions.runs(context.quick), conditions.watched(context.quick)
    once = [run for run in wanted if not run.chance]
    shown = [run for run in watched if not run.chance]
    runs = context.compute(
        [conditions.watched_scenario(run) for run in shown],
        [(conditions.scenario(run), 1) for run in once],
    )
    fixed = {run: batch[0] for run, batch in zip(once, runs.batches, strict=True)}
    series = dict(zip(shown, runs.singles, strict=True))

    def counted(results: Replicated[Run]) -> list[Claim]:
        found = Found(results, fixed)
        return [*claims.judge_counted(found), *beyond.judge_counted(found)]

    def seen(results: Replicated[Run]) -> list[Claim]:
        found = Found(results, series)
        return [*claims.judge_seen(found), beyond.delay(found)]

    swept = context.decide({run: conditions.scenario(run) for run in wanted if run.chance}, counted)
    drawn = context.decide(
        {run: conditions.watched_scenario(run) for run in watched if run.chance}, seen, series=True
    )
    return Outcome(
        claims=[*swept.claims, *drawn.claims],
        figures=figures.write_all(
            context.directory, Found(swept.results, fixed), Found(drawn.results, series)
        ),
        scenario=conditions.scenario(conditions.reading("literal", "fast-tcp")),
        runs=Runs(
            runs.singles,
            [*runs.batches, *swept.results.values(), *drawn.results.values()],
        ),
    )


def judge_one_flow(results: Replicated[Run]) -> list[Claim]:
    """Those claims that need neither other routers nor many flows, of runs with series."""
    found = Found(results)
    return [
        *(claim for claim in claims.judge_counted(found) if claim.claim != "C9"),
        *claims.judge_seen(found),
        beyond.gain(found, "F1", "modern", "RACK-TLP, PRR and CUBIC"),
        beyond.gain(found, "F2", "bbr", "BBR"),
        beyond.delay(found),
    ]
