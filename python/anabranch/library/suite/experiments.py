"""The experiments of the suite beyond the basic scenarios (§4.4 to §4.9 of the draft)."""

from __future__ import annotations

from typing import Any

from anabranch.errors import InputError
from anabranch.library.entry import Window, tcp, within
from anabranch.library.quantities import bits_per_second, seconds
from anabranch.library.suite.basic import Central, add, held
from anabranch.nearest import one_of
from anabranch.network import Network
from anabranch.settings import Toml


def delay_throughput(
    *,
    rate: str = "100 Mbit/s",
    delay: str = "2 ms",
    buffer_bdp: float = 1.0,
    flows: int = 1,
    duration: str = "60 s",
    window: Window = "cubic",
) -> Network:
    """Suite: delay against throughput as the buffer grows, in parts of a 100 ms path's BDP.

    The draft asks for 0.1, 0.2, 0.5, 1, 2 and 10; each of the nine paths has
    `flows` long flows.
    """
    within("buffer_bdp", buffer_bdp, 0.001, 1000)
    central = Central(rate, delay, f"{100 * buffer_bdp:.6f} ms", "1 Gbit/s")
    net = add(Network("delay and throughput", duration=duration), central)
    for near in (1, 2, 3):
        for far in (4, 5, 6):
            for n in range(flows):
                name = f"f{near}{far}-{n}"
                net.flow(f"n{near}", f"n{far}", name=name, start_spread="1 s", tcp=tcp(window))
    net.observe("queue", link="central", interval="10 ms")
    return net


def ramp_up(
    *,
    rate: str = "100 Mbit/s",
    rtt: str = "80 ms",
    start: str = "30 s",
    standard: Window = "reno",
    others: int = 2,
    duration: str = "90 s",
    window: Window = "cubic",
) -> Network:
    """Suite: how fast a flow gets its share when others are there.

    Flow `test` starts at `start`; the series `test.received` says when it had how much.
    """
    within("others", others, 0, 1000)
    net = _one_link("ramp-up", rate, rtt, 1 + others, duration)
    for n in range(others):
        net.flow(f"a{n + 1}", f"b{n + 1}", name=f"other-{n}", tcp=tcp(standard))
    net.flow("a0", "b0", name="test", start=start, tcp=tcp(window))
    net.observe("received", flow="test", interval="100 ms")
    return net


TRANSIENTS = ("decrease", "increase", "bursts")


def transient(
    *,
    case: str = "increase",
    rate: str = "100 Mbit/s",
    rtt: str = "80 ms",
    taken: float = 0.75,
    at: str = "30 s",
    flows: int = 1,
    duration: str = "90 s",
    window: Window = "cubic",
) -> Network:
    """Suite: cross-traffic that takes 75 % of the link comes, goes, or comes in bursts.

    `increase`: it comes at `at`; `decrease`: it was there and goes; `bursts`: it
    comes for a second every five. Cross-traffic that does not respond is what
    it leaves: the link has the rest of its rate meanwhile.
    """
    within("taken", taken, 0, 0.999)
    net = _one_link("transient", rate, rtt, flows, duration, **_changes(case, rate, taken, at))
    for n in range(flows):
        net.flow(f"a{n}", f"b{n}", tcp=tcp(window))
    net.observe("received", interval="100 ms")
    net.observe("queue", link="central", interval="10 ms")
    return net


def _changes(case: str, rate: str, taken: float, at: str) -> Toml:
    rest = f"{round(bits_per_second(rate) * (1 - taken))} bit/s"
    if case not in TRANSIENTS:
        raise InputError.about("library", "case", case, one_of(case, TRANSIENTS))
    if case == "bursts":
        steps = [{"at": "0 s", "rate": rate}, {"at": "4 s", "rate": rest}]
        return {"schedule": {"steps": steps, "period": "5 s"}}
    before, after = (rate, rest) if case == "increase" else (rest, rate)
    steps = [{"at": "0 s", "rate": before}, {"at": at, "rate": after}]
    return {"schedule": {"steps": steps}}


def flash_crowd(
    *,
    rate: str = "100 Mbit/s",
    rtt: str = "80 ms",
    at: str = "20 s",
    per_second: float = 200.0,
    lasts: str = "10 s",
    size: str = "30 kB",
    duration: str = "60 s",
    window: Window = "cubic",
) -> Network:
    """Suite: many short flows arrive at once beside a long one."""
    count = round(per_second * seconds(lasts, "lasts"))
    within("flows that arrive", count, 1, 50_000)
    net = _one_link("flash crowd", rate, rtt, 2, duration)
    net.flow("a0", "b0", name="long", tcp=tcp(window))
    net.flow(
        "a1",
        "b1",
        name="crowd",
        start=at,
        count=count,
        arrivals={"per_second": per_second},
        size=size,
        tcp=tcp(window),
    )
    net.observe("received", flow="long", interval="100 ms")
    return net


