"""The report card: every check of every algorithm, judged, written as CSV, figures and a report."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from anabranch import stats
from anabranch.errors import InputError
from anabranch.evaluate import drawings
from anabranch.evaluate.check import STANDARDS, Check, Scale
from anabranch.evaluate.checks import ALL
from anabranch.experiment import RunResult, Scenario
from anabranch.library.entry import Window
from anabranch.stats import Estimate
from anabranch.studies.results import StudyResult
from anabranch.studies.study import Context, Runs
from anabranch.tables import write_csv
from anabranch.verdicts import Claim, Statement, Verdict

BASELINES = ("reno", "cubic", "bbr")
"""What a candidate is shown beside; bounds come from the standards among them alone."""

COLUMNS = (
    "check",
    "section",
    "quantity",
    "algorithm",
    "mean",
    "ci_low",
    "ci_high",
    "n",
    "bound",
    "rule",
    "verdict",
)

CHOICES = (
    "RFC 9743 gives questions, not numbers: each bound is what the standards themselves measure "
    "in the same scenario, under the same seeds, with the allowance that the rule states.",
    "Bounds come from reno (RFC 5681) and cubic (RFC 9438); others are shown beside them.",
    "All flows use RACK-TLP, a least timeout of 200 ms and receive buffers that never bind, so "
    "that the window algorithm is what differs.",
    "Not examined: §6.2 tunnels, §7.2 network circuit breakers, §7.6 misbehaving nodes, §7.8 "
    "transient events and §7.10 multipath transport.",
)


@dataclass(frozen=True)
class Card:
    """What was found of every algorithm."""

    candidate: str
    algorithms: Sequence[str]
    checks: Sequence[Check]
    estimates: dict[tuple[str, str, str], Estimate]
    """By check, quantity and algorithm."""
    measures: dict[tuple[str, str, str], Statement]
    """The same, judged."""

    def verdict(self, check: str, algorithm: str) -> Verdict:
        """Whether all, some or none of the check's quantities are within their bounds."""
        found = [
            m.verdict for key, m in self.measures.items() if (key[0], key[2]) == (check, algorithm)
        ]
        return Verdict.of_all(each for each in found if each is not None)

    def rows(self) -> list[dict[str, Any]]:
        """A row for each check, quantity and algorithm."""
        rows = []
        for check in self.checks:
            for quantity in check.quantities:
                for algorithm in self.algorithms:
                    measure = self.measures[check.name, quantity.name, algorithm]
                    estimate = measure.measured
                    rows.append(
                        {
                            "check": check.name,
                            "section": check.reference(),
                            "quantity": quantity.name,
                            "algorithm": algorithm,
                            "mean": estimate.mean,
                            "ci_low": estimate.ci_low,
                            "ci_high": estimate.ci_high,
                            "n": estimate.n,
                            "bound": measure.expected,
                            "rule": quantity.rule.text(),
                            "verdict": None if measure.verdict is None else measure.verdict.value,
                        }
                    )
        return rows


def evaluate(
    candidate: str,
    context: Context,
    *,
    baselines: Sequence[str] = BASELINES,
    names: Sequence[str] = (),
    label: str | None = None,
) -> tuple[Card, StudyResult]:
    """Runs the checks (all unless `names` selects some) and judges the candidate.

    `label` is what tables call it: the class of a Python controller, else what was
    given. Files go to the context's folder: finished runs, `checks.csv`, figures.
    """
    checks = selected(names)
    label = label or _label(candidate)
    algorithms = list(dict.fromkeys([label, *STANDARDS, *baselines]))
    windows: dict[str, Window] = {**{name: name for name in algorithms}, label: candidate}
    scale = Scale(context.quick)
    jobs: list[tuple[Scenario, int]] = []
    places: dict[tuple[str, str], slice] = {}
    for check in checks:
        for algorithm in algorithms:
            built = check.scenarios(windows[algorithm], scale)
            for scenario in built:
                scenario.resolved()  # wrong input is told before anything runs
            places[check.name, algorithm] = slice(len(jobs), len(jobs) + len(built))
            jobs += [(scenario, scale.replications) for scenario in built]
    runs = _compute(context, jobs)
    card = _judged(label, algorithms, checks, places, runs.batches)
    write_csv(context.directory / "checks.csv", COLUMNS, card.rows())
    figures = drawings.draw(context, card, windows)
    example = checks[0].scenarios(candidate, scale)[0]
    return card, StudyResult(
        name="evaluate",
        title=f"Report card of {label}",
        reference="RFC 9743 (BCP 133): Specifying New Congestion Control Algorithms",
        question=f"Is {label} at least as safe and as useful as the standards where RFC 9743 asks? "
        "Expected values are bounds from what reno and cubic measure in the same scenarios.",
        abstract="",
        strength=context.strength.value,
        claims=[_claim(card, check) for check in checks],
        figures=figures,
        choices=list(CHOICES),
        findings=_findings(card),
        scenario=example.resolved(),
        facts=runs.facts(),
    )


