"""The paper's part: every scheme on every pair of paths, as published and by other rules."""

from __future__ import annotations

from anabranch.studies.sctp_multihoming import (
    blocks,
    claims,
    conditions,
    figures,
    traces,
)
from anabranch.studies.sctp_multihoming.claims import timeouts
from anabranch.studies.study import Context, Outcome, Runs

CHOICES = [
    "Queues: drop-tail, 50 packets, ns-2's default.",
    "Size: 4 MB are 4,000,000 octets. Time counts from the application's call.",
    "Receive windows: 64 KiB for TCP and SCTP.",
    "Loss: independent, at the entry of the middle link, in the direction of the data.",
    "As published: SCTP by the rules of the module of ns-2.35, TCP with an ACK for every segment,"
    " as ns-2's plain sinks send them, an RTO of 1 s at least, SACK recovery as in RFC 6675. Over"
    " the grid: delayed ACKs of 200 ms, a least RTO of 200 ms, SCTP by RFC 2960 (fourth missing"
    " report, no explicit fast recovery) and by RFC 9260.",
    "TCP: an initial window of one segment, as the paper has it.",
    "Heartbeats: every 30 s, half of that to either side, and the RTO, as the paper has them.",
    "A replication of a figure's point is the mean of 16 transfers, by other rules than the paper's"
    " of 4. Changes are differences of mean times over the mean time of the reference.",
    "Figures 5 and 6: the alternate's loss is that at which the two policies are equal under the"
    " rules (a pilot with other seeds found it); beside it the paper's 2 %.",
    "Figure 6 changes the delay of all three links of the second path.",
]


def examine(context: Context) -> Outcome:
    """Replications of every batch, and the runs whose timeouts are watched."""
    quick = context.quick
    decided = blocks.decide_by(
        context,
        {batch: conditions.scenario(batch) for batch in conditions.batches(quick)},
        lambda results: claims.judge(results, quick),
        lambda batch: conditions.transfers(batch, quick),
    )
    size = 1 if quick else int(conditions.plan()["watch"]["block"])
    watched = blocks.decide_by(
        context,
        {**traces.scenarios("path_rto"), timeouts.LONG: traces.long("path_rto")},
        lambda results: [timeouts.stays_high(results, size)],
        lambda _: size,
        series=True,
    )
    drawn = traces.scenarios("path_rto", "path_srtt")
    singles = context.compute(list(drawn.values())).singles
    found = [*decided.claims, *watched.claims]
    return Outcome(
        claims=sorted(found, key=lambda claim: int(claim.claim[1:])),
        figures=[
            *figures.write_all(context.directory, decided.results, quick),
            *traces.write_all(context.directory, dict(zip(drawn, singles, strict=True))),
        ],
        scenario=conditions.scenario(conditions.batch("sctp-multi", conditions.Paths(2))),
        runs=Runs(singles, [*decided.results.values(), *watched.results.values()]),
    )
