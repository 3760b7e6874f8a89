"""The environment: a flow whose window an agent sets, in any scenario."""

from __future__ import annotations

import math
import threading
from queue import SimpleQueue
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from anabranch.errors import AlgorithmError
from anabranch.experiment import Scenario
from anabranch.gym.agent import Interval, Link, Stopped, closed, opened
from anabranch.network import Network

Observation = NDArray[np.float32]

LIMIT = 100.0
"""Of each observed value."""


def default_scenario() -> Scenario:
    """One flow over 10 Mbit/s, 20 ms one way, with a queue of 50 packets, for 10 s."""
    net = Network("one bottleneck", duration="10 s")
    a, b = net.host("a"), net.host("b")
    net.link(a, b, rate="10 Mbit/s", delay="20 ms", queue={"limit": "50 packets"})
    net.flow(a, b, name="agent")
    return net.scenario()


class CongestionEnv(gymnasium.Env[Observation, NDArray[np.float32]]):
    """An agent sets the congestion window of one flow, once an interval.

    Action: one number from -1 to 1, by which the window is multiplied as
    2 ** action; it stays between two segments and 2**30 octets.

    Observation, of the last interval, each from 0 to 100: round-trip time over
    the smallest; its change over the smallest, plus 50; throughput over the
    highest so far; lost over delivered octets; window over what the highest
    throughput and the smallest round-trip time hold.

    Reward: the throughput as part of the highest so far (0 to 1), less
    `delay_weight` for each smallest round-trip time that packets queued, less
    `loss_weight` times the part lost.

    An episode is a run of the scenario; it is truncated when the scenario ends.
    `reset(seed=...)` chooses the run's seed: the same seed and actions give the
    same episode. `info` has `time_s`, `throughput_bps`, `rtt_s` and `cwnd`.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 -- as the base class has it

    def __init__(
        self,
        scenario: Scenario | None = None,
        *,
        flow: str | int = 0,
        interval_s: float = 0.1,
        delay_weight: float = 0.5,
        loss_weight: float = 5.0,
    ) -> None:
        self.scenario = scenario if scenario is not None else default_scenario()
        self.flow = flow
        self.interval_s = interval_s
        self.weights = (delay_weight, loss_weight)
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,), np.float32)
        self.observation_space = gymnasium.spaces.Box(0.0, LIMIT, (5,), np.float32)
        self._link: Link | None = None
        self._number = 0
        self._thread: threading.Thread | None = None
        self._best = 1.0
        self._last_rtt = 0.0
        self._observed: Observation = np.zeros(5, np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begins a run; the first interval passes with the initial window."""
        super().reset(seed=seed, options=options)
        self.close()
        run_seed = int(self.np_random.integers(2**31))
        self._link = link = Link(self.interval_s, SimpleQueue(), SimpleQueue())
        self._number = opened(link)
        window = f"{{ algorithm = 'anabranch.gym.agent:Agent', link = {self._number} }}"
        scenario = self.scenario.set(f"flows.{self.flow}.tcp.window={window}")

        def run() -> None:
            try:
                scenario.run(seed=run_seed)
                link.told.put(Interval(final=True))
            except AlgorithmError as error:
                stopped = isinstance(error.__cause__, Stopped)
                link.told.put(Interval(final=True) if stopped else error)
            except BaseException as error:  # handed to the learner's thread
                link.told.put(error)

        self._best, self._last_rtt = 1.0, 0.0
        self._observed = np.zeros(5, np.float32)
        self._thread = threading.Thread(target=run, daemon=True)
        self._thread.start()
        _reward, _over, info = self._next()
        return self._observed, info

    def step(
        self, action: NDArray[np.float32]
    ) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Sets the window, and lets an interval pass."""
        if self._link is None:
            raise gymnasium.error.ResetNeeded("reset the environment first")
        power = float(np.clip(np.asarray(action, dtype=np.float64).reshape(-1)[0], -1.0, 1.0))
        self._link.actions.put(2.0**power)
        reward, over, info = self._next()
        return self._observed, reward, False, over, info

    def close(self) -> None:
        """Stops the run, if one is under way."""
        if self._thread is not None and self._link is not None:
            self._link.actions.put(None)
            self._thread.join()
            closed(self._number)
        self._thread = self._link = None

    def _next(self) -> tuple[float, bool, dict[str, Any]]:
        """Waits for the run: reward, whether it is over, and facts."""
        assert self._link is not None
        told = self._link.told.get()
        if isinstance(told, BaseException):
            closed(self._number)
            self._thread = self._link = None
            raise told
        if told.final:
            self.close()
            return 0.0, True, {}
        seconds = max(told.end_s - told.start_s, 1e-9)
        throughput = told.delivered / seconds
        self._best = max(self._best, throughput)
        smallest = max(told.min_rtt_s, 1e-9)
        rtt = told.rtt_sum_s / told.rtts if told.rtts else told.srtt_s
        change = (rtt - self._last_rtt) / smallest if self._last_rtt else 0.0
        self._last_rtt = rtt
        lost = told.lost / max(told.delivered + told.lost, 1)
        used = throughput / self._best
        values = [rtt / smallest, 50 + change, used, lost, told.cwnd / (self._best * smallest)]
        self._observed = np.clip(np.asarray(values, np.float32), 0.0, LIMIT)
        delay_weight, loss_weight = self.weights
        queued = max(rtt / smallest - 1.0, 0.0)
        reward = used - delay_weight * queued - loss_weight * lost
        info = {"time_s": told.end_s, "throughput_bps": 8 * throughput, "rtt_s": rtt}
        info["cwnd"] = told.cwnd
        return (reward if math.isfinite(reward) else 0.0), False, info
