"""Command lines of Linux's traffic control: netem, tbf, htb, pfifo, bfifo, codel, fq_codel, cake.

Grammar, units and defaults are those of tc(8), tc-netem(8), tc-tbf(8), tc-htb(8),
tc-codel(8), tc-fq_codel(8), tc-cake(8) of iproute2.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from decimal import ROUND_HALF_UP, Decimal

from anabranch.convert.cake import cake
from anabranch.convert.classes import Tree
from anabranch.convert.link import (
    Converted,
    Link,
    Netem,
    Way,
    bits,
    bits_per_second,
    no_counterpart,
    plain,
    second_queue,
    seconds,
    unknown,
)
from anabranch.convert.words import BITS, SIZES, TIMES, Words, quantity
from anabranch.errors import InputError

_Law = Callable[[Words, Way, list[str]], None]
"""What reads the words of a discipline behind its name."""
NETEM_LIMIT = Decimal(1000)
"""Of netem without `limit`, in packets."""
PACKET = 1500
"""Octets of the packets that are counted: full ones of Ethernet."""


def tc(text: str, file: str, ends: tuple[str, str], line: str) -> Converted:
    """The link that the commands make: those of the first device the way there, of a second the
    way back."""
    ways: dict[str, Way] = {}
    trees: dict[str, Tree] = {}
    notes: list[str] = []
    for number, command in enumerate(text.replace("\\\n", " ").splitlines(), 1):
        for words in _commands(command):
            if "tc" in words:
                place = f"{file}: line {number}"
                _command(Words(words[words.index("tc") + 1 :], place), ways, trees, notes)
    if not ways:
        raise InputError.about(file, "tc", text.strip()[:60], "commands that add a qdisc")
    if len(ways) > 2:
        allowed = (
            "one device, or two that are the ends of one link: convert the lines of each link alone"
        )
        raise InputError.about(file, "dev", ", ".join(ways), allowed)
    for device, tree in trees.items():
        _classes(file, tree, ways[device], notes)
    for way in ways.values():
        _waiting(way, notes)
    there, back = (*ways.values(), Way())[:2]
    unsaid = [way.rate is None and way.token_bucket is None for way in (there, back)]
    if any(unsaid):
        which = "The line" if all(unsaid) else "The way there" if unsaid[0] else "The way back"
        notes.append(f"{which} is taken to have {line}: --line says another rate.")
    return Converted([Link(ends, there, back)], line, ends, notes=tuple(dict.fromkeys(notes)))


def _commands(line: str) -> list[list[str]]:
    """The words of each command of a line, which `;` or `&&` joins."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=";&|")
    lexer.whitespace_split = True
    found: list[list[str]] = [[]]
    for word in lexer:
        if word in (";", "&&"):
            found.append([])
        else:
            found[-1].append(word)
    return found


def _command(words: Words, ways: dict[str, Way], trees: dict[str, Tree], notes: list[str]) -> None:
    kind = words.take("tc", "qdisc, class or filter")
    verb = words.take("tc", "add, replace or change")
    if kind in ("class", "filter") and verb not in ("add", "replace", "change"):
        raise no_counterpart(words.place, "tc", kind, "classes and filters are added alone")
    if verb in ("del", "delete", "show", "ls", "list"):
        return
    device, handles = "", {"parent": "", "handle": "", "classid": ""}
    while words.peek() in (*handles, "root", "dev"):
        word = words.take()
        if word == "dev":
            device = words.take("dev", "a device")
        elif word != "root":
            handles[word] = words.take(word, "a handle")
    if kind == "filter":
        _filter(words, trees.get(device, Tree()))
        return
    law = words.take("qdisc", ", ".join(_LAWS))
    if law not in _LAWS and law != "htb":
        raise unknown(words.place, "qdisc", law, _NAMES, "docs/queues.md has more queues")
    way = ways.setdefault(device, Way())
    tree = trees.setdefault(device, Tree())
    if law == "htb":
        _htb(words, tree, handles)
    elif handles["parent"] in tree.classes and law not in ("netem", "tbf"):
        leaf = Way()
        _LAWS[law](words, leaf, notes)
        tree.classes[handles["parent"]]["queue"] = leaf.queue
    else:
        _LAWS[law](words, way, notes)
    if words.peek():
        raise unknown(words.place, law, words.peek(), _OPTIONS.get(law, ()))


