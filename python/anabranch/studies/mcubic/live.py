"""Our Multipath TCP to a kernel's, or a kernel's with our windows, beside a kernel's CUBICs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from anabranch import inline
from anabranch.experiment import RunResult
from anabranch.rows import CsvRow
from anabranch.studies.live import LivePart, LiveWorld
from anabranch.studies.mcubic import claims, conditions, network, scope
from anabranch.studies.mcubic import measures as m
from anabranch.studies.mcubic.claims import OTHERS
from anabranch.studies.mcubic.conditions import OURS, SHARED, UNCOUPLED, Run, part, plan
from anabranch.studies.replications import Replicated
from anabranch.trials import Trial
from anabranch.trials.worlds import Results
from anabranch.verdicts import Claim

TOGETHER = 15
"""150 to 200 Mbit/s in all."""
SCHEMES = (*OTHERS, "balia", OURS, "mcubic-share", UNCOUPLED)
BUFFER = 'flows.*.tcp.send_buffer="2 MiB"'
"""Twice what both paths hold; its octets are real, and filled before the start."""
SHIFT_OBSERVED = [
    {"what": "received", "interval": "1 s"},
    {"what": "path_coupling", "flow": m.CONNECTION, "interval": "100 ms"},
]
"""For C6: K' of the path that stays as it is."""


def _size(quick: bool) -> str:
    return "live_quick" if quick else "live"


def runs(quick: bool) -> list[Run]:
    """Every condition that one of the six claims asks for."""
    return list(dict.fromkeys(_runs(_size(quick))))


def _runs(size: str) -> Iterator[Run]:
    for experiment in conditions.COLUMNS:
        # For C5 a CUBIC in the connection's place.
        schemes = (*SCHEMES, "path1") if experiment == "equal" else SCHEMES
        for scheme in schemes:
            for x in conditions.columns(experiment, size):
                yield conditions.cell(experiment, scheme, x, size)
    shift = part("shift", size)
    for scheme in shift["schemes"]:
        yield from (conditions.shift(scheme, others, size) for others in shift["flows"])


def trials(quick: bool, _directory: Path) -> list[Trial]:
    """Replications of all conditions."""
    found = []
    for number, run in enumerate(runs(quick)):
        kernels = ("b", "a1") if run.bed == SHARED else ("b", "a1", "a2")
        scenario = network.scenario(run, "1 s").set(BUFFER)
        if _is_of_shift(run, _size(quick)):
            scenario = scenario.set(f"observe={inline.toml(SHIFT_OBSERVED)}")
        found += [
            Trial((run, n), f"t{number}n{n}", scenario, kernels)
            for n in range(plan()[_size(quick)]["replications"])
        ]
    return found


def _is_of_shift(run: Run, size: str) -> bool:
    return run in [conditions.shift(OURS, others, size) for others in part("shift", size)["flows"]]


def _replicated(results: Results) -> Replicated[Run]:
    by_run: dict[Run, list[RunResult]] = defaultdict(list)
    for (run, _), result in results.items():
        by_run[run].append(result)
    return Replicated(dict(by_run))


def judge(results: Results, quick: bool) -> list[Claim]:
    """The six claims, by the rules of the simulated study."""
    return claims.judge_live(_replicated(results), _size(quick))


def tables(results: Results, quick: bool) -> list[CsvRow]:
    """Tables 1 to 3: Jain's index, and the connection's goodput over the single-path flow's."""
    at = scope.grid(_replicated(results), _size(quick))
    return [
        {"table": f"table{number}", "series": scheme, "x": x, **vars(measured.estimate)}
        for number, experiment in enumerate(conditions.COLUMNS, start=1)
        for scheme in SCHEMES
        for x in at.columns(experiment)
        if at.cell(experiment, scheme, x) in at.results
        for measured in [
            at.sample(experiment, scheme, x, m.index if experiment == "distinct" else m.ratio)
        ]
    ]


def _by_kernels(trial: Trial) -> Trial:
    return replace(trial, external=(*trial.external, "a"))


KERNEL = LiveWorld(
    "kernel",
    "Kernels at both ends: Multipath TCP of an unmodified Linux, its window by our algorithms"
    " loaded into it (`cubic`: its own), beside single-path flows of its CUBIC.",
    _by_kernels,
)
"""What the paper did with a patched kernel."""


LIVE = LivePart(
    trials=trials,
    judge=judge,
    together=TOGETHER,
    setting="Our Multipath TCP sender with each window to an unmodified kernel's MPTCP receiver,"
    " beside single-path flows of the kernel's CUBIC between kernels.",
    changed=(
        "A tenth of the rates (10 Mbit/s; for C6 5 in place of 20), which the emulator holds for"
        " many trials at once; 60 s each in place of 80 to 160, fewer delays and rates. Windows are"
        " a tenth, so that CUBIC's plateaus come sooner, and nearer to Reno's growth.",
        "`cubic` on both paths is our model of it; the single-path flows' is the kernel's own, and"
        " so are the acknowledgments.",
    ),
    further=(KERNEL,),
    tables=tables,
    left_out={
        "as published": "the test bed's full rates",
        "open, R, M, V and N": "hundreds of conditions, and the model's readings of the text",
    },
)
