"""The six basic scenarios of the suite (§4 of the draft): three nodes on each side of one link.

Nine paths of different round-trip times share the central link. The draft drives
them with recorded connections (Tmix), whose traces are not public any more; here
connections arrive in a Poisson process on every path, ask for one object and
close: request 400 B, response log-normal. How much they ask for is `load` of the
central link, and `reverse_load` of its other direction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from anabranch.library import sizes
from anabranch.library.classics import arrivals
from anabranch.library.entry import Window, tcp, within
from anabranch.library.quantities import bits_per_second, seconds
from anabranch.network import Network

LEFT = ("0 ms", "12 ms", "25 ms")
RIGHT = ("2 ms", "37 ms", "75 ms")
"""One-way delays of the edge links of nodes 1 to 3 and 4 to 6, where a scenario has no others."""


@dataclass(frozen=True)
class Central:
    """The central link and the edges around it."""

    rate: str
    delay: str
    buffer_time: str
    """The central queue holds what the link sends in this time."""
    access_rate: str
    reverse_rate: str | None = None
    left: Sequence[str] = LEFT
    right: Sequence[str] = RIGHT


def add(net: Network, central: Central, **fields: object) -> Network:
    """Adds nodes `n1` to `n6`, routers `left` and `right` and the link `central` to a network.

    `fields` are further ones of the central link.
    """
    left, right = net.router("left"), net.router("right")
    reverse = central.reverse_rate or central.rate
    net.link(
        left,
        right,
        name="central",
        rate=central.rate,
        delay=central.delay,
        queue={"limit": held(central.rate, central.buffer_time)},
        reverse={"rate": reverse, "queue": {"limit": held(reverse, central.buffer_time)}},
        **fields,  # type: ignore[arg-type]
    )
    wide = {"limit": "unlimited"}
    for n, (first, second) in enumerate(zip(central.left, central.right, strict=True), start=1):
        near, far = net.host(f"n{n}"), net.host(f"n{n + 3}")
        net.link(near, left, rate=central.access_rate, delay=first, queue=wide)
        net.link(right, far, rate=central.access_rate, delay=second, queue=wide)
    return net


def held(rate: str, time: str) -> str:
    """Returns the octets that a link sends in a time, at least three full packets."""
    octets = round(bits_per_second(rate) * seconds(time, "buffer") / 8)
    return f"{max(octets, 4500)} B"


@dataclass(frozen=True)
class Demand:
    """The flows of a scenario's users, and for how long they last."""

    load: float
    """Share of the central link, from left to right."""
    reverse_load: float
    mean_size: str
    duration: str
    window: Window
    other: Window | None
    """Every second path uses this one, if given."""


def _loaded(name: str, central: Central, demand: Demand, **fields: object) -> Network:
    """The scenario with its traffic."""
    within("load", demand.load, 1e-9, 10)
    within("reverse_load", demand.reverse_load, 0, 10)
    net = add(Network(name, duration=demand.duration), central, **fields)
    law = sizes.lognormal(demand.mean_size, 1.5)
    paths = [(near, far) for near in (1, 2, 3) for far in (4, 5, 6)]
    directions = [
        ("f", demand.load, central.rate),
        ("r", demand.reverse_load, central.reverse_rate),
    ]
    for prefix, share, rate in directions:
        bits = bits_per_second(rate or central.rate)
        per_second = share * bits / (8 * sizes.mean(law)) / len(paths)
        if per_second == 0:
            continue
        for index, (near, far) in enumerate(paths):
            # The client opens the connection, and the server's response is the load.
            server, client = (near, far) if prefix == "f" else (far, near)
            chosen = demand.window if demand.other is None or index % 2 == 0 else demand.other
            net.flow(
                f"n{client}",
                f"n{server}",
                name=f"{prefix}{server}{client}",
                count=arrivals(per_second, demand.duration),
                arrivals={"per_second": per_second},
                traffic={"kind": "pages", "main": law, "count": 1},
                tcp=tcp(chosen),
            )
    return net


