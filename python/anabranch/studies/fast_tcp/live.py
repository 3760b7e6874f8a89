"""Routers that delay ACKs between real hosts: a kernel's TCP at both ends."""

from __future__ import annotations

import itertools
from collections import defaultdict
from pathlib import Path

from anabranch.experiment import RunResult
from anabranch.studies.fast_tcp.router import conditions, judge_one_flow
from anabranch.studies.fast_tcp.router.conditions import Run, plan
from anabranch.studies.live import LivePart
from anabranch.studies.replications import Replicated
from anabranch.trials import Trial
from anabranch.trials.worlds import Results
from anabranch.verdicts import Claim

TOGETHER = 5
"""150 Mbit/s when all are full."""
ROUTERS = ("plain", "fast-tcp")
READINGS = ("literal", "bucket")
"""Segments of IP over ATM need longer frames than the hosts' links have."""


def trials(quick: bool, _directory: Path) -> list[Trial]:
    """Readings of the paper's case; senders and buffers without bit errors, with both routers."""
    part = plan()["live_quick" if quick else "live"]
    found = [
        (conditions.reading(name, router), n)
        for name, router, n in itertools.product(READINGS, ROUTERS, range(part["paper"]))
    ]
    found += [
        (Run(router, flavour, buffer=buffer), n)
        for router, flavour, buffer, n in itertools.product(
            ROUTERS, part["flavour"], part["buffer"], range(part["replications"])
        )
    ]
    return [_trial(run, n) for run, n in found]


def _trial(run: Run, number: int) -> Trial:
    # Both routers see the same bit errors.
    errors = f"e{run.ber:.0e}".replace("-", "") if run.ber else "x"
    name = f"{run.flavour}{run.buffer}{errors}n{number}"
    scenario = conditions.watched_scenario(run)
    return Trial((run, number), name, scenario, ("source", "sink"))


def judge(results: Results, _quick: bool) -> list[Claim]:
    """What is about one flow, by the rules of the simulated study."""
    by_run: dict[Run, list[RunResult]] = defaultdict(list)
    for (run, _), result in results.items():
        by_run[run].append(result)
    return judge_one_flow(Replicated(dict(by_run)))


LIVE = LivePart(
    trials=trials,
    judge=judge,
    together=TOGETHER,
    setting="A kernel's TCP at both ends, our routers between them, at the study's own rates and"
    " delays.",
    changed=(
        "Flavours are the kernel's: `reno` is its NewReno without SACK, `sack` has neither RACK nor"
        " tail loss probes, `modern` is its default with CUBIC, `bbr` its BBR.",
        "Receivers acknowledge as a kernel does; one receive window, which never limits.",
    ),
    left_out={
        "C1 to C4, C10 to C15, K1, W1 to W4": "fixed windows to an octet, which a kernel's receiver"
        " does not offer",
        "C9, F3, F4, F6, F7": "other routers, many flows, long delays: hundreds of runs of 25 s",
    },
)