def _filter(words: Words, tree: Tree) -> None:
    """A filter by the octet of code point and ECN, the code point compared in full."""
    instead = (
        "filters are those of u32 by one dsfield with the mask 0xfc; classes name hosts and flows"
    )
    points: list[int] = []
    while words.peek():
        option = words.take()
        if option in ("protocol", "prio", "pref", "parent"):
            words.take(option, "a value")
        elif option == "match" and words.peek() == "ip":
            words.take()
            name = words.take("match", instead)
            if name not in ("dsfield", "tos"):
                raise no_counterpart(words.place, "match ip", name, instead)
            value, mask = words.take(name, "an octet"), words.take(name, "a mask")
            if not _is_number(value) or not _is_number(mask) or int(mask, 0) != 0xFC:
                raise no_counterpart(words.place, name, f"{value} {mask}", instead)
            points.append(int(value, 0) >> 2)
        elif option in ("flowid", "classid"):
            number = words.take(option, "a class")
            if number not in tree.classes:
                raise InputError.about(words.place, option, number, "a class that was added")
            if len(points) != 1:
                raise no_counterpart(words.place, "filter", str(points), instead)
            tree.classes[number].setdefault("dscp", []).append(points[0])
        elif option != "u32":
            raise no_counterpart(words.place, "filter", option, instead)


def _is_number(word: str) -> bool:
    return re.fullmatch("0[xX][0-9a-fA-F]+|[0-9]+", word) is not None


def _classes(file: str, tree: Tree, way: Way, notes: list[str]) -> None:
    """What the classes of a device make of its link."""
    only = tree.only()
    if only is None:
        tree.finish(file, way, notes)
        return
    way.rate = only["rate"]
    notes.append("htb's bursts are left out: the link sends at its rate.")
    if "queue" in only:
        if way.queue is not None:
            raise second_queue(file, only["queue"]["kind"])
        way.queue = only["queue"]


def _netem(words: Words, way: Way, _notes: list[str]) -> None:
    delay, jitter, limit = Decimal(0), None, NETEM_LIMIT
    early = gap = Decimal(0)
    while words.peek():
        option = words.take()
        if option == "limit":
            limit = words.number("limit", {"": 1}, "a number of packets")
        elif option in ("delay", "latency"):
            delay, jitter = _delay(words)
        elif option == "distribution":
            jitter = _distribution(words, jitter)
        elif option in ("loss", "drop"):
            way.impairments.append(_loss(words))
        elif option in ("duplicate", "corrupt"):
            bits_of = {"bits": 1} if option == "corrupt" else {}
            probability = words.per_cent(option)
            way.impairments.append({"kind": option, "probability": probability, **bits_of})
            words.no_correlation(option, "draws are independent")
        elif option == "reorder":
            early = words.per_cent(option)
            words.no_correlation(option, "draws are independent: leave the correlation out")
        elif option == "gap":
            gap = words.number("gap", {"": 1}, "a number of packets")
        elif option == "rate":
            way.rate = bits(words.number("rate", BITS, "a rate, as 10mbit"))
            if words.is_number() and words.peek() != "0":
                instead = "packets count with their IP header, without framing"
                raise no_counterpart(words.place, "packet overhead", words.peek(), instead)
        else:
            raise unknown(words.place, "netem", option, _NETEM)
    if early or gap:
        _reordering(words.place, early, gap, delay, jitter)
    _delays(way, delay, jitter, early)
    way.queue = {"kind": "droptail", "limit": f"{plain(limit)} packets"}
    way.netem = Netem(limit, delay * (1 - early))


def _waiting(way: Way, notes: list[str]) -> None:
    """Of netem's limit the queue has what the delay leaves at the rate of the way."""
    if way.netem is None or not way.netem.delay:
        return
    bucket = way.token_bucket or {}
    rate = way.rate or bucket.get("rate")
    counts = "netem's limit counts packets that are delayed, too; a queue's those that wait"
    if rate is None:
        notes.append(f"{counts}. No rate is said, so the queue has the whole limit.")
        return
    limit, delay = way.netem.limit, way.netem.delay
    octets = bits_per_second(rate) * delay / 8
    delayed = (octets / PACKET).to_integral_value(ROUND_HALF_UP)
    left = max(limit - delayed, Decimal(1))
    way.queue = {"kind": "droptail", "limit": f"{plain(left)} packets"}
    less = "" if limit > delayed else " The limit is too small: netem would drop."
    notes.append(
        f"{counts}. At {rate} the delay of {seconds(delay)} holds {plain(delayed)} packets of"
        f" {PACKET} octets: of the limit of {plain(limit)} the queue has {plain(left)}.{less}"
    )


def _delay(words: Words) -> tuple[Decimal, dict[str, object] | None]:
    delay = words.number("delay", TIMES, "a time, as 10ms")
    if not words.is_number():
        return delay, None
    deviation = words.number("jitter", TIMES, "a time, as 10ms")
    jitter: dict[str, object] = {"deviation": deviation}
    if words.is_number():
        jitter["correlation"] = words.per_cent("correlation of the delay")
    return delay, jitter


