"""What the paper says of its model without showing it: where else the dynamics are the same, and
what explicit rates do inside the network."""

from __future__ import annotations

from anabranch.experiment import RunResult
from anabranch.stats import Exact
from anabranch.studies.fast_tcp.two_way import carried, networks
from anabranch.studies.fast_tcp.two_way.claims import SHARE, SOME, Details
from anabranch.studies.fast_tcp.two_way.conditions import Run, plan
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
PACKET_S = 1500 * 8 / 30e6
"""A packet's time on the line between two switches."""
Losses = Replicated[tuple[float, bool, bool]]
"""Replications by loss rate, whether traffic goes both ways, and whether over ATM."""
OVER = {name: f"over ATM, {name}" for name in carried.ALLOCATIONS}
"""What is added to a statement that is judged where RM cells carry rates."""


def judge(details: Details) -> list[Claim]:
    """C10 and C12 to C15, then W4, which have no chance in them."""
    return [
        _one_connection(details),
        _below_ip(details),
        _larger_network(details),
        _round_trips(details),
        _switch(details),
        _carried(details),
    ]


def _share(details: Details, name: str) -> float:
    return networks.share(details[name])


def _part(details: Details, name: str) -> float:
    return networks.compressed(details[name])


def _alike(
    details: Details, name: str, beside: str, than: tuple[str, str], share: float
) -> list[Statement]:
    """Ratio of the throughputs of two runs, which is within `share` of 1, and by how much more of
    the ACKs come compressed in the first; `than` says of both what they are compared with."""
    ratio = _share(details, name) / _share(details, beside)
    more = _part(details, name) - _part(details, beside)
    return [
        Statement.of(f"throughput divided by that {than[0]}", Exact.of([ratio]), near(1, share)),
        Statement.of(
            f"difference of the share of compressed ACKs from that {than[1]}",
            Exact.of([more]),
            near(0, SOME),
        ),
    ]


def _one_connection(details: Details) -> Claim:
    each = "an ACK for each segment"

    def both(more: str, acks: str, part: str) -> list[Statement]:
        than = (f"of two connections, {acks}", f"with two, {part}")
        return _alike(details, f"one connection{more}", f"pair{more}", than, ALIKE)

    return Claim(
        "C10",
        "One connection that carries data both ways behaves as two connections do.",
        [*both("", each, each), *both(", delayed ACKs", "delayed ACKs", "delayed ACKs")],
        "With an ACK for each segment at once, ACKs queue behind data as those of two connections."
        " With delayed ACKs (RFC 1122), which is what hosts do, they ride on the data of their own"
        " connection, and nothing is left to be compressed.",
        grid=[
            item
            for name, over in OVER.items()
            for item in both(f", {name}", f"{each}, {over}", over)
        ],
        source="Section 2.1; no operating point. Windows of one round trip.",
    )


def judge_losses(results: Losses, details: Details) -> Claim:
    """C11: what random losses change."""
    rates = plan()["losses"]

    def statements(rate: float, over: bool = False) -> list[Statement]:
        both, alone = (
            results.sample((rate, two_way, over), networks.share) for two_way in (True, False)
        )
        part = results.sample((rate, True, over), networks.compressed)
        slow = results.sample((rate, True, over), _timeouts)
        more = ", ERICA" if over else ""
        lossless = _share(details, f"pair{more}") / _share(details, f"one way{more}")
        text = f"1 packet in {1 / rate:,.0f} lost" + (f", {OVER['ERICA']}" if over else "")
        return [
            Statement.of(
                f"decrease of the share of compressed ACKs by losses, {text}",
                part * -1 + _part(details, f"pair{more}"),
                near(0, ALIKE),
            ),
            Statement.of(
                f"increase of the ratio of two-way to one-way throughput by losses, {text}",
                both / alone - lossless,
                near(0, ALIKE),
            ),
            Statement.of(f"timeouts per minute of both connections together, {text}", slow),
        ]

    return Claim(
        "C11",
        "Losses do not change the dynamics fundamentally, as long as slow start is rare.",
        statements(rates["judged"]),
        "Losses at random in both directions, TCP Reno, windows of at most one round trip. Where"
        " losses hold the window below half a round trip, nothing is compressed: that is by the"
        " window (C1), not by slow start.",
        grid=[
            *(statement for rate in rates["rate"] for statement in statements(rate)),
            *statements(rates["judged"], over=True),
        ],
        source="Section 2.1: TCP Reno, mostly in congestion avoidance.",
    )


