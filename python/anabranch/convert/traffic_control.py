"""Command lines of Linux's traffic control: netem, tbf, htb, pfifo, bfifo, codel, fq_codel, cake.

Grammar, units and defaults are those of tc(8), tc-netem(8), tc-tbf(8), tc-htb(8),
tc-codel(8), tc-fq_codel(8), tc-cake(8) of iproute2.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from decimal import Decimal

from anabranch.convert.classes import Tree
from anabranch.convert.link import (
    Converted,
    Link,
    Way,
    bits,
    no_counterpart,
    plain,
    seconds,
    share,
)
from anabranch.errors import InputError

_TIMES = {"s": 1, "sec": 1, "secs": 1, "ms": "1e-3", "msec": "1e-3", "msecs": "1e-3"}
_TIMES |= {"us": "1e-6", "usec": "1e-6", "usecs": "1e-6", "ns": "1e-9", "": "1e-6"}
_BITS = {"bit": 1, "": 1, "kbit": 10**3, "mbit": 10**6, "gbit": 10**9, "tbit": 10**12}
_BITS |= {"kibit": 2**10, "mibit": 2**20, "gibit": 2**30, "bps": 8, "kbps": 8 * 10**3}
_BITS |= {"mbps": 8 * 10**6, "gbps": 8 * 10**9, "kibps": 2**13, "mibps": 2**23}
_SIZES = {"b": 1, "": 1, "k": 2**10, "kb": 2**10, "m": 2**20, "mb": 2**20, "g": 2**30}
_SIZES |= {"gb": 2**30, "kbit": 2**7, "mbit": 2**17}
_Law = Callable[["Words", Way, list[str]], None]
"""What reads the words of a discipline behind its name."""
NETEM_LIMIT = "1000 packets"
"""Of netem without `limit`."""


class Words:
    """The words of a command, read one after the other."""

    def __init__(self, words: list[str], place: str) -> None:
        self.words = words
        self.place = place
        self.at = 0

    def peek(self) -> str:
        """The next word; empty at the end."""
        return self.words[self.at] if self.at < len(self.words) else ""

    def take(self, what: str = "", allowed: str = "") -> str:
        """The next word, which must be there."""
        if self.at >= len(self.words):
            raise InputError.about(self.place, what, "", allowed or "a value")
        self.at += 1
        return self.words[self.at - 1]

    def number(self, what: str, units: Mapping[str, object], allowed: str) -> Decimal:
        """A number with one of these units, in the base unit."""
        word = self.take(what, allowed)
        found = _quantity(word, units)
        if found is None:
            raise InputError.about(self.place, what, word, allowed)
        return found

    def per_cent(self, what: str) -> Decimal:
        """A probability in per cent, as a number from 0 to 1."""
        word = self.take(what, "a percentage, as 1%")
        found = _quantity(word.removesuffix("%"), {"": 1})
        if found is None or not 0 <= found <= 100:
            raise InputError.about(self.place, what, word, "a percentage from 0% to 100%")
        return share(found)

    def is_number(self) -> bool:
        """The next word begins with a digit."""
        return self.peek()[:1].isdigit()

    def no_correlation(self, what: str, instead: str) -> None:
        """Refuses a correlation that follows."""
        if self.is_number() and share(
            _quantity(self.peek().removesuffix("%"), {"": 1}) or Decimal(0)
        ):
            raise no_counterpart(self.place, f"correlation of {what}", self.peek(), instead)
        if self.is_number():
            self.take()


def _quantity(word: str, units: Mapping[str, object]) -> Decimal | None:
    found = re.fullmatch(r"([0-9]*\.?[0-9]+)([a-z]*)", word.lower())
    if not found or found[2] not in units:
        return None
    return Decimal(found[1]) * Decimal(str(units[found[2]]))


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
        instead = f"known are {', '.join(_NAMES)}; docs/queues.md has more queues"
        raise no_counterpart(words.place, "qdisc", law, instead)
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
        instead = f"it is no option of {law} that is known"
        raise no_counterpart(words.place, law, words.peek(), instead)


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
            instead = "of netem, tbf and another queue a link has one"
            raise no_counterpart(file, "qdisc below another", only["queue"]["kind"], instead)
        way.queue = only["queue"]


def _netem(words: Words, way: Way, notes: list[str]) -> None:
    delay, jitter, queue = Decimal(0), None, NETEM_LIMIT
    early = gap = Decimal(0)
    while words.peek():
        option = words.take()
        if option == "limit":
            queue = f"{plain(words.number('limit', {'': 1}, 'a number of packets'))} packets"
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
            way.rate = bits(words.number("rate", _BITS, "a rate, as 10mbit"))
            if words.is_number() and words.peek() != "0":
                instead = "packets count with their IP header, without framing"
                raise no_counterpart(words.place, "packet overhead", words.peek(), instead)
        else:
            raise no_counterpart(words.place, "netem", option, "known are limit, delay, loss,"
                                 " duplicate, corrupt, reorder, gap, rate")  # fmt: skip
    if early or gap:
        _reordering(words.place, early, gap, delay, jitter)
    _delays(way, delay, jitter, early)
    way.queue = {"kind": "droptail", "limit": queue}
    notes.append("netem's limit counts packets that are delayed, too; a queue's those that wait.")


def _delay(words: Words) -> tuple[Decimal, dict[str, object] | None]:
    delay = words.number("delay", _TIMES, "a time, as 10ms")
    if not words.is_number():
        return delay, None
    deviation = words.number("jitter", _TIMES, "a time, as 10ms")
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
        "rate": (_BITS, "a rate, as 1mbit"),
        "peakrate": (_BITS, "a rate, as 1mbit"),
        "burst": (_SIZES, "a size, as 32kb"),
        "buffer": (_SIZES, "a size, as 32kb"),
        "limit": (_SIZES, "a size, as 32kb"),
        "latency": (_TIMES, "a time, as 50ms"),
        "mtu": (_SIZES, "a size"),
        "minburst": (_SIZES, "a size"),
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
    way.queue = {"kind": "droptail", "limit": f"{plain(waits)} B"}


def _htb(words: Words, tree: Tree, handles: Mapping[str, str]) -> None:
    """The discipline, which has the default, or a class of it."""
    found: dict[str, object] = {}
    while words.peek():
        option = words.take()
        if option in ("rate", "ceil"):
            found[option] = bits(words.number(option, _BITS, "a rate, as 10mbit"))
        elif option in ("burst", "buffer", "maxburst", "cburst", "cbuffer", "cmaxburst"):
            name = "cburst" if option.startswith("c") else "burst"
            found[name] = f"{plain(words.number(option, _SIZES, 'a size, as 15k'))} B"
        elif option == "quantum":
            found[option] = f"{plain(words.number(option, _SIZES, 'a size, as 1500'))} B"
        elif option == "prio":
            found[option] = int(words.number(option, {"": 1}, "a number from 0 to 7"))
        elif option == "default":
            minor = words.take("default", "the number of a class").lower().removeprefix("0x")
            tree.default = f"{handles['handle'].rstrip(':') or '1'}:{minor}"
        elif option in ("r2q", "mtu"):
            words.take(option, "a value")
        else:
            instead = "known are rate, ceil, burst, cburst, prio and quantum"
            raise no_counterpart(words.place, "htb", option, instead)
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
            units: Mapping[str, object] = _SIZES if unit == "B" else {"": 1, "p": 1}
            limit = words.number("limit", units, f"a number of {unit}")
        way.queue = {"kind": "droptail", "limit": f"{plain(limit)} {unit}"}

    return read


def _managed(kind: str, counts: Mapping[str, str], times: Mapping[str, str]) -> _Law:
    """A discipline with the same options as ours, under names of their own; the defaults are the
    same, too."""

    def read(words: Words, way: Way, _notes: list[str]) -> None:
        queue: dict[str, object] = {"kind": kind}
        while words.peek():
            option = words.take()
            if option in times:
                found = words.number(option, _TIMES, "a time, as 5ms")
                queue[times[option]] = seconds(found)
            elif option in counts:
                found = words.number(option, {"": 1}, "a number")
                name, _, unit = counts[option].partition(" ")
                queue[name] = f"{plain(found)} {unit}" if unit else int(found)
            elif option in ("ecn", "noecn"):
                queue["ecn"] = option == "ecn"
            else:
                known = ", ".join([*counts, *times, "ecn", "noecn"])
                raise no_counterpart(words.place, kind, option, f"known are {known}")
        if way.queue is not None:
            instead = "of netem, tbf and another queue a link has one"
            raise no_counterpart(words.place, "qdisc below another", kind, instead)
        way.queue = queue

    return read


_CAKE_WORDS: dict[str, dict[str, object]] = {
    **{
        word: {"tins": word}
        for word in ("besteffort", "diffserv3", "diffserv4", "diffserv8", "precedence")
    },
    **{
        word: {"isolation": word}
        for word in (
            "flowblind",
            "srchost",
            "dsthost",
            "hosts",
            "flows",
            "dual-srchost",
            "dual-dsthost",
            "triple-isolate",
        )
    },
    "datacentre": {"rtt": "100 us"},
    "lan": {"rtt": "1 ms"},
    "metro": {"rtt": "10 ms"},
    "regional": {"rtt": "30 ms"},
    "internet": {"rtt": "100 ms"},
    "oceanic": {"rtt": "300 ms"},
    "satellite": {"rtt": "1 s"},
    "interplanetary": {"rtt": "1000 s"},
    "wash": {"wash": True},
    "nowash": {"wash": False},
    "ingress": {"ingress": True},
    "egress": {"ingress": False},
    "autorate-ingress": {"autorate": True},
    "ack-filter": {"ack_filter": "conservative"},
    "ack-filter-aggressive": {"ack_filter": "aggressive"},
    "no-ack-filter": {"ack_filter": "off"},
    "atm": {"framing": "atm"},
    "ptm": {"framing": "ptm"},
    "noatm": {"framing": "none"},
}
"""Words of cake that set one field."""

_CAKE_FRAMES: dict[str, tuple[int, str, int]] = {
    "conservative": (48, "atm", 0),
    "ipoa-vcmux": (8, "atm", 0),
    "ipoa-llcsnap": (16, "atm", 0),
    "bridged-vcmux": (24, "atm", 0),
    "bridged-llcsnap": (32, "atm", 0),
    "pppoa-vcmux": (10, "atm", 0),
    "pppoa-llc": (14, "atm", 0),
    "pppoe-vcmux": (32, "atm", 0),
    "pppoe-llcsnap": (40, "atm", 0),
    "bridged-ptm": (22, "ptm", 0),
    "pppoe-ptm": (30, "ptm", 0),
    "docsis": (18, "none", 64),
    "ethernet": (38, "none", 84),
    "ether-vlan": (4, "", 0),
}
"""Words of cake for kinds of frames: octets that add up, framing, and the least size."""

_CAKE_IDLE = ("unlimited", "nonat", "split-gso", "no-split-gso", "via-ethernet")
"""Words of cake that change nothing here."""
ETHERNET = 14
"""Octets of the header of Ethernet, which Linux counts where no overhead is given."""


def _cake(words: Words, way: Way, notes: list[str]) -> None:
    queue: dict[str, object] = {"kind": "cake"}
    overhead: int | None = None
    while words.peek():
        option = words.take()
        if option in _CAKE_VALUES:
            queue |= _CAKE_VALUES[option](words)
        elif option == "overhead":
            overhead = (overhead or 0) + _signed(words, "overhead")
        elif option in _CAKE_FRAMES:
            more, framing, least = _CAKE_FRAMES[option]
            overhead = (overhead or 0) + more
            queue |= {"framing": framing} if framing else {}
            queue |= {"mpu": f"{least} B"} if least else {}
        elif option in _CAKE_WORDS:
            queue |= _CAKE_WORDS[option]
        elif option == "raw":
            overhead = None
            queue.pop("framing", None)
        elif option == "nat":
            notes.append("cake's nat is left out: no router here translates addresses.")
        elif option not in _CAKE_IDLE:
            instead = "known are the options of tc-cake(8) but fwmark"
            raise no_counterpart(words.place, "cake", option, instead)
    if overhead is None and "rate" in queue:
        notes.append("cake without overhead counts Ethernet's header: overhead is 14.")
        overhead = ETHERNET
    queue |= {"overhead": overhead} if overhead else {}
    if way.queue is not None:
        instead = "of netem, tbf and another queue a link has one"
        raise no_counterpart(words.place, "qdisc below another", "cake", instead)
    way.queue = queue


def _cake_rate(words: Words) -> dict[str, object]:
    if words.peek() == "unlimited":
        words.take()
        return {}
    return {"rate": bits(words.number("bandwidth", _BITS, "a rate, as 10mbit"))}


def _cake_rtt(words: Words) -> dict[str, object]:
    return {"rtt": seconds(words.number("rtt", _TIMES, "a time, as 100ms"))}


def _cake_limit(words: Words) -> dict[str, object]:
    return {"limit": f"{plain(words.number('memlimit', _SIZES, 'a size, as 4mb'))} B"}


def _cake_least(words: Words) -> dict[str, object]:
    return {"mpu": f"{plain(words.number('mpu', {'': 1}, 'a number of octets'))} B"}


_CAKE_VALUES: dict[str, Callable[[Words], dict[str, object]]] = {
    "bandwidth": _cake_rate,
    "rtt": _cake_rtt,
    "memlimit": _cake_limit,
    "mpu": _cake_least,
}
"""Options of cake that have a value."""


def _signed(words: Words, what: str) -> int:
    word = words.take(what, "a number of octets")
    if not re.fullmatch(r"-?[0-9]+", word):
        raise InputError.about(words.place, what, word, "a number of octets")
    return int(word)


_CODEL_TIMES = {"target": "target", "interval": "interval", "ce_threshold": "ce_threshold"}

_LAWS: dict[str, _Law] = {
    "netem": _netem,
    "tbf": _tbf,
    "pfifo": _fifo("packets"),
    "bfifo": _fifo("B"),
    "cake": _cake,
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
    return _quantity(word, _TIMES)
