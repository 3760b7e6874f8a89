"""Runs the study: the paper's claims, the policies that came since, failures of a path, and
several alternates.

A part is a package or module with `examine(context) -> Outcome` and `CHOICES`.
"""

from __future__ import annotations

from anabranch.studies.sctp_multihoming import failover, paper, policies, several
from anabranch.studies.sctp_multihoming.live import LIVE
from anabranch.studies.study import Context, Outcome, Runs, Study

PARTS = (paper, policies, failover, several)
QUESTION = (
    "Does a second path help an SCTP association whose first path loses packets: against TCP,"
    " against SCTP on one path, and against sending again on the same path? Where should"
    " retransmissions go, and what does a failing path cost?"
)
ABSTRACT = (
    "Song, Lee and Koh found in 2004 (ns-2) that SCTP withstands losses better than TCP, the more"
    " so with a second path, but that sending again on the second path pays only while it is better"
    " than the first, by loss, rate and delay, since its timeout, once backed off, waits for a"
    " heartbeat."
    " With ns-2's rules the orders are found again: SCTP on one path changes TCP SACK's time by"
    " {C3.statements[4].measured.mean:.0%} at a loss of 16 % (C3 {C3.verdict.value}), above 4 % two"
    " paths beat one (C4 {C4.verdict.value}), and the alternate's mean timeout is"
    " {C8.statements[0].measured.mean:.1f} s above the primary's (C8 {C8.verdict.value})."
    " What differs is where the policies change places: with 4 % on the primary when the alternate"
    " loses {C5.statements[9].measured.mean:.2f} of that (the paper: 0.5), with 2 % at"
    " {C6.statements[12].measured.mean:.2f} (0.25); and another rate or delay of the alternate is"
    " worth a few per cent of the time (C9 {C9.verdict.value}, C10 {C10.verdict.value})."
    " Multiple fast retransmit and timestamps repair losses on the alternate without its timeout:"
    " by RFC 9260 best-path with both changes the time of the old rule by"
    " {D1.statements[12].measured.mean:.0%}."
    " Deploy that, with PFMR 0 (RFC 7829) against failures. Among three to five paths no other"
    " destination of retransmissions is faster (S1 {S1.verdict.value}), and when the primary fails"
    " its rule for new data, the highest rate that is expected, changes the mean time of the next"
    " alternate in order by {S4.statements[0].measured.mean:.0%} (S4 {S4.verdict.value}); a"
    " heartbeat a second to each alternate changes the failover by"
    " {S8.statements[4].measured.mean:.1f} s where one is dead (S8 {S8.verdict.value})."
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
    abstract=ABSTRACT,
    choices=[choice for part in PARTS for choice in part.CHOICES],
    examine=examine,
    live=LIVE,
    headline="fig3",
    shows={
        "failover_detection": ("F1",),
        "failover_delivery": ("F3",),
        "failover_back": ("F5",),
        "several_*": ("S1",),
    },
)
