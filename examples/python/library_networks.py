"""Scenarios of the library and what can be built on them: a loaded fat-tree, cities."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from anabranch import library
from anabranch.library import graphml

net = library.fat_tree(k=4, flows="web-search", load=0.3, duration="200 ms")
flows = net.scenario().run().flows
times = [flow.completion_s for flow in flows if flow.completion_s is not None]
print(f"{len(times)} flows ended, in {1e3 * np.median(times):.2f} ms (median)")

file = Path(__file__).parents[1] / "topologies" / "triangle.graphml"
cities = graphml.network(graphml.read(file), hosts=2, duration="5 s")
cities.flow("Paris-h0", "London-h0", name="long", tcp={"profile": "linux"})
cities.flow("Amsterdam-h0", "Paris-h1", size="2 MB", start="1 s", tcp={"profile": "linux"})
for flow in cities.scenario().run().flows:
    print(flow.flow, flow.bytes)
