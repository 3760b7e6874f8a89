"""Names that can be chosen, with a line for each, from the catalogues of the core."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from anabranch.experiment import catalogue

ANY, COUPLED = "window: ", "window, coupled: "
"""First words of the lines of window algorithms, the latter of those that couple paths."""


@functools.cache
def catalogued(kind: str) -> Mapping[str, str]:
    """The names of a catalogue and what they are."""
    return {name: summary for name, summary, _reference in catalogue(kind)}


@functools.cache
def windows(protocol: str) -> Mapping[str, str]:
    """Window algorithms that a protocol takes: the coupled ones over Multipath TCP alone."""
    labels = (ANY, COUPLED) if protocol == "mptcp" else (ANY,)
    found = {
        name: summary.partition(": ")[2]
        for name, summary in catalogued("algorithms").items()
        if summary.startswith(labels)
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
