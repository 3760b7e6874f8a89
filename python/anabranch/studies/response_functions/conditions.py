"""The runs of the study: one long flow each, as scenarios."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from anabranch.experiment import Scenario
from anabranch.settings import Toml
from anabranch.studies.response_functions import models

FOLDER = Path(__file__).parent
WARM_UP = 0.2
"""Share of a run that is left out of its averages."""
SAMPLES = 10
"""Samples in a run; averages are taken between two of them."""


WINDOWS = {
    "reno": '"reno"',
    "cubic": '{ algorithm = "cubic", fast_convergence = false }',
    "highspeed": '"highspeed"',
    "westwood": '"westwood"',
    "vegas": '"vegas"',
    "bbr": '"bbr"',
}
"""Values of flows.0.tcp.window. Fast convergence moves CUBIC's fixed point: off, as the closed
form has it."""


LOSSY_LINKS = ("lossy_link", "lossy_fast_link")
"""Parts of the plan whose flow has a link that loses packets at random."""

MEAN_BY_PEAK = {"reno": 0.75, "cubic": 0.925, "highspeed": 0.8}
"""Average window over the window at a loss, in the steady state: AIMD; CUBIC's curve; about, for a
decrease between 0.1 and 0.5. Runs begin there, because CUBIC comes to its fixed point slowly."""


@dataclass(frozen=True, order=True)
class Run:
    """One run: which question it belongs to and what it changes in the scenario."""

    part: str
    algorithm: str
    x: float
    """What the part varies: p, the buffer in BDPs, the window in segments, the transfer's size."""
    kind: str = ""
    """Periodic or random loss; the RTT in ms; the initial window."""
    seconds: float = 0.0

    @property
    def is_random(self) -> bool:
        """Whether it has to be replicated."""
        return self.kind == "random"


@cache
def plan() -> Toml:
    """The parameters of plan.toml."""
    return tomllib.loads((FOLDER / "plan.toml").read_text(encoding="utf-8"))


def rtt() -> float:
    """The round-trip time of the loss and buffer runs, in s."""
    return float(plan()["network"]["rtt_ms"]) / 1000


def expected_window(algorithm: str, p: float) -> float:
    """The closed form of the algorithm's average window, in segments."""
    if algorithm == "cubic":
        return models.cubic(p, rtt())
    return models.highspeed(p) if algorithm == "highspeed" else models.mathis(p)


def runs(quick: bool) -> list[Run]:
    """All runs; with `quick` a part of each grid."""
    parts = (_loss(quick), _timeouts(quick), _buffer(quick), _lossy_links(quick))
    return [*itertools.chain(*parts), *_window(), *_slow_start()]


def _loss(quick: bool) -> Iterator[Run]:
    part = plan()["loss"]
    for algorithm in part["algorithms"]:
        for p in plan()["quick"]["p"] if quick else part["periodic_p"]:
            yield Run(
                "loss", algorithm, p, "periodic", _lasting(algorithm, p, part["cycles"][algorithm])
            )
    for algorithm in part["random_algorithms"]:
        for p in plan()["quick"]["p"] if quick else part["random_p"]:
            seconds = _lasting(algorithm, p, part["random_cycles"])
            yield Run("loss", algorithm, p, "random", seconds)


def _lasting(algorithm: str, p: float, losses: int) -> float:
    """How long it takes to meet so many losses at the expected window, in s."""
    rounds = losses / p / expected_window(algorithm, p)
    return max(float(plan()["loss"]["seconds"]), rounds * rtt())


def _timeouts(quick: bool) -> Iterator[Run]:
    part = plan()["timeouts"]
    for p in plan()["quick"]["timeouts_p"] if quick else part["p"]:
        yield Run("timeouts", "reno", p, "random", part["seconds"])


def _buffer(quick: bool) -> Iterator[Run]:
    part = plan()["buffer"]
    pipe = part["rate_mbps"] * 1e6 * rtt() / 8 / 1000
    for algorithm in part["algorithms"]:
        for bdp in plan()["quick"]["bdp"] if quick else part["bdp"]:
            # Reno climbs from half the peak to the peak, a segment per round.
            peak = (1 + bdp) * pipe
            cycle = peak / 2 * max(1.0, 0.75 * (1 + bdp)) * rtt()
            yield Run("buffer", algorithm, bdp, seconds=part["cycles"] * cycle)


