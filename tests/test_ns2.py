"""Our schemes beside ns-2's variants: seven segments lost, the same scenario.

Data and setting: data/ns2/README.md. A variant *matches* when the same
segments leave in the same order, each within `TOLERANCE` of ns-2's date, up to
`HORIZON`. ns-2's ACKs are always 40 octets; ours carry SACK blocks and real
options, some microseconds more on each link.
"""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from anabranch.studies.sack_recovery import conditions
from anabranch.studies.sack_recovery.trace import Trace

DATA = Path(__file__).parent / "data" / "ns2"
TOLERANCE = 0.002
"""s: a hundredth of the RTT."""
HORIZON = 5.0

MATCHING = {
    "newreno-sbs": "newreno",
    "sack-oldcode": "sack",
    "fack": "fack",
}
"""ns-2's variant and our scheme."""


@cache
def ours(scheme: str) -> Trace:
    case = conditions.paper_case()
    return Trace.of(conditions.scenario(scheme, case).run(), case.first_drop, case.drops)


@cache
def sends(variant: str) -> tuple[list[float], list[int]]:
    """Dates and numbers of the data segments that ns-2 sent."""
    with (DATA / f"{variant}_drop7_seq.csv").open(encoding="utf-8") as handle:
        rows = [
            (float(row["time"]), int(row["seqno"]))
            for row in csv.DictReader(handle)
            if row["event"] == "send" and int(row["seqno"]) > 0
        ]
    rows = [row for row in rows if row[0] <= HORIZON]
    return [at for at, _ in rows], [number for _, number in rows]


@cache
def milestones(variant: str) -> dict[str, float]:
    """The row of hwang_7drops.csv."""
    with (DATA / "hwang_7drops.csv").open(encoding="utf-8") as handle:
        row = next(
            row
            for row in csv.DictReader(handle)
            if row["case"] == "main" and row["variant"] == variant
        )
    return {k: float(v) for k, v in row.items() if k not in ("case", "variant")}


@pytest.mark.parametrize(("variant", "scheme"), MATCHING.items())
def test_the_same_segments_leave_in_the_same_order_at_the_same_time(
    variant: str, scheme: str
) -> None:
    dates, numbers = sends(variant)
    trace = ours(scheme)
    assert trace.sent[: len(numbers)].tolist() == numbers
    assert np.abs(trace.sent_at[: len(dates)] - dates).max() < TOLERANCE


@pytest.mark.parametrize(("variant", "scheme"), MATCHING.items())
def test_recovery_takes_as_long(variant: str, scheme: str) -> None:
    expected, trace = milestones(variant), ours(scheme)
    assert trace.detection == pytest.approx(expected["t_detect"], abs=TOLERANCE)
    assert trace.recovered == pytest.approx(expected["t_allacked"], abs=TOLERANCE)
    assert trace.timeouts == expected["timeouts"]


@pytest.mark.parametrize("scheme", conditions.schemes())
def test_the_window_before_the_losses(scheme: str) -> None:
    """11.41 segments, in ns-2 as in the paper."""
    trace = ours(scheme)
    before = trace.cwnd[trace.cwnd_at < trace.first_duplicate][-1]
    assert before == pytest.approx(11.41, abs=0.01)
