"""What can be turned of flows: how many, over which protocol, with which algorithms."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from anabranch.library.needs import needs
from anabranch.play.controls import fields
from anabranch.play.controls.control import Choices, Control, Range, Switch, Value
from anabranch.play.controls.names import catalogued, schedulers, windows
from anabranch.play.controls.quantities import KIBIBYTES, MEGABYTES, SECONDS
from anabranch.play.document import Table

SHOWN = 2
"""Entries of flows whose controls are not folded."""
MOST = 12
"""Entries of flows that have controls."""
MOST_FLOWS = 64
"""Of one entry."""

PROTOCOLS = {
    "tcp": "TCP (RFC 9293)",
    "mptcp": "Multipath TCP (RFC 8684): all interfaces of both hosts",
    "sctp": "SCTP (RFC 9260): another interface when one fails",
}
ECN = {
    "off": "losses are the signal",
    "on": "RFC 3168",
    "accurate": "AccECN, RFC 9768",
    "dctcp": "marks are echoed exactly, RFC 8257",
}
INITIAL_WINDOWS = {
    "rfc6928": "10 segments",
    "rfc3390": "2 to 4 segments, up to 4380 bytes",
    "rfc2581": "2 segments",
    "2 packets": "2 segments of one MSS",
    "1 packet": "1 segment",
}
PROFILES = {
    "rfc": "as the standards have it",
    "linux": "the defaults of Linux",
    "freebsd": "the defaults of FreeBSD",
    "ns2": "the defaults of ns-2.35",
}
PRESETS = {
    "rfc9260": "today's standard",
    "rfc4960": "the standard of 2007",
    "rfc2960": "the standard of 2000",
    "ns2": "the module of ns-2.35",
}
SLOW_START_EXITS = {
    "standard": "at the first loss",
    "limited": "RFC 3742",
    "hystart": "Ha and Rhee 2011",
    "hystart++": "RFC 9406",
    "search": "draft-chung-ccwg-search",
}


@dataclass(frozen=True)
class Place:
    """An entry of `flows` in the scenario."""

    table: Table
    index: int
    folded: bool

    @property
    def name(self) -> str:
        """The flow's name in the scenario."""
        return str(self.table.get("name", self.index))

    @property
    def protocol(self) -> str:
        """The transport that it has now."""
        return str(self.table.get("protocol", "tcp"))

    def resolved(self, scenario: Table) -> Table:
        """The entry in the resolved scenario, or the first flow that it became."""
        flows = scenario.get("flows", ())
        mine = [each for each in flows if each.get("name") == self.name]
        mine += [each for each in flows if str(each.get("name")).startswith(f"{self.name}-")]
        return mine[0] if mine else {}


def controls(document: Table) -> Iterator[Control]:
    """Returns the controls of all flows."""
    flows = [each for each in document.get("flows", ()) if isinstance(each, dict)]
    for index, table in enumerate(flows[:MOST]):
        place = Place(table, index, index >= SHOWN)
        if place.protocol == "udp":  # its traffic goes over no other transport, and has no windows
            yield from _amount(place)
            continue
        yield _protocol(place)
        yield from _amount(place)
        if place.protocol == "sctp":
            yield from _sctp(place)
        else:
            yield from _tcp(place)
        if place.protocol == "mptcp":
            yield from _mptcp(place)
        if index < SHOWN:
            yield from _others(place)


def _control(
    place: Place,
    field: str,
    label: str,
    allowed: Range | Choices | Switch,
    *,
    put: Callable[[Any], None],
    read: Callable[[Table], Value | None],
    hint: str = "",
    of: str = "",
    folded: bool = False,
) -> Control:
    found = read(place.table)
    return Control(
        id=f"flows.{place.name}.{field}",
        group=f"flow {place.name}",
        label=label,
        allowed=allowed if found is None else allowed.holding(found),
        put=put,
        read=lambda scenario: read(place.resolved(scenario)),
        hint=hint,
        folded=place.folded or folded,
        fields=(f"flows[{place.index}].{of or field}",),
    )