def _distribution(words: Words, jitter: dict[str, object] | None) -> dict[str, object]:
    law = words.take("distribution", "uniform, normal or pareto")
    if law not in ("uniform", "normal", "pareto"):
        instead = "the laws of `jitter` are uniform, normal and pareto"
        raise no_counterpart(words.place, "distribution", law, instead)
    if jitter is None:
        raise InputError.about(words.place, "distribution", law, "a delay with a jitter before it")
    return {**jitter, "law": law}


def _reordering(
    place: str,
    early: Decimal,
    gap: Decimal,
    delay: Decimal,
    jitter: dict[str, object] | None,
) -> None:
    """Refuses what tc refuses, and what no impairment says: packets draw for themselves here."""
    if not early:
        raise InputError.about(place, "gap", plain(gap), "beside reorder P%")
    share = f"{plain(early * 100)}%"
    if not delay:
        allowed = f"with a delay, which the other packets take: delay 10ms reorder {share}"
        raise InputError.about(place, "reorder", share, allowed)
    if jitter is not None:
        raise no_counterpart(place, "reorder with jitter", share, "jitter reorders by itself")
    if gap > 1:
        # Of a round gap - 1 packets are delayed, then as many as draw so, then one is early.
        same = (100 * early / (1 + (gap - 1) * early)).quantize(Decimal("0.001"))
        instead = f"reorder {plain(same)}% sends as many at once, without the gap between them"
        raise no_counterpart(place, "gap", plain(gap), instead)


def _delays(way: Way, delay: Decimal, jitter: dict[str, object] | None, early: Decimal) -> None:
    """netem's jitter reorders; `reorder P%` sends these at once and the others late."""
    if jitter is not None:
        spread = Decimal(str(jitter.pop("deviation")))
        way.impairments.append(
            {"kind": "jitter", "mean": seconds(delay), "deviation": seconds(spread), **jitter}
        )
        delay = Decimal(0)
    elif early:
        late = {"kind": "reorder", "probability": 1 - early, "extra": seconds(delay)}
        way.impairments.append(late)
        delay = Decimal(0)
    if delay or way.delay is None:
        way.delay = seconds(delay)


def _loss(words: Words) -> dict[str, object]:
    if words.peek() == "state":
        instead = "`gemodel` is the kind of two states, `gilbert-elliott`"
        raise no_counterpart(words.place, "loss", "state", instead)
    if words.peek() == "gemodel":
        words.take()
        p = words.per_cent("gemodel p")
        r = words.per_cent("gemodel r") if words.is_number() else 1 - p
        bad = words.per_cent("gemodel 1-h") if words.is_number() else Decimal(1)
        good = words.per_cent("gemodel 1-k") if words.is_number() else Decimal(0)
        return {"kind": "gilbert-elliott", "p": p, "r": r, "k": 1 - good, "h": 1 - bad}
    if words.peek() == "random":
        words.take()
    rate = words.per_cent("loss")
    words.no_correlation("loss", "say `gemodel` for losses in bursts")
    if words.peek() == "ecn":
        raise no_counterpart(words.place, "loss", "ecn", "a queue marks, see docs/queues.md")
    return {"kind": "bernoulli", "rate": rate}


def _tbf(words: Words, way: Way, _notes: list[str]) -> None:
    found: dict[str, Decimal] = {}
    kinds: dict[str, tuple[Mapping[str, object], str]] = {
        "rate": (BITS, "a rate, as 1mbit"),
        "peakrate": (BITS, "a rate, as 1mbit"),
        "burst": (SIZES, "a size, as 32kb"),
        "buffer": (SIZES, "a size, as 32kb"),
        "limit": (SIZES, "a size, as 32kb"),
        "latency": (TIMES, "a time, as 50ms"),
        "mtu": (SIZES, "a size"),
        "minburst": (SIZES, "a size"),
    }
    while words.peek() in kinds:
        option = words.take()
        found[option.replace("buffer", "burst")] = words.number(option, *kinds[option])
    for needed in ("rate", "burst"):
        if needed not in found:
            raise InputError.about(words.place, needed, "", "a value: tbf needs it")
    bucket = {"rate": bits(found["rate"]), "burst": f"{plain(found['burst'])} B"}
    if "peakrate" in found:
        bucket["peak"] = bits(found["peakrate"])
    way.token_bucket = dict(bucket)
    if "limit" in found:
        waits = found["limit"]
    elif "latency" in found:
        waits = (found["rate"] * found["latency"] / 8).to_integral_value() + found["burst"]
    else:
        raise InputError.about(words.place, "limit", "", "limit or latency: tbf needs one of them")
    way.queue, way.netem = {"kind": "droptail", "limit": f"{plain(waits)} B"}, None


