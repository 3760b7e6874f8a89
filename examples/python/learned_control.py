"""Learned congestion control: a policy of six numbers, by random search, beside random actions.

Needs `pip install anabranch[gym]`.
"""

import gymnasium
import numpy as np

import anabranch.gym  # registers the environment  # noqa: F401

env = gymnasium.make("anabranch/Congestion-v0")


def episode(act, seed: int = 1) -> float:
    """The mean reward of a run of ten seconds in which `act` chooses the actions."""
    observation, _ = env.reset(seed=seed)
    rewards = []
    over = False
    while not over:
        observation, reward, _, over, _ = env.step(act(observation))
        rewards.append(reward)
    return float(np.mean(rewards))


def policy(weights):
    """A linear function of the observation, within -1 and 1."""
    centre = np.array([1.0, 50.0, 1.0, 0.0, 1.0])
    return lambda seen: np.tanh([weights[:5] @ (seen - centre) + weights[5]]).astype(np.float32)


draws = np.random.default_rng(1)
by_chance = np.mean(
    [episode(lambda _: draws.uniform(-1, 1, 1).astype(np.float32)) for _ in range(5)]
)
print(f"random actions: mean reward {by_chance:.3f}")

best, reached = np.zeros(6), -np.inf
for _ in range(30):
    weights = best + draws.normal(0, 0.5, 6)
    reward = episode(policy(weights))
    if reward > reached:
        best, reached = weights, reward
print(f"learned policy: mean reward {reached:.3f}, weights {np.round(best, 2)}")
assert reached > by_chance
env.close()
