"""Statistics of experiments; docs/statistics.md has the formulas."""

from anabranch.stats.fairness import harm, jain, rtt_exponent
from anabranch.stats.intervals import Estimate, mean, paired, slope
from anabranch.stats.resampling import bootstrap, quantile
from anabranch.stats.sample import Exact, Sample
from anabranch.stats.sequential import Looks
from anabranch.stats.transients import (
    convergence_time,
    responsiveness_time,
    step_mean,
    warm_up,
)

__all__ = [
    "Estimate",
    "Exact",
    "Looks",
    "Sample",
    "bootstrap",
    "convergence_time",
    "harm",
    "jain",
    "mean",
    "paired",
    "quantile",
    "responsiveness_time",
    "rtt_exponent",
    "slope",
    "step_mean",
    "warm_up",
]
