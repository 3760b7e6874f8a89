"""Figure 1 (b) of the paper from runs: the windows of both paths after a loss on each.

The connection is alone, with nothing else to lose segments to: the formula is all that its windows
can follow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from anabranch import inline
from anabranch.experiment import RunResult, Scenario
from anabranch.figures import COLOURS, Look, Plot
from anabranch.studies import drawing
from anabranch.studies.mcubic import formula
from anabranch.studies.mcubic.conditions import FOLDER, OURS, UNCOUPLED, plan
from anabranch.studies.results import FigureEntry

Floats = npt.NDArray[np.float64]
SCHEMES = (OURS, UNCOUPLED)
PATHS = ("a.x-b.x", "a.y-b.y")
SEGMENT = 1448
"""Octets: what fits beside timestamps; a DSS makes some segments shorter."""


def scenario(scheme: str) -> Scenario:
    """The connection over two idle links that each lose once, in slow start."""
    p = plan()["figure1"]
    windows = plan()["windows"]
    tcp = {
        **plan()["tcp"],
        "receive_buffer": "64 MiB",
        # The window at the loss is the plan's, not one where HyStart ends.
        "window": {**windows.get(scheme, {"algorithm": scheme}), "slow_start_exit": "standard"},
    }
    flow = {
        "name": "multipath",
        "from": "a",
        "to": "b",
        "protocol": "mptcp",
        "tcp": tcp,
        "mptcp": {"path_manager": "pairs"},
    }
    observed = [{"what": f"path_{each}", "interval": "20 ms"} for each in ("cwnd", "ssthresh")]
    text = (FOLDER / "scenario.toml").read_text("utf-8")
    return Scenario(text, "studies/mcubic/scenario.toml").set(
        f'duration="{p["seconds"]} s"',
        f"observe={inline.toml(observed)}",
        *(each for path in (0, 1) for each in _link(path, p)),
        f"flows={inline.toml([flow])}",
    )


def _link(path: int, p: Mapping[str, Any]) -> Iterator[str]:
    link = f"links.core{path + 1}"
    lost = {"at": f"{p['lost'][path]} us", "for": f"{p['for']} us"}
    yield f'{link}.rate="{p["rate"]} Mbit/s"'
    yield f'{link}.delay="{p["round_trip"] / 2:g} ms"'
    yield f'{link}.queue.limit="unlimited"'
    yield f"{link}.impairments={inline.toml([{'kind': 'outage', 'intervals': [lost]}])}"


@dataclass(frozen=True)
class Windows:
    """The windows of one path from the end of its recovery on."""

    w_max: float
    """Segments, at the loss."""
    times: Floats
    """In s."""
    windows: Floats
    """In segments."""

    @classmethod
    def of(cls, result: RunResult, path: int) -> Windows:
        """The window is reduced where the threshold is first known; a round-trip time later what
        was lost is repaired, and it grows by its law."""
        cwnd, ssthresh = (
            result.series[f"multipath.{PATHS[path]}.path_{each}"] for each in ("cwnd", "ssthresh")
        )
        first = int(np.argmax(np.isfinite(ssthresh["value"])))
        w_max = float(ssthresh["value"][first]) / SEGMENT / (1 - formula.GIVEN_UP)
        start = float(ssthresh["time_s"][first]) + plan()["figure1"]["round_trip"] / 1e3
        times = cwnd["time_s"] - start
        return cls(w_max, times[times >= 0], cwnd["value"][times >= 0] / SEGMENT)


def by_formula(paths: tuple[Windows, Windows], path: int, scheme: str) -> Floats:
    """Equation 10, or 6, at the dates of a path's windows; held where it lies below the reduced
    one."""
    own = paths[path]
    ks = [formula.k(each.w_max) for each in paths]
    k = formula.k_prime(ks, path) if scheme == OURS else ks[path]
    curve = [formula.cubic(t, k, own.w_max) for t in own.times.tolist()]
    return np.maximum((1 - formula.GIVEN_UP) * own.w_max, curve)


def read(result: RunResult) -> tuple[Windows, Windows]:
    """Both paths of a run."""
    return Windows.of(result, 0), Windows.of(result, 1)


def write(directory: Path, results: Mapping[str, RunResult]) -> FigureEntry:
    """Writes the figure's CSV, SVG and PNG, from a run of each of `SCHEMES`."""
    rows = []
    looks = {}
    found = {scheme: read(results[scheme]) for scheme in SCHEMES}
    most = 1.5 * max(path.w_max for paths in found.values() for path in paths)
    names = {OURS: "MCubic, K{}'", UNCOUPLED: "CUBIC, K{}"}
    for scheme, paths in found.items():
        for path, own in enumerate(paths):
            name = names[scheme].format(path + 1)
            both = {name: own.windows, f"{name}, by formula": by_formula(paths, path, scheme)}
            for series, values in both.items():
                rows += [
                    {"series": series, "time_s": t, "value": value}
                    for t, value in zip(own.times[::5].tolist(), values[::5].tolist(), strict=True)
                    if value <= most
                ]
            looks[name] = Look("-" if scheme == OURS else "--", "", COLOURS[path])
            looks[f"{name}, by formula"] = Look(":", "", "black", label=f"_{name}, by formula")
    title = "Two paths after a loss on each, in runs"
    plot = Plot(title, "time (s)", "window (segments)", looks)
    sizes = [f"{path.w_max:.0f}" for path in found[OURS]]
    caption = (
        "Figure 1 (b) from runs: a connection that is alone loses once on each path, at"
        f" {' and '.join(sizes)} segments with MCubic. Time counts from the end of each path's"
        " recovery; dotted: equations 6 and 10 from the window at the loss."
    )
    return drawing.times(directory, "fig1b_runs", rows, plot, caption)
