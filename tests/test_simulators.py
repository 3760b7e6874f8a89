"""The programs of `bench/simulators` run in the other simulators, and count packets.

The figures of docs/performance.md are not repeated here: a stretch of each workload shows that the
programs still fit the simulators, that what they count is what the workload sends, and that the
page's section is made of it.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]


def _module() -> ModuleType:
    """`bench/simulators/run.py`, which is no package."""
    spec = importlib.util.spec_from_file_location(
        "simulators_run", ROOT / "bench" / "simulators" / "run.py"
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


simulators = _module()


@pytest.mark.needs("ns-2")
def test_ns2_counts_its_hops() -> None:
    ns2 = simulators.Ns2()
    # Three links, 1 Gbit/s: at most 83,333 segments of 1500 octets a second, and an ACK for two.
    assert 50_000 < ns2.hops("long-flow", 1) < 3 * 83_333 * 1.5
    # 2763 segments over three links, less what was lost, sent again, and their ACKs.
    assert 2 * 3 * 2763 * 1.4 < ns2.hops("replications", 2) < 2 * 3 * 2763 * 1.8


@pytest.mark.needs("ns-3")
def test_ns3_counts_its_hops(tmp_path: Path) -> None:
    ns3 = simulators.Ns3(tmp_path / "ns3bench")
    assert 10_000 < ns3.hops("long-flow", 0, 0.25) < 0.25 * 3 * 83_333 * 1.5
    # The second of two transfers.
    assert 3 * 2763 * 1.4 < ns3.hops("replications", 1, 2) < 3 * 2763 * 1.8
    # 128 hosts whose packets cross six links or fewer.
    assert ns3.hops("fat-tree", 0, 0.05) > 1000
    assert ns3.time("replications", 0, 1).per_hop > 0


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(simulators.Missing, match="cargo build --release"):
        simulators.Ours(tmp_path / "bench")


def test_the_section_of_the_page_is_made_of_what_was_found() -> None:
    row = {"lengths": (1, 2), "hops": 1000}
    section = simulators.page(
        {
            "where": "Here.",
            "instructions": {
                "long-flow": {"ours": row | {"per_hop": 900.0}, "ns-2": row | {"per_hop": 1800.0}}
            },
            "time": {
                "long-flow": {
                    "ours": row | {"per_hop": [1e-7, 2e-7]},
                    "ns-3": row | {"per_hop": [1e-6, 6e-6]},
                }
            },
        }
    )
    none = simulators.NONE
    assert f"| `long-flow` | 900 | 1,800 (2.0) | {none} |" in section
    assert f"| `long-flow` | 150 | {none} | {none} | 3,500 | 20.0 (10.0 to 30.0) |" in section
    assert f"| `long-flow` | ns-3 | {none} | 1 to 2 s, 1,000 |" in section
