"""Where a claim is judged: in the paper's own test bed, or over our grid."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from anabranch.stats import Sample
from anabranch.studies.mcubic import conditions
from anabranch.studies.mcubic import measures as m
from anabranch.studies.mcubic.conditions import Run, Size


@dataclass(frozen=True)
class Scope:
    """The paper's three experiments, with one set of settings."""

    results: m.Results
    size: Size
    cell_of: Callable[[str, str, float, Size], Run]
    columns_of: Callable[[str, Size], list[float]]

    def columns(self, experiment: str) -> list[float]:
        """The rates or round-trip times over which an experiment was run; none, if it was not."""
        found = self.columns_of(experiment, self.size)
        return [x for x in found if self.cell(experiment, conditions.OURS, x) in self.results]

    def cell(self, experiment: str, scheme: str, x: float) -> Run:
        """One of its conditions."""
        return self.cell_of(experiment, scheme, x, self.size)

    def sample(self, experiment: str, scheme: str, x: float, measure: m.Measure) -> Sample:
        """A measure there."""
        return measure(self.results, self.cell(experiment, scheme, x))

    def across(self, experiment: str, scheme: str, measure: m.Measure) -> Sample:
        """Its mean over the columns, within each replication."""
        xs = self.columns(experiment)
        return Sample.across([self.sample(experiment, scheme, x, measure) for x in xs])


def published(results: m.Results, size: Size) -> Scope:
    """The test bed of the paper."""
    return Scope(results, size, conditions.published_cell, conditions.published_columns)


def grid(results: m.Results, size: Size) -> Scope:
    """Ours."""
    return Scope(results, size, conditions.cell, conditions.columns)
