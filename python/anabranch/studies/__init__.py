"""The studies: one folder each, found here by name.

A folder holds README.md (question, scenario, claims, choices), plan.toml (the
grid of conditions), scenario.toml, `claims.py`, `figures.py` and `study.py`
with a `STUDY`. To add one, add the folder and its name below.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from anabranch.studies.study import Study

_NAMES = (
    "sack-recovery",
    "fast-tcp",
    "sctp-multihoming",
    "sctp-slow-start",
    "mcubic",
    "response-functions",
)


class _Studies(Mapping[str, "Study"]):
    """Imports a study when it is asked for: their figures and statistics take a second."""

    def __getitem__(self, name: str) -> Study:
        if name not in _NAMES:
            raise KeyError(name)
        study: Study = import_module(f"{__name__}.{name.replace('-', '_')}.study").STUDY
        return study

    def __contains__(self, name: object) -> bool:
        return name in _NAMES

    def __iter__(self) -> Iterator[str]:
        return iter(_NAMES)

    def __len__(self) -> int:
        return len(_NAMES)


ALL: Mapping[str, Study] = _Studies()
