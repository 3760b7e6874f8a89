"""RTO and smoothed RTT of both paths over time, by policy: how the alternate's timeout goes
stale, and what keeps it fresh."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from anabranch import inline
from anabranch.experiment import RunResult, Scenario
from anabranch.figures import COLOURS, Look, Plot
from anabranch.rows import CsvRow
from anabranch.studies import drawing
from anabranch.studies.results import FigureEntry
from anabranch.studies.sctp_multihoming.conditions import Paths, batch, plan, scenario

PATHS = ("path0", "path1")
"""The receiver's interfaces: the primary and the alternate."""
DRAWN = ("alternate", "best-path")
"""Policies of which both paths are drawn."""
SERIES = {
    "RTO of the primary": ("path0", "path_rto", Look(colour=COLOURS[0], steps=True)),
    "SRTT of the primary": ("path0", "path_srtt", Look("--", colour=COLOURS[0], steps=True)),
    "RTO of the alternate": ("path1", "path_rto", Look(colour=COLOURS[1], steps=True)),
    "SRTT of the alternate": ("path1", "path_srtt", Look("--", colour=COLOURS[1], steps=True)),
}


def series_name(path: str, what: str) -> str:
    """The name of a path's series in a run."""
    return f"transfer.receiver.{path}.{what}"


def scenarios(*observed: str) -> dict[str, Scenario]:
    """Runs in which something is recorded of both paths, by policy."""
    part = plan()["watch"]
    paths = Paths(part["loss"], part["other"])
    watch = f"observe={inline.toml([{'what': what} for what in observed])}"
    return {scheme: scenario(batch(scheme, paths)).set(watch) for scheme in part["schemes"]}


def long(*observed: str) -> Scenario:
    """The same of a transfer of 20 MB, all of whose retransmissions go to the alternate."""
    return scenarios(*observed)["alternate"].set('flows.0.size="20 MB"')


def write_all(directory: Path, watched: Mapping[str, RunResult]) -> list[FigureEntry]:
    """One run of the paper's policy and of ours, then the alternate's timeout under all."""
    figures = [_of_policy(directory, scheme, watched[scheme]) for scheme in DRAWN]
    return [*figures, _of_alternate(directory, watched)]


def _of_policy(directory: Path, scheme: str, run: RunResult) -> FigureEntry:
    rows: list[CsvRow] = []
    for label, (path, what, _) in SERIES.items():
        rows += _rows(run, label, path, what)
    looks = {label: look for label, (*_, look) in SERIES.items()}
    title = f"Timeouts and round-trip times of one run, {scheme}"
    plot = Plot(title, "time (s)", "s", looks, log="y")
    caption = f"RTO and smoothed RTT of both paths, losses of 4 % and 2 %, policy {scheme}."
    return drawing.times(directory, f"timeouts_{scheme}", rows, plot, caption)


def _of_alternate(directory: Path, runs: Mapping[str, RunResult]) -> FigureEntry:
    rows = [r for scheme, run in runs.items() for r in _rows(run, scheme, PATHS[1], "path_rto")]
    plot = Plot("Timeout of the alternate path by policy", "time (s)", "RTO (s)", log="y")
    caption = (
        "The alternate's RTO in one run of each policy, losses of 4 % and 2 %, the same draws of"
        " the links."
    )
    return drawing.times(directory, "timeouts_alternate", rows, plot, caption)


def _rows(run: RunResult, label: str, path: str, what: str) -> Iterator[CsvRow]:
    series = run.series.get(series_name(path, what))
    if series is None:  # never measured
        return
    for time, value in zip(series["time_s"].tolist(), series["value"].tolist(), strict=True):
        yield {"series": label, "time_s": time, "value": value}