def _timeouts(result: RunResult) -> float:
    return float(sum(flow.timeouts for flow in result.flows))


def _below_ip(details: Details) -> Claim:
    told = _bunching_below(details, "")
    over_atm = (_bunching_below(details, f", {name}") for name in carried.ALLOCATIONS)
    return Claim(
        "C12",
        "If IP is served faster than the channel, its queue shrinks, and the same bunching appears"
        " in the layer below, where the data wait then.",
        [*told, *(each for some in over_atm for each in some)],
        "IP is served at 100 Mbit/s, the channel at 10. The layer below holds whole packets where"
        " rates are told; over ATM the source of the virtual channel, which data and ACKs share as"
        " the paper has it, cuts one packet after the other into cells.",
        source="Section 2.1, below figure 2; no operating point.",
    )


def _bunching_below(details: Details, more: str) -> list[Statement]:
    below, pair = details[f"queue below IP{more}"], details[f"pair{more}"]
    waits = networks.average("ip-i")(below) / networks.average("i-j")(pair) - 1
    over = f", over ATM{more}" if more else ""
    than = f"with the queue in IP{over}"
    throughput, compressed = _alike(
        details, f"queue below IP{more}", f"pair{more}", (than, than), SHARE
    )
    return [
        compressed,
        throughput,
        Statement.of(
            f"relative change of the mean IP queue by a queue below IP{over}",
            Exact.of([waits]),
            less(0, FEWER),
        ),
        Statement.of(
            f"mean queue below IP in packets{over}", Exact.of([networks.average("i-j")(below)])
        ),
    ]


def _larger_network(details: Details) -> Claim:
    def alike(name: str, pair: str, over: str) -> list[Statement]:
        than = f"of the pair alone{over}"
        return _alike(details, f"larger network{name}", pair, (than, than), SHARE)

    erica = ["ERICA", *map(carried.measured_over, plan()["carried"]["interval_ms"])]
    return Claim(
        "C13",
        "A pair of connections inside a larger network behaves as the pair alone, as long as rates"
        " and delays stay.",
        [
            *alike("", "pair", ""),
            *alike(", exact rates", "pair, exact rates", f", {OVER['exact rates']}"),
        ],
        "Three pairs of hosts, two switches, explicit rates of a third of the line each, the same"
        " round trip. Over ATM with ERICA the claim's condition is not met: what a virtual channel"
        " that idles leaves is lent to others, so that neither rates nor delay stay.",
        grid=[
            each
            for name in erica
            for each in alike(f", {name}", "pair, ERICA", f", over ATM, {name}")
        ],
        source="Section 2.1; no operating point.",
    )


def _round_trips(details: Details) -> Claim:
    text = "throughput of the 200 ms connection divided by that of the 20 ms connection"

    def even(name: str, over: str) -> Statement:
        found = Exact.of([networks.evenness(details[name])])
        return Statement.of(f"{text}{over}", found, near(1, FAIR))

    without = Exact.of([networks.evenness(details["round trips, no explicit rates"])])
    return Claim(
        "C14",
        "Explicit rates prevent the unfairness that differing round trips cause.",
        [
            even("round trips", ""),
            Statement.of(f"{text}, without explicit rates", without, less(1, FEWER)),
            *(even(f"round trips, {name}", f", {over}") for name, over in OVER.items()),
        ],
        "TCP Reno over one port of 10 Mbit/s; without explicit rates a buffer of 50 packets. Rates"
        " that are told are max-min fair by construction. Over ATM nothing is lost at the switch,"
        " as the paper assumes; over the grid its queue holds 50 packets in cells, and what ERICA"
        " lends to the distant source for a round trip overflows it.",
        grid=[
            even(
                f"round trips, small queue, {name}", f", 50 packets in cells at the switch, {over}"
            )
            for name, over in OVER.items()
        ],
        source="Section 1, with reference 12 of the paper; no operating point.",
    )


