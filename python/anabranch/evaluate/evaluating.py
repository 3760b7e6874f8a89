"""Runs every check of every algorithm, judges, and writes CSV, figures and a report."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path, PurePath

from anabranch import stats
from anabranch.algorithms.plugin import is_library
from anabranch.errors import InputError
from anabranch.evaluate import drawings
from anabranch.evaluate.card import COLUMNS, Card
from anabranch.evaluate.check import STANDARDS, Check, Scale
from anabranch.evaluate.checks import ALL, FIELD
from anabranch.experiment import RunResult, Scenario
from anabranch.library.entry import Window
from anabranch.nearest import one_of
from anabranch.stats import Estimate
from anabranch.studies.results import StudyResult
from anabranch.studies.study import Context, Runs
from anabranch.tables import write_csv
from anabranch.verdicts import Claim, Statement, Verdict

BASELINES = ("reno", "cubic", "bbr")
"""What a candidate is shown beside; bounds come from the standards among them alone."""

CHOICES = (
    "RFC 9743 gives questions, not numbers: each bound is what the standards themselves measure "
    "in the same scenario, under the same seeds, with the allowance that the rule states.",
    "Bounds come from reno (RFC 5681) and cubic (RFC 9438); others are shown beside them.",
    "All flows use RACK-TLP, a least timeout of 200 ms and receive buffers that never bind, so "
    "that the window algorithm is what differs.",
    "Not examined: §6.2 tunnels, §7.2 network circuit breakers, §7.6 misbehaving nodes, §7.8 "
    "transient events and §7.10 multipath transport.",
)


TITLE = "Report card of "


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
    label = label_of(candidate, label)
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
        title=f"{TITLE}{label}",
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


def with_earlier(directory: Path, label: str, names: Sequence[str]) -> tuple[str, ...]:
    """The checks that are asked for, and those that the card in the folder has already: their runs
    are kept, so that they cost nothing. A card of another algorithm is an `InputError`."""
    earlier = StudyResult.load(directory)
    if earlier is None or not earlier.title.startswith(TITLE):
        return tuple(names)
    other = earlier.title.removeprefix(TITLE)
    if other != label:
        fits = directory.with_name(
            f"{directory.name}-{re.sub('[^A-Za-z0-9]+', '-', label).strip('-')}"
        )
        allowed = f"a folder of its own, as --out {fits}: this one has the card of {other}"
        raise InputError.about(str(directory), "--out", str(directory), allowed)
    known = {check.name for check in FIELD}
    kept = [claim.claim for claim in earlier.claims if claim.claim in known]
    every = [check.name for check in ALL]
    if not names and not set(kept) - set(every):
        return ()
    return tuple(dict.fromkeys((*kept, *(names or every))))


def label_of(candidate: str, label: str | None = None) -> str:
    """Returns the name that tables have for an algorithm: the user's, or else its own."""
    return label or _label(candidate)


def selected(names: Sequence[str], default: Sequence[Check] = ALL) -> list[Check]:
    """The checks of these names; if there are none, those of the report card or another default."""
    known = {check.name: check for check in FIELD}
    for name in names:
        if name not in known:
            raise InputError.about("command line", "--check", name, one_of(name, known))
    return [known[name] for name in dict.fromkeys(names)] or list(default)


def _label(candidate: str) -> str:
    """What tables call it, unless the user says.

    >>> _label("mine/fast.py:Fast"), _label("cubic"), _label('{ algorithm = "m.py:Fast" }')
    ('Fast', 'cubic', '{ algorithm = "m.py:Fast" }')
    >>> _label("target/release/libfast.so")
    'fast'
    """
    name = candidate.rpartition(":")[2]
    if is_library(candidate):
        name = PurePath(candidate).stem.removeprefix("lib")
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
                found = stats.mean(finite).within(quantity.least, quantity.most)
                estimates[check.name, quantity.name, algorithm] = found
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
