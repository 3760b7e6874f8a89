"""A link as it is written into a scenario."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from anabranch.errors import InputError
from anabranch.nearest import nearest


@dataclass(frozen=True)
class Netem:
    """What netem holds: packets that are delayed, and those that wait behind them."""

    limit: Decimal
    """Of both together, in packets."""
    delay: Decimal
    """Its mean, in seconds."""


@dataclass
class Way:
    """One direction of a link; what is `None` was not said."""

    rate: str | None = None
    trace: str | None = None
    """The file of a Mahimahi trace, in place of a rate."""
    delay: str | None = None
    queue: dict[str, Any] | None = None
    token_bucket: dict[str, Any] | None = None
    netem: Netem | None = None
    """Of which the queue is made, where netem was the last to say one."""
    impairments: list[dict[str, Any]] = field(default_factory=list)

    def beside(self, folder: Path) -> Way:
        """The same with a trace that is found from that folder, if it is here."""
        if self.trace is None or Path(self.trace).is_absolute() or not Path(self.trace).exists():
            return self
        return replace(self, trace=Path(os.path.relpath(self.trace, folder)).as_posix())

    def fields(self, line: str) -> dict[str, Any]:
        """The fields of the direction, over a line of this rate if it has none of its own."""
        found: dict[str, Any] = {"rate": self.rate or line}
        if self.trace is not None:
            found = {"trace": {"file": self.trace}}
        found["delay"] = self.delay or "0 s"
        if self.queue:
            found["queue"] = self.queue
        if self.token_bucket:
            found["token_bucket"] = self.token_bucket
        if self.impairments:
            found["impairments"] = self.impairments
        return found


@dataclass
class Link:
    """Both directions between two nodes."""

    ends: tuple[str, str]
    there: Way
    back: Way

    def toml(self, line: str) -> str:
        """Writes the entry of `[[links]]`."""
        there, back = self.there.fields(line), self.back.fields(line)
        lines = ["[[links]]", f"ends = {inline(list(self.ends))}"]
        lines += [f"{key} = {inline(value)}" for key, value in there.items()]
        # The way back is as the way there, but for impairments and what it says itself.
        other = {key: value for key, value in back.items() if value != there.get(key)}
        if self.back.impairments:
            other["impairments"] = self.back.impairments
        if "queue" in there and "queue" not in back:
            other["queue"] = {"kind": "droptail", "limit": "1000 packets"}
        if "token_bucket" in there and "token_bucket" not in back:
            # A rate of its own is one without a bucket.
            other["rate"] = back["rate"]
        if other:
            lines.append(f"reverse = {inline(other)}")
        return "\n".join(lines) + "\n"


FLOW = """\
# An example, so that the scenario runs: put your own flows in its place.
[[flows]]
name = "transfer"
from = {}
to = {}
size = "1 MB"
"""
"""A flow between two hosts."""


@dataclass(frozen=True)
class Converted:
    """The links that were read, and the nodes between them."""

    links: Sequence[Link]
    line: str
    hosts: Sequence[str] = ()
    routers: Sequence[str] = ()
    notes: Sequence[str] = ()
    """What differs from the original, a sentence each."""

    def beside(self, folder: Path) -> Converted:
        """The same for a scenario in that folder, from which the files of traces are found."""
        links = [
            replace(link, there=link.there.beside(folder), back=link.back.beside(folder))
            for link in self.links
        ]
        return replace(self, links=links)

    def toml(self) -> str:
        """Writes a scenario: nodes, links, and a flow from the first host to the last; of links
        without hosts that are known the links alone."""
        head = "".join(f"# {note}\n" for note in self.notes)
        if self.hosts:
            head += f"hosts = {inline(list(self.hosts))}\n"
        if self.routers:
            head += f"routers = {inline(list(self.routers))}\n"
        parts = [link.toml(self.line) for link in self.links]
        if len(self.hosts) > 1:
            parts.append(FLOW.format(inline(self.hosts[0]), inline(self.hosts[-1])))
        else:
            head += "# Add `hosts`, `routers` and a flow.\n"
        return "\n".join([head, *parts] if head else parts)


def inline(value: Any) -> str:
    """A value in one line of TOML.

    >>> inline({"kind": "bernoulli", "rate": 0.5})
    '{ kind = "bernoulli", rate = 0.5 }'
    """
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {inline(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(inline(each) for each in value) + "]"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    if isinstance(value, bool):
        return "true" if value else "false"
    return plain(value) if isinstance(value, Decimal) else str(value)


def plain(value: Decimal) -> str:
    """A number without an exponent and without zeros at its end.

    >>> plain(Decimal("1E+1")), plain(Decimal("0.0250"))
    ('10', '0.025')
    """
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def seconds(value: Decimal) -> str:
    """A time with the prefix that suits it.

    >>> seconds(Decimal("0.0105")), seconds(Decimal(2))
    ('10.5 ms', '2 s')
    """
    if value == 0 or value >= 1:
        return f"{plain(value)} s"
    if value >= Decimal("0.001"):
        return f"{plain(value * 1000)} ms"
    return f"{plain(value * 1_000_000)} us"


def bits(value: Decimal) -> str:
    """A rate with the prefix that suits it.

    >>> bits(Decimal(10_000_000))
    '10 Mbit/s'
    """
    for factor, prefix in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if value >= factor:
            return f"{plain(value / factor)} {prefix}bit/s"
    return f"{plain(value)} bit/s"


def bits_per_second(rate: str) -> Decimal:
    """The number of a rate that `bits` wrote.

    >>> bits_per_second("10 Mbit/s")
    Decimal('10000000')
    """
    number, unit = rate.split()
    return Decimal(number) * {"b": 1, "k": 10**3, "M": 10**6, "G": 10**9}[unit[0]]


def share(value: Decimal) -> Decimal:
    """Makes a probability of a percentage."""
    return value / 100


def no_counterpart(file: str, what: str, value: str, instead: str) -> InputError:
    """The error of what cannot be said here."""
    return InputError(f"{file}: {what}: value `{value}` has no counterpart here: {instead}")


def unknown(file: str, what: str, word: str, known: Sequence[str], more: str = "") -> InputError:
    """The error of a word that is no option that is known, with the nearest of them."""
    instead = (
        f"known are {', '.join(known)}" if known else f"it is no option of {what} that is known"
    )
    meant = nearest(word, known)
    hints = [f"did you mean `{meant}`?"] if meant else []
    return no_counterpart(file, what, word, "; ".join([instead, *filter(None, [more]), *hints]))


def second_queue(file: str, kind: str) -> InputError:
    """The error of a second queue where netem, tbf or htb's classes have made the link's."""
    return InputError(
        f"{file}: qdisc: `{kind}` beside another queue has no counterpart here: a link takes"
        " one queue besides a rate: put netem's delay on a second link"
    )
