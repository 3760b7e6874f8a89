"""A packet capture as the result of a run: the same rows, series and figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from anabranch import rows
from anabranch.experiment import Result
from anabranch.native import core, guarded
from anabranch.recorded import arrays


@dataclass(frozen=True, repr=False)
class CaptureResult(Result):
    """What the packets of a capture tell: flows, series and facts, and no rows of anything else."""

    flows: Sequence[rows.CapturedFlow]
    run: rows.Capture

    @classmethod
    def from_native(cls, value: Mapping[str, Any]) -> Self:
        """Makes the result from the dictionary that the core returns."""
        seen = [rows.Interface.of(each) for each in value["run"]["interfaces"]]
        facts = rows.Capture.of({**value["run"], "interfaces": seen})
        flows = [rows.CapturedFlow.of(row) for row in value["flows"]]
        return cls(flows=flows, series=arrays(value["series"]), links=(), run=facts)


def replay(capture: str | Path) -> CaptureResult:
    """Reads a capture, pcapng or pcap, of a run or of another program.

    Each direction of a TCP connection that carried data is a flow, with the series `sends`,
    `acks`, `receives`, `received`, `in_flight` and `rtt`; a subflow of Multipath TCP is one too. So
    is each direction of an SCTP association, with `received` and, for each path, `FLOW.PATH.sends`,
    `acks`, `sacks`, `receives`, `in_flight` and `rtt`.
    """
    with guarded(capture):
        value = core.replay(capture)
    return CaptureResult.from_native(value)
