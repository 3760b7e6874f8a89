"""The paper's claims with our sender and a kernel's receiver: every scheme, scripted drops."""

from __future__ import annotations

from pathlib import Path

from anabranch.studies.live import LivePart
from anabranch.studies.sack_recovery import claims, conditions
from anabranch.studies.sack_recovery.trace import Trace
from anabranch.trials import Trial
from anabranch.trials.worlds import Results
from anabranch.verdicts import Claim

TOGETHER = 40
"""Some 20,000 packets a second where round trips are short."""
LEAST_S = 2.5
"""For timeouts, of a second at least, after the losses."""
SMALL_BUFFER = 'flows.0.tcp.send_buffer="128 KiB"'
"""Four times the largest window; its octets are real, and filled before the start."""


def trials(quick: bool, _directory: Path) -> list[Trial]:
    """Every scheme on the study's whole grid, and at small windows."""
    pairs = [(s, c) for c in conditions.grid(quick) for s in conditions.schemes()]
    pairs += [(s, c) for c in conditions.small_window() for s in conditions.schemes(small=True)]
    return [
        Trial(
            (scheme, condition),
            f"t{number}",
            conditions.scenario(scheme, condition).set(SMALL_BUFFER, _duration(condition)),
            ("b",),
        )
        for number, (scheme, condition) in enumerate(pairs)
    ]


def _duration(condition: conditions.Condition) -> str:
    rounds = conditions.plan()["horizon"]["rounds"]
    return f'duration="{max(LEAST_S, rounds * condition.rtt_ms / 1000):g} s"'


def judge(results: Results, quick: bool) -> list[Claim]:
    """The seven claims, by the rules of the simulated study."""
    traces = {
        (scheme, condition): Trace.of(result, condition.first_drop, condition.drops)
        for (scheme, condition), result in results.items()
    }
    return claims.judge(traces, conditions.grid(quick), conditions.small_window())


LIVE = LivePart(
    trials=trials,
    judge=judge,
    together=TOGETHER,
    setting="Our sender with each recovery scheme, an unmodified kernel as receiver, which"
    " acknowledges every segment (`quickack` of its route); the same segments are dropped.",
    changed=("Runs end after 25 round trips and no sooner than 2.5 s, in place of 5 s.",),
    left_out={
        "N1 to N9": "about ours beside ours over further conditions; no receiver takes part",
    },
)
