"""The scenario as a picture: where hosts and routers stand, which way flows take."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from anabranch.library.quantities import bits_per_second, seconds
from anabranch.play.controls.links import name_of
from anabranch.play.document import Table

MOST_NODES = 60
"""Nodes of a scenario that is drawn."""
MOST_FLOWS = 200
"""Flows whose ways are told."""
PACKET = 1500 * 8
"""Bits of a packet, for what a run costs."""


@dataclass(frozen=True)
class Hop:
    """A link in the direction in which a flow's data goes."""

    link: str
    """Name of the direction: series of its queue are called so."""
    source: str
    target: str
    rate_bps: float
    delay_s: float


class Network:
    """Nodes and links of a resolved scenario."""

    def __init__(self, resolved: Table) -> None:
        self.hosts = [_named(each) for each in resolved.get("hosts", ())]
        self.routers = [_named(each) for each in resolved.get("routers", ())]
        self.links = [each for each in resolved.get("links", ()) if len(each.get("ends", ())) == 2]
        self.flows = list(resolved.get("flows", ()))
        self._out: dict[str, list[Hop]] = {}
        for link in self.links:
            self._join(link)

    def _join(self, link: Table) -> None:
        first, second = link["ends"]
        name, back = name_of(link), link.get("reverse", {})
        rate = _rate(link)
        delay = _delay(link)
        there = Hop(name, first, second, rate, delay)
        back_name = str(back.get("name") or _reverse(link, name))
        back_again = Hop(back_name, second, first, _rate(back, rate), _delay(back, delay))
        self._out.setdefault(first, []).append(there)
        self._out.setdefault(second, []).append(back_again)

    def way(self, source: str, target: str) -> list[Hop]:
        """The hops of fewest links between two interfaces; none if nothing joins them."""
        came: dict[str, Hop] = {}
        waiting = deque([source])
        while waiting:
            node = waiting.popleft()
            if node == target:
                break
            for hop in self._out.get(node, ()):
                # Hosts do not forward.
                inner = hop.target not in self._ends() or hop.target == target
                if inner and hop.target not in came and hop.target != source:
                    came[hop.target] = hop
                    waiting.append(hop.target)
        hops: list[Hop] = []
        while target != source and target in came:
            hops.append(came[target])
            target = came[target].source
        return hops[::-1] if target == source else []

    def _ends(self) -> set[str]:
        routers = set(self.routers)
        return {node for node in self._out if node not in routers}

    def ways(self, flow: Table) -> dict[str, list[Hop]]:
        """The ways of a flow's data by the pair of interfaces; one of TCP, more of the others."""
        starts, ends = self._interfaces(flow["from"]), self._interfaces(flow["to"])
        if flow.get("protocol", "tcp") == "tcp":
            starts, ends = starts[:1] or starts, ends[:1] or ends
        found = {}
        for start in starts:
            for end in ends:
                if hops := self.way(start, end):
                    found[f"{start}-{end}"] = hops
        return found

    def _interfaces(self, name: str) -> list[str]:
        if name in self._out:
            return [name]
        return sorted(node for node in self._out if node.startswith(f"{name}."))

    def packets(self, duration_s: float) -> float:
        """The most data packets that can cross the network: each bottleneck of a flow, full to the
        end of the run, or what flows have to send if that is less."""
        bottlenecks: dict[str, float] = {}
        for flow in self.flows:
            for hops in self.ways(flow).values():
                slowest = min(hops, key=lambda hop: hop.rate_bps)
                bottlenecks[slowest.link] = slowest.rate_bps
        return sum(rate * duration_s / PACKET for rate in bottlenecks.values())


def _reverse(link: Table, name: str) -> str:
    """The name of the way back: of a named link with `-reverse`, else its ends the other way."""
    first, second = (str(end).replace(".", "-") for end in link["ends"])
    return f"{second}-{first}" if name == f"{first}-{second}" else f"{name}-reverse"


def _named(node: Any) -> str:
    return str(node.get("name")) if isinstance(node, Mapping) else str(node)


def _rate(link: Mapping[str, Any], otherwise: float = 1e9) -> float:
    rate = link.get("rate")
    return bits_per_second(rate) if isinstance(rate, str) else otherwise


def _delay(link: Mapping[str, Any], otherwise: float = 0.0) -> float:
    delay = link.get("delay")
    return seconds(delay) if isinstance(delay, str) else otherwise


