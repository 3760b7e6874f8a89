"""A scenario built in code: the same fields as in TOML, see docs/scenario.md.

>>> from anabranch import Network
>>> from anabranch.units import MB, Mbit_s, ms
>>> net = Network("two hosts", seed=3)
>>> a, b = net.host("a"), net.host("b")
>>> link = net.link(a, b, rate=Mbit_s(10), delay=ms(20))
>>> flow = net.flow(a, b, size=MB(4), tcp={"window": "cubic"})
>>> net.observe("cwnd")
>>> net.scenario().run().flows[0].bytes                         # doctest: +SKIP
4000000
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import tomli_w

from anabranch.experiment import Scenario
from anabranch.settings import Mptcp, Queue, Reverse, Sctp, Tcp, Toml


@dataclass(frozen=True)
class Node:
    """A host, one of its interfaces, or a router."""

    name: str

    def interface(self, name: str) -> Node:
        """An interface of the host, where a link or a flow ends."""
        return Node(f"{self.name}.{name}")


class Network:
    """Hosts, routers, links, flows and what is observed, in the order in which they are added.

    Quantities are texts with units, as `anabranch.units` makes them; an algorithm of
    your own is its class (`tcp={"window": MyControl}`). Editors complete the tables `tcp`, `sctp`,
    `mptcp`, `queue` and `reverse`, see `anabranch.settings`. Fields
    that have no argument of their own are given by name; one that is `None` is
    left to its default. The scenario is checked when it is resolved or run.
    """

    def __init__(
        self, name: str = "", *, duration: str | None = None, seed: int | None = None, **fields: Any
    ) -> None:
        self._top = _given(name=name or None, duration=duration, seed=seed, **fields)
        self._lists: dict[str, list[Any]] = {}

    def host(
        self, name: str, *, interfaces: Sequence[str | Mapping[str, Any]] = (), **fields: Any
    ) -> Node:
        """Adds a host; `ip`, `processing` and `backpressure` are its other fields. An interface
        over another protocol than the host's is a table, `{"name": "y", "ip": 6}`."""
        return self._node("hosts", name, _given(interfaces=list(interfaces) or None, **fields))

    def router(self, name: str) -> Node:
        """Adds a router, which forwards packets."""
        return self._node("routers", name, {})

    def link(
        self,
        first: Node | str,
        second: Node | str,
        *,
        delay: str,
        rate: str | None = None,
        queue: Queue | None = None,
        impairments: Sequence[Mapping[str, Any]] | None = None,
        reverse: Reverse | Toml | None = None,
        name: str | None = None,
        **fields: Any,
    ) -> str:
        """Adds a link and returns its name; `reverse` has what differs on the way back."""
        ends = [_name(first), _name(second)]
        given = _given(
            name=name,
            ends=ends,
            rate=rate,
            delay=delay,
            queue=queue,
            impairments=impairments,
            reverse=reverse,
            **fields,
        )
        self._lists.setdefault("links", []).append(given)
        return name or "-".join(ends)

    def flow(
        self,
        source: Node | str,
        target: Node | str,
        *,
        name: str | None = None,
        size: str | None = None,
        start: str | None = None,
        protocol: str | None = None,
        tcp: Tcp | Toml | None = None,
        sctp: Sctp | Toml | None = None,
        mptcp: Mptcp | Toml | None = None,
        **fields: Any,
    ) -> str:
        """Adds a flow and returns its name: `f0`, `f1`, ... unless given."""
        flows = self._lists.setdefault("flows", [])
        name = name or f"f{len(flows)}"
        ends = {"from": _name(source), "to": _name(target)}
        tables = {"tcp": tcp, "sctp": sctp, "mptcp": mptcp}
        times = {"size": size, "start": start, "protocol": protocol}
        flows.append(_given(name=name, **ends, **times, **tables, **fields))
        return name

    def lines(self, *, name: str, **fields: Any) -> None:
        """Adds one entry of flows as a file has it, such as one with a `pattern`."""
        self._lists.setdefault("flows", []).append(_given(name=name, **fields))

    def every_flow(self, **fields: Any) -> None:
        """Gives these fields to all flows that were added so far."""
        for flow in self._lists.get("flows", []):
            flow.update(_given(**fields))

    def observe(self, what: str, **fields: Any) -> None:
        """Asks for a series: `flow` or `link` says of what, all unless given."""
        self._lists.setdefault("observe", []).append(_given(what=what, **fields))

    def scenario(self) -> Scenario:
        """Returns what was built so far, as a scenario."""
        return Scenario(self.toml(), "network")

    def toml(self) -> str:
        """Returns what was built so far, as the text of a scenario file."""
        return tomli_w.dumps(_named({**self._top, **self._lists}))

    def _node(self, kind: str, name: str, fields: dict[str, Any]) -> Node:
        entry = {"name": name, **fields} if fields else name
        self._lists.setdefault(kind, []).append(entry)
        return Node(name)


def _name(node: Node | str) -> str:
    return node if isinstance(node, str) else node.name


def _named(value: Any) -> Any:
    """With the names of classes in their places: algorithms of the user's own."""
    if isinstance(value, type):
        loading = importlib.import_module("anabranch.algorithms.loading")
        return loading.name_of(value)
    if isinstance(value, Mapping):
        return {key: _named(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_named(each) for each in value]
    return value


def _given(**fields: Any) -> dict[str, Any]:
    """The fields that have a value."""
    return {name: value for name, value in fields.items() if value is not None}
