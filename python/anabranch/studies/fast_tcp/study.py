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
)
