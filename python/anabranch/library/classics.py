"""The scenarios that everybody draws: dumbbell, parking lot, fat-tree, incast, web pages.

Every function returns a `Network`, which can be added to; `scenario()` makes it runnable.
"""

from __future__ import annotations

import math

from anabranch.library import sizes
from anabranch.library.entry import Window, tcp, within
from anabranch.library.quantities import bits_per_second, octets, seconds
from anabranch.network import Network


def dumbbell(
    *,
    pairs: int = 4,
    rate: str = "50 Mbit/s",
    delay: str = "20 ms",
    access_rate: str = "1 Gbit/s",
    access_delay: str = "1 ms",
    buffer: str = "200 packets",
    queue: str = "droptail",
    size: str | None = None,
    duration: str = "30 s",
    spread: str = "1 s",
    window: Window = "cubic",
) -> Network:
    """Pairs of hosts that share one bottleneck, a long flow each.

    `buffer` and `queue` are those of the bottleneck, both ways; without a `size`
    flows go on to the end. Flows start within `spread`.
    """
    net = Network(
        "dumbbell",
        duration=duration,
        topology={
            "kind": "dumbbell",
            "pairs": pairs,
            "access": {"rate": access_rate, "delay": access_delay},
            "bottleneck": {"rate": rate, "delay": delay, "queue": queue_of(queue, buffer)},
        },
    )
    for pair in range(pairs):
        net.flow(f"c{pair}", f"s{pair}", size=size, start_spread=spread, tcp=tcp(window))
    return net


def parking_lot(
    *,
    hops: int = 3,
    rate: str = "20 Mbit/s",
    delay: str = "10 ms",
    access_rate: str = "1 Gbit/s",
    access_delay: str = "1 ms",
    buffer: str = "100 packets",
    queue: str = "droptail",
    duration: str = "60 s",
    spread: str = "1 s",
    window: Window = "cubic",
) -> Network:
    """A chain of bottlenecks: one flow over all of them, one over each.

    Flow `long` goes the whole way, `cross-0`, ... one hop each.
    """
    net = Network(
        "parking lot",
        duration=duration,
        topology={
            "kind": "parking-lot",
            "hops": hops,
            "access": {"rate": access_rate, "delay": access_delay},
            "bottleneck": {"rate": rate, "delay": delay, "queue": queue_of(queue, buffer)},
        },
    )
    net.flow("a", "b", name="long", start_spread=spread, tcp=tcp(window))
    for hop in range(hops):
        name = f"cross-{hop}"
        net.flow(f"c{hop}", f"s{hop}", name=name, start_spread=spread, tcp=tcp(window))
    return net


def fat_tree(
    *,
    k: int = 4,
    rate: str = "1 Gbit/s",
    delay: str = "5 us",
    buffer: str = "100 packets",
    flows: str = "web-search",
    load: float = 0.3,
    duration: str = "200 ms",
    window: Window = "cubic",
) -> Network:
    """A fat-tree of k-port switches whose k^3/4 hosts send flows of a published size.

    Every host sends to one other (a permutation) flows whose sizes follow `flows`,
    `web-search`, `data-mining` or a size such as `1 MB`, and which arrive in a
    Poisson process at `load` of its link.
    """
    within("load", load, 1e-9, 10)
    law = sizes.named(flows)
    per_second = load * bits_per_second(rate) / (8 * sizes.mean(law))
    net = Network(
        "fat-tree",
        duration=duration,
        topology={
            "kind": "fat-tree",
            "k": k,
            "link": {"rate": rate, "delay": delay, "queue": {"limit": buffer}},
        },
    )
    fields = {
        "pattern": "permutation",
        "among": ["h*"],
        "count": arrivals(per_second, duration),
        "arrivals": {"per_second": per_second},
        "sizes": law,
        "tcp": {**tcp(window), "rto": DATA_CENTRE_RTO},
    }
    net.lines(name="flow", **fields)
    return net


def incast(
    *,
    senders: int = 16,
    block: str = "256 kB",
    rounds: int = 10,
    rate: str = "1 Gbit/s",
    delay: str = "20 us",
    buffer: str = "64 packets",
    think: str = "1 ms",
    min_rto: str = "200 ms",
    window: Window = "cubic",
) -> Network:
    """One host asks many for a part each of a block, round after round.

    The next round begins when all have answered: A. Phanishayee et al., FAST
    2008. The series `block.rounds` has the time of each.
    """
    share = math.ceil(octets(block, "block") / senders) if senders > 0 else 0
    net = Network(
        "incast",
        topology={
            "kind": "star",
            "hosts": senders + 1,
            "access": {"rate": rate, "delay": delay, "queue": {"limit": buffer}},
        },
    )
    exchange = {"request": "100 B", "response": f"{share} B", "count": rounds, "think": think}
    net.lines(
        name="part",
        pattern="scatter",
        **{"from": "h0"},
        receivers=["h*"],
        traffic={"kind": "requests", **exchange, "barrier": "block"},
        tcp={**tcp(window), "rto": {"min": min_rto}},
    )
    net.observe("rounds")
    return net


