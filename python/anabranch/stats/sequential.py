"""When replications are looked at, so that one may stop as soon as something is decided.

Who looks at an interval after every few replications, and stops when it says what he hoped for,
is wrong more often than its 95 % say. Here the looks are planned: at `first` replications, then
at each doubling, `count` times in all. Each look has an interval at the level
`1 - (1 - confidence) / count`. By Bonferroni's inequality all of them together cover the true
mean with at least `confidence`, hence also that one at which the replications stop, whatever
the rule for stopping is: alpha spending in equal parts (Jennison and Turnbull, "Group Sequential
Methods with Applications to Clinical Trials", 2000, ch. 7 and 9: repeated confidence intervals).
As for any t interval, the samples are taken for normal.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Looks:
    """A plan of looks: `Looks(4, 3)` looks at 4, 8 and 16 replications."""

    first: int
    count: int
    confidence: float = 0.95

    def __post_init__(self) -> None:
        if self.first < 2:
            raise ValueError(f"first = {self.first}; allowed: at least 2, one has no interval")
        if self.count < 1:
            raise ValueError(f"count = {self.count}; allowed: at least 1")

    @property
    def sizes(self) -> tuple[int, ...]:
        """Numbers of replications at which is looked.

        >>> Looks(4, 3).sizes
        (4, 8, 16)
        """
        return tuple(self.first << look for look in range(self.count))

    @property
    def budget(self) -> int:
        """The most replications that may be run."""
        return self.sizes[-1]

    @property
    def level(self) -> float:
        """The level of each look's interval.

        >>> round(Looks(4, 5).level, 6)
        0.99
        """
        return 1 - (1 - self.confidence) / self.count

    def after(self, replications: int) -> int | None:
        """The next look's number of replications; `None` if the budget is spent.

        >>> Looks(4, 2).after(4), Looks(4, 2).after(8)
        (8, None)
        """
        return next((size for size in self.sizes if size > replications), None)
