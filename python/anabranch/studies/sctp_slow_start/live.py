"""The transfers with real receivers, usrsctp for SCTP and a kernel for TCP; then those with real
programs at both ends."""

from __future__ import annotations

import itertools
from pathlib import Path

from anabranch.studies.live import LivePart
from anabranch.studies.sctp_slow_start import claims, conditions, models
from anabranch.studies.sctp_slow_start.conditions import Cell, Run, plan
from anabranch.trials import Trial, start_ms, usrsctp
from anabranch.trials.worlds import Results
from anabranch.verdicts import Claim

TOGETHER = 60
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
    senders = [*plan()["senders"], *plan()["programs"]]
    product = itertools.product(senders, (False, True), cells(quick))
    return [trial(Run(*each), f"t{number}", peer) for number, each in enumerate(product)]


def trial(run: Run, name: str, peer: str) -> Trial:
    """A transfer to a real receiver, and of a sender that is one from a real program; `peer` is
    the program for SCTP."""
    sender, both = conditions.sender(run.sender), run.sender in plan()["programs"]
    commands = {}
    if sender["transport"] == "sctp":
        delay = round(float(conditions.SACK_DELAY.removesuffix(" ms")))
        acks = f"sack_frequency={2 if run.delayed else 1} sack_delay={delay}"
        commands["b"] = f"{peer} listen {PORT} {acks} numbered=1"
        if both:
            messages = f"numbered=1 message={models.PAYLOAD['sctp']} streams={conditions.STREAMS}"
            to = f"{{b}} {PORT} {PORT} {run.cell.octets}"
            wait = f"wait={start_ms(name)}"
            commands["a"] = f"{peer} connect {to} {messages} {wait} {sender['options']}".rstrip()
    external = ("a", "b") if both else ("b",)
    scenario = conditions.scenario(run).set(f'flows.0.start="{start_ms(name)} ms"')
    return Trial(run, name, scenario, external, commands)


def judge(results: Results, quick: bool) -> list[Claim]:
    """All claims, by the rules of the simulated study, and those about programs at both ends."""
    del quick
    stayed = {run: each for run, each in results.items() if not conditions.left_slow_start(each)}
    times = {run: conditions.seconds(result) for run, result in stayed.items()}
    ours = {run: seconds for run, seconds in times.items() if run.sender in plan()["senders"]}
    asked = sum(run.sender in plan()["senders"] for run in results)
    programs = {run: seconds for run, seconds in times.items() if run not in ours}
    return claims.judge(ours, asked - len(ours)) + claims.judge_programs(programs)


LIVE = LivePart(
    trials=trials,
    judge=judge,
    together=TOGETHER,
    setting="Our SCTP to usrsctp, our TCP to an unmodified kernel; and, in the claims `programs`,"
    " usrsctp to usrsctp and a kernel to a kernel.",
    changed=(
        "The grid is smaller: a transfer takes as long as it takes.",
        "`delayed ACKs`: usrsctp waits as the study says, every second packet or 200 ms; a kernel"
        " has its own way, and acknowledges a connection's first segments at once.",
        "`programs`: the time of usrsctp counts from its call to connect, that of a kernel from"
        " ours. In virtual time our endpoints stand in their place.",
    ),
)
