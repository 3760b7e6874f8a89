"""Every window algorithm through the checks, as one table: docs/field.md is such a table.

Values of each replication are kept by algorithm, so that an interrupted run continues; replications
stop when they decide. docs/evaluate.md says how it is used.
"""

from __future__ import annotations

from anabranch.evaluate.field.running import Progress, Settings, contenders, run
from anabranch.evaluate.field.table import Field

__all__ = ["Field", "Progress", "Settings", "contenders", "run"]
