"""Runs the study: its halves one after the other, each with claims and figures of its own.

A half is a package with `examine(context) -> Outcome`, `QUESTION` and `CHOICES`;
to add one, add it to `PARTS`.
"""

from __future__ import annotations

from anabranch.studies.fast_tcp import router, two_way
from anabranch.studies.fast_tcp.live import LIVE
from anabranch.studies.study import Context, Outcome, Runs, Study
from anabranch.verdicts import Claim

PARTS = (two_way, router)
ABSTRACT = (
    "Two claims stand in this paper: traffic in both directions compresses ACKs at the hosts"
    " although the network controls rates, and a router that delays ACKs while its buffer fills"
    " triples throughput, from 3.5 to 10.8 million octets in 25 s. The first comes out (C1"
    " {C1.verdict.value}, C2 {C2.verdict.value}, C3 {C3.verdict.value}): with windows of one round"
    " trip two-way traffic gets {C2.statements[0].measured.mean:.0%} of what one way gets, as the"
    " closed form says. The second does not (C5 {C5.verdict.value}): at the published bit errors"
    " the ratio is {C5.statements[0].measured.mean:.2f}, because corruption holds the window so"
    " low that no buffer fills; the pair needs a thirtieth of those errors or none, and where a"
    " buffer fills, that fewer packets overflow (C6) {C6.verdict.value}, and that traffic is"
    " smoother (C7) {C7.verdict.value}. With today's senders thresholds gain"
    " {F1.statements[1].measured.mean:.0%} (RACK-TLP, CUBIC) and"
    " {F2.statements[1].measured.mean:.0%} (BBR) beside bit errors. What to deploy: ACKs before"
    " data, or a queue for each connection, at hosts whose traffic goes both ways; of routers that"
    " delay ACKs the bucket, and only where a buffer is far below the bandwidth-delay product, one"
    " sender has the link and it has no SACK."
)


def examine(context: Context) -> Outcome:
    """All halves, their claims and figures in order; the scenario is the routers'."""
    found = [part.examine(context) for part in PARTS]
    return Outcome(
        claims=sorted((claim for part in found for claim in part.claims), key=_order),
        figures=[figure for part in found for figure in part.figures],
        scenario=found[-1].scenario,
        runs=Runs(
            [run for part in found for run in part.runs.singles],
            [batch for part in found for batch in part.runs.batches],
        ),
    )


def _order(claim: Claim) -> tuple[int, int]:
    """The paper's claims, those of its reference, then ours on two-way traffic and on routers."""
    return "CKWF".index(claim.claim[0]), int(claim.claim[1:])


STUDY = Study(
    name="fast-tcp",
    title="Two-way traffic over rate-controlled channels, and routers that delay ACKs: Fast-TCP",
    reference="S.-H. Song et al.: A Study on the TCP Traffic Delay Control in the Internet"
    " Communication (in Korean); Kalampoukas, Varma, Ramakrishnan, ToN 1998",
    question=" ".join(part.QUESTION for part in PARTS),
    choices=[choice for part in PARTS for choice in part.CHOICES],
    examine=examine,
    live=LIVE,
    headline="ratio_by_errors",
    shows={
        "two_way_by_window": ("C2",),
        "two_way_by_unequal_window": ("C4",),
        "two_way_by_rates": ("W1",),
        "two_way_queues": ("C1",),
        "ack_gaps": ("C1",),
        "two_way_remedies": ("W2",),
    },
    abstract=ABSTRACT,
)
