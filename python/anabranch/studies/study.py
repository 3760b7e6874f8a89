"""What a study is, what it is given to run with, and what it gives back."""

from __future__ import annotations

import enum
import fnmatch
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from anabranch.cache import RunCache
from anabranch.experiment import RunResult, Scenario
from anabranch.files import write_text
from anabranch.stats import Looks
from anabranch.studies.live import Further, LiveOutcome, LivePart
from anabranch.studies.live import outcome as live_outcome
from anabranch.studies.replications import Decided, Replicated, decide
from anabranch.studies.results import FigureEntry, StudyResult
from anabranch.trials import worlds
from anabranch.verdicts import Claim

Key = TypeVar("Key", bound=Hashable)


class Strength(enum.Enum):
    """The amount of work with which a study is run."""

    QUICK = "quick"
    """A smaller grid of conditions, one look."""
    DEFAULT = "default"
    """The whole grid, and replications as long as they are few."""
    FULL = "full"
    """The whole grid, and replications until it is decided or hopeless: what docs/ shows."""

    @property
    def looks(self) -> Looks:
        """The plan of looks after which replications may stop."""
        return LOOKS[self]

    @property
    def length(self) -> float:
        """About how many times as long as the default one it takes."""
        return LENGTHS[self]


LOOKS = {
    Strength.QUICK: Looks(4, 1),
    Strength.DEFAULT: Looks(4, 2),
    Strength.FULL: Looks(4, 5),
}


LENGTHS = {Strength.QUICK: 0.2, Strength.DEFAULT: 1.0, Strength.FULL: 5.0}


@dataclass(frozen=True)
class Context:
    """Where a study writes, how large it runs and whom it tells."""

    directory: Path
    strength: Strength
    jobs: int
    progress: Callable[[int, int], None]
    """Called with (runs finished, runs in all)."""

    @property
    def quick(self) -> bool:
        """Whether the grid is a smaller one."""
        return self.strength is Strength.QUICK

    @property
    def cache(self) -> RunCache:
        """The store of finished runs, in the study's folder."""
        return RunCache(self.directory / "runs")

    def compute(
        self,
        scenarios: Sequence[Scenario],
        batches: Sequence[tuple[Scenario, int]] = (),
        series: bool = False,
    ) -> Runs:
        """Computes, or finds in the folder, a run of each scenario with its series, and so many
        replications of each batch without them, or with `series`, which should then be short."""
        total = len(scenarios) + len(batches)
        singles = self.cache.get_all(
            scenarios, self.jobs, lambda done, _: self.progress(done, total)
        )
        replicated = self.cache.get_batches(
            batches, self.jobs, lambda done, _: self.progress(len(scenarios) + done, total), series
        )
        return Runs(singles, replicated)

    def decide(
        self,
        scenarios: Mapping[Key, Scenario],
        judge: Callable[[Replicated[Key]], list[Claim]],
        series: bool = False,
    ) -> Decided[Key]:
        """Replications of each condition, as many as the claims need that `judge` makes of them."""

        def compute(wanted: Mapping[Key, int]) -> Mapping[Key, list[RunResult]]:
            batches = [(scenarios[key], count) for key, count in wanted.items()]
            return dict(zip(wanted, self.compute([], batches, series).batches, strict=True))

        return decide(scenarios, judge, compute, self.strength.looks)


@dataclass(frozen=True)
class Runs:
    """Finished runs, in the order in which they were asked for."""

    singles: list[RunResult]
    batches: list[list[RunResult]]

    def facts(self) -> dict[str, object]:
        """Version, seed and number of the runs, for the report."""
        first = self.singles[0] if self.singles else self.batches[0][0]
        count = len(self.singles) + sum(map(len, self.batches))
        return {"version": first.run.version, "seed": first.run.seed, "runs": count}


@dataclass(frozen=True)
class Outcome:
    """The findings of a study."""

    claims: list[Claim]
    figures: list[FigureEntry]
    scenario: Scenario
    """One of the runs' scenarios, for readers who want to run it themselves."""
    runs: Runs


@dataclass(frozen=True)
class Study:
    """One paper's experiments, or one question."""

    name: str
    title: str
    reference: str
    question: str
    choices: Sequence[str]
    """What was decided where the source is silent."""
    examine: Callable[[Context], Outcome]
    """Computes or continues all runs, writes the figures and judges the claims."""
    live: LivePart | None = None
    """Which of it runs on real packets."""
    abstract: str = ""
    """What an author would say of it in about five sentences: what was claimed, what is found as
    published, why it differs, what today's practice makes of it, what to deploy. Numbers and
    verdicts are fields, `{C1.verdict.value}`, `{C1.statements[0].measured.mean:.2f}`."""

    headline: str = ""
    """The file stem of the figure that says most of it: it stands beside the abstract."""
    shows: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Of figures the claims that they show, by file stem or a pattern of stems."""

    def told(self, claims: Sequence[Claim]) -> str:
        """The abstract with what the claims say."""
        return self.abstract.format_map({claim.claim: claim for claim in claims})

    def with_claims(self, figure: FigureEntry) -> FigureEntry:
        """The figure with the names of the claims that it shows."""
        names = [
            name
            for pattern, claims in self.shows.items()
            if fnmatch.fnmatchcase(figure.stem, pattern)
            for name in claims
        ]
        return replace(figure, claims=tuple(names))

    def run(self, context: Context) -> StudyResult:
        """Examines the question, and puts the answer into the form that files keep."""
        outcome = self.examine(context)
        resolved = outcome.scenario.resolved()
        write_text(context.directory / "scenario.toml", resolved)
        return StudyResult(
            name=self.name,
            title=self.title,
            reference=self.reference,
            question=self.question,
            # A smaller grid lacks some of the numbers.
            abstract="" if context.quick else self.told(outcome.claims),
            strength=context.strength.value,
            claims=outcome.claims,
            figures=[self.with_claims(figure) for figure in outcome.figures],
            choices=list(self.choices),
            findings=[claim.finding() for claim in outcome.claims],
            scenario=resolved,
            facts=outcome.runs.facts(),
            headline=self.headline,
        )

    def run_live(self, context: Context) -> LiveOutcome:
        """Runs trials on real packets and in virtual time, and judges both by the same rules."""
        part = self.live
        if part is None:
            raise ValueError(f"the study {self.name} has no live part")
        folder = context.directory / live_outcome.FOLDER
        together = (part.quick_together if context.quick else None) or part.together
        trials = part.trials(context.quick, folder)
        found = worlds.run(trials, folder, context.progress, together=together)
        results = {"simulated": found.simulated, "live": found.live}
        further = []
        for world in part.further:
            there = worlds.run(
                [world.real(trial) for trial in trials],
                folder / world.name,
                context.progress,
                together=together,
                known=found.simulated,
            )
            results[world.name] = there.live
            claims = part.judge(there.live, context.quick)
            further.append(Further(world.name, world.setting, claims, there.timings))
        tables = [
            row | {"world": name}
            for name, each in results.items()
            for row in (part.tables(each, context.quick) if part.tables else ())
        ]
        return LiveOutcome(
            name=self.name,
            quick=context.quick,
            setting=part.setting,
            changed=part.changed,
            left_out=part.left_out,
            simulated=part.judge(found.simulated, context.quick),
            live=part.judge(found.live, context.quick),
            timings=found.timings,
            further=further,
            tables=tables,
        )
