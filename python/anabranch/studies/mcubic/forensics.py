"""The settings of the test bed under which tables 1 to 3 come out nearest to the paper's.

    python -m anabranch.studies.mcubic.forensics RESULTS [JOBS]

writes RESULTS/mcubic/forensics.json; `tests/forensics_page.py` makes docs/forensics.md of it. The
paper gives no queue, no receive window, no run length, no delay for table 1, does not say whether
slow start counts or whether a link's delay is that of one way, and has two values of a rate.
"""

from __future__ import annotations

import itertools
import math
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from anabranch.cache import RunCache
from anabranch.experiment import RunResult
from anabranch.settings import Toml
from anabranch.studies.forensics import Fit, Number, Search, save
from anabranch.studies.mcubic import conditions, network
from anabranch.studies.mcubic import measures as m
from anabranch.studies.mcubic.conditions import DISTINCT, SHARED, Run, plan

Results = Mapping[Run, list[RunResult]]
Values = NDArray[np.float64]
Scale = tuple[Callable[[Values], Values], Callable[[Values], Values]]
"""To the scale on which residuals are added, and back."""
TABLE1, TABLE2, TABLE3 = conditions.COLUMNS
WAYS = "delay of a link"


@cache
def space() -> Toml:
    """The values that are tried."""
    path = conditions.FOLDER / "forensics.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Setting:
    """What the three experiments have in common; units as in forensics.toml."""

    queue: int
    window: float
    ways: int
    duration: int
    skipped: int

    def texts(self) -> dict[str, str]:
        """For readers."""
        return {
            "bottleneck's queue": f"{self.queue} packets" if self.queue else "1 BDP",
            "receive window": f"{self.window:g} MiB" if self.window else "blocks nothing",
            WAYS: "of both ways" if self.ways == 1 else "of each way",
            "run": f"{self.duration} s",
            "counted": f"after {self.skipped} s" if self.skipped else "from the start",
        }


def shared_run(scheme: str, trips: tuple[float, float], at: Setting) -> Run:
    """A cell of table 2 or 3, long enough for every duration."""
    doubled = (at.ways * trips[0], at.ways * trips[1])
    return _long(Run(SHARED, scheme, (100, 100), doubled, 0, 0), at)


def distinct_run(scheme: str, second: float, trip: float, at: Setting) -> Run:
    """A cell of table 1."""
    return _long(Run(DISTINCT, scheme, (100, second), (trip, trip), 0, 0), at)


def _long(run: Run, at: Setting) -> Run:
    longest = max(space()["duration"]) + max(space()["skipped"])
    return replace(run, seconds=longest, queue=at.queue, window=at.window)


def settings() -> Iterator[Setting]:
    """All of them."""
    names = ("queue", "window", "ways", "duration", "skipped")
    yield from (Setting(*values) for values in itertools.product(*(space()[n] for n in names)))


def cells(table: str) -> Iterator[tuple[str, float, float]]:
    """Scheme, column and number of each cell of a published table."""
    published = plan()["published"][table]
    for scheme in (name for name in space()["schemes"] if name in published):
        yield from ((scheme, x, y) for x, y in zip(published["x"], published[scheme], strict=True))


def runs() -> list[Run]:
    """Every condition, each once."""
    found: list[Run] = []
    for at in settings():
        found += [shared_run(scheme, (x, x), at) for scheme, x, _ in cells(TABLE2)]
        found += [shared_run(scheme, (100, x), at) for scheme, x, _ in cells(TABLE3)]
        for trip in space()["round_trip"]:
            found += [
                distinct_run(scheme, _second(x, third), trip, at)
                for scheme, x, _ in cells(TABLE1)
                for third in space()["third"]
            ]
    return list(dict.fromkeys(found))


def _second(x: float, third: float) -> float:
    return third if x == 40 else x


def _measured(results: Results, run: Run, at: Setting, metric: m.Metric) -> Values:
    """Each replication, over the part of the run that the setting measures."""
    part = replace(run, warm_up=at.skipped, seconds=at.duration)
    return np.array([metric(part, result) for result in results[run]])


def _number(scheme: str, place: str, published: float, ours: Values, scale: Scale) -> Number:
    """Mean, residual and spread are taken on the scale on which the search adds."""
    to, back = scale
    scaled = to(ours)
    mean, spread = float(scaled.mean()), float(scaled.std(ddof=1)) if len(ours) > 1 else 0.0
    residual = mean - float(to(np.array(published)))
    return Number(scheme, place, published, float(back(np.array(mean))), residual, spread)


