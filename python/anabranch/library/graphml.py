"""Networks of GraphML files as the Internet Topology Zoo publishes them.

S. Knight et al., "The Internet Topology Zoo", IEEE JSAC 29(9), 2011. A node
becomes a router with hosts, an edge a link: its delay is the great-circle
distance of its ends over the speed of light in fibre, its rate the attribute
`LinkSpeedRaw` (bit/s), else `LinkSpeed` with `LinkSpeedUnits`.
"""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from anabranch.errors import ABSENT, InputError
from anabranch.files import read_text
from anabranch.library.entry import Window, tcp, within
from anabranch.library.quantities import seconds
from anabranch.network import Network

EARTH_KM = 6371.0
FIBRE_KM_S = 299_792.458 / 1.468
"""Speed of light over the group index of common single-mode fibre (ITU-T G.652)."""
LARGEST_FILE = 64 << 20
_UNITS = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}


@dataclass(frozen=True)
class Place:
    """A node as the file has it."""

    key: str
    name: str
    """A name that scenarios allow, and that no other node has."""
    latitude: float | None
    longitude: float | None


@dataclass(frozen=True)
class Edge:
    """An edge as the file has it."""

    source: Place
    target: Place
    rate_bps: float | None


@dataclass(frozen=True)
class Graph:
    """Nodes and edges that a file describes."""

    name: str
    places: list[Place]
    edges: list[Edge]


def read(path: str | Path) -> Graph:
    """Reads a file; what is wrong names the file, the node or edge and the value."""
    file = str(path)
    text = read_text(Path(path))
    if len(text) > LARGEST_FILE:
        raise InputError.about(file, "file", f"{len(text)} characters", f"at most {LARGEST_FILE}")
    try:
        root = ET.fromstring(text)
    except ET.ParseError as error:
        raise InputError.about(file, "XML", str(error), "a GraphML document") from None
    graph = next(_children(root, "graph"), None)
    if _tag(root) != "graphml" or graph is None:
        raise InputError.about(file, "root", _tag(root), "<graphml> with a <graph>")
    keys = {key.get("id", ""): key.get("attr.name", "") for key in _children(root, "key")}
    places: dict[str, Place] = {}
    taken: set[str] = set()
    for node in _children(graph, "node"):
        place = _place(file, node, keys, taken)
        if place.key in places:
            raise InputError.about(file, f"node {place.key}", "its id again", "ids that differ")
        places[place.key] = place
    if not places:
        raise InputError.about(file, "nodes", "none", "one or more")
    edges = list(_edges(file, graph, keys, places))
    name = _data(graph, keys).get("Network") or Path(path).stem
    return Graph(name, list(places.values()), edges)


def _place(file: str, node: ET.Element, keys: dict[str, str], taken: set[str]) -> Place:
    key = node.get("id")
    if not key:
        raise InputError.about(file, "node", "without an id", "an id")
    data = _data(node, keys)
    where = f"node {key}"
    latitude = _number(file, where, data, "Latitude", 90)
    longitude = _number(file, where, data, "Longitude", 180)
    if (latitude is None) != (longitude is None):
        missing = "Longitude" if longitude is None else "Latitude"
        raise InputError.about(file, f"{where}, {missing}", ABSENT, "both or none of the two")
    stem = re.sub(r"[^A-Za-z0-9_-]+", "-", data.get("label", "")).strip("-")[:40] or f"n{key}"
    name, n = stem, 1
    while name in taken:
        n += 1
        name = f"{stem}-{n}"
    taken.add(name)
    return Place(key, name, latitude, longitude)


def _edges(
    file: str, graph: ET.Element, keys: dict[str, str], places: dict[str, Place]
) -> Iterator[Edge]:
    for number, edge in enumerate(_children(graph, "edge")):
        where = f"edge {edge.get('id') or number}"
        ends = []
        for end in ("source", "target"):
            key = edge.get(end) or ""
            if key not in places:
                raise InputError.about(file, f"{where}, {end}", key or ABSENT, "a node's id")
            ends.append(places[key])
        if ends[0] is not ends[1]:  # a loop carries nothing
            yield Edge(ends[0], ends[1], _rate(file, where, _data(edge, keys)))


def _rate(file: str, where: str, data: dict[str, str]) -> float | None:
    raw = _number(file, where, data, "LinkSpeedRaw")
    if raw is not None:
        return _usable(file, f"{where}, LinkSpeedRaw", raw)
    speed = _number(file, where, data, "LinkSpeed")
    if speed is None:
        return None
    unit = data.get("LinkSpeedUnits", "").strip().lower()
    if unit not in _UNITS:
        allowed = "K, M, G, T or nothing for bit/s"
        raise InputError.about(file, f"{where}, LinkSpeedUnits", unit, allowed)
    return _usable(file, f"{where}, LinkSpeed", speed * _UNITS[unit])


def _usable(file: str, where: str, rate: float) -> float | None:
    if rate == 0:
        return None  # "unknown", in some of the files
    if not 1 <= rate <= 1e15:
        raise InputError.about(file, where, f"{rate:g} bit/s", "from 1 bit/s to 1 Pbit/s")
    return rate


