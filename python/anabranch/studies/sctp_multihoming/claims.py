"""The paper's claims, and what has been proposed since."""

from __future__ import annotations

import itertools

from anabranch import stats
from anabranch.experiment import RunResult
from anabranch.stats import Estimate
from anabranch.studies.results import Claim, Measure
from anabranch.studies.sctp_multihoming import conditions, measures
from anabranch.studies.sctp_multihoming.conditions import Batch, batch, plan
from anabranch.studies.sctp_multihoming.measures import Times, longer

TCP = ("tcp-reno", "tcp-sack")
SCTP = ("sctp-single", "sctp-multi")
SAME, ALTERNATE = "same", "alternate"
CROSSING_TOLERANCE = 0.125
"""Half the distance between the shares that C5 and C6 name."""
HARDLY = 0.03
"""Relative difference of two times that "hardly differ" (C7)."""


def judge(times: Times, watched: list[RunResult]) -> list[Claim]:
    """All claims, then the statements about the remedies."""
    return [
        _without_loss(times),
        _order(times),
        _high_loss(times),
        _second_path(times),
        _crossing(times, "C5", 4, 0.5),
        _crossing(times, "C6", 2, 0.25),
        _hardly(times),
        _timeouts(watched),
        _bandwidth(times),
        _delay(times),
        *(_remedy(times, scheme, number) for number, scheme in enumerate(_remedies(), start=1)),
    ]


def _without_loss(times: Times) -> Claim:
    return Claim(
        "C1",
        "At losses of 0 and 0.1 % both TCPs finish before both SCTPs.",
        [
            Measure.at_most(
                f"s that {tcp} takes longer than {sctp} at {loss:g} %",
                0,
                longer(times, batch(tcp, loss), batch(sctp, loss)),
            )
            for loss in (0, 0.1)
            for tcp in TCP
            for sctp in SCTP
        ],
        "An SCTP packet carries 1452 octets of the transfer, a TCP segment 1460.",
    )


def _order(times: Times) -> Claim:
    losses = [loss for loss in plan()["figure2"]["loss"] if loss > 0.5]
    order = ("sctp-multi", "tcp-sack", "sctp-single", "tcp-reno")
    found = []
    for sooner, later in itertools.pairwise(order):
        differences = [
            seconds
            for loss in losses
            for seconds in _differences(times, batch(sooner, loss), batch(later, loss))
        ]
        quantity = f"s that {sooner} takes longer than {later}, above 0.5 %"
        found.append(Measure.at_most(quantity, 0, stats.mean(differences)))
    for sooner, later in itertools.pairwise(order):
        gaps = {
            loss: longer(times, batch(later, loss), batch(sooner, loss)).mean
            for loss in plan()["figure2"]["loss"]
        }
        growth = stats.slope(gaps.keys(), gaps.values())
        quantity = f"s per % by which the gap from {sooner} to {later} grows"
        found.append(Measure.at_least(quantity, 0, growth))
    for ours, theirs in (
        ("tcp-sack", "sctp-single-ns2"),
        ("tcp-sack-every", "sctp-single"),
        ("tcp-sack-every", "sctp-single-ns2"),
        ("sctp-single-ns2", "tcp-reno-every"),
    ):
        differences = [
            seconds
            for loss in losses
            for seconds in _differences(times, batch(ours, loss), batch(theirs, loss))
        ]
        quantity = f"s that {ours} takes longer than {theirs}, above 0.5 %"
        found.append(Measure(quantity, None, stats.mean(differences)))
    return Claim(
        "C2",
        "Above 0.5 % the order is SCTP on two paths, TCP SACK, SCTP on one path, TCP Reno, and the"
        " gaps grow with the loss.",
        found,
        "Over 0.6 to 1 %, replication by replication; growth over 0 to 1 %. Not judged: TCP with an"
        " ACK for every segment (every), SCTP with the rules of ns-2.35's module (ns2).",
    )


