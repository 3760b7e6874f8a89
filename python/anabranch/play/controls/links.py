"""What can be turned of links: rate, delay, queue and loss."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from anabranch.play.controls import cake
from anabranch.play.controls.control import Choices, Control, Range, Switch, Value
from anabranch.play.controls.names import catalogued
from anabranch.play.controls.quantities import KILOBYTES, MBIT, MILLISECONDS, PACKETS, Quantity
from anabranch.play.document import Table

SHOWN = 4
"""Links whose controls are not folded; those of the lowest rates."""
MOST = 16
"""Links that have controls."""

ROLES = {"bottleneck": "bottleneck", "access": "access links", "link": "links"}
"""Tables of `topology` that are links, and what they are called."""


@dataclass(frozen=True)
class Place:
    """A table of a link in the scenario, and where its fields are."""

    id: str
    title: str
    table: Table
    path: str
    """Of the table, as messages of the core have it."""
    is_resolved: Callable[[str], bool]
    """Whether a link of the resolved scenario, by its name, is made of this table."""
    folded: bool

    def resolved(self, scenario: Table) -> Table:
        """The first link of the resolved scenario that is made of it; empty if there is none."""
        links = scenario.get("links", ())
        found: Table = next((each for each in links if self.is_resolved(name_of(each))), {})
        return found


def name_of(link: Table) -> str:
    """The name of a link, which is that of its ends unless it has one."""
    return str(link.get("name") or "-".join(map(str, link.get("ends", ()))).replace(".", "-"))


def controls(document: Table) -> Iterator[Control]:
    """The controls of all links, those of the bottlenecks first."""
    for place in _places(document):
        yield from _of(place)


def _places(document: Table) -> Iterator[Place]:
    topology = document.get("topology", {})
    for role, title in ROLES.items():
        if isinstance(topology.get(role), dict):
            same = _role_of(role)
            path = f"topology.{role}"
            yield Place(f"links.{role}", title, topology[role], path, same, role == "access")
    links = [each for each in document.get("links", ()) if isinstance(each, dict)]
    ranked = sorted(range(len(links)), key=lambda at: (_rate(links[at]), at))
    slowest = _rate(links[ranked[0]]) if ranked else 0.0
    for rank, at in enumerate(ranked[:MOST]):
        name = name_of(links[at])
        folded = rank >= SHOWN or (_rate(links[at]) > slowest * 10)
        same = _named(name)
        yield Place(f"links.{name}", f"link {name}", links[at], f"links[{at}]", same, folded)


def _named(name: str) -> Callable[[str], bool]:
    return lambda other: other == name


def _role_of(role: str) -> Callable[[str], bool]:
    if role == "bottleneck":
        return lambda name: name.startswith("bottleneck")
    return lambda name: not name.startswith("bottleneck")


def _rate(link: Table) -> float:
    return MBIT.number(link.get("rate")) or 1e9


def _of(place: Place) -> Iterator[Control]:
    table = place.table
    if isinstance(table.get("rate"), str):
        yield _quantity(place, "rate", "Rate", MBIT, allowed=Range(0.1, 1000, "Mbit/s", "log"))
    if isinstance(table.get("delay"), str):
        allowed = Range(0, 500, "ms", "sqrt")
        yield _quantity(place, "delay", "Delay", MILLISECONDS, allowed=allowed, hint="One way.")
    yield _discipline(place)
    yield from _limit(place)
    if _queue(table).get("kind") in MARKING:
        yield _ecn(place)
    yield from _times(place)
    if _queue(table).get("kind") == "cake":
        yield from _cake(place)
    yield _loss(place)
    yield from _lost_packets(place)
    yield from _travel(place)


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
) -> Control:
    found = read(place.table)
    return Control(
        id=f"{place.id}.{field}",
        group=place.title,
        label=label,
        allowed=allowed if found is None else allowed.holding(found),
        put=put,
        read=lambda scenario: read(place.resolved(scenario)),
        hint=hint,
        folded=place.folded,
        fields=(f"{place.path}.{of or field}", f"links.{place.id}.{of or field}"),
    )


def _quantity(
    place: Place, field: str, label: str, quantity: Quantity, *, allowed: Range, hint: str = ""
) -> Control:
    def put(number: float) -> None:
        place.table[field] = quantity.text(number)

    def read(link: Table) -> Value | None:
        return quantity.number(link.get(field))

    return _control(place, field, label, allowed, put=put, read=read, hint=hint)


def _queue(table: Table) -> Table:
    queue = table.get("queue", {})
    return queue if isinstance(queue, dict) else {}


UNLIMITED = ("htb",)
"""Disciplines without a field `limit`: their leaves have one each."""


def _discipline(place: Place) -> Control:
    def put(kind: str) -> None:
        queue = _queue(place.table)
        if kind != queue.get("kind", "droptail"):
            keeps = "limit" in queue and kind not in UNLIMITED
            kept = {"limit": queue["limit"]} if keeps else {}
            place.table["queue"] = {"kind": kind, **kept}

    def read(link: Table) -> Value | None:
        return str(_queue(link).get("kind", "droptail")) if link else None

    choices = Choices(catalogued("queues"))
    return _control(place, "queue", "Queue", choices, put=put, read=read, of="queue.kind")


def _limit(place: Place) -> Iterator[Control]:
    if _queue(place.table).get("kind") in UNLIMITED:
        return
    limit = _queue(place.table).get("limit", "100 packets")
    counts = PACKETS if PACKETS.number(limit) is not None else KILOBYTES
    if counts.number(limit) is None:
        return  # unlimited

    def put(number: float) -> None:
        place.table.setdefault("queue", {})["limit"] = counts.text(number)

    def read(link: Table) -> Value | None:
        return counts.number(_queue(link).get("limit"))

    allowed = Range(1, 10_000, counts.unit, "log", whole=counts is PACKETS)
    hint = "What may wait."
    if _queue(place.table).get("kind") == "cake":
        hint = "What may wait in all tins; unless it is set, 4 MiB or more."
    yield _control(
        place, "buffer", "Buffer", allowed, put=put, read=read, hint=hint, of="queue.limit"
    )


def _ecn(place: Place) -> Control:
    def put(on: bool) -> None:
        place.table["queue"]["ecn"] = on

    def read(link: Table) -> Value | None:
        found = _queue(link).get("ecn")
        return found if isinstance(found, bool) else None

    hint = "ECN-capable packets are marked in place of dropped; flows must ask for ECN."
    return _control(place, "ecn", "Marks", Switch(), put=put, read=read, hint=hint, of="queue.ecn")


def _impairments(link: Table, kind: str) -> list[Table]:
    found = link.get("impairments", ())
    return [each for each in found if isinstance(each, Mapping) and each.get("kind") == kind]  # type: ignore[misc]


def _loss(place: Place) -> Control:
    hint = "Each packet is lost with this probability, in the direction of the link's name."
    allowed = Range(0, 20, "%", "sqrt")
    made = _share(place, "bernoulli", "Loss", allowed, hint=hint, field="rate")
    return replace(made, id=f"{place.id}.loss", folded=place.folded)


MARKING = ("red", "choke", "blue", "pie", "pi2", "codel", "cobalt", "fq-codel", "fq-pie")
"""Disciplines that have a switch `ecn`."""

TIMES = {
    "target": ("codel", "cobalt", "fq-codel", "pie", "pi2", "fq-pie", "dualpi2"),
    "interval": ("codel", "cobalt", "fq-codel"),
    "update": ("pie", "pi2", "fq-pie", "dualpi2"),
}
"""Fields of queues that are times, and the disciplines that have them."""


def _times(place: Place) -> Iterator[Control]:
    kind = _queue(place.table).get("kind", "droptail")
    for field, kinds in TIMES.items():
        if kind in kinds:
            allowed = Range(0.1, 1000, "ms", "log")
            made = _of_table(place, "queue", field, MILLISECONDS, allowed=allowed)
            yield replace(made, folded=True)


def _cake(place: Place) -> Iterator[Control]:
    for field in cake.controlled():
        made = _of_queue(place, field)
        yield replace(made, folded=place.folded or field.folded)


def _of_queue(place: Place, field: cake.Field) -> Control:
    """A field of the table `queue`."""

    def put(value: Any) -> None:
        text = field.text(value)
        if text is None:
            _queue(place.table).pop(field.name, None)
        else:
            _queue(place.table)[field.name] = text

    def read(link: Table) -> Value | None:
        return field.value(_queue(link).get(field.name)) if link else None

    name = f"queue.{field.name}"
    return _control(
        place, name, field.label, field.allowed, put=put, read=read, hint=field.hint, of=name
    )


def _of_table(
    place: Place, table: str, field: str, quantity: Quantity, *, allowed: Range
) -> Control:
    """A quantity in a table of the link."""

    def put(number: float) -> None:
        place.table.setdefault(table, {})[field] = quantity.text(number)

    def read(link: Table) -> Value | None:
        return quantity.number(link.get(table, {}).get(field))

    label = f"{table} {field}".capitalize()
    return _control(
        place, f"{table}.{field}", label, allowed, put=put, read=read, of=f"{table}.{field}"
    )


def _travel(place: Place) -> Iterator[Control]:
    """What makes some packets travel longer than others, or twice."""
    shares = Range(0, 50, "%", "sqrt")
    late, twice = "These travel 5 ms longer.", "Such packets come twice."
    yield _share(place, "reorder", "Overtaken", shares, hint=late, fresh={"extra": "5 ms"})
    yield _share(place, "duplicate", "Duplicates", shares, hint=twice)


def _share(
    place: Place,
    kind: str,
    label: str,
    allowed: Range,
    *,
    hint: str,
    field: str = "probability",
    fresh: Mapping[str, str] | None = None,
) -> Control:
    """The probability of an impairment, in its `field`; 0 takes it away. `fresh` are the other
    fields of one that was not there."""

    def put(percent: float) -> None:
        known = _impairments(place.table, kind)[:1]
        others = [each for each in place.table.get("impairments", ()) if each not in known]
        first: Table = known[0] if known else {"kind": kind, **(fresh or {})}
        made = [{**first, field: percent / 100}] if percent > 0 else []
        place.table["impairments"] = made + others
        if not place.table["impairments"]:
            del place.table["impairments"]

    def read(link: Table) -> Value | None:
        found = _impairments(link, kind)
        return float(f"{found[0][field] * 100:.9g}") if found else 0.0

    made = _control(place, kind, label, allowed, put=put, read=read, hint=hint, of="impairments")
    return replace(made, folded=True)


def _lost_packets(place: Place) -> Iterator[Control]:
    """The first and the number of the packets that are lost by their numbers, in a row."""
    found = _impairments(place.table, "packets")
    numbers = found[0].get("numbers") if found else None
    if not numbers or list(numbers) != list(range(numbers[0], numbers[0] + len(numbers))):
        return
    target = found[0]

    def numbers_of(link: Table) -> list[int]:
        lists = _impairments(link, "packets")
        return list(lists[0]["numbers"]) if lists else []

    def put_first(first: int) -> None:
        target["numbers"] = list(range(first, first + len(target["numbers"])))

    def put_count(count: int) -> None:
        first = target["numbers"][0]
        target["numbers"] = list(range(first, first + count))

    first = Range(1, 10_000, "", "log", whole=True)
    count = Range(1, 50, "packets", whole=True)
    yield _control(
        place,
        "first_lost",
        "First lost",
        first,
        put=put_first,
        read=lambda link: next(iter(numbers_of(link)), None),
        hint="Number of the data packet.",
        of="impairments",
    )
    yield _control(
        place,
        "lost",
        "Lost in a row",
        count,
        put=put_count,
        read=lambda link: len(numbers_of(link)) or None,
        of="impairments",
    )
