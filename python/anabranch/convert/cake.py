"""The options of tc-cake(8)."""

from __future__ import annotations

import re
from collections.abc import Callable

from anabranch.convert.link import Way, bits, no_counterpart, plain, second_queue, seconds
from anabranch.convert.words import BITS, SIZES, TIMES, Words
from anabranch.errors import InputError

_WORDS: dict[str, dict[str, object]] = {
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

_FRAMES: dict[str, tuple[int, str, int]] = {
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

_IDLE = ("unlimited", "nonat", "split-gso", "no-split-gso", "via-ethernet")
"""Words of cake that change nothing here."""
ETHERNET = 14
"""Octets of the header of Ethernet, which Linux counts where no overhead is given."""


def cake(words: Words, way: Way, notes: list[str]) -> None:
    """Reads the words behind `cake`, and makes the queue of the link of them."""
    queue: dict[str, object] = {"kind": "cake"}
    overhead: int | None = None
    while words.peek():
        option = words.take()
        if option in _VALUES:
            queue |= _VALUES[option](words)
        elif option == "overhead":
            overhead = (overhead or 0) + _signed(words, "overhead")
        elif option in _FRAMES:
            more, framing, least = _FRAMES[option]
            overhead = (overhead or 0) + more
            queue |= {"framing": framing} if framing else {}
            queue |= {"mpu": f"{least} B"} if least else {}
        elif option in _WORDS:
            queue |= _WORDS[option]
        elif option == "raw":
            overhead = None
            queue.pop("framing", None)
        elif option == "nat":
            notes.append("cake's nat is left out: no router here translates addresses.")
        elif option not in _IDLE:
            instead = "known are the options of tc-cake(8) but fwmark"
            raise no_counterpart(words.place, "cake", option, instead)
    if overhead is None and "rate" in queue:
        notes.append("cake without overhead counts Ethernet's header: overhead is 14.")
        overhead = ETHERNET
    queue |= {"overhead": overhead} if overhead else {}
    if way.queue is not None:
        raise second_queue(words.place, "cake")
    way.queue = queue


def _rate(words: Words) -> dict[str, object]:
    if words.peek() == "unlimited":
        words.take()
        return {}
    return {"rate": bits(words.number("bandwidth", BITS, "a rate, as 10mbit"))}


def _rtt(words: Words) -> dict[str, object]:
    return {"rtt": seconds(words.number("rtt", TIMES, "a time, as 100ms"))}


def _limit(words: Words) -> dict[str, object]:
    return {"limit": f"{plain(words.number('memlimit', SIZES, 'a size, as 4mb'))} B"}


def _least(words: Words) -> dict[str, object]:
    return {"mpu": f"{plain(words.number('mpu', {'': 1}, 'a number of octets'))} B"}


_VALUES: dict[str, Callable[[Words], dict[str, object]]] = {
    "bandwidth": _rate,
    "rtt": _rtt,
    "memlimit": _limit,
    "mpu": _least,
}
"""Options of cake that have a value."""


def _signed(words: Words, what: str) -> int:
    word = words.take(what, "a number of octets")
    if not re.fullmatch(r"-?[0-9]+", word):
        raise InputError.about(words.place, what, word, "a number of octets")
    return int(word)
