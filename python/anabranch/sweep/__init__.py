"""Parameters times replications: computed once, kept as Parquet, continued after any interruption.

>>> from anabranch import Scenario
>>> from anabranch.sweep import Parameter, Replications, Sweep
>>> sweep = Sweep(                                              # doctest: +SKIP
...     Scenario.load("dumbbell.toml"),
...     [Parameter.of("window", "flows.*.tcp.window", ["reno", "cubic"])],
...     Replications.exactly(20),
... )
>>> sweep.run("results/sweep").table("flows")                   # doctest: +SKIP
"""

from anabranch.sweep.metrics import Metric, Replications
from anabranch.sweep.parameters import Case, Parameter
from anabranch.sweep.plan import load
from anabranch.sweep.sweep import Sweep, SweepResult

__all__ = ["Case", "Metric", "Parameter", "Replications", "Sweep", "SweepResult", "load"]
