"""The right name beside a wrong one, in the form that the core uses, too."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

SHORTEST_PART = 3
"""Letters from which a word may be a part of the name that was meant."""


def nearest(wanted: str, names: Iterable[object]) -> str | None:
    """The name that `wanted` was probably meant to be: one of nearly the same letters, else the
    first that has it as a part; `None` where nothing is near.

    >>> nearest("windwo", ["delay", "window"])
    'window'
    >>> nearest("share", ["goodput", "LTE_share"])
    'LTE_share'
    """
    known = [str(name) for name in names]
    close = difflib.get_close_matches(wanted, known, n=1)
    if close:
        return close[0]
    if len(wanted) < SHORTEST_PART:
        return None
    return next((name for name in known if wanted.lower() in name.lower()), None)


def one_of(wanted: str, names: Iterable[object], most: int = 30) -> str:
    """The `names` for a message, at most so many of them or one more, and which of several was
    probably meant.

    >>> one_of("cubik", ["reno", "cubic", "bbr"], most=2)
    'reno, cubic, bbr; did you mean `cubic`?'
    >>> one_of("cubik", ["cubic"])
    'cubic'
    >>> one_of("tahoe", ["reno", "cubic", "bbr"], most=1)
    'reno and 2 more'
    """
    known = [str(name) for name in names]
    if len(known) == most + 1:
        most += 1  # a name says more than that there is one more
    shown = ", ".join(known[:most])
    if len(known) > most:
        shown += f" and {len(known) - most} more"
    meant = nearest(wanted, known) if len(known) > 1 else None
    return shown if meant is None else f"{shown}; did you mean `{meant}`?"
