"""The scenarios of the library, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anabranch.errors import InputError
from anabranch.library.classics import dumbbell, fat_tree, incast, parking_lot, short_flows, web
from anabranch.library.entry import Entry
from anabranch.library.graphml import topology_zoo
from anabranch.library.rrul import rrul
from anabranch.library.suite.basic import (
    access_link,
    data_centre,
    dial_up,
    geostationary,
    trans_oceanic,
    wireless_access,
)
from anabranch.library.suite.experiments import (
    delay_throughput,
    fairness,
    flash_crowd,
    impact,
    multiple_bottlenecks,
    ramp_up,
    transient,
)
from anabranch.nearest import one_of
from anabranch.network import Network

_SUITE = "draft-irtf-iccrg-tcpeval-01"

_ENTRIES = (
    Entry("dumbbell", "the field's standard", dumbbell),
    Entry("parking-lot", "the field's standard", parking_lot),
    Entry("fat-tree", "Al-Fares et al., SIGCOMM 2008", fat_tree),
    Entry("incast", "Phanishayee et al., FAST 2008", incast),
    Entry("web", "HTTP/1.1 or HTTP/2 over one connection", web),
    Entry("short-flows", "Alizadeh et al., SIGCOMM 2013 (pFabric)", short_flows),
    Entry("rrul", "flent, tests/rrul.conf (Høiland-Jørgensen et al., 2017)", rrul),
    Entry("topology-zoo", "Knight et al., IEEE JSAC 29(9), 2011", topology_zoo),
    Entry("data-centre", f"{_SUITE} §4.3", data_centre),
    Entry("access-link", f"{_SUITE} §4.3", access_link),
    Entry("trans-oceanic", f"{_SUITE} §4.3", trans_oceanic),
    Entry("geostationary", f"{_SUITE} §4.3", geostationary),
    Entry("wireless-access", f"{_SUITE} §4.3", wireless_access),
    Entry("dial-up", f"{_SUITE} §4.3", dial_up),
    Entry("delay-throughput", f"{_SUITE} §4.4", delay_throughput),
    Entry("ramp-up", f"{_SUITE} §4.5", ramp_up),
    Entry("transient", f"{_SUITE} §4.6", transient),
    Entry("flash-crowd", f"{_SUITE} §4.6", flash_crowd),
    Entry("impact", f"{_SUITE} §4.7", impact),
    Entry("fairness", f"{_SUITE} §4.8", fairness),
    Entry("multiple-bottlenecks", f"{_SUITE} §4.9", multiple_bottlenecks),
)

ALL: Mapping[str, Entry] = {entry.name: entry for entry in _ENTRIES}
"""The scenarios by name, in the order of docs/library.md."""


def find(name: str) -> Entry:
    """Returns the scenario of that name."""
    if name not in ALL:
        raise InputError.about("library", "scenario", name, one_of(name, ALL))
    return ALL[name]


def build(name: str, parameters: Mapping[str, Any]) -> Network:
    """The scenario of that name with these parameters; wrong ones raise `InputError`."""
    found = find(name)
    known = found.parameters()
    for parameter in parameters:
        if parameter not in known:
            where = f"library:{name}"
            raise InputError.about(where, "parameter", parameter, one_of(parameter, known))
    return found.build(**parameters)
