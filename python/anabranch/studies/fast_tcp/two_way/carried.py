"""The same networks as ATM with the available bit rate service: packets travel as cells, and rates
come to the hosts in RM cells, by ERICA or exactly (docs/abr.md)."""

from __future__ import annotations

from anabranch import inline
from anabranch.experiment import Scenario
from anabranch.settings import Toml
from anabranch.studies.fast_tcp.two_way import conditions, networks
from anabranch.studies.fast_tcp.two_way.conditions import Run, plan

ALLOCATIONS = {"ERICA": "erica", "exact rates": "max-min"}
"""What switches do, by its name in statements."""
CELL_BITS = 53 * 8
PACKET_CELLS = 32
"""Of 1500 octets: 1508 in payloads of 48."""
DATA = 30 / 32
"""Of 32 cells one is a forward RM cell and one an answer to the other direction's."""
HOST_MBPS = 155.52
SMALL_QUEUE = 50 * PACKET_CELLS
"""As many cells as the 50 packets of the network whose rates are told."""
UNLIMITED = {"limit": "unlimited"}


def allowed_mbps(packets_mbps: float) -> float:
    """The rate of cells at which packets of 1500 octets leave as over a channel of this rate."""
    return packets_mbps / 1500 * PACKET_CELLS * CELL_BITS / 8 / DATA


def scenarios() -> dict[str, Scenario]:
    """All of them that have no chance in them, by name."""
    found = {}
    for name, allocation in ALLOCATIONS.items():
        found[f"pair, {name}"] = pair(networks.PAIR, allocation)
        found[f"one connection, {name}"] = networks.duplex(pair(networks.PAIR, allocation))
        found[f"queue below IP, {name}"] = below_ip(allocation)
        found[f"larger network, {name}"] = larger_network(allocation)
        found[f"round trips, {name}"] = round_trips(allocation)
        found[f"round trips, small queue, {name}"] = round_trips(allocation, SMALL_QUEUE)
        for w in plan()["carried"]["windows"]:
            found[f"windows of {w:g}, {name}"] = pair(Run("shown", w, w), allocation)
    found["one way, ERICA"] = pair(Run("shown", back=0), "erica")
    for interval_ms in plan()["carried"]["interval_ms"]:
        interval = f"channels.port.interval={interval_ms} ms"
        found[f"larger network, {measured_over(interval_ms)}"] = larger_network("erica").set(
            interval
        )
    return found


def measured_over(interval_ms: float) -> str:
    """ERICA with another interval than 100 cell times."""
    return f"ERICA over {interval_ms:g} ms"


def pair(run: Run, allocation: str) -> Scenario:
    """The pair over a line of ATM from host to host."""
    return _over(conditions.scenario(run), allocation, run.round_trip_ms / 2, ("i", "j"))


def below_ip(allocation: str) -> Scenario:
    """IP is served ten times as fast, and the data wait before they are cut into cells."""
    delay = networks.PAIR.round_trip_ms / 2
    over = _over(networks.below_ip(conditions.scenario(networks.PAIR)), allocation, delay, BELOW)
    return over.set("links.ip-i.delay=0 s", "links.ip-j.delay=0 s")


BELOW = ("below-i", "below-j")


def _over(scenario: Scenario, allocation: str, delay_ms: float, ends: tuple[str, str]) -> Scenario:
    """What stands between two nodes becomes a virtual channel over one line."""
    mbps = allowed_mbps(plan()["base"]["rate_mbps"])
    line = _line("abr", ends, mbps, delay_ms, allocation)
    link = "i-j" if ends == BELOW else "0"
    return scenario.set(
        f"channels={inline.toml([line])}",
        *(f"links.{link}.{way}delay=0 s" for way in ("", "reverse.")),
        *(f"links.{link}.{way}rate={inline.toml(_rate('abr'))}" for way in ("", "reverse.")),
    )


def larger_network(allocation: str) -> Scenario:
    """Three pairs of hosts, each with a virtual channel over the line between two switches."""
    share = allowed_mbps(plan()["base"]["rate_mbps"])
    lines = [_line("port", ("left", "right"), 3 * share, 50, allocation)]
    links = []
    for a, b in (("i", "j"), ("c", "l"), ("d", "m")):
        lines += [
            _host_line(a, "left", 5, allocation),
            _host_line("right", b, 5, allocation),
        ]
        rate = {**_rate(a, "port", b), "initial": f"{share} Mbit/s"}
        links.append({"name": a, "ends": [a, b], "rate": rate, "queue": UNLIMITED})
    observe = (
        f'[{conditions.OBSERVED}, {{ what = "ack-compression", flow = "forth" }},'
        ' { what = "cells", link = "port", interval = "200 us" }]'
    )
    return networks.larger_network().set(
        "routers=[]",
        f"channels={inline.toml(lines)}",
        f"links={inline.toml(links)}",
        f"observe={observe}",
    )


def round_trips(allocation: str, cells: int | None = None) -> Scenario:
    """20 ms and 200 ms over one port, whose queue may have a limit."""
    port = allowed_mbps(plan()["base"]["rate_mbps"])
    switch = _line("port", ("switch", "z"), port, 5, allocation)
    lines = [switch if cells is None else {**switch, "cells": cells}]
    links = []
    for name, delay_ms in (("near", 5), ("far", 95)):
        lines.append(_host_line(name, "switch", delay_ms, allocation))
        rate = {**_rate(name, "port"), "initial": f"{port / 2} Mbit/s"}
        links.append({"name": name, "ends": [name, "z"], "rate": rate, "queue": UNLIMITED})
    return networks.round_trips().set(
        "routers=[]", f"channels={inline.toml(lines)}", f"links={inline.toml(links)}"
    )


def lossy(rate: float, two_way: bool) -> Scenario:
    """The pair over ERICA, whose packets are lost at random."""
    line = plan()["base"]["round_trip_ms"] / 2
    return _over(networks.lossy(rate, two_way), "erica", line, ("i", "j"))


def _rate(*lines: str) -> Toml:
    return {"explicit": list(lines)}


def _host_line(a: str, b: str, delay_ms: float, allocation: str) -> Toml:
    """As fast as SONET; named after the host."""
    host = b if a == "right" else a
    return _line(host, (a, b), HOST_MBPS, delay_ms, allocation)


def _line(name: str, ends: tuple[str, str], mbps: float, delay_ms: float, allocation: str) -> Toml:
    """A line that gives away so much: ERICA leaves a part of it free."""
    target = plan()["carried"]["target"] if allocation == "erica" else 1.0
    return {
        "name": name,
        "kind": "abr",
        "ends": list(ends),
        "capacity": f"{round(mbps * 1e6 / target)} bit/s",
        "delay": f"{delay_ms} ms",
        "allocation": allocation,
        "target": target,
    }
