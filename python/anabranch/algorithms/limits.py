"""Limits on how long a call of a user-defined algorithm may take.

A hook that does not return within the limit ends its run with an error that names it. The
limit counts real time: 10 s, or what the environment variable `ANABRANCH_CALL_LIMIT` or
`set_call_limit` says. Classes with `unlimited = True`, whose hooks wait for somebody else,
have none.
"""

from __future__ import annotations

import ctypes
import math
import os

from anabranch.errors import InputError
from anabranch.native import core, guarded

VARIABLE = "ANABRANCH_CALL_LIMIT"
DEFAULT_S = 10.0
LEAST_S, MOST_S = 0.1, 1e6

_chosen: list[float | None] = []
"""What `set_call_limit` was last given."""


def set_call_limit(seconds: float | None) -> None:
    """Sets the limit for this process, in seconds; `None` for none, as under a debugger."""
    if seconds is not None and not LEAST_S <= seconds <= MOST_S:
        raise InputError.about("set_call_limit", "seconds", str(seconds), _allowed("None"))
    _chosen[:] = [seconds]
    _tell(seconds)


def apply() -> None:
    """Hands the limit to the core: what was set, what the environment says, or the default."""
    _tell(_chosen[0] if _chosen else _from_environment())


def _tell(seconds: float | None) -> None:
    with guarded():
        core.set_call_limit(seconds)


def raise_in(ident: int, kind: type[BaseException] | None) -> None:
    """Raises an exception in the thread, with its next step in Python; `None` takes it back."""
    thrown = None if kind is None else ctypes.py_object(kind)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(ident), thrown)


def _from_environment() -> float | None:
    text = os.environ.get(VARIABLE, "").strip()
    if text == "none":
        return None
    try:
        seconds = float(text or DEFAULT_S)
    except ValueError:
        seconds = math.nan
    if not LEAST_S <= seconds <= MOST_S:
        raise InputError.about("environment", VARIABLE, text, _allowed("none"))
    return seconds


def _allowed(without: str) -> str:
    return f"seconds from {LEAST_S:g} to {MOST_S:g}, or {without} for no limit"
