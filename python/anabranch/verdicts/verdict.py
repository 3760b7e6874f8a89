"""The four answers, and what several of them make together."""

from __future__ import annotations

import enum
from collections.abc import Iterable


class Verdict(enum.Enum):
    """What was measured says of a statement, or of a claim."""

    HOLDS = "holds"
    PARTLY = "holds in part"
    FAILS = "does not hold"
    UNDECIDED = "undecided"

    @classmethod
    def of_all(cls, main: Iterable[Verdict], minor: Iterable[Verdict] = ()) -> Verdict:
        """What statements say together; those that carry a claim's meaning are `main`.

        In part needs something that is shown to hold and something that is shown to fail; what
        is not shown is neither.

        >>> H, F, U = Verdict.HOLDS, Verdict.FAILS, Verdict.UNDECIDED
        >>> [Verdict.of_all(each).value for each in ([H, H], [H, F, U], [F, U], [H, U])]
        ['holds', 'holds in part', 'does not hold', 'undecided']
        >>> Verdict.of_all([F], [H]).value, Verdict.of_all([H], [F]).value
        ('does not hold', 'holds in part')
        """
        carrying = list(main)
        together = [*carrying, *minor]
        if together and all(each is cls.HOLDS for each in together):
            return cls.HOLDS
        held = any(each in (cls.HOLDS, cls.PARTLY) for each in carrying)
        failed = any(each in (cls.FAILS, cls.PARTLY) for each in together)
        if held and failed:
            return cls.PARTLY
        return cls.FAILS if cls.FAILS in carrying else cls.UNDECIDED
