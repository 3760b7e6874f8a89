"""The words of Linux's commands, and the units of tc(8)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal

from anabranch.convert.link import no_counterpart, share
from anabranch.errors import InputError

TIMES = {"s": 1, "sec": 1, "secs": 1, "ms": "1e-3", "msec": "1e-3", "msecs": "1e-3"}
TIMES |= {"us": "1e-6", "usec": "1e-6", "usecs": "1e-6", "ns": "1e-9", "": "1e-6"}
BITS = {"bit": 1, "": 1, "kbit": 10**3, "mbit": 10**6, "gbit": 10**9, "tbit": 10**12}
BITS |= {"kibit": 2**10, "mibit": 2**20, "gibit": 2**30, "bps": 8, "kbps": 8 * 10**3}
BITS |= {"mbps": 8 * 10**6, "gbps": 8 * 10**9, "kibps": 2**13, "mibps": 2**23}
SIZES = {"b": 1, "": 1, "k": 2**10, "kb": 2**10, "m": 2**20, "mb": 2**20, "g": 2**30}
SIZES |= {"gb": 2**30, "kbit": 2**7, "mbit": 2**17}


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
        found = quantity(word, units)
        if found is None:
            raise InputError.about(self.place, what, word, allowed)
        return found

    def per_cent(self, what: str) -> Decimal:
        """A probability in per cent, as a number from 0 to 1."""
        word = self.take(what, "a percentage, as 1%")
        found = quantity(word.removesuffix("%"), {"": 1})
        if found is None or not 0 <= found <= 100:
            raise InputError.about(self.place, what, word, "a percentage from 0% to 100%")
        return share(found)

    def is_number(self) -> bool:
        """The next word begins with a digit."""
        return self.peek()[:1].isdigit()

    def no_correlation(self, what: str, instead: str) -> None:
        """Refuses a correlation that follows."""
        if self.is_number() and share(
            quantity(self.peek().removesuffix("%"), {"": 1}) or Decimal(0)
        ):
            raise no_counterpart(self.place, f"correlation of {what}", self.peek(), instead)
        if self.is_number():
            self.take()


def quantity(word: str, units: Mapping[str, object]) -> Decimal | None:
    """The number of a word with one of these units, in the base unit."""
    found = re.fullmatch(r"([0-9]*\.?[0-9]+)([a-z]*)", word.lower())
    if not found or found[2] not in units:
        return None
    return Decimal(found[1]) * Decimal(str(units[found[2]]))