def _lossy_links(quick: bool) -> Iterator[Run]:
    for name in LOSSY_LINKS:
        part = plan()[name]
        for algorithm in part["algorithms"]:
            for p in plan()["quick"][f"{name}_p"] if quick else part["p"]:
                yield Run(name, algorithm, p, "random", part["seconds"])


def _window() -> Iterator[Run]:
    part = plan()["window"]
    for rtt_ms in part["rtt_ms"]:
        for segments in part["segments"]:
            yield Run("window", "reno", segments, f"{rtt_ms}", seconds=part["seconds"])


def _slow_start() -> Iterator[Run]:
    part = plan()["slow_start"]
    for initial in part["initial"]:
        for segments in part["segments"]:
            yield Run("slow-start", "reno", segments, f"{initial}")


def scenario(run: Run) -> Scenario:
    """The scenario of a run."""
    mss = plan()["network"]["mss"]
    changes = [f"flows.0.tcp.window={WINDOWS[run.algorithm]}"]
    if run.seconds:
        changes += [f'duration="{run.seconds:.6f} s"']
        changes += [f'observe.0.interval="{run.seconds / SAMPLES:.9f} s"']
    if run.part in LOSSY_LINKS:
        part = plan()[run.part]
        return _scenario(run, [*changes, *_link(part), _impairment(run, 0)])
    if run.part in ("loss", "timeouts"):
        # Slow start ends at the fixed point's peak, and the first loss comes two rounds later.
        peak = expected_window(run.algorithm, run.x) / MEAN_BY_PEAK[run.algorithm]
        first = round(4 * peak)
        changes.append(_impairment(run, first))
    match run.part:
        case "loss":
            changes.append(f'flows.0.tcp.initial_ssthresh="{max(2, round(peak))} packets"')
        case "timeouts":
            changes.append('flows.0.tcp.recovery="reno"')
            changes.append('flows.0.tcp.delayed_ack={ count = 2, delay = "100 ms" }')
            # The model has none: three duplicate ACKs or a timeout.
            changes.append("flows.0.tcp.limited_transmit=false")
        case "buffer":
            rate = plan()["buffer"]["rate_mbps"]
            # A queue in octets of IP packets: BDPs of the link's own rate.
            octets = round(run.x * rate * 1e6 * rtt() / 8)
            changes.append(f'links.0.rate="{rate} Mbit/s"')
            changes.append(f'links.0.queue={{ kind = "droptail", limit = "{octets} B" }}')
            # Reno would take minutes to climb to the pipe after slow start's overshoot.
            half = round((1 + run.x) * rate * 1e6 * rtt() / 8 / 1000 / 2)
            changes.append(f'flows.0.tcp.initial_ssthresh="{half} packets"')
        case "window":
            changes.append(f'links.0.delay="{float(run.kind) / 2:g} ms"')
            changes.append(f'flows.0.tcp.receive_buffer="{round(run.x) * mss} B"')
            # Samples a round apart, so that whole windows are counted.
            changes.append(f'observe.0.interval="{run.kind} ms"')
        case "slow-start":
            changes.append(f'flows.0.size="{round(run.x) * mss} B"')
            changes.append(f'flows.0.tcp.initial_window="{run.kind} packets"')
            changes.append('observe.0.interval="10 ms"')
    return _scenario(run, changes)


def _impairment(run: Run, first: int) -> str:
    """The loss of a run; periodic loss begins with the packet `first`."""
    if run.kind == "periodic":
        kind = f'kind="periodic", every={round(1 / run.x)}, first={first}'
    else:
        kind = f'kind="bernoulli", rate={run.x!r}'
    return f"links.0.impairments=[{{{kind}}}]"


def _link(part: Toml) -> list[str]:
    """A link and segments of this part's own."""
    more = part.get("set", [])
    return [
        *more,
        f'links.0.rate="{part["rate_mbps"]} Mbit/s"',
        f'links.0.delay="{part["rtt_ms"] / 2:g} ms"',
        f'links.0.queue={{ kind = "droptail", limit = "{part["queue"]} packets" }}',
        f'flows.0.tcp.mss="{part["mss"]} B"',
    ]


def _scenario(run: Run, changes: list[str]) -> Scenario:
    text = (FOLDER / "scenario.toml").read_text(encoding="utf-8")
    bare = text.replace('duration = "60 s"\n', "") if not run.seconds else text
    return Scenario(bare, "studies/response_functions/scenario.toml").set(*changes)
