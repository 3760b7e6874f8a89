"""When all holes are repaired: the decoupled scheme beside FACK.

The paper, section 3, of its figure 5(d): because the scheme takes the holes that SACK blocks tell
of for lost, the ACK of the last repair arrives at a speed similar to FACK's. As a quantity: the
arrival of the first ACK that covers every lost segment, in round trips. Until the first duplicate
ACK the two senders do the same, so the dates compare as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from anabranch.studies.sack_recovery.conditions import Condition
from anabranch.studies.sack_recovery.trace import Trace


@dataclass(frozen=True)
class Repair:
    """One condition: round trips from the first duplicate ACK to the ACK of all losses."""

    condition: Condition
    ours: float
    fack: float

    @property
    def later(self) -> float:
        """Round trips by which the decoupled scheme is later than FACK."""
        return self.ours - self.fack


def repair_rtts(trace: Trace) -> float:
    """From the first duplicate ACK to the ACK that covers every lost segment, in RTTs; not a number
    if there was none."""
    return (trace.recovered - trace.first_duplicate) / trace.rtt


def beside_fack(
    traces: Mapping[tuple[str, Condition], Trace],
    conditions: Iterable[Condition],
    ours: str = "decoupled",
) -> list[Repair]:
    """The repair of each condition under both schemes; `ours` is a label of plan.toml."""
    return [
        Repair(c, repair_rtts(traces[ours, c]), repair_rtts(traces["fack", c])) for c in conditions
    ]