def same(values: Values) -> Values:
    """Jain's index is added up as it is."""
    return values


def ratio_of(share: Values) -> Values:
    """What `share` was made of.

    >>> ratio_of(np.array([0.5, 0.75])).tolist()
    [1.0, 3.0]
    """
    return share / (1 - share)


def share(ratio: Values) -> Values:
    """The connection's part of what both carry: a scale on which two flows count alike.

    >>> share(np.array([1.0, 3.0])).tolist()
    [0.5, 0.75]
    """
    return ratio / (1 + ratio)


def _ratio(run: Run, result: RunResult) -> float:
    return m.goodput(run, result) / m.of_single(run, result)


def shared_numbers(results: Results, table: str, at: Setting) -> list[Number]:
    """Toml 2 or 3 under a setting."""
    found = []
    for scheme, x, published in cells(table):
        run = shared_run(scheme, (x if table == TABLE2 else 100, x), at)
        ours = _measured(results, run, at, _ratio)
        place = f"table {2 if table == TABLE2 else 3}, {x:g} ms"
        found.append(_number(scheme, place, published, ours, (share, ratio_of)))
    return found


def distinct_numbers(results: Results, at: Setting, trip: float, third: float) -> list[Number]:
    """Toml 1 under a setting."""
    found = []
    for scheme, x, published in cells(TABLE1):
        run = distinct_run(scheme, _second(x, third), trip, at)
        ours = _measured(results, run, at, m.fairness)
        place = f"table 1, {x:g} Mbit/s"
        found.append(_number(scheme, place, published, ours, (same, same)))
    return found


def searches(results: Results) -> list[Search]:
    """Tables 2 and 3 each by itself and together, table 1, and one test bed for all three."""
    at = list(settings())
    second = {each: shared_numbers(results, TABLE2, each) for each in at}
    third = {each: shared_numbers(results, TABLE3, each) for each in at}
    own = list(itertools.product(space()["round_trip"], space()["third"]))
    first = {
        (each, trip, rate): distinct_numbers(results, each, trip, rate)
        for each in at
        for trip, rate in own
        if each.ways == 1
    }

    def alone(numbers: Mapping[Setting, list[Number]]) -> list[Fit]:
        return [Fit(each.texts(), found) for each, found in numbers.items()]

    def of_table1(setting: Setting, trip: float, rate: float) -> list[Number]:
        return first[replace(setting, ways=1), trip, rate]

    def more_texts(trip: float, rate: float) -> dict[str, str]:
        return {"round trip of table 1": f"{trip:g} ms", "third rate of table 1": f"{rate:g}"}

    together = [
        Fit(
            {**each.texts(), **more_texts(trip, rate)},
            [*of_table1(each, trip, rate), *second[each], *third[each]],
        )
        for each in at
        for trip, rate in own
    ]
    return [
        Search("One test bed for tables 1 to 3", together),
        Search(
            "Toml 1 alone",
            [
                Fit(
                    {
                        **{k: v for k, v in each.texts().items() if k != WAYS},
                        **more_texts(trip, rate),
                    },
                    numbers,
                )
                for (each, trip, rate), numbers in first.items()
            ],
        ),
        Search("Toml 2 alone", alone(second)),
        Search("Toml 3 alone", alone(third)),
    ]


def interval() -> str:
    """At all multiples of it is told what has been received: every duration begins and ends at
    one."""
    return f"{math.gcd(*space()['duration'], *space()['skipped'])} s"


def search(folder: Path, jobs: int) -> list[Search]:
    """Computes, or finds in the folder, every run, and compares all settings."""
    asked = runs()
    batches = [(network.scenario(run, interval()), space()["replications"]) for run in asked]
    found = RunCache(folder / "forensics-runs").get_batches(batches, jobs, _progress, series=True)
    return searches(dict(zip(asked, found, strict=True)))


def _progress(done: int, total: int) -> None:
    if done % 100 == 0 or done == total:
        print(f"{done} of {total} conditions", file=sys.stderr, flush=True)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    to = Path(sys.argv[1]) / "mcubic"
    save(to, search(to, int(sys.argv[2]) if len(sys.argv) == 3 else 1))
