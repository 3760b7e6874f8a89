"""Runs every check of every algorithm, with as many replications as it takes to decide."""

from __future__ import annotations

import datetime
import math
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path

from anabranch.errors import InputError
from anabranch.evaluate.check import STANDARDS, Check, Scale
from anabranch.evaluate.checks import FIELD
from anabranch.evaluate.evaluating import label_of, selected
from anabranch.evaluate.field import cards
from anabranch.evaluate.field.cards import Card, Kept
from anabranch.evaluate.field.facts import Facts, commit, strength_name
from anabranch.evaluate.field.table import Field, write
from anabranch.experiment import Scenario, catalogue
from anabranch.library.entry import Window
from anabranch.stats import Estimate, Looks
from anabranch.verdicts import Verdict

LOOKS = {False: Looks(5, 2), True: Looks(3, 1)}
"""After how many replications is looked, in a full and in a quick run."""
CARDS = "cards"


Progress = Callable[[int, int, str], None]
"""Called with (looks taken, looks in all at most, the algorithm of the last one)."""


@dataclass(frozen=True)
class Settings:
    """What is run, where it goes, and who is told."""

    directory: Path
    quick: bool = False
    jobs: int = 1
    first_look: bool = False
    """Whether what the first look leaves undecided stays so; a later run goes on from there."""
    names: Sequence[str] = ()
    """Checks by name; all that there are if none is named."""
    progress: Progress = lambda _done, _total, _label: None
    notice: Callable[[str], None] = lambda _text: None
    """Called with what is to be told besides."""

    @property
    def looks(self) -> Looks:
        """The plan of looks after which replications may stop."""
        return LOOKS[self.quick]


@dataclass(frozen=True)
class Task:
    """A check of an algorithm."""

    label: str
    check: Check
    scenarios: Sequence[Scenario]
    key: str


def contenders(own: Sequence[str], everything: bool) -> dict[str, Window]:
    """Windows by their label: the standards, what was given, and everything else there is."""
    built_in = built_in_windows() if everything else []
    found: dict[str, Window] = {}
    for window in (*STANDARDS, *own, *built_in):
        label = label_of(window)
        if found.setdefault(label, window) != window:
            allowed = f"algorithms of different names: {found[label]} is {label}, too"
            raise InputError.about("command line", "ALGORITHM", window, allowed)
    return found


def built_in_windows() -> list[str]:
    """Names of all window algorithms; the catalogue has recovery schemes, too."""
    return [name for name, what, _ in catalogue("algorithms") if what.startswith("window")]


def run(windows: Mapping[str, Window], settings: Settings) -> Field:
    """The checks of all algorithms; what the folder has of them already is not computed again."""
    checks = selected(settings.names, FIELD)
    scale = Scale(settings.quick)
    tasks: list[Task] = []
    for label, window in windows.items():
        for check in checks:
            built = check.scenarios(window, scale)
            tasks.append(Task(label, check, built, cards.key(built)))  # wrong input is told here
    folder, strength = settings.directory / CARDS, strength_name(settings.quick)
    known = {label: Card(folder, label, strength) for label in windows}
    _tell_stale(known, tasks, settings)
    first = [task for task in tasks if task.label in STANDARDS]
    rest = [task for task in tasks if task.label not in STANDARDS]
    sizes = settings.looks.sizes[:1] if settings.first_look else settings.looks.sizes
    work = Work(len(first) + len(sizes) * len(rest), known, settings)
    work.look(first, {}, settings.looks.budget)  # bounds come from these
    standards = _standards(checks, work.found, settings.looks)
    for size in sizes:
        work.look(rest, standards, size)
    return write(
        settings.directory,
        list(windows),
        checks,
        work.found,
        standards=standards,
        looks=settings.looks,
        facts=Facts.of(work.found.values(), settings.looks, settings.quick),
    )


Standards = Mapping[tuple[str, str], Sequence[Estimate]]
"""What the standards measure, by check and quantity."""


@dataclass
class Work:
    """The tasks of a table, and what they have found so far."""

    total: int
    """The looks at a task that there can be."""
    known: Mapping[str, Card]
    settings: Settings
    done: int = 0
    found: dict[tuple[str, str], Kept] = field(default_factory=dict)
    """By algorithm and check."""

    def look(self, tasks: Sequence[Task], standards: Standards, size: int) -> None:
        """Brings tasks to so many replications where they are not decided, `jobs` at a time, and
        keeps what each finds."""
        looks = self.settings.looks
        pool = ThreadPoolExecutor(max_workers=self.settings.jobs)
        try:
            futures = {
                pool.submit(_look, task, self.known[task.label], standards, looks, size): task
                for task in tasks
            }
            for future in as_completed(futures):
                task = futures[future]
                self.found[task.label, task.check.name] = future.result()
                self.done += 1
                self.settings.progress(self.done, self.total, task.label)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _look(task: Task, card: Card, standards: Standards, looks: Looks, size: int) -> Kept:
    """Brings a task to so many replications, unless all its quantities were decided by fewer."""
    kept = card.get(task.check.name, task.key) or Kept(task.key)
    looked = standards and kept.replications in looks.sizes
    if looked and not _undecided(task.check, kept, standards, looks):
        return kept
    if kept.replications < size:
        _extend(kept, task, size)
        card.put(task.check.name, kept)
    return kept


def _extend(kept: Kept, task: Task, wanted: int) -> None:
    """Adds replications up to so many."""
    first, began = kept.replications, time.thread_time()
    count = wanted - first
    batches = [scenario.run_batch(count, first=first) for scenario in task.scenarios]
    for runs in zip(*batches, strict=True):
        for quantity in task.check.quantities:
            value = quantity.read(runs)
            number = float(value) if math.isfinite(value) else None
            kept.values.setdefault(quantity.name, []).append(number)
    kept.runs += count * len(task.scenarios)
    kept.cpu_s = round(kept.cpu_s + time.thread_time() - began, 3)
    kept.date = f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}"
    kept.commit = commit()


def _undecided(check: Check, kept: Kept, standards: Standards, looks: Looks) -> bool:
    return any(
        quantity.rule.judged(
            quantity.name,
            kept.estimate(quantity, looks),
            standards[check.name, quantity.name],
        ).verdict
        is Verdict.UNDECIDED
        for quantity in check.quantities
    )


def _standards(
    checks: Sequence[Check], found: Mapping[tuple[str, str], Kept], looks: Looks
) -> Standards:
    return {
        (check.name, quantity.name): [
            found[each, check.name].estimate(quantity, looks) for each in STANDARDS
        ]
        for check in checks
        for quantity in check.quantities
    }


def _tell_stale(known: Mapping[str, Card], tasks: Sequence[Task], settings: Settings) -> None:
    """What is there of other code or options is not used, and that is said."""
    for label, card in known.items():
        keys = {task.check.name: task.key for task in tasks if task.label == label}
        if stale := card.stale(keys):
            names = ", ".join(stale)
            settings.notice(f"{label}: of other code or options, so run again: {names}")