def _htb(words: Words, tree: Tree, handles: Mapping[str, str]) -> None:
    """The discipline, which has the default, or a class of it."""
    found: dict[str, object] = {}
    while words.peek():
        option = words.take()
        if option in ("rate", "ceil"):
            found[option] = bits(words.number(option, BITS, "a rate, as 10mbit"))
        elif option in ("burst", "buffer", "maxburst", "cburst", "cbuffer", "cmaxburst"):
            name = "cburst" if option.startswith("c") else "burst"
            found[name] = f"{plain(words.number(option, SIZES, 'a size, as 15k'))} B"
        elif option == "quantum":
            found[option] = f"{plain(words.number(option, SIZES, 'a size, as 1500'))} B"
        elif option == "prio":
            found[option] = int(words.number(option, {"": 1}, "a number from 0 to 7"))
        elif option == "default":
            minor = words.take("default", "the number of a class").lower().removeprefix("0x")
            tree.default = f"{handles['handle'].rstrip(':') or '1'}:{minor}"
        elif option in ("r2q", "mtu"):
            words.take(option, "a value")
        else:
            raise unknown(words.place, "htb", option, _HTB)
    if "rate" not in found:
        return  # the qdisc; its classes have the rates
    if found.get("ceil") == found["rate"]:
        del found["ceil"]
    tree.add(handles["classid"] or f"1:{len(tree.classes) + 1}", handles["parent"], found)


def _fifo(unit: str) -> _Law:
    def read(words: Words, way: Way, _notes: list[str]) -> None:
        limit = Decimal(1000)
        if words.peek() == "limit":
            words.take()
            units: Mapping[str, object] = SIZES if unit == "B" else {"": 1, "p": 1}
            limit = words.number("limit", units, f"a number of {unit}")
        way.queue, way.netem = {"kind": "droptail", "limit": f"{plain(limit)} {unit}"}, None

    return read


def _managed(kind: str, counts: Mapping[str, str], times: Mapping[str, str]) -> _Law:
    """A discipline with the same options as ours, under names of their own; the defaults are the
    same, too."""

    def read(words: Words, way: Way, _notes: list[str]) -> None:
        queue: dict[str, object] = {"kind": kind}
        while words.peek():
            option = words.take()
            if option in times:
                found = words.number(option, TIMES, "a time, as 5ms")
                queue[times[option]] = seconds(found)
            elif option in counts:
                found = words.number(option, {"": 1}, "a number")
                name, _, unit = counts[option].partition(" ")
                queue[name] = f"{plain(found)} {unit}" if unit else int(found)
            elif option in ("ecn", "noecn"):
                queue["ecn"] = option == "ecn"
            else:
                raise unknown(words.place, kind, option, [*counts, *times, "ecn", "noecn"])
        if way.queue is not None:
            raise second_queue(words.place, kind)
        way.queue = queue

    return read


_NETEM = (
    "limit",
    "delay",
    "distribution",
    "loss",
    "duplicate",
    "corrupt",
    "reorder",
    "gap",
    "rate",
)
_HTB = ("rate", "ceil", "burst", "cburst", "prio", "quantum", "default")
_TBF = ("rate", "peakrate", "burst", "limit", "latency", "mtu", "minburst")
_OPTIONS = {"tbf": _TBF, "pfifo": ("limit",), "bfifo": ("limit",)}
"""Of disciplines that read on while they know a word."""

_CODEL_TIMES = {"target": "target", "interval": "interval", "ce_threshold": "ce_threshold"}

_LAWS: dict[str, _Law] = {
    "netem": _netem,
    "tbf": _tbf,
    "pfifo": _fifo("packets"),
    "bfifo": _fifo("B"),
    "cake": cake,
    "codel": _managed("codel", {"limit": "limit packets"}, _CODEL_TIMES),
    "fq_codel": _managed(
        "fq-codel",
        {
            "limit": "limit packets",
            "flows": "queues",
            "quantum": "quantum B",
            "drop_batch": "drop_batch",
        },
        _CODEL_TIMES,
    ),
}


_NAMES = ("netem", "tbf", "htb", *(name for name in _LAWS if name not in ("netem", "tbf")))


def time(word: str) -> Decimal | None:
    """A time as tc has it, in seconds: a bare number means microseconds."""
    return quantity(word, TIMES)
