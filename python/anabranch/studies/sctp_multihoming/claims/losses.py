"""C1 to C4: TCP and SCTP against the loss of the first path, the second lossless."""

from __future__ import annotations

import itertools

import numpy as np

from anabranch.stats import Exact, Sample
from anabranch.studies.sctp_multihoming.conditions import Paths
from anabranch.studies.sctp_multihoming.worlds import World
from anabranch.verdicts import Claim, Statement, less, more

TCP = ("tcp-reno", "tcp-sack")
SCTP = ("sctp-single", "sctp-multi")
ORDER = ("sctp-multi", "tcp-sack", "sctp-single", "tcp-reno")
"""From the soonest to the last, by C2."""
HEADERS = 0.0025
"""C1 is about headers, the paper says: an SCTP packet carries 1452 octets of the transfer, a TCP
segment 1460, which is 0.55 % more. A difference counts from about half of that on."""
SOONER = 0.01
"""Share of its time by which a transfer must be sooner to be called so: nobody chooses a protocol
for less than one per cent."""
GROWS = 0.2
"Seconds per per cent of loss by which a gap must grow: one per cent of a transfer without loss."
FAR = 0.2
"""Share of TCP's time that "far better" saves: a fifth, which a user notices."""
GROWS_FAR = 0.02
"""By how much of SCTP's time a per cent of loss must widen the distance to TCP."""


def without_loss(world: World) -> Claim:
    """C1."""
    found = []
    for loss, tcp, sctp in itertools.product((0, 0.1), TCP, SCTP):
        change = world.change(tcp, sctp, Paths(loss))
        measured = change if loss or not world.simulated else Exact.of(change.values[:1])
        quantity = f"relative change of transfer time, {tcp} against {sctp}, {loss:g} % loss"
        found.append(Statement.of(quantity, measured, less(0, HEADERS)))
    return Claim(
        "C1",
        "At losses of 0 and 0.1 % both TCPs finish before both SCTPs, whose headers are longer.",
        found,
        "An SCTP packet carries 1452 octets of the transfer, a TCP segment 1460, 0.55 % more:"
        " sooner by at least half of that. Without loss there is no chance in it.",
        source="§4.2.1, figure 2, at 0 and 0.1 %",
    )


def order(world: World) -> Claim:
    """C2."""
    every = world.grid["figure2"]["loss"]
    losses = [loss for loss in every if loss > 0.5]
    found = []
    for sooner, later in itertools.pairwise(ORDER):
        change = world.mean_change(sooner, later, map(Paths, losses))
        quantity = (
            f"relative change of transfer time, {sooner} against {later}, mean over {losses[0]:g}"
            " to"
            " 1 % loss"
        )
        found.append(Statement.of(quantity, change, less(0, HEADERS)))
    for sooner, later in itertools.pairwise(ORDER):
        gaps = [world.longer(later, sooner, Paths(loss)) for loss in every]
        quantity = (
            f"growth of the difference between {later} and {sooner} in s for each % of loss, 0 to"
            " 1 %"
        )
        found.append(Statement.of(quantity, slope(every, gaps), more(0, GROWS)))
    return Claim(
        "C2",
        "Above 0.5 % the order is SCTP on two paths, TCP SACK, SCTP on one path, TCP Reno, and the"
        " gaps grow with the loss.",
        found,
        f"Sooner by at least {HEADERS:.2%}, half of what the headers cost, by which the paper"
        f" explains the order of TCP SACK and SCTP on one path; gaps grow by at least {GROWS:g}"
        " s per % of loss, which"
        " is one per cent of a transfer without loss.",
        source="§4.2.1, figure 2, above 0.5 %",
    )


def high_loss(world: World) -> Claim:
    """C3."""
    losses = [loss for loss in world.grid["figure3"]["loss"] if loss > 0]
    most = losses[-1]
    found = []
    for sctp, tcp in itertools.product(SCTP, TCP):
        over_all = world.mean_change(sctp, tcp, map(Paths, losses))
        at_most_loss = world.change(sctp, tcp, Paths(most))
        shares = [world.change(tcp, sctp, Paths(loss)) for loss in losses]
        grows = slope(losses, shares)
        found += [
            Statement.of(
                f"relative change of transfer time, {sctp} against {tcp}, mean over {losses[0]:g}"
                " to"
                f" {most:g} % loss",
                over_all,
                less(0, SOONER),
            ),
            Statement.of(
                f"relative change of transfer time, {sctp} against {tcp}, {most:g} % loss",
                at_most_loss,
                less(0, FAR),
            ),
            Statement.of(
                f"growth of the relative change of transfer time, {tcp} against {sctp}, for each %"
                " of"
                " loss",
                grows,
                more(0, GROWS_FAR),
            ),
        ]
    return Claim(
        "C3",
        "The higher the loss, up to 16 %, the more both SCTPs are ahead of both TCPs, and by far.",
        found,
        f"Ahead: by {SOONER:.0%} over all losses. By far: a fifth of the time at {most:g} %. The"
        f" more: {GROWS_FAR:.0%} of SCTP's time with each per cent of loss.",
        source="§4.2.1, figure 3: as the loss rises, which is not a claim about losses near 0",
    )


def second_path(world: World) -> Claim:
    """C4."""
    losses = [loss for loss in world.grid["figure3"]["loss"] if loss > 4]
    return Claim(
        "C4",
        "Above 4 % SCTP on two paths beats SCTP on one.",
        [
            Statement.of(
                f"relative change of transfer time, two paths against one, {loss:g} % loss",
                world.change("sctp-multi", "sctp-single", Paths(loss)),
                less(0, SOONER),
            )
            for loss in losses
        ],
        f"By at least {SOONER:.0%}. The second path loses nothing.",
        source="§4.2.1, figure 3, above 4 %",
    )


def slope(x: list[float], samples: list[Sample]) -> Sample:
    """Of the straight line through the samples of each replication, by least squares."""
    centred = np.asarray(x, dtype=float) - np.mean(x)
    return Sample.across(samples, lambda row: float(centred @ row / (centred @ centred)))
