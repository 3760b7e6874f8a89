"""Names that can be chosen, with a line for each, from the catalogues of the core."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from anabranch.experiment import catalogue

COUPLED = frozenset({"lia", "olia", "balia", "wvegas", "mcubic", "mcubic-share"})
"""Window algorithms that look at a connection's other paths."""


@functools.cache
def catalogued(kind: str) -> Mapping[str, str]:
    """The names of a catalogue and what they are."""
    return {name: summary for name, summary, _reference in catalogue(kind)}


@functools.cache
def windows(protocol: str) -> Mapping[str, str]:
    """Window algorithms that a protocol takes: the coupled ones over Multipath TCP alone."""
    found = {
        name: summary.removeprefix("window: ")
        for name, summary in catalogued("algorithms").items()
        if summary.startswith("window: ") and (protocol == "mptcp" or name not in COUPLED)
    }
    return {"standard": "the rules of the preset", **found} if protocol == "sctp" else found


@functools.cache
def schedulers(protocol: str) -> Mapping[str, str]:
    """Schedulers of packets (`mptcp`) or of streams (`sctp`)."""
    label = {"mptcp": "Multipath TCP: ", "sctp": "SCTP: "}[protocol]
    return {
        name: summary.removeprefix(label)
        for name, summary, _reference in catalogue("schedulers")
        if summary.startswith(label)
    }
