"""How much faster two cores run one scenario than one core, with the same results.

    python bench/cores.py [ROUNDS]

Runs of one thread and of two take turns; the ratio is the median of those within a round, with the
least and the most. Writes rows of a table of docs/performance.md.
"""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

from anabranch import load
from anabranch.experiment import Scenario

ROOT = Path(__file__).parents[1]
ABILENE = ROOT / "examples" / "topologies" / "abilene.graphml"
WIDE_AREA = ROOT / "examples" / "wide-area.toml"
LINKS = 36


def zoo(*changes: str) -> Scenario:
    """Abilene with 18 hosts in each city, 198 in all, each sending to one other."""
    fixed = (f"file={ABILENE}", "hosts=18", "rate=1 Gbit/s", "access_rate=100 Mbit/s")
    return load("library:topology-zoo").set(*fixed, *changes)


def dumbbell(pairs: int, rate: str, delay: str, duration: str) -> Scenario:
    """Pairs of hosts over one bottleneck with a drop-tail queue."""
    changes = (f"pairs={pairs}", f"rate={rate}", f"delay={delay}", f"duration={duration}")
    return load("library:dumbbell").set(*changes, "buffer=1000 packets")


def faster(scenario: Scenario, rate: str) -> Scenario:
    """The wide-area example at another rate of all links."""
    links = range(LINKS)
    rates = [f"links.{i}.rate={rate}" for i in links]
    return scenario.set(*rates, *(f"links.{i}.queue.limit=800 packets" for i in links))


WORKLOADS = {
    "Abilene, 198 hosts, transfers of 3 s": lambda: zoo("size=500 MB", "duration=3 s"),
    "Abilene, 198 hosts, 1 MB each": lambda: zoo("size=1 MB", "duration=60 s"),
    "`wide-area.toml`": lambda: load(str(WIDE_AREA)),
    "`wide-area.toml` at 200 Mbit/s": lambda: faster(load(str(WIDE_AREA)), "200 Mbit/s"),
    "dumbbell, 100 pairs, 1 Gbit/s, 20 ms": lambda: dumbbell(100, "1 Gbit/s", "20 ms", "4 s"),
    "dumbbell, 20 pairs, 100 Mbit/s, 20 ms": lambda: dumbbell(20, "100 Mbit/s", "20 ms", "10 s"),
    "dumbbell, 20 pairs, 1 Gbit/s, 20 us": lambda: dumbbell(20, "1 Gbit/s", "20 us", "2 s"),
}


def main(rounds: int) -> None:
    """Prints the table."""
    print("| scenario | packet-hops | one core, s | two cores, s | times as fast |")
    print("|---|---:|---:|---:|---|")
    for name, make in WORKLOADS.items():
        scenario = make()
        taken: list[tuple[float, float]] = []
        for _ in range(rounds):
            one, two = scenario.run(), scenario.run(cores=2)
            if (one.flows, one.links, one.run.events) != (two.flows, two.links, two.run.events):
                sys.exit(f"{name}: the results differ")
            taken.append((one.run.wall_s, two.run.wall_s))
        ratios = sorted(one / two for one, two in taken)
        middle = [statistics.median(times) for times in zip(*taken, strict=True)]
        found = f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
        if two.run.cores == 1:
            found = f"one core: {two.run.one_core}"
        hops = f"{two.run.packet_hops:,}"
        print(f"| {name} | {hops} | {middle[0]:.3f} | {middle[1]:.3f} | {found} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
