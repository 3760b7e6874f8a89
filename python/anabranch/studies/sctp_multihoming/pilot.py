"""Where the two policies of figure 4 are equal: found with seeds that the study does not use.

`python -m anabranch.studies.sctp_multihoming.pilot` prints what stands in plan.toml as `equal`.
"""

from __future__ import annotations

import numpy as np

from anabranch.studies.sctp_multihoming import conditions, measures
from anabranch.studies.sctp_multihoming.conditions import PRIMARY, Paths

FIRST, TRANSFERS = 1_000_000, 1000
"""Seeds, and how many: the mean difference is then known to about 2 % of the time."""
OTHERS = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0)
"""The alternate's losses, per cent."""


def seconds(scheme: str, rules: str, other: float) -> np.ndarray:
    """Times of the pilot's transfers."""
    batch = conditions.batch(scheme, Paths(PRIMARY, other), rules)
    runs = conditions.scenario(batch).run_batch(TRANSFERS, first=FIRST)
    return np.array([measures.seconds(run) for run in runs])


def equal(rules: str) -> float:
    """The alternate's loss at which the mean times are equal, by straight lines."""
    same = seconds("same", rules, OTHERS[0]).mean()
    longer = [seconds("alternate", rules, other).mean() - same for other in OTHERS]
    return float(np.interp(0.0, longer, OTHERS))


if __name__ == "__main__":
    for name in conditions.plan()["equal"]:
        print(f"{name} = {equal(name):.2f}")