def _high_loss(times: Times) -> Claim:
    losses = [loss for loss in plan()["figure3"]["loss"] if loss > 0]
    found = []
    for sctp in SCTP:
        for tcp in TCP:
            worst = _worst(times, sctp, tcp, losses)
            found.append(Measure.at_most(f"largest change of time from {tcp} to {sctp}", 0, worst))
    for sctp in SCTP:
        ratios = {
            loss: stats.mean(
                measures.relative(times, batch("tcp-sack", loss), batch(sctp, loss))
            ).mean
            for loss in losses
        }
        growth = stats.slope(ratios.keys(), ratios.values())
        quantity = f"growth per % of the share by which tcp-sack takes longer than {sctp}"
        found.append(Measure.at_least(quantity, 0, growth))
    return Claim(
        "C3",
        "From 0 to 16 % both SCTPs are far better than both TCPs, the more so the higher the loss.",
        found,
        f"Over {losses[0]:g} to {losses[-1]:g} %; the largest change is that at the loss where SCTP"
        " does worst.",
    )


def _worst(times: Times, ours: str, theirs: str, losses: list[float]) -> Estimate:
    changes = [
        stats.mean(measures.relative(times, batch(ours, x), batch(theirs, x))) for x in losses
    ]
    return max(changes, key=lambda estimate: estimate.mean)


def _second_path(times: Times) -> Claim:
    losses = [loss for loss in plan()["figure3"]["loss"] if loss > 4]
    return Claim(
        "C4",
        "Above 4 % SCTP on two paths beats SCTP on one.",
        [
            Measure.at_most(
                f"s that two paths take longer than one at {loss:g} %",
                0,
                longer(times, batch("sctp-multi", loss), batch("sctp-single", loss)),
            )
            for loss in losses
        ],
        "The second path loses nothing.",
    )


def _crossing(times: Times, name: str, loss: float, share: float) -> Claim:
    others = plan()["figure4"]["other"]

    def against(alternate: str, same: str) -> list[Estimate]:
        return [longer(times, batch(alternate, loss, x), batch(same, loss)) for x in others]

    shares = [x / loss for x in others]
    differences = against(ALTERNATE, SAME)
    variant = plan()["variants"]["policies"]
    ns2 = measures.crossing(shares, against(variant[ALTERNATE], variant[SAME]))
    listed = [f"{x:g} %: {each.mean:+.1f} s" for x, each in zip(others, differences, strict=True)]
    quantity = "alternate's loss at which the policies are equal, share of the primary's"
    found = measures.crossing(shares, differences)
    return Claim(
        name,
        f"With {loss:g} % on the primary, sending again on the alternate wins only while that loses"
        f" less than about {share:.0%} of it.",
        [
            Measure.near(quantity, share, found, CROSSING_TOLERANCE),
            Measure("the same with the rules of ns-2.35's module", None, ns2),
        ],
        "Time on the alternate less time on the same path, by the alternate's loss: "
        + ", ".join(listed)
        + ". The interval is where the intervals of the difference end.",
    )


def _hardly(times: Times) -> Claim:
    loss = plan()["figure4"]["loss"][0]
    changes = {
        x: stats.mean(measures.relative(times, batch(ALTERNATE, loss, x), batch(SAME, loss)))
        for x in plan()["figure4"]["other"]
    }
    most = max(changes.values(), key=lambda estimate: abs(estimate.mean))
    if most.mean < 0:
        most = Estimate(-most.mean, -most.ci_high, -most.ci_low, most.n)
    return Claim(
        "C7",
        f"With {loss:g} % on the primary the two policies hardly differ.",
        [Measure.at_most("largest relative difference of the times", HARDLY, most)],
        f"Hardly: by at most {HARDLY:.0%}. Over the alternate's losses of 0 to 5 %.",
    )