def selected(names: Sequence[str]) -> list[Check]:
    """The checks of these names, all if there are none."""
    known = {check.name: check for check in ALL}
    for name in names:
        if name not in known:
            raise InputError.about("command line", "--check", name, ", ".join(known))
    return [known[name] for name in dict.fromkeys(names)] or list(ALL)


def _label(candidate: str) -> str:
    """What tables call it, unless the user says.

    >>> _label("mine/fast.py:Fast"), _label("cubic"), _label('{ algorithm = "m.py:Fast" }')
    ('Fast', 'cubic', '{ algorithm = "m.py:Fast" }')
    """
    name = candidate.rpartition(":")[2]
    is_class = name.isidentifier() and name not in BASELINES
    return name if is_class else candidate


def _compute(context: Context, jobs: Sequence[tuple[Scenario, int]]) -> Runs:
    """Each different scenario once: checks share some, and the candidate may be a baseline."""
    distinct = {scenario.resolved(): (scenario, count) for scenario, count in jobs}
    done = context.compute([], list(distinct.values()), series=True)
    by_text = dict(zip(distinct, done.batches, strict=True))
    return Runs([], [by_text[scenario.resolved()] for scenario, _ in jobs])


def _judged(
    candidate: str,
    algorithms: Sequence[str],
    checks: Sequence[Check],
    places: dict[tuple[str, str], slice],
    batches: Sequence[list[RunResult]],
) -> Card:
    estimates: dict[tuple[str, str, str], Estimate] = {}
    for check in checks:
        for algorithm in algorithms:
            replications = list(zip(*batches[places[check.name, algorithm]], strict=True))
            for quantity in check.quantities:
                values = [quantity.read(runs) for runs in replications]
                finite = [value for value in values if math.isfinite(value)]
                estimates[check.name, quantity.name, algorithm] = stats.mean(finite)
    measures: dict[tuple[str, str, str], Statement] = {}
    for check in checks:
        for quantity in check.quantities:
            standards = [estimates[check.name, quantity.name, each] for each in STANDARDS]
            for algorithm in algorithms:
                key = (check.name, quantity.name, algorithm)
                measures[key] = quantity.rule.judged(quantity.name, estimates[key], standards)
    return Card(candidate, algorithms, checks, estimates, measures)


def _claim(card: Card, check: Check) -> Claim:
    """The candidate's numbers with their verdicts, then those of the others without."""
    own = [card.measures[check.name, each.name, card.candidate] for each in check.quantities]
    others = [
        card.measures[check.name, each.name, algorithm].unjudged(f"{algorithm}: ")
        for each in check.quantities
        for algorithm in card.algorithms
        if algorithm != card.candidate
    ]
    rules = "; ".join(f"{each.name}: {each.rule.text()}" for each in check.quantities)
    statement = f"{check.reference()}: {check.question} Scenario: {check.setting}."
    return Claim(check.name, statement, [*own, *others], f"Rule: {rules}.")


def _findings(card: Card) -> list[str]:
    by_verdict: dict[Verdict, list[str]] = {}
    for check in card.checks:
        by_verdict.setdefault(card.verdict(check.name, card.candidate), []).append(check.name)
    words = {
        Verdict.HOLDS: "Within the bounds",
        Verdict.PARTLY: "Within some bounds, beyond others",
        Verdict.FAILS: "Beyond the bounds",
        Verdict.UNDECIDED: "Too uncertain to tell",
    }
    return [
        f"{words[verdict]}: {', '.join(by_verdict[verdict])}."
        for verdict in Verdict
        if verdict in by_verdict
    ]