def _switch(details: Details) -> Claim:
    limit = networks.PAIR.round_trip_ms / 1e3 / PACKET_S
    controlled, free = (
        details[name] for name in ("larger network", "larger network, no explicit rates")
    )
    longest, average = networks.longest("port"), networks.average("port")
    change = longest(controlled) / longest(free) - 1
    # 155 Mbit/s into 30: packets of the free network wait for the port's line.
    free_s = longest(free) * PACKET_S

    def over_atm(name: str, over: str) -> list[Statement]:
        mean_s, longest_s = networks.cells(details[f"larger network, {name}"], "port")
        round_trip = networks.PAIR.round_trip_ms / 1e3
        return [
            Statement.of(
                f"relative change of the longest switch delay by explicit rates, {over}",
                Exact.of([longest_s / free_s - 1]),
                less(0, FEWER),
            ),
            Statement.of(
                f"mean switch delay divided by the RTT, {over}",
                Exact.of([mean_s / round_trip]),
                at_most(0, SMALL),
            ),
            Statement.of(
                f"longest switch delay divided by the RTT, {over}",
                Exact.of([longest_s / round_trip]),
                at_most(0, SMALL),
            ),
        ]

    other_intervals = map(carried.measured_over, plan()["carried"]["interval_ms"])
    return Claim(
        "C15",
        "With explicit rates the switch's queue stays small, so that delay is constant and bursts"
        " are smaller there than without.",
        [
            Statement.of(
                "relative change of the longest switch queue by explicit rates",
                Exact.of([change]),
                less(0, FEWER),
            ),
            Statement.of(
                "mean switch delay divided by the RTT",
                Exact.of([average(controlled) / limit]),
                at_most(0, SMALL),
            ),
            Statement.of(
                "longest switch delay divided by the RTT",
                Exact.of([longest(controlled) / limit]),
                at_most(0, SMALL),
            ),
            *(each for name, over in OVER.items() for each in over_atm(name, over)),
        ],
        "The network of C13. A virtual channel that idles in each cycle lends its rate to the"
        " others, and what they were lent fills the queue until they are told otherwise. Over ATM"
        " ERICA lets load stand at up to 1.1 of its target of 0.9, so that a queue hardly drains.",
        grid=[each for name in other_intervals for each in over_atm(name, f"over ATM, {name}")],
        source="Section 1 and section 2.1, with reference 12 of the paper; section 3 announces the"
        " delay in switches and shows none.",
    )


def _carried(details: Details) -> Claim:
    found = []
    for name, over in OVER.items():
        runs = {f"pair, {name}": networks.PAIR} | {
            f"windows of {w:g}, {name}": Run("shown", w, w) for w in plan()["carried"]["windows"]
        }
        shares = [
            networks.share(details[key], flow) / run.channel().shares[way]
            for key, run in runs.items()
            for way, flow in enumerate(("forth", "back"))
        ]
        found.append(
            Statement.of(
                f"measured throughput divided by equation (1), {over}",
                Exact.of(shares),
                near(1, SHARE),
            )
        )
    return Claim(
        "W4",
        "Where RM cells carry the rates, both throughputs are those of equation (1), too.",
        found,
        "Windows of 0.5, 1 and 2 round trips. The line's rate is such that data packets leave as"
        " over the channel whose rate is told: 32 cells, and an RM cell and an answer for 30"
        " others.",
    )