def _timeouts(watched: list[RunResult]) -> Claim:
    def average(what: str, path: int) -> Estimate:
        name = f"transfer.receiver.path{path}.{what}"
        return stats.mean(measures.mean_over_time(run, name) for run in watched)

    def ratio(path: int) -> Estimate:
        name = f"transfer.receiver.path{path}"
        # A path whose round-trip time was never measured has no such series.
        return stats.mean(
            measures.mean_over_time(run, f"{name}.path_rto")
            / measures.mean_over_time(run, f"{name}.path_srtt")
            for run in watched
            if f"{name}.path_srtt" in run.series
        )

    primary, alternate = average("path_rto", 0), average("path_rto", 1)
    more = stats.paired(
        [measures.mean_over_time(run, "transfer.receiver.path1.path_rto") for run in watched],
        [measures.mean_over_time(run, "transfer.receiver.path0.path_rto") for run in watched],
    )
    return Claim(
        "C8",
        "The alternate's timeout, once backed off, stays far above its round-trip time, and above"
        " the primary's.",
        [
            Measure.at_least("s by which the alternate's mean RTO exceeds the primary's", 0, more),
            Measure.at_least("alternate's mean RTO over its mean SRTT", 10, ratio(1)),
            Measure("primary's mean RTO, s", None, primary),
            Measure("alternate's mean RTO, s", None, alternate),
            Measure("primary's mean RTO over its mean SRTT", None, ratio(0)),
        ],
        "Primary 4 %, alternate 2 %, means over time of each run. Far above: ten times; RTO.Min is"
        " 1 s, which alone is that. The round-trip time of the alternate is measured by heartbeats"
        " alone, the first after 15 to 45 s: until then it is unknown and the RTO 3 s or more.",
    )


def _bandwidth(times: Times) -> Claim:
    return _helps_only(
        times,
        "C9",
        "With 4 % and 2 % the alternate helps only if its rate is higher than the primary's.",
        {ratio: ratio > 1 for ratio in plan()["figure5"]["bandwidth"]},
        "bandwidth",
    )


def _delay(times: Times) -> Claim:
    claim = _helps_only(
        times,
        "C10",
        "And only if its delay is lower; delay matters more than rate in this topology.",
        {ratio: ratio < 1 for ratio in plan()["figure6"]["delay"]},
        "delay",
    )
    plain, faster = (batch(ALTERNATE, 4, 2, bandwidth=ratio) for ratio in (1, 2))
    nearer = batch(ALTERNATE, 4, 2, delay=0.5)
    gain = stats.mean(
        (p - n) - (p - f)
        for p, n, f in zip(times[plain], times[nearer], times[faster], strict=True)
    )
    quantity = "s that half the delay gains more than twice the rate"
    return Claim(
        claim.claim,
        claim.statement,
        [*claim.measures, Measure.at_least(quantity, 0, gain)],
        claim.note,
    )


def _helps_only(
    times: Times, name: str, statement: str, helps: dict[float, bool], what: str
) -> Claim:
    found = []
    for ratio, better in helps.items():
        ours = batch(ALTERNATE, 4, 2, **{what: ratio})
        difference = longer(times, ours, batch(SAME, 4))
        judged = Measure.at_most if better else Measure.at_least
        quantity = f"s that the alternate takes longer, {what} ratio {ratio:g}"
        found.append(judged(quantity, 0, difference))
    return Claim(name, statement, found, "Against sending again on the same path.")


def _remedies() -> list[str]:
    return list(plan()["remedies"]["schemes"])


def _remedy(times: Times, scheme: str, number: int) -> Claim:
    """Beside the better of the two policies of the paper, condition by condition."""
    changes, worst = [], None
    for ours in conditions.remedy_grid(scheme):
        better = min(
            (batch(SAME, ours.loss), Batch(ALTERNATE, *_conditions(ours))),
            key=lambda each: stats.mean(times[each]).mean,
        )
        change = measures.relative(times, ours, better)
        changes += change
        estimate = stats.mean(change)
        if worst is None or estimate.mean > worst.mean:
            worst = estimate
    assert worst is not None
    return Claim(
        f"N{number}",
        f"{scheme} is as fast as the better of the paper's two policies, whichever that is.",
        [
            Measure.at_most("change of time, over all conditions", 0, stats.mean(changes)),
            Measure("change of time where it does worst", None, worst),
        ],
        "A policy cannot know the better one beforehand. Conditions: losses of 2 and 4 % on the"
        " primary, 0 to 5 % on the alternate, and figures 5 and 6.",
    )


def _conditions(batch: Batch) -> tuple[float, float, float, float]:
    return (batch.loss, batch.other, batch.bandwidth, batch.delay)


def _differences(times: Times, ours: Batch, theirs: Batch) -> list[float]:
    return [a - b for a, b in zip(times[ours], times[theirs], strict=True)]
