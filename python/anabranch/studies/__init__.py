"""The studies: one folder each, found here by name.

A folder holds README.md (question, scenario, claims, choices), plan.toml (the
grid of conditions), scenario.toml, `claims.py`, `figures.py` and `study.py`
with a `STUDY`. To add one, add the folder and its name below, with the seconds
that it takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from anabranch.studies.study import Strength, Study

_SECONDS = {
    "sack-recovery": 33,
    "fast-tcp": 60,
    "sctp-multihoming": 102,
    "sctp-slow-start": 7,
    "mcubic": 347,
    "response-functions": 176,
}
"""Studies in the order of the reports, and about how many seconds each takes at default strength on
two processors: `anabranch reproduce` begins with the shortest, and its forecast with these."""
_PROCESSORS = 2
_ALWAYS_S = 4
"""Of them for figures and the report, whatever the strength."""


class _Studies(Mapping[str, "Study"]):
    """Imports a study when it is asked for: their figures and statistics take a second."""

    def __getitem__(self, name: str) -> Study:
        if name not in _SECONDS:
            raise KeyError(name)
        study: Study = import_module(f"{__name__}.{name.replace('-', '_')}.study").STUDY
        return study

    def __contains__(self, name: object) -> bool:
        return name in _SECONDS

    def __iter__(self) -> Iterator[str]:
        return iter(_SECONDS)

    def __len__(self) -> int:
        return len(_SECONDS)


ALL: Mapping[str, Study] = _Studies()


def cheapest_first(names: Iterable[str]) -> list[str]:
    """The studies in the order of what they take, so that the first verdict comes soon."""
    return sorted(names, key=_SECONDS.__getitem__)


def expected_seconds(names: Iterable[str], strength: Strength, jobs: int) -> dict[str, float]:
    """About how many seconds each of the studies takes, so many runs at a time."""
    factor = strength.length * _PROCESSORS / jobs
    return {name: _ALWAYS_S + (_SECONDS[name] - _ALWAYS_S) * factor for name in names}
