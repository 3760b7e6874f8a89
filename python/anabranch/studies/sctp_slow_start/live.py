"""The transfers with real receivers: usrsctp for SCTP, a kernel for TCP."""

from __future__ import annotations

import itertools
from pathlib import Path

from anabranch.studies.live import LivePart
from anabranch.studies.sctp_slow_start import claims, conditions
from anabranch.studies.sctp_slow_start.conditions import Cell, Run, plan
from anabranch.trials import Trial, usrsctp
from anabranch.trials.worlds import Results
from anabranch.verdicts import Claim

TOGETHER = 60
START = 'flows.0.start="2 s"'
"""Peers have time to start; times count from here."""
PORT = 49152


def cells(quick: bool) -> list[Cell]:
    """The live part of the grid."""
    grid = plan()["live_quick" if quick else "live"]
    return [
        Cell(*each) for each in itertools.product(grid["rate_mbps"], grid["rtt_ms"], grid["kbytes"])
    ]


def trials(quick: bool, directory: Path) -> list[Trial]:
    """Every sender over every cell, with prompt and with delayed ACKs."""
    peer = usrsctp.built(directory)
    found = []
    product = itertools.product(plan()["senders"], (False, True), cells(quick))
    for number, (sender, delayed, cell) in enumerate(product):
        run = Run(sender, delayed, cell)
        scenario, name = conditions.scenario(run).set(START), f"t{number}"
        commands = {}
        if plan()["senders"][sender]["transport"] == "sctp":
            delay = round(float(conditions.SACK_DELAY.removesuffix(" ms")))
            acks = f"sack_frequency={2 if delayed else 1} sack_delay={delay}"
            commands = {"b": f"{peer} listen {PORT} {acks} numbered=1"}
        found.append(Trial(run, name, scenario, ("b",), commands))
    return found


def judge(results: Results, quick: bool) -> list[Claim]:
    """All claims, by the rules of the simulated study."""
    del quick
    stayed = {run: it for run, it in results.items() if not conditions.left_slow_start(it)}
    times = {run: conditions.seconds(result) for run, result in stayed.items()}
    return claims.judge(times, len(results) - len(stayed))


LIVE = LivePart(
    trials=trials,
    judge=judge,
    together=TOGETHER,
    setting="Our SCTP to usrsctp, our TCP to an unmodified kernel.",
    changed=(
        "The grid is smaller: a transfer takes as long as it takes.",
        "`delayed ACKs`: usrsctp waits as the study says, every second packet or 200 ms; a kernel"
        " has its own way, and acknowledges a connection's first segments at once.",
    ),
)
