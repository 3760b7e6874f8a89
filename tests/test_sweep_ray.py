"""A sweep on a Ray cluster of two nodes gives what threads give, also when a node is lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from anabranch import Scenario
from anabranch.sweep import Metric, Parameter, Replications, Sweep
from anabranch.sweep.executors import Local, Ray
from conftest import TWO_HOSTS

ROOT = Path(__file__).parents[1]

pytestmark = [
    pytest.mark.needs("ray"),
    # Ray's own start-up leaves files and sockets to the collector.
    pytest.mark.filterwarnings("ignore"),
]


@pytest.fixture
def cluster() -> Iterator[Any]:
    """A head that computes nothing and two nodes with one processor each."""
    import ray  # noqa: PLC0415 (heavy, and not there everywhere)
    from ray.cluster_utils import Cluster  # noqa: PLC0415

    # A lost node is noticed after two seconds, not after half a minute.
    health = {"health_check_period_ms": 500, "health_check_failure_threshold": 4}
    head = {"num_cpus": 0, "_system_config": {**health, "health_check_initial_delay_ms": 0}}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    nodes = [cluster.add_node(num_cpus=1) for _ in range(2)]
    ray.init(address=cluster.address, log_to_driver=False)
    cluster.wait_for_nodes()
    yield cluster, nodes
    ray.shutdown()
    cluster.shutdown()


def _both(sweep: Sweep, folder: Path, progress: Any = lambda _done, _all: None) -> list[Any]:
    """The sweep on the cluster, and on threads."""
    found = []
    for name, executor in (("ray", Ray()), ("local", Local(2))):
        heard = {"progress": progress} if name == "ray" else {}
        found.append(sweep.run(folder / name, executor=executor, **heard))
        executor.close()
    return found


def test_a_node_is_lost_and_nothing_changes(cluster: Any, tmp_path: Path) -> None:
    network, nodes = cluster
    sweep = Sweep(
        Scenario(TWO_HOSTS).set("flows.f.size=3 MB"),
        [Parameter.of("loss", "links.0.impairments.0.rate", [0.001, 0.003, 0.01])],
        Replications(6, 60, "goodput", relative=0.15),
        [Metric("goodput", "goodput_bps")],
        seed=3,
    )
    heard: list[int] = []

    def lose_a_node(done: int, _total: int) -> None:
        heard.append(done)
        if done >= 3 and len(nodes) == 2:
            network.remove_node(nodes.pop(), allow_graceful=False)

    executor = Ray()
    assert executor.workers == 2
    executor.close()
    spread, here = _both(sweep, tmp_path, lose_a_node)
    assert len(nodes) == 1
    assert not spread.failures()
    assert spread.table("flows").equals(here.table("flows"))
    assert spread.summary() == here.summary()
    hashes = [result.table("runs")["trace_hash"].to_pylist() for result in (spread, here)]
    assert hashes[0] == hashes[1]
    assert heard[-1] == here.table("runs").num_rows
    # An algorithm of one's own goes to the nodes by the name of its file, with its options.
    own = {"algorithm": f"{ROOT / 'examples' / 'algorithms' / 'aimd.py'}:Aimd"}
    windows = [own | {"decrease": share} for share in (0.5, 0.9)]
    sweep = Sweep(
        Scenario(TWO_HOSTS),
        [Parameter.of("window", "flows.f.tcp.window", windows)],
        Replications.exactly(3),
        [Metric("goodput", "goodput_bps")],
    )
    spread, here = _both(sweep, tmp_path / "own")
    assert not spread.failures()
    assert spread.table("flows").equals(here.table("flows"))
    rates = [row["mean"] for row in spread.summary()]
    assert len(rates) == 2 and rates[0] != rates[1]