def picture(network: Network) -> Table:
    """Nodes with places from 0 to 1, links and the ways of flows; `None` in place of nodes where
    there are too many."""
    places = _places(network)
    nodes = [
        {"name": name, "kind": "host" if name in network.hosts else "router", "x": x, "y": y}
        for name, (x, y) in places.items()
    ]
    links = [
        {
            "name": name_of(link),
            "named": name_of(link) != name_of({"ends": link["ends"]}),
            "ends": [_host(str(end)) for end in link["ends"]],
            "rate_bps": _rate(link),
            "delay_s": _delay(link),
            "limit": str(link.get("queue", {}).get("limit", "")),
            "queue": str(link.get("queue", {}).get("kind", "")),
        }
        for link in network.links
    ]
    flows = [each for flow in network.flows for each in _drawn(network, flow)][:MOST_FLOWS]
    if len(nodes) > MOST_NODES:
        return {"nodes": [], "links": [], "flows": flows}
    return {"nodes": nodes, "links": links, "flows": flows}


def _drawn(network: Network, flow: Table) -> Iterator[Table]:
    """The flows of an entry with the ways of their data."""
    ways = {
        key: [
            [hop.link, _host(hop.source), _host(hop.target), hop.delay_s, hop.rate_bps]
            for hop in hops
        ]
        for key, hops in network.ways(flow).items()
    }
    count = int(flow.get("count", 1))
    for number in range(min(count, MOST_FLOWS)):
        yield {
            "name": f"{flow['name']}-{number}" if count > 1 else flow["name"],
            "from": _host(flow["from"]),
            "to": _host(flow["to"]),
            "protocol": flow.get("protocol", "tcp"),
            "ways": ways,
        }


def _host(interface: str) -> str:
    return interface.split(".", 1)[0]


def _places(network: Network) -> dict[str, tuple[float, float]]:
    """Senders at the left, receivers at the right, the others by how near they are to either."""
    near: dict[str, set[str]] = {}
    for link in network.links:
        first, second = (_host(str(end)) for end in link["ends"])
        near.setdefault(first, set()).add(second)
        near.setdefault(second, set()).add(first)
    left, right = _sides(network)
    from_left, from_right = _distances(near, left), _distances(near, right)
    chain = _chain(network)
    columns: dict[float, list[str]] = {}
    for node in [*network.hosts, *network.routers]:
        if node not in near:
            continue
        a, b = from_left.get(node, 0), from_right.get(node, 0)
        x = chain.get(node, a / (a + b) if a + b else 0.5)
        columns.setdefault(x, []).append(node)
    return _rows(_apart(columns, near, from_left), near)


def _chain(network: Network) -> dict[str, float]:
    """Routers that all stand on one flow's way, one after the other, as in a parking lot."""
    ways = [hops for flow in network.flows[:MOST_FLOWS] for hops in network.ways(flow).values()]
    longest = max(ways, key=len, default=[])
    places = {hop.target: at / len(longest) for at, hop in enumerate(longest, 1)}
    return {} if set(network.routers) - places.keys() else {r: places[r] for r in network.routers}


APART = 0.05
"""Between parts of a column whose nodes are joined to each other."""


def _apart(
    columns: Mapping[float, list[str]],
    near: Mapping[str, set[str]],
    distances: Mapping[str, int],
) -> dict[float, list[str]]:
    """Columns without links within them: those that have some are split by distance."""
    found: dict[float, list[str]] = {}
    for x, names in columns.items():
        joined = any(near[name] & set(names) for name in names)
        ranks = sorted({distances.get(name, 0) for name in names}) if joined else [0]
        for name in names:
            rank = ranks.index(distances.get(name, 0)) if joined else 0
            found.setdefault(x + APART * (rank - (len(ranks) - 1) / 2), []).append(name)
    return found


def _rows(
    columns: dict[float, list[str]], near: Mapping[str, set[str]]
) -> dict[str, tuple[float, float]]:
    """Nodes of a column below each other, beside what they are joined to."""
    places: dict[str, tuple[float, float]] = {}
    for x, names in sorted(columns.items()):
        for row, name in enumerate(names):
            places[name] = (x, (row + 0.5) / len(names))
    for _round in range(4):
        for x, names in sorted(columns.items()):
            names.sort(key=lambda name: _mean(places[other][1] for other in near[name]))
            for row, name in enumerate(names):
                places[name] = (x, (row + 0.5) / len(names))
    return places


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found) if found else 0.5


def _sides(network: Network) -> tuple[set[str], set[str]]:
    left: set[str] = set()
    right: set[str] = set()
    for flow in network.flows:
        start, end = _host(flow["from"]), _host(flow["to"])
        if start in right or end in left:
            start, end = end, start
        if start not in right and end not in left:
            left.add(start)
            right.add(end)
    return left, right


def _distances(near: Mapping[str, set[str]], starts: set[str]) -> dict[str, int]:
    found = dict.fromkeys(sorted(starts), 0)
    waiting = deque(found)
    while waiting:
        node = waiting.popleft()
        for other in sorted(near.get(node, ())):
            if other not in found:
                found[other] = found[node] + 1
                waiting.append(other)
    return found