def _field(
    place: Place,
    path: str,
    label: str,
    allowed: Range | Choices | Switch,
    *,
    hint: str = "",
    id: str = "",
    to_text: Callable[[Any], Any] = lambda value: value,
    to_value: Callable[[Any], Value | None] = lambda value: value,
    folded: bool = True,
) -> Control:
    """A field of one of the flow's tables, such as `tcp.ecn`."""
    *tables, key = path.split(".")

    def put(value: Any) -> None:
        table = place.table
        for name in tables:
            table = table.setdefault(name, {})
        table[key] = to_text(value)

    def read(flow: Table) -> Value | None:
        found: Any = flow
        for name in (*tables, key):
            found = found.get(name) if isinstance(found, Mapping) else None
        return None if found is None else to_value(found)

    return _control(
        place, id or key, label, allowed, put=put, read=read, hint=hint, of=path, folded=folded
    )


def _protocol(place: Place) -> Control:
    def put(protocol: str) -> None:
        if protocol == place.protocol:
            return
        for name in {"tcp": ("mptcp", "sctp"), "mptcp": ("sctp",), "sctp": ("tcp", "mptcp")}[
            protocol
        ]:
            place.table.pop(name, None)
        window = _algorithm(place.table.get("tcp", {}).get("window"), "algorithm")
        if protocol == "tcp" and window not in (None, *windows("tcp")):
            del place.table["tcp"]["window"]  # a coupled one
        place.table["protocol"] = protocol

    def read(flow: Table) -> Value | None:
        return str(flow.get("protocol", "tcp")) if flow else None

    return _control(place, "protocol", "Protocol", Choices(PROTOCOLS), put=put, read=read)


def _amount(place: Place) -> Iterator[Control]:
    table = place.table
    if "pattern" not in table and "arrivals" not in table:

        def put(count: int) -> None:
            table["count"] = count

        # Flows of an entry are told one by one in the resolved scenario.
        def read(_flow: Table) -> Value | None:
            return int(table.get("count", 1))

        allowed = Range(1, MOST_FLOWS, "", "log", whole=True)
        yield _control(place, "count", "Flows", allowed, put=put, read=read)
    yield _field(
        place,
        "start",
        "Start",
        Range(0, 120, "s", "sqrt"),
        to_text=SECONDS.text,
        to_value=SECONDS.number,
    )
    if "size" in table and "traffic" not in table:
        yield _field(
            place,
            "size",
            "Size",
            Range(0.001, 1000, "MB", "log"),
            to_text=_megabytes,
            to_value=MEGABYTES.number,
            folded=False,
        )


def _megabytes(number: float) -> str:
    """Whole octets, as sizes are."""
    return f"{max(1, round(number * 1e6))} B"


def _algorithm(value: Any, key: str) -> Value | None:
    """The name of an algorithm that stands alone or in a table with options."""
    found = value.get(key) if isinstance(value, Mapping) else value
    return found if isinstance(found, str) else None


def _named(
    place: Place,
    path: str,
    key: str,
    label: str,
    names: Mapping[str, str],
    *,
    id: str = "",
    hint: str = "",
    folded: bool = False,
) -> Control:
    """An algorithm by its name; options are kept while the name stays."""
    table_name, field = path.split(".")

    def put(name: str) -> None:
        table = place.table.setdefault(table_name, {})
        if _algorithm(table.get(field), key) == name:
            return
        table[field] = name
        if field == "window" and table_name == "tcp":
            table |= needs(name)

    def read(flow: Table) -> Value | None:
        return _algorithm(flow.get(table_name, {}).get(field), key)

    return _control(
        place,
        id or field,
        label,
        Choices(names),
        put=put,
        read=read,
        hint=hint,
        of=path,
        folded=folded,
    )


