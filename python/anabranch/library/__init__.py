"""Scenarios by name: `library:NAME` wherever a scenario's file is taken, or a function here.

Each function returns a `Network`. docs/library.md has a table of all.

>>> from anabranch import library
>>> net = library.dumbbell(pairs=2, rate="10 Mbit/s", duration="5 s")
>>> len(net.scenario().run().flows)                              # doctest: +SKIP
2
"""

from __future__ import annotations

from anabranch.library import sizes
from anabranch.library.classics import dumbbell, fat_tree, incast, parking_lot, short_flows, web
from anabranch.library.entries import ALL, build, find
from anabranch.library.entry import Entry
from anabranch.library.graphml import topology_zoo
from anabranch.library.rrul import rrul
from anabranch.library.scenario import LibraryScenario, load
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

__all__ = [
    "ALL",
    "Entry",
    "LibraryScenario",
    "access_link",
    "build",
    "data_centre",
    "delay_throughput",
    "dial_up",
    "dumbbell",
    "fairness",
    "fat_tree",
    "find",
    "flash_crowd",
    "geostationary",
    "impact",
    "incast",
    "load",
    "multiple_bottlenecks",
    "parking_lot",
    "ramp_up",
    "rrul",
    "short_flows",
    "sizes",
    "topology_zoo",
    "trans_oceanic",
    "transient",
    "web",
    "wireless_access",
]