def data_centre(
    *,
    load: float = 0.5,
    reverse_load: float = 0.1,
    mean_size: str = "100 kB",
    buffer: str = "10 ms",
    duration: str = "1 s",
    window: Window = "cubic",
    other: Window | None = None,
) -> Network:
    """Suite: data centre, 1 Gbit/s everywhere and delays of 10 to 100 us."""
    edges = {"left": ("10 us", "10 us", "100 us"), "right": ("10 us", "100 us", "100 us")}
    central = Central("1 Gbit/s", "0 ms", buffer, "1 Gbit/s", **edges)  # type: ignore[arg-type]
    demand = Demand(load, reverse_load, mean_size, duration, window, other)
    return _loaded("data centre", central, demand)


def access_link(
    *,
    load: float = 0.5,
    reverse_load: float = 0.1,
    mean_size: str = "30 kB",
    buffer: str = "100 ms",
    duration: str = "20 s",
    window: Window = "cubic",
    other: Window | None = None,
) -> Network:
    """Suite: access link of an institution, 100 Mbit/s, round trips of 8 to 204 ms."""
    central = Central("100 Mbit/s", "2 ms", buffer, "100 Mbit/s")
    demand = Demand(load, reverse_load, mean_size, duration, window, other)
    return _loaded("access link", central, demand)


def trans_oceanic(
    *,
    load: float = 0.5,
    reverse_load: float = 0.1,
    mean_size: str = "100 kB",
    buffer: str = "100 ms",
    duration: str = "10 s",
    window: Window = "cubic",
    other: Window | None = None,
) -> Network:
    """Suite: trans-oceanic link, 1 Gbit/s and 65 ms one way."""
    central = Central("1 Gbit/s", "65 ms", buffer, "1 Gbit/s")
    demand = Demand(load, reverse_load, mean_size, duration, window, other)
    return _loaded("trans-oceanic link", central, demand)


def geostationary(
    *,
    load: float = 0.5,
    reverse_load: float = 0.1,
    mean_size: str = "30 kB",
    buffer: str = "100 ms",
    duration: str = "60 s",
    window: Window = "cubic",
    other: Window | None = None,
) -> Network:
    """Suite: geostationary satellite, 40 Mbit/s down, 4 Mbit/s up, 300 ms one way."""
    central = Central("40 Mbit/s", "300 ms", buffer, "100 Mbit/s", reverse_rate="4 Mbit/s")
    demand = Demand(load, reverse_load, mean_size, duration, window, other)
    return _loaded("geostationary satellite", central, demand)


def wireless_access(
    *,
    load: float = 0.5,
    reverse_load: float = 0.1,
    mean_size: str = "30 kB",
    buffer: str = "100 ms",
    duration: str = "30 s",
    loss: float = 0.001,
    burst: float = 3.0,
    jitter: str = "2 ms",
    window: Window = "cubic",
    other: Window | None = None,
) -> Network:
    """Suite: wireless access, 25 Mbit/s with delays that vary and losses in bursts.

    There is no shared medium: what contention and retransmissions of the link
    leave is a jitter (Pareto, in order) and bursts of `burst` lost packets, the
    share `loss` in all (Gilbert-Elliott). 25 Mbit/s is what a radio of 54 Mbit/s
    gives to TCP.
    """
    within("loss", loss, 0, 0.5)
    within("burst", burst, 1, 10_000)
    recovery = 1 / burst
    lossy = {"kind": "gilbert-elliott", "p": recovery * loss / (1 - loss), "r": recovery}
    wobble = {
        "kind": "jitter",
        "mean": jitter,
        "deviation": jitter,
        "law": "pareto",
        "keep_order": True,
    }
    central = Central("25 Mbit/s", "2 ms", buffer, "100 Mbit/s")
    impaired = [{**each, "at": "egress"} for each in (lossy, wobble)]
    demand = Demand(load, reverse_load, mean_size, duration, window, other)
    return _loaded("wireless access", central, demand, impairments=impaired)


def dial_up(
    *,
    load: float = 0.5,
    reverse_load: float = 0.1,
    mean_size: str = "10 kB",
    buffer: str = "1250 ms",
    duration: str = "300 s",
    window: Window = "cubic",
    other: Window | None = None,
) -> Network:
    """Suite: dial-up link that many share, 64 kbit/s."""
    central = Central("64 kbit/s", "5 ms", buffer, "100 Mbit/s")
    demand = Demand(load, reverse_load, mean_size, duration, window, other)
    return _loaded("dial-up link", central, demand)
