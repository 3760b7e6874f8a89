"""The environment for learned control, judged by Gymnasium's own checker."""

from __future__ import annotations

from collections.abc import Iterator

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from anabranch import InputError, Network
from anabranch.gym import CongestionEnv


@pytest.fixture
def env() -> Iterator[CongestionEnv]:
    """One of three seconds."""
    net = Network(duration="3 s")
    a, b = net.host("a"), net.host("b")
    net.link(a, b, rate="10 Mbit/s", delay="20 ms", queue={"limit": "50 packets"})
    net.flow(a, b, name="agent")
    env = CongestionEnv(net.scenario())
    yield env
    env.close()


def episode(env: CongestionEnv, seed: int, actions: int) -> list[tuple[list[float], float]]:
    draws = np.random.default_rng(actions)
    observation, _ = env.reset(seed=seed)
    steps = [(observation.tolist(), 0.0)]
    over = False
    while not over:
        action = draws.uniform(-1, 1, 1).astype(np.float32)
        observation, reward, _, over, _ = env.step(action)
        steps.append((observation.tolist(), reward))
    return steps


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_checker_of_gymnasium_agrees(env: CongestionEnv) -> None:
    check_env(env, skip_render_check=True)


def test_a_seed_and_actions_determine_an_episode(env: CongestionEnv) -> None:
    first = episode(env, 1, 1)
    assert len(first) > 20
    assert first == episode(env, 1, 1)
    assert first != episode(env, 1, 2)


def test_an_open_window_fills_the_queue_and_a_closed_one_the_link_not(env: CongestionEnv) -> None:
    def last(action: float) -> dict[str, float]:
        info: dict[str, float] = {}
        env.reset(seed=1)
        for _ in range(12):
            _, _, _, _, info = env.step(np.array([action], np.float32))
        return info

    wide, narrow = last(0.5), last(-0.5)
    assert wide["rtt_s"] > 1.5 * narrow["rtt_s"]
    assert wide["throughput_bps"] > 8e6 > narrow["throughput_bps"]


def test_what_is_used_wrongly_is_told(env: CongestionEnv) -> None:
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(np.zeros(1, np.float32))
    with pytest.raises(InputError, match="flows"):
        CongestionEnv(env.scenario, flow="nobody").reset(seed=1)
