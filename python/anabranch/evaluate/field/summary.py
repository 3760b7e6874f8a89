"""What a reader looks for first in the table of the field, and what may be said of it in words."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from anabranch.evaluate.checks.field import BUFFERS, LOSSES, STARVED, loss_name, share_name
from anabranch.evaluate.field.table import Field
from anabranch.stats import Estimate
from anabranch.verdicts import Verdict

VERDICTS = (Verdict.HOLDS, Verdict.PARTLY, Verdict.FAILS, Verdict.UNDECIDED)
SHARES = {"cubic": "share-beside-cubic", "reno": "share-beside-reno"}
"""Checks by the standard beside which a flow has its share."""
EXPONENT = ("rtt-fairness", "exponent a of 1/RTT^a, its size")
DELAY = ("bufferbloat", "mean queueing delay, ms")
USE = ("wired", "use, %")


@dataclass(frozen=True)
class Column:
    """A number of every algorithm."""

    head: str
    check: str
    quantity: str
    digits: int = 2

    def of(self, field: Field, algorithm: str) -> Estimate | None:
        """The number; `None` where the check was not run."""
        return field.estimate(self.check, self.quantity, algorithm)

    def text(self, field: Field, algorithm: str) -> str:
        """Mean and interval: `0.53 (0.49 to 0.57)`."""
        found = self.of(field, algorithm)
        return "" if found is None else interval(found, self.digits)


def interval(estimate: Estimate, digits: int) -> str:
    """Mean and interval; the mean alone where both ends show the same digits."""
    if estimate.n == 0:
        return "no samples"
    ends = [f"{end:z.{digits}f}" for end in (estimate.ci_low, estimate.ci_high)]
    mean = f"{estimate.mean:z.{digits}f}"
    return mean if set(ends) == {mean} else f"{mean} ({ends[0]} to {ends[1]})"


COLUMNS = (
    *(
        Column(f"beside {standard}, {buffer:g} BDP", check, share_name(buffer))
        for standard, check in SHARES.items()
        for buffer in (BUFFERS[0], 2.0, BUFFERS[-1])
    ),
    Column("RTT exponent", *EXPONENT),
    *(Column(f"use at {each} % loss", "random-loss", loss_name(each), 0) for each in (1, 5)),
    Column("delay alone, ms", *DELAY, 0),
    Column("use alone, %", *USE, 1),
)
"""The numbers of the table in short, from left to right."""


def columns(field: Field) -> list[Column]:
    """Those of the columns whose checks were run."""
    return [column for column in COLUMNS if column.check in field.checks]


class Beside(enum.Enum):
    """What a share says of two flows; the whole interval has to say it."""

    STARVES = "starves it"
    STARVED = "is starved"
    NEITHER = "neither"
    UNDECIDED = "undecided"

    @classmethod
    def of(cls, share: Estimate) -> Beside:
        """By the interval of the share that the examined flow takes.

        >>> [Beside.of(Estimate(m, m - 0.05, m + 0.05, 8)).value for m in (0.9, 0.82, 0.5, 0.1)]
        ['starves it', 'undecided', 'neither', 'is starved']
        """
        if share.n < 2:
            return cls.UNDECIDED
        if share.ci_low > 1 - STARVED:
            return cls.STARVES
        if share.ci_high < STARVED:
            return cls.STARVED
        decided = cls.decided(share, STARVED) and cls.decided(share, 1 - STARVED)
        return cls.NEITHER if decided else cls.UNDECIDED

    @staticmethod
    def decided(share: Estimate, bound: float) -> bool:
        """Whether the whole interval lies on one side of a bound."""
        return share.n > 1 and (share.ci_high <= bound or bound <= share.ci_low)


def shares(field: Field, standard: str, algorithm: str) -> dict[float, Estimate]:
    """What an algorithm takes beside a standard, by the buffer in BDPs."""
    found = {
        buffer: field.estimate(SHARES[standard], share_name(buffer), algorithm)
        for buffer in BUFFERS
    }
    return {buffer: share for buffer, share in found.items() if share is not None}


def losses(field: Field, algorithm: str) -> dict[int, Estimate]:
    """What an algorithm uses of a path, by the percentage that is lost."""
    found = {each: field.estimate("random-loss", loss_name(each), algorithm) for each in LOSSES}
    return {each: use for each, use in found.items() if use is not None}
