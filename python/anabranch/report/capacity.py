"""What the links of a flow's way can carry: the rate that stands behind its arrivals."""

from __future__ import annotations

import tomllib
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from anabranch import si


@dataclass(frozen=True)
class Bottleneck:
    """The slowest link of a flow's way."""

    link: str
    rate_bps: float


def bottlenecks(resolved: str, lanes: Sequence[str]) -> list[Bottleneck]:
    """The slowest links on the ways of flows, or of the paths of flows, each once.

    The way is that of fewest hops, as routers choose it. Where a link's rate changes, by a
    schedule or a trace, or hosts have several ways and the lane names none, nothing is said.
    """
    if not resolved:
        return []
    scenario = tomllib.loads(resolved)
    links = _links(scenario)
    found: dict[str, Bottleneck] = {}
    for first, last in filter(None, (_ends(scenario, lane) for lane in lanes)):
        rates = [links[pair] for pair in _way(links, first, last)]
        known = [each for each in rates if each is not None]
        if known and len(known) == len(rates):
            slowest = min(known, key=lambda each: each.rate_bps)
            found.setdefault(slowest.link, slowest)
    return list(found.values())


def _links(scenario: dict[str, Any]) -> dict[tuple[str, str], Bottleneck | None]:
    """Each direction of each link: its name and rate, nothing where that is no constant."""
    links: dict[tuple[str, str], Bottleneck | None] = {}
    for link in scenario.get("links", ()):
        a, b = link["ends"]
        back = link.get("reverse", {})
        links.setdefault((a, b), _rate(link.get("name", f"{a}-{b}"), link))
        links.setdefault((b, a), _rate(back.get("name", f"{b}-{a}"), link | back))
    return links


def _rate(name: str, link: dict[str, Any]) -> Bottleneck | None:
    read = si.quantity(str(link.get("rate", "")))
    return Bottleneck(name, read[0]) if read and read[1] == "bit/s" else None


def _ends(scenario: dict[str, Any], lane: str) -> tuple[str, str] | None:
    """The interfaces between which a lane is, by its name: FLOW, FLOW.FROM-TO or FLOW.TO."""
    flows = {_base(flow, lane): flow for flow in scenario.get("flows", ())}
    flow = next((flows[name] for name in sorted(flows, key=len, reverse=True) if name), None)
    if flow is None:
        return None
    interfaces = _interfaces(scenario)
    sides = [interfaces.get(flow[end], [flow[end]]) for end in ("from", "to")]
    rest = lane[len(_base(flow, lane)) + 1 :]
    ways = [(a, b) for a in sides[0] for b in sides[1]]
    if rest:
        index = {b: n for n, b in enumerate(sides[1])}
        same = min(index.get(rest, 0), len(sides[0]) - 1)
        ways = [way for way in ways if "-".join(way) == rest] or [(sides[0][same], rest)]
    return ways[0] if len(ways) == 1 and ways[0][1] in sides[1] else None


def _base(flow: dict[str, Any], lane: str) -> str:
    """The name of the flow if the lane is one of it, of several that are counted, too."""
    name = str(flow["name"])
    if flow.get("count", 1) > 1 and lane.startswith(f"{name}-"):
        return lane.split(".", 1)[0]
    return name if lane == name or lane.startswith(f"{name}.") else ""


def _interfaces(scenario: dict[str, Any]) -> dict[str, list[str]]:
    found = {}
    for host in scenario.get("hosts", ()):
        if isinstance(host, dict):
            names = [each if isinstance(each, str) else each["name"]
                     for each in host.get("interfaces", ())]  # fmt: skip
            if names:
                found[host["name"]] = [f"{host['name']}.{each}" for each in names]
    return found


def _way(links: dict[tuple[str, str], Any], first: str, last: str) -> list[tuple[str, str]]:
    """The links of fewest hops, the first in the scenario's order; empty if there is no way."""
    after: dict[str, list[str]] = {}
    for a, b in links:
        after.setdefault(a, []).append(b)
    came: dict[str, str] = {first: first}
    waiting = deque([first])
    while waiting:
        at = waiting.popleft()
        for to in after.get(at, ()):
            if to not in came:
                came[to] = at
                waiting.append(to)
    if last not in came:
        return []
    way = []
    while last != first:
        way.append((came[last], last))
        last = came[last]
    return way[::-1]