def _tcp(place: Place) -> Iterator[Control]:
    yield _named(place, "tcp.window", "algorithm", "Window", windows(place.protocol))
    yield _named(place, "tcp.recovery", "scheme", "Recovery", catalogued("recoveries"))
    yield _defaults(place, "tcp", "profile", PROFILES, "rfc")
    yield _field(place, "tcp.ecn", "ECN", Choices(ECN))
    yield _field(place, "tcp.initial_window", "Initial window", Choices(INITIAL_WINDOWS))
    yield _slow_start(place)
    yield _field(
        place,
        "tcp.receive_buffer",
        "Receive buffer",
        Range(8, 65_536, "KiB", "log", whole=True),
        to_text=KIBIBYTES.text,
        to_value=KIBIBYTES.number,
    )
    yield _field(
        place,
        "tcp.delayed_ack.count",
        "Segments an ACK",
        Range(1, 16, "", whole=True),
        id="ack_count",
    )
    yield _field(place, "tcp.limited_transmit", "Limited transmit", Switch(), hint="RFC 3042.")


def _defaults(
    place: Place, table: str, field: str, names: Mapping[str, str], usual: str
) -> Control:
    """A name that stands for the defaults of a table."""

    def put(name: str) -> None:
        place.table.setdefault(table, {})[field] = name

    # The resolved scenario has what a name means in its place.
    def read(_flow: Table) -> Value | None:
        return str(place.table.get(table, {}).get(field, usual))

    hint = "Defaults of what is not given."
    label = field.capitalize()
    return _control(place, field, label, Choices(names), put=put, read=read, hint=hint, folded=True)


OWN = {"tcp": {"profile", "limited_transmit"}, "mptcp": set[str](), "sctp": {"preset"}}
"""Fields that have controls of their own, or that resolved scenarios do not tell."""


def _others(place: Place) -> Iterator[Control]:
    """Every other switch and choice of the flow's tables."""
    tables = {"tcp": ("tcp",), "mptcp": ("tcp", "mptcp"), "sctp": ("sctp",)}[place.protocol]
    for table in tables:
        for name, allowed in fields.plain(table):
            if name not in OWN[table]:
                label = name.replace("_", " ").capitalize()
                made = _field(place, f"{table}.{name}", label, allowed, id=f"{table}.{name}")
                yield replace(made, group=f"flow {place.name}: more of {table.upper()}")


def _slow_start(place: Place) -> Control:
    def put(rule: str) -> None:
        table = place.table.setdefault("tcp", {})
        window = table.get("window", "cubic")
        known = window if isinstance(window, Mapping) else {"algorithm": window}
        table["window"] = {**known, "slow_start_exit": rule}

    def read(flow: Table) -> Value | None:
        window = flow.get("tcp", {}).get("window")
        found = window.get("slow_start_exit") if isinstance(window, Mapping) else None
        return _algorithm(found, "rule")

    allowed = Choices(SLOW_START_EXITS)
    label = "End of slow start"
    return _control(
        place,
        "slow_start",
        label,
        allowed,
        put=put,
        read=read,
        of="tcp.window.slow_start_exit",
        folded=True,
    )


def _mptcp(place: Place) -> Iterator[Control]:
    yield _named(place, "mptcp.scheduler", "kind", "Scheduler", schedulers("mptcp"))
    yield _named(place, "mptcp.path_manager", "kind", "Paths", catalogued("path-managers"))


def _sctp(place: Place) -> Iterator[Control]:
    yield _named(place, "sctp.window", "algorithm", "Window", windows("sctp"))
    yield _defaults(place, "sctp", "preset", PRESETS, "rfc9260")
    destinations = catalogued("destinations")
    yield _named(place, "sctp.destination", "policy", "Retransmissions go", destinations)
    yield _named(place, "sctp.failover", "rule", "Failover", catalogued("failovers"), folded=True)
    yield _field(
        place,
        "sctp.path_max_retrans",
        "Errors that end a path",
        Range(0, 20, "", whole=True),
    )
    yield _field(place, "sctp.concurrent", "All paths at once", Switch(), to_value=bool)