def web(
    *,
    browsers: int = 10,
    pages: int = 20,
    main: str = "25 kB",
    objects: int = 12,
    object_size: str = "20 kB",
    think: str = "2 s",
    pipelined: bool = True,
    rate: str = "20 Mbit/s",
    delay: str = "20 ms",
    buffer: str = "100 packets",
    queue: str = "droptail",
    background: int = 1,
    window: Window = "cubic",
) -> Network:
    """Browsers load pages beside long downloads: the series `browser-N.responses` has page times.

    Sizes are log-normal and the number of objects exponential with these means;
    after each page its reader thinks for an exponential time. `background` long
    flows share the bottleneck.
    """
    within("browsers", browsers, 1, 10_000)
    within("background", background, 0, 10_000)
    net = Network(
        "web pages",
        topology={
            "kind": "dumbbell",
            "pairs": browsers + background,
            "access": {"rate": "1 Gbit/s", "delay": "1 ms"},
            "bottleneck": {"rate": rate, "delay": delay, "queue": queue_of(queue, buffer)},
        },
    )
    traffic = {
        "kind": "pages",
        "main": sizes.lognormal(main, 1.0),
        "objects": {"law": "exponential", "mean": objects} if objects > 0 else 0,
        "object": sizes.lognormal(object_size, 1.5),
        "count": pages,
        "think": {"mean": think, "law": "exponential"},
        "pipelined": pipelined,
    }
    for n in range(browsers):
        # The browser stands on the right: what it loads crosses the bottleneck.
        net.flow(f"s{n}", f"c{n}", name=f"browser-{n}", traffic=traffic, tcp=tcp(window))
        net.observe("responses", flow=f"browser-{n}")
    length = f"{seconds(think, 'think') * pages + 10:g} s"
    for n in range(browsers, browsers + background):
        name = f"download-{n - browsers}"
        net.flow(f"c{n}", f"s{n}", name=name, duration=length, tcp=tcp(window))
    return net


def short_flows(
    *,
    flows: str = "web-search",
    load: float = 0.5,
    rate: str = "100 Mbit/s",
    delay: str = "10 ms",
    buffer: str = "200 packets",
    queue: str = "droptail",
    long: int = 1,
    duration: str = "30 s",
    window: Window = "cubic",
) -> Network:
    """Flows of a published size that arrive in a Poisson process, beside long ones.

    `flows` is `web-search`, `data-mining` or a size; together they ask for `load`
    of the bottleneck.
    """
    within("load", load, 1e-9, 10)
    within("long", long, 0, 10_000)
    law = sizes.named(flows)
    per_second = load * bits_per_second(rate) / (8 * sizes.mean(law))
    net = Network(
        "short flows",
        duration=duration,
        topology={
            "kind": "dumbbell",
            "pairs": 1 + long,
            "access": {"rate": "10 Gbit/s", "delay": "10 us"},
            "bottleneck": {"rate": rate, "delay": delay, "queue": queue_of(queue, buffer)},
        },
    )
    net.flow(
        "c0",
        "s0",
        name="short",
        count=arrivals(per_second, duration),
        arrivals={"per_second": per_second},
        sizes=law,
        tcp=tcp(window),
    )
    for n in range(long):
        net.flow(f"c{n + 1}", f"s{n + 1}", name=f"long-{n}", tcp=tcp(window))
    return net


DATA_CENTRE_RTO = {"min": "5 ms", "initial": "20 ms"}
"""As data centres set it: the bounds of wide-area paths would hide everything else."""


def arrivals(per_second: float, duration: str) -> int:
    """How many flows to draw so that a Poisson process lasts until the end.

    Six standard deviations more than the mean: those beyond the end do not start.
    """
    expected = per_second * seconds(duration, "duration")
    within("flows that arrive", expected, 0, 2_000_000)
    return math.ceil(expected + 6 * math.sqrt(expected)) + 1


def queue_of(kind: str, limit: str) -> dict[str, str]:
    """Makes the table `queue` of a link."""
    return {"kind": kind, "limit": limit}
