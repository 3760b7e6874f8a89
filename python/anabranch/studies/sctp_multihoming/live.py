"""The transfers with real receivers: usrsctp for SCTP, a kernel for TCP."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from anabranch.experiment import RunResult, Scenario
from anabranch.settings import Toml
from anabranch.studies.live import LivePart
from anabranch.studies.replications import Replicated
from anabranch.studies.sctp_multihoming import claims, conditions
from anabranch.studies.sctp_multihoming.claims import timeouts
from anabranch.studies.sctp_multihoming.conditions import PRIMARY, Batch, Paths, batch, plan
from anabranch.studies.sctp_multihoming.worlds import World
from anabranch.trials import Trial, start_ms, usrsctp
from anabranch.trials.worlds import Results
from anabranch.verdicts import Claim

RULES = {"tcp": "delayed", "sctp": "ns2"}
"""A kernel's receiver delays its ACKs."""
TOGETHER = 60
BUFFER = "256 KiB"
"""To send from: four times the receive window. Its octets are real."""
PEER = (
    "listen 49152 receive_buffer=65536 heartbeat=30000"
    " local={receiver.path0} local={receiver.path1}"
)
"""usrsctp answers an INIT from the address that it bound last, here the primary path's: whoever
opens takes the source of the INIT ACK for the primary."""
WATCHED_SIZE = "4 MB"
CROSS = """

[[links]]
name = "cross"
ends = ["s0", "s1"]
rate = "1 Gbit/s"
delay = "0 s"
"""
"""usrsctp chooses its source address without asking for routes: each must reach every other."""


def grid(quick: bool) -> Toml:
    """The live part of the figures' grids."""
    return dict(plan()["live_quick" if quick else "live"])


def batches(quick: bool) -> list[Batch]:
    """Every scheme and pair of paths that a claim asks for, by the rules of live runs."""
    return sorted(set(_batches(grid(quick))))


def _batches(part: Mapping[str, Any]) -> Iterator[Batch]:
    losses = {*part["figure2"]["loss"], *part["figure3"]["loss"]}
    for scheme, loss in itertools.product(plan()["figure2"]["schemes"], losses):
        yield _batch(scheme, Paths(loss))
    figure4 = part["figure4"]
    pairs = [Paths(*pair) for pair in itertools.product(figure4["loss"], figure4["other"])]
    equal = conditions.equal(RULES["sctp"])
    pairs.append(Paths(PRIMARY, equal))
    pairs += conditions.by_bandwidth(part["figure5"]["bandwidth"], equal)
    pairs += conditions.by_delay(part["figure6"]["delay"], equal)
    for scheme, paths in itertools.product(plan()["figure4"]["schemes"], pairs):
        yield _batch(scheme, paths)


def _batch(scheme: str, paths: Paths) -> Batch:
    return batch(scheme, paths, RULES[conditions.protocol(scheme)])


def trials(quick: bool, directory: Path) -> list[Trial]:
    """Replications of all, and the longer transfers whose timeouts are watched."""
    part, peer = grid(quick), usrsctp.built(directory)
    found = []
    for number, (each, n) in enumerate(
        itertools.product(batches(quick), range(part["replications"]))
    ):
        scenario = conditions.scenario(each, part["size"])
        found.append(_trial((each, n), f"t{number}", scenario, peer))
    watch = plan()["watch"]
    paths = Paths(watch["loss"], watch["other"])
    observed = 'observe=[{what = "path_rto"}, {what = "path_srtt"}]'
    for scheme, n in itertools.product(part["watch"], range(part["watched"])):
        scenario = conditions.scenario(batch(scheme, paths), WATCHED_SIZE).set(observed)
        found.append(_trial((scheme, n), f"w{scheme}{n}".replace("-", ""), scenario, peer))
    return found


def _trial(key: tuple[Any, int], name: str, scenario: Scenario, peer: str) -> Trial:
    is_tcp = isinstance(key[0], Batch) and conditions.protocol(key[0].scheme) == "tcp"
    commands = {} if is_tcp else {"receiver": f"{peer} {PEER}"}
    changed = replace(scenario, text=scenario.text + CROSS).set(
        f'flows.0.start="{start_ms(name)} ms"',
        f'flows.0.{"tcp" if is_tcp else "sctp"}.send_buffer="{BUFFER}"',
    )
    return Trial(key, name, changed, ("receiver",), commands)


def judge(results: Results, quick: bool) -> list[Claim]:
    """The paper's claims, by the rules of live runs."""
    part = grid(quick)
    runs = Replicated(
        {each: _found(results, each, part["replications"]) for each in batches(quick)}
    )
    watched = Replicated({each: _found(results, each, part["watched"]) for each in part["watch"]})
    world = World(runs, RULES["tcp"], RULES["sctp"], grid=part, simulated=False)
    found = [about(world) for about in (*claims.ABOUT_TCP, *claims.ABOUT_POLICIES)]
    found.append(timeouts.stays_high(watched))
    return sorted(found, key=lambda claim: int(claim.claim[1:]))


def _found(results: Results, key: Any, count: int) -> list[RunResult]:
    return [results[key, n] for n in range(count) if (key, n) in results]


LIVE = LivePart(
    trials=trials,
    judge=judge,
    together=TOGETHER,
    setting="Our SCTP on two paths to usrsctp, our TCP to an unmodified kernel; SCTP"
    " by the paper's rules, TCP with delayed ACKs.",
    changed=(
        "1 MB in place of 4 MB, so that times are about a quarter; C8 is judged over 4 MB. Fewer"
        " losses, rates and delays.",
        "Every transfer has draws of its own: differences are of means, not of pairs.",
        "A kernel acknowledges at first every segment, then every second.",
        "A link joins the receiver's last routers: usrsctp sends from any address to any other.",
    ),
    left_out={
        "N, D, K and S": "hundreds of conditions by policies, of which live runs hold a few",
        "F1 to F6": "failures of a path are met live in tests/test_live_sctp.py, not measured",
    },
)
