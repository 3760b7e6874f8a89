"""What the paper says of its model without showing it: where else the dynamics are the same, and
what explicit rates do inside the network."""

from __future__ import annotations

from anabranch.experiment import RunResult
from anabranch.stats import Exact
from anabranch.studies.fast_tcp.two_way import networks
from anabranch.studies.fast_tcp.two_way.claims import SHARE, SOME, Details
from anabranch.studies.fast_tcp.two_way.conditions import plan
from anabranch.studies.replications import Replicated
from anabranch.verdicts import Claim, Statement, at_most, less, near

ALIKE = 0.1
"""Throughput within a tenth is the same dynamics: compression costs a third."""
FAIR = 0.1
"""Shares within a tenth of each other are fair; round trips alone make them differ tenfold."""
SMALL = 0.05
"""A delay that varies by less than this part of the round trip counts as constant."""
FEWER = 0.5
"""Half of the queue less is a difference that a switch's buffer can be sized by."""
Losses = Replicated[tuple[float, bool]]
"""Replications by loss rate, and whether traffic goes both ways."""


def judge(details: Details) -> list[Claim]:
    """C10 and C12 to C15, which have no chance in them."""
    return [
        _one_connection(details),
        _below_ip(details),
        _larger_network(details),
        _round_trips(details),
        _switch(details),
    ]


def _share(details: Details, name: str) -> float:
    return networks.share(details[name])


def _part(details: Details, name: str) -> float:
    return networks.compressed(details[name])


def _one_connection(details: Details) -> Claim:
    statements = []
    for name, acks in (("", "an ACK for each segment"), (", delayed ACKs", "delayed ACKs")):
        one, two = f"one connection{name}", f"pair{name}"
        ratio = _share(details, one) / _share(details, two)
        more = _part(details, one) - _part(details, two)
        statements += [
            Statement.of(
                f"throughput over that of two connections, {acks}",
                Exact.of([ratio]),
                near(1, ALIKE),
            ),
            Statement.of(
                f"part of the ACKs compressed, more than with two, {acks}",
                Exact.of([more]),
                near(0, SOME),
            ),
        ]
    return Claim(
        "C10",
        "One connection that carries data both ways behaves as two connections do.",
        statements,
        "With an ACK for each segment at once, ACKs queue behind data as those of two connections."
        " With delayed ACKs (RFC 1122), which is what hosts do, they ride on the data of their own"
        " connection, and nothing is left to be compressed.",
        source="Section 2.1; no operating point. Windows of one round trip.",
    )


def judge_losses(results: Losses, details: Details) -> Claim:
    """C11: what random losses change."""
    rates = plan()["losses"]

    def statements(rate: float) -> list[Statement]:
        both, alone = (results.sample((rate, two_way), networks.share) for two_way in (True, False))
        part = results.sample((rate, True), networks.compressed)
        slow = results.sample((rate, True), _timeouts)
        lossless = _share(details, "pair") / _share(details, "one way")
        text = f"1 packet of {1 / rate:,.0f} lost"
        return [
            Statement.of(
                f"part of the ACKs compressed, less than without losses, {text}",
                part * -1 + _part(details, "pair"),
                near(0, ALIKE),
            ),
            Statement.of(
                f"two-way over one-way throughput, more than without losses, {text}",
                both / alone - lossless,
                near(0, ALIKE),
            ),
            Statement.of(f"timeouts of both connections in a minute, {text}", slow),
        ]

    return Claim(
        "C11",
        "Losses do not change the dynamics fundamentally, as long as slow start is rare.",
        statements(rates["judged"]),
        "Losses at random in both directions, TCP Reno, windows of at most one round trip. Where"
        " losses hold the window below half a round trip, nothing is compressed: that is by the"
        " window (C1), not by slow start.",
        grid=[it for rate in rates["rate"] for it in statements(rate)],
        source="Section 2.1: TCP Reno, mostly in congestion avoidance.",
    )


def _timeouts(result: RunResult) -> float:
    return float(sum(flow["timeouts"] for flow in result.flows))


