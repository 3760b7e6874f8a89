"""What can be turned of CAKE besides its buffer: the shaper, tins, isolation, the ACK filter."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from anabranch.play.controls import fields
from anabranch.play.controls.control import Choices, Range, Switch, Value
from anabranch.play.controls.quantities import MBIT, MILLISECONDS

HINTS: Mapping[str, Mapping[str, str]] = {
    "tins": {
        "besteffort": "one class",
        "diffserv3": "bulk (CS1, LE), the rest, voice",
        "diffserv4": "bulk (CS1, LE), the rest, video, voice",
        "diffserv8": "eight classes, from LE to network control",
        "precedence": "eight classes, by the first three bits of the code point",
    },
    "isolation": {
        "flowblind": "one queue for all",
        "srchost": "a queue for each source",
        "dsthost": "a queue for each destination",
        "hosts": "a queue for each pair of hosts",
        "flows": "a queue for each flow, whosever it is",
        "dual-srchost": "fair to sources, then to the flows of each",
        "dual-dsthost": "fair to destinations, then to the flows of each",
        "triple-isolate": "fair to sources and destinations, then to the flows of each",
    },
    "ack_filter": {
        "off": "no ACK is dropped",
        "conservative": "of redundant ACKs in a queue two are left",
        "aggressive": "of redundant ACKs in a queue one is left",
    },
    "framing": {
        "none": "packets count as they are, with their overhead",
        "atm": "packets count in cells of 53 bytes that carry 48",
        "ptm": "packets count with one byte more for each 64 that begin",
    },
}
"""What the names of choices mean."""

PLAIN = {
    "tins": ("Priority tins", ""),
    "isolation": ("Flow isolation", ""),
    "ack_filter": ("ACK filter", ""),
    "framing": ("Framing", ""),
    "autorate": ("Shaper follows", "The shaper's rate follows the traffic that arrives."),
    "ingress": ("Ingress", "Packets that are dropped count for the shaper, too."),
    "wash": ("Wash", "Code points are set to 0 as packets leave."),
}
"""Labels of choices and switches, and the hints of those that have one for all values."""

SHOWN = ("rate", "tins", "isolation")
"""Fields that are not folded."""


@dataclass(frozen=True)
class Field:
    """A field of the table `queue` of a link."""

    name: str
    label: str
    allowed: Range | Choices | Switch
    hint: str
    text: Callable[[Any], Any] = lambda value: value
    """What the scenario has of a value; `None` where it has no such field."""
    value: Callable[[Any], Value | None] = lambda found: found
    """The value of what the scenario has, which may be `None`."""

    @property
    def folded(self) -> bool:
        """Whether it is shown only when asked for."""
        return self.name not in SHOWN


def controlled() -> Iterator[Field]:
    """Every field but the buffer and `mpu`, in the order of the page."""
    yield Field(
        "rate",
        "Shaper",
        Range(0, 1000, "Mbit/s", "sqrt"),
        "Less than the link's rate keeps the queue here; 0: no shaper.",
        text=lambda rate: MBIT.text(rate) if rate > 0 else None,
        value=lambda found: 0.0 if found is None else MBIT.number(found),
    )
    declared = dict(fields.plain("cake"))
    choices = [_plain(name, declared[name]) for name in PLAIN]
    yield from (each for each in choices if not each.folded)
    yield Field(
        "rtt",
        "RTT",
        Range(0.1, 1000, "ms", "log"),
        "Of most paths: COBALT's interval; its target is a twentieth.",
        text=MILLISECONDS.text,
        value=MILLISECONDS.number,
    )
    overhead = "What the line adds to each packet, counted by the shaper."
    yield Field("overhead", "Overhead", Range(-64, 256, "bytes", whole=True), overhead)
    yield from (each for each in choices if each.folded)


def _plain(name: str, allowed: Choices | Switch) -> Field:
    label, hint = PLAIN[name]
    if isinstance(allowed, Choices):
        allowed = Choices({each: HINTS[name].get(each, "") for each in allowed.names})
    return Field(name, label, allowed, hint)
