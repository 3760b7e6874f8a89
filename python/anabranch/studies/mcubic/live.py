"""Our Multipath TCP to a kernel's, beside a kernel's CUBIC on each path."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from anabranch.experiment import RunResult
from anabranch.studies.live import LivePart
from anabranch.studies.mcubic import claims, conditions, network
from anabranch.studies.mcubic.claims import OTHERS
from anabranch.studies.mcubic.conditions import OURS, SHARED, UNCOUPLED, Run, part, plan
from anabranch.studies.replications import Replicated
from anabranch.trials import Trial
from anabranch.trials.worlds import Results
from anabranch.verdicts import Claim

TOGETHER = 15
"""150 to 200 Mbit/s in all."""
SCHEMES = (*OTHERS, OURS, UNCOUPLED)
BUFFER = 'flows.*.tcp.send_buffer="2 MiB"'
"""Twice what both paths hold; its octets are real, and filled before the start."""


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
        found += [
            Trial((run, n), f"t{number}n{n}", scenario, kernels)
            for n in range(plan()[_size(quick)]["replications"])
        ]
    return found


def judge(results: Results, quick: bool) -> list[Claim]:
    """The six claims, by the rules of the simulated study."""
    by_run: dict[Run, list[RunResult]] = defaultdict(list)
    for (run, _), result in results.items():
        by_run[run].append(result)
    return claims.judge_live(Replicated(by_run), _size(quick))


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
    left_out={
        "as published": "the test bed's full rates",
        "open, R, M, V and N": "hundreds of conditions, and the model's readings of the text",
    },
)
