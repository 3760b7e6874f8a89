"""The paper's part: every scheme on every pair of paths, by its rules and by others."""

from __future__ import annotations

import itertools

from anabranch.studies.sctp_multihoming import (
    claims,
    conditions,
    figures,
    measures,
    rules,
    traces,
)
from anabranch.studies.study import Context, Outcome

CHOICES = [
    "Queues: drop-tail, 50 packets, ns-2's default.",
    "Size: 4 MB are 4,000,000 octets. Time counts from the start of the handshake.",
    "Receive windows: 64 KiB for TCP and SCTP.",
    "Loss: independent, at the entry of the middle link, in the direction of the data.",
    "SCTP: the preset rfc2960, as the paper describes it (fourth missing report, no explicit fast"
    " recovery, slow start up to and including ssthresh). The claims are judged by it; rules.csv"
    " has them by the rules of ns-2.35's module and of RFC 9260 too.",
    "Heartbeats: every 30 s, half of that to either side, and the RTO, as the paper has them.",
    "TCP: an initial window of one segment, as the paper has it, delayed ACKs of 200 ms, an RTO of"
    " 1 s at least; SACK recovery as in RFC 6675. Beside it an ACK for every segment, and an RTO"
    " of 200 ms at least.",
    "Figure 6 changes the delay of all three links of the second path.",
]


def examine(context: Context) -> Outcome:
    """Replications of every batch, and the runs whose timeouts are watched."""
    batches = conditions.batches()
    watched = traces.scenarios(context.quick)
    runs = context.compute(
        list(itertools.chain.from_iterable(watched.values())),
        [
            (conditions.scenario(batch), conditions.replications(batch, context.quick))
            for batch in batches
        ],
    )
    times = {
        batch: [measures.seconds(run) for run in results]
        for batch, results in zip(batches, runs.batches, strict=True)
    }
    singles = iter(runs.singles)
    seen = {s: list(itertools.islice(singles, len(each))) for s, each in watched.items()}
    judged = claims.under_all_rules(times)
    rules.write(context.directory, judged)
    drawn = figures.write_all(context.directory, times)
    return Outcome(
        claims=claims.judge(judged, seen),
        figures=[*drawn, *traces.write_all(context.directory, seen)],
        scenario=conditions.scenario(conditions.batch("sctp-multi", conditions.Paths(2))),
        runs=runs,
    )
