"""Our senders beside ns-2's agents on the first path of the multihoming study, the same packets
lost.

Data and setting: data/ns2/README.md. By the rules of ns-2 the same segments leave in the same
order, each within `TOLERANCE` of ns-2's date.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from anabranch import inline
from anabranch.studies.sctp_multihoming import conditions
from anabranch.studies.sctp_multihoming.conditions import Batch, Paths

DATA = Path(__file__).parent / "data" / "ns2"
TOLERANCE = 0.01
"""s: ACKs with SACK blocks are longer here, and SACKs shorter; some microseconds a packet."""

SCHEMES = {"tcp-reno": ("ns2-tcp", 1460), "tcp-sack": ("ns2-tcp", 1460), "sctp-single": ("ns2", 1)}
"""The study's rules for each scheme; and by how much the positions of two packets in a row differ,
octets or chunks."""


def table(scheme: str) -> tuple[list[float], list[int], list[int]]:
    """Dates and numbers of the segments that ns-2 sent, and which packets were lost, from 1."""
    with (DATA / f"multihoming_{scheme}.csv").open(encoding="utf-8") as handle:
        rows = list(csv.DictReader(handle))
    lost = [n for n, row in enumerate(rows, 1) if row["lost"] == "1"]
    return [float(row["time_s"]) for row in rows], [int(row["segment"]) for row in rows], lost


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_same_packets_leave(scheme: str) -> None:
    dates, segments, lost = table(scheme)
    rules, size = SCHEMES[scheme]
    losses = inline.toml([{"kind": "packets", "flow": "transfer", "numbers": lost}])
    scenario = conditions.scenario(Batch(scheme, rules, Paths(0)), "400 kB")
    run = scenario.set(f"links.core0.impairments={losses}", 'observe=[{what = "packets"}]').run()
    sends = next(series for name, series in run.series.items() if name.endswith("sends"))
    ours = (sends["value"].astype(np.int64) // size + 1).tolist()
    assert ours == segments
    late = (sends["time_s"] - sends["time_s"][0]) - np.array(dates)
    assert np.abs(late).max() < TOLERANCE
