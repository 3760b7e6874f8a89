"""Runs the study: the paper's claims, the policies that came since, and failures of a path.

A part is a package or module with `examine(context) -> Outcome` and `CHOICES`.
"""

from __future__ import annotations

from anabranch.studies.sctp_multihoming import failover, paper, policies
from anabranch.studies.sctp_multihoming.live import LIVE
from anabranch.studies.study import Context, Outcome, Runs, Study

PARTS = (paper, policies, failover)
QUESTION = (
    "Does a second path help an SCTP association whose first path loses packets: against TCP,"
    " against SCTP on one path, and against sending again on the same path? Where should"
    " retransmissions go, and what does a failing path cost?"
)


def examine(context: Context) -> Outcome:
    """All parts, their claims and figures in order; the scenario is the paper's."""
    found = [part.examine(context) for part in PARTS]
    return Outcome(
        claims=[claim for part in found for claim in part.claims],
        figures=[figure for part in found for figure in part.figures],
        scenario=found[0].scenario,
        runs=Runs(
            [run for part in found for run in part.runs.singles],
            [batch for part in found for batch in part.runs.batches],
        ),
    )


STUDY = Study(
    name="sctp-multihoming",
    title="SCTP multihoming: where retransmissions should go",
    reference="J.-K. Song, M.-J. Lee, S.-J. Koh: Performance Evaluation on SCTP multi-homing"
    " Feature (2004, in Korean; ns-2); Caro, Amer, Stewart, 2006; RFC 7829; RFC 9260",
    question=QUESTION,
    choices=[choice for part in PARTS for choice in part.CHOICES],
    examine=examine,
    live=LIVE,
)
