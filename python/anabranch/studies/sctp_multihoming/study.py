"""Runs the study: every scheme on every pair of paths, then claims and figures."""

from __future__ import annotations

from anabranch.studies.sctp_multihoming import claims, conditions, figures, measures
from anabranch.studies.study import Context, Outcome, Study

QUESTION = (
    "Does a second path help an SCTP association whose first path loses packets: against TCP,"
    " against SCTP on one path, and against sending again on the same path?"
)
CHOICES = [
    "Queues: drop-tail, 50 packets, ns-2's default.",
    "Size: 4 MB are 4,000,000 octets. Time counts from the start of the handshake.",
    "Receive windows: 64 KiB for TCP and SCTP.",
    "Loss: independent, at the entry of the middle link, in the direction of the data.",
    "SCTP: the preset rfc2960, as the paper describes it (fourth missing report, no explicit fast"
    " recovery, slow start up to and including ssthresh).",
    "Heartbeats: every 30 s, half of that to either side, and the RTO, as the paper has them.",
    "TCP: an initial window of one segment, as the paper has it, delayed ACKs of 200 ms, an RTO of"
    " 1 s at least; SACK recovery as in RFC 6675.",
    "Figure 6 changes the delay of all three links of the second path.",
]


def examine(context: Context) -> Outcome:
    """Replications of every batch, and the runs whose timeouts are watched."""
    batches = conditions.batches()
    number = conditions.replications(context.quick)
    runs = context.compute(
        conditions.watched(context.quick),
        [(conditions.scenario(batch), number) for batch in batches],
    )
    times = {
        batch: [measures.seconds(run) for run in results]
        for batch, results in zip(batches, runs.batches, strict=True)
    }
    return Outcome(
        claims=claims.judge(times, runs.singles),
        figures=figures.write_all(context.directory, times, runs.singles[0]),
        scenario=conditions.scenario(conditions.batch("sctp-multi", 2)),
        runs=runs,
    )


STUDY = Study(
    name="sctp-multihoming",
    title="SCTP multihoming: where retransmissions should go",
    reference="J.-K. Song, M.-J. Lee, S.-J. Koh: Performance Evaluation on SCTP multi-homing"
    " Feature (2004, in Korean; ns-2)",
    question=QUESTION,
    choices=CHOICES,
    examine=examine,
)