def _number(
    file: str, where: str, data: dict[str, str], name: str, most: float = math.inf
) -> float | None:
    text = data.get(name, "").strip()
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or abs(value) > most:
        limit = "" if math.isinf(most) else f" from -{most:g} to {most:g}"
        raise InputError.about(file, f"{where}, {name}", text, f"a number{limit}")
    return value


def _data(element: ET.Element, keys: dict[str, str]) -> dict[str, str]:
    return {
        keys.get(data.get("key", ""), ""): (data.text or "").strip()
        for data in _children(element, "data")
    }


def _children(element: ET.Element, tag: str) -> Iterator[ET.Element]:
    return (child for child in element if _tag(child) == tag)


def _tag(element: ET.Element) -> str:
    return str(element.tag).rpartition("}")[2]


def distance_km(one: Place, two: Place) -> float | None:
    """Great-circle distance (haversine), or `None` where a place is unknown.

    >>> paris, london = Place("0", "p", 48.8566, 2.3522), Place("1", "l", 51.5074, -0.1278)
    >>> round(distance_km(paris, london))
    344
    """
    if one.latitude is None or one.longitude is None:
        return None
    if two.latitude is None or two.longitude is None:
        return None
    a, b = math.radians(one.latitude), math.radians(two.latitude)
    turn = math.radians(two.longitude - one.longitude)
    chord = math.sin((b - a) / 2) ** 2 + math.cos(a) * math.cos(b) * math.sin(turn / 2) ** 2
    return 2 * EARTH_KM * math.asin(min(1.0, math.sqrt(chord)))


def network(
    graph: Graph,
    *,
    hosts: int = 1,
    rate: str = "10 Gbit/s",
    delay: str = "1 ms",
    buffer: str = "1000 packets",
    access_rate: str = "1 Gbit/s",
    access_delay: str = "100 us",
    duration: str | None = None,
) -> Network:
    """Routers and links of the graph, with `hosts` at each node: `NODE-h0`, ...; no traffic.

    `rate` and `delay` are those of edges whose file does not tell; an edge is
    never shorter than 1 us.
    """
    within("hosts", hosts, 1, 1000)
    net = Network(graph.name, duration=duration, routing="ecmp")
    for place in graph.places:
        net.router(place.name)
    seen: dict[tuple[str, str], int] = {}
    for edge in graph.edges:
        ends = (edge.source.name, edge.target.name)
        number = seen[ends] = seen.get(ends, 0) + 1
        known = distance_km(edge.source, edge.target)
        time = seconds(delay, "delay") if known is None else known / FIBRE_KM_S
        net.link(
            *ends,
            # Parallel edges and those of the other direction need names of their own.
            name=f"{ends[0]}--{ends[1]}--{number}"[:100],
            rate=rate if edge.rate_bps is None else f"{round(edge.rate_bps)} bit/s",
            delay=f"{max(time * 1e6, 1):.3f} us",
            queue={"limit": buffer},
        )
    for place in graph.places:
        for n in range(hosts):
            host = net.host(f"{place.name}-h{n}")
            wide = {"limit": "unlimited"}
            net.link(host, place.name, rate=access_rate, delay=access_delay, queue=wide)
    return net


def topology_zoo(
    *,
    file: str = "",
    rate: str = "10 Gbit/s",
    delay: str = "1 ms",
    buffer: str = "1000 packets",
    access_rate: str = "1 Gbit/s",
    hosts: int = 1,
    size: str = "1 MB",
    duration: str = "60 s",
    window: Window = "cubic",
) -> Network:
    """A network of the Internet Topology Zoo (a GraphML file), every host sending to one other.

    `rate` and `delay` hold for edges without a speed or without known places. In a
    network of several parts each host sends within its own.
    """
    if not file:
        raise InputError.about("library:topology-zoo", "file", ABSENT, "a GraphML file")
    graph = read(file)
    net = network(
        graph,
        hosts=hosts,
        rate=rate,
        delay=delay,
        buffer=buffer,
        access_rate=access_rate,
        duration=duration,
    )
    sent = 0
    for part in parts(graph):
        among = [f"{place.name}-h{n}" for place in part for n in range(hosts)]
        if len(among) > 1:
            name = f"flow{sent}"
            sent += 1
            net.lines(name=name, pattern="permutation", among=among, size=size, tcp=tcp(window))
    if sent == 0:
        raise InputError.about(file, "edges", "none", "an edge between two nodes, or more hosts")
    return net


def parts(graph: Graph) -> list[list[Place]]:
    """The connected parts, each in the order of the file."""
    leader = {place.name: place.name for place in graph.places}

    def find(name: str) -> str:
        while leader[name] != name:
            name = leader[name]
        return name

    for edge in graph.edges:
        one, two = find(edge.source.name), find(edge.target.name)
        leader[max(one, two)] = min(one, two)
    groups: dict[str, list[Place]] = {}
    for place in graph.places:
        groups.setdefault(find(place.name), []).append(place)
    return list(groups.values())