def impact(
    *,
    rate: str = "100 Mbit/s",
    rtt: str = "80 ms",
    flows: int = 2,
    buffer_bdp: float = 1.0,
    duration: str = "120 s",
    standard: Window = "reno",
    window: Window = "cubic",
) -> Network:
    """Suite: impact on standard TCP; compare with the run whose `window` is `standard`, too.

    Flows `a-N` use `window`, flows `b-N` are standard.
    """
    within("flows", flows, 1, 1000)
    net = _one_link("impact on standard TCP", rate, rtt, 2 * flows, duration, bdp=buffer_bdp)
    for n in range(flows):
        net.flow(f"a{n}", f"b{n}", name=f"a-{n}", start_spread="1 s", tcp=tcp(window))
        far = n + flows
        net.flow(f"a{far}", f"b{far}", name=f"b-{n}", start_spread="1 s", tcp=tcp(standard))
    return net


def fairness(
    *,
    rate: str = "100 Mbit/s",
    rtt: str = "80 ms",
    other_rtt: str | None = None,
    later: str = "30 s",
    buffer_bdp: float = 1.0,
    duration: str = "180 s",
    window: Window = "cubic",
) -> Network:
    """Suite: intra-protocol fairness, and with `other_rtt` that between round-trip times.

    Flow `second` starts `later` than `first` and has the other round-trip time.
    """
    rtts = [rtt, other_rtt or rtt]
    net = _one_link("fairness", rate, rtt, 2, duration, rtts=rtts, bdp=buffer_bdp)
    net.flow("a0", "b0", name="first", tcp=tcp(window))
    net.flow("a1", "b1", name="second", start=later, tcp=tcp(window))
    net.observe("received", interval="1 s")
    return net


def multiple_bottlenecks(
    *,
    hops: int = 3,
    rate: str = "100 Mbit/s",
    rtt: str = "60 ms",
    buffer_bdp: float = 1.0,
    duration: str = "120 s",
    window: Window = "cubic",
) -> Network:
    """Suite: a parking lot in which all flows have the same round-trip time.

    Flow `long` crosses all bottlenecks, `cross-N` one each: what differs is the
    number of bottlenecks alone.
    """
    within("hops", hops, 1, 100)
    one_way = seconds(rtt, "rtt") / 2
    middle = one_way / 2 / hops
    net = Network("multiple bottlenecks", duration=duration)
    routers = [net.router(f"r{n}") for n in range(hops + 1)]
    queue = {"limit": held(rate, f"{buffer_bdp * 2 * one_way * 1e3:.6f} ms")}
    for n in range(hops):
        name = f"bottleneck{n}"
        first, second = routers[n], routers[n + 1]
        net.link(first, second, name=name, rate=rate, delay=_us(middle), queue=queue)

    def pair(name: str, first: int, last: int) -> None:
        near, far = net.host(f"{name}-a"), net.host(f"{name}-b")
        edge = _us((one_way - (last - first) * middle) / 2)
        for one, two in ((near, routers[first]), (routers[last], far)):
            net.link(one, two, rate="1 Gbit/s", delay=edge, queue={"limit": "unlimited"})
        net.flow(near, far, name=name, start_spread="1 s", tcp=tcp(window))

    pair("long", 0, hops)
    for n in range(hops):
        pair(f"cross-{n}", n, n + 1)
    return net


def _one_link(
    name: str,
    rate: str,
    rtt: str,
    pairs: int,
    duration: str,
    *,
    rtts: list[str] | None = None,
    bdp: float = 1.0,
    **fields: Any,
) -> Network:
    """Pairs `a0`, `b0`, ... around the link `central`, whose queue holds `bdp` times the BDP.

    A tenth of the round-trip time is the link's, the rest the edges', which may
    differ from pair to pair.
    """
    within("buffer_bdp", bdp, 0.001, 1000)
    each = [seconds(text, "rtt") for text in rtts or [rtt] * pairs]
    middle = min(each) / 20
    net = Network(name, duration=duration)
    left, right = net.router("left"), net.router("right")
    queue = {"limit": held(rate, f"{bdp * seconds(rtt, 'rtt') * 1e3:.6f} ms")}
    net.link(
        left,
        right,
        name="central",
        rate=rate,
        delay=_us(middle),
        queue=queue,
        **fields,
    )
    for n, time in enumerate(each):
        near, far = net.host(f"a{n}"), net.host(f"b{n}")
        edge = _us((time / 2 - middle) / 2)
        for one, two in ((near, left), (right, far)):
            net.link(one, two, rate="10 Gbit/s", delay=edge, queue={"limit": "unlimited"})
    return net


def _us(time: float) -> str:
    return f"{time * 1e6:.3f} us"