def _below_ip(details: Details) -> Claim:
    below = details["queue below IP"]
    ratio = networks.share(below) / _share(details, "pair")
    waits = networks.average("ip-i")(below) / networks.average("i-j")(details["pair"]) - 1
    return Claim(
        "C12",
        "If IP is served faster than the channel, its queue shrinks, and the same bunching appears"
        " in the layer below, where the data wait then.",
        [
            Statement.of(
                "part of the ACKs compressed, more than with the queue in IP",
                Exact.of([_part(details, "queue below IP") - _part(details, "pair")]),
                near(0, SOME),
            ),
            Statement.of(
                "throughput over that with the queue in IP", Exact.of([ratio]), near(1, SHARE)
            ),
            Statement.of(
                "mean queue in IP, change from that with the queue in IP alone",
                Exact.of([waits]),
                less(0, FEWER),
            ),
            Statement.of(
                "mean queue below IP, packets", Exact.of([networks.average("i-j")(below)])
            ),
        ],
        "IP is served at 100 Mbit/s, the channel at 10. The layer below holds whole packets: data"
        " and ACKs share a virtual channel, as the paper has it, whose cells keep their order.",
        source="Section 2.1, below figure 2; no operating point.",
    )


def _larger_network(details: Details) -> Claim:
    name = "larger network"
    return Claim(
        "C13",
        "A pair of connections inside a larger network behaves as the pair alone, as long as rates"
        " and delays stay.",
        [
            Statement.of(
                "throughput over that of the pair alone",
                Exact.of([_share(details, name) / _share(details, "pair")]),
                near(1, SHARE),
            ),
            Statement.of(
                "part of the ACKs compressed, more than of the pair alone",
                Exact.of([_part(details, name) - _part(details, "pair")]),
                near(0, SOME),
            ),
        ],
        "Three pairs of hosts, two switches, explicit rates of a third of the line each, the same"
        " round trip.",
        source="Section 2.1; no operating point.",
    )


def _round_trips(details: Details) -> Claim:
    with_rates, without = (
        Exact.of([networks.evenness(details[name])])
        for name in ("round trips", "round trips, no explicit rates")
    )
    return Claim(
        "C14",
        "Explicit rates prevent the unfairness that differing round trips cause.",
        [
            Statement.of(
                "octets of the connection with 200 ms over those of the one with 20 ms",
                with_rates,
                near(1, FAIR),
            ),
            Statement.of("the same without explicit rates", without, less(1, FEWER)),
        ],
        "TCP Reno over one port of 10 Mbit/s; without explicit rates a buffer of 50 packets. Our"
        " rates are max-min fair by construction; a switch's own algorithm is not simulated.",
        source="Section 1, with reference 12 of the paper; no operating point.",
    )


def _switch(details: Details) -> Claim:
    limit = 30e6 / 8 / 1500 * 0.12
    controlled, free = (
        details[name] for name in ("larger network", "larger network, no explicit rates")
    )
    longest, average = networks.longest("port"), networks.average("port")
    change = longest(controlled) / longest(free) - 1
    return Claim(
        "C15",
        "With explicit rates the switch's queue stays small, so that delay is constant and bursts"
        " are smaller there than without.",
        [
            Statement.of(
                "longest queue of the switch, change from that without explicit rates",
                Exact.of([change]),
                less(0, FEWER),
            ),
            Statement.of(
                "mean delay in the switch over the round trip",
                Exact.of([average(controlled) / limit]),
                at_most(0, SMALL),
            ),
            Statement.of(
                "longest delay in the switch over the round trip",
                Exact.of([longest(controlled) / limit]),
                at_most(0, SMALL),
            ),
        ],
        "The network of C13. A virtual channel that idles in each cycle lends its rate to the"
        " others, and what they were lent fills the queue until they are told otherwise.",
        source="Section 1 and section 2.1, with reference 12 of the paper; section 3 announces the"
        " delay in switches and shows none.",
    )
