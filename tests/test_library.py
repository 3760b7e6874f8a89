"""The scenario library: every scenario runs, and is what its name says."""

from __future__ import annotations

import doctest
import json
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from anabranch import InputError, Network, Scenario, comparison, library, load, tables
from anabranch import sweep as sweeps
from anabranch.library import entry as entry_module
from anabranch.library import graphml, quantities, sizes
from anabranch.library.suite.experiments import TRANSIENTS
from conftest import Command

ROOT = Path(__file__).parents[1]

SHORT: dict[str, tuple[str, ...]] = {
    "dumbbell": ("duration=3 s", "pairs=2"),
    "parking-lot": ("duration=3 s", "hops=2"),
    "fat-tree": ("duration=20 ms",),
    "incast": ("rounds=2",),
    "web": ("browsers=2", "pages=2", "think=100 ms", "background=1"),
    "short-flows": ("duration=2 s",),
    "rrul": ("duration=3 s", "lead=1 s"),
    "topology-zoo": ("size=20 kB",),
    "data-centre": ("duration=100 ms",),
    "access-link": ("duration=2 s",),
    "trans-oceanic": ("duration=1 s",),
    "geostationary": ("duration=4 s",),
    "wireless-access": ("duration=3 s",),
    "dial-up": ("duration=60 s",),
    "delay-throughput": ("duration=2 s", "rate=20 Mbit/s"),
    "ramp-up": ("duration=4 s", "rate=10 Mbit/s", "start=2 s"),
    "transient": ("duration=6 s", "rate=10 Mbit/s", "at=3 s"),
    "flash-crowd": ("duration=4 s", "at=1 s", "lasts=1 s", "rate=20 Mbit/s"),
    "impact": ("duration=4 s", "rate=20 Mbit/s"),
    "fairness": ("duration=4 s", "rate=20 Mbit/s", "later=1 s", "other_rtt=160 ms"),
    "multiple-bottlenecks": ("duration=4 s", "rate=20 Mbit/s"),
}
"""What makes each of them short."""

TRIANGLE = """<?xml version="1.0" encoding="utf-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key attr.name="Latitude" attr.type="double" for="node" id="d0" />
  <key attr.name="Longitude" attr.type="double" for="node" id="d1" />
  <key attr.name="label" attr.type="string" for="node" id="d2" />
  <key attr.name="LinkSpeed" attr.type="string" for="edge" id="d3" />
  <key attr.name="LinkSpeedUnits" attr.type="string" for="edge" id="d4" />
  <key attr.name="LinkSpeedRaw" attr.type="double" for="edge" id="d5" />
  <graph edgedefault="undirected">
    <node id="0">
      <data key="d0">48.8566</data><data key="d1">2.3522</data><data key="d2">Paris</data>
    </node>
    <node id="1">
      <data key="d0">51.5074</data><data key="d1">-0.1278</data><data key="d2">London (UK)</data>
    </node>
    <node id="2"><data key="d2">?</data></node>
    <edge source="0" target="1" id="e1"><data key="d3">2.5</data><data key="d4">G</data></edge>
    <edge source="1" target="2" id="e2"><data key="d5">622000000.0</data></edge>
    <edge source="2" target="0" id="e3" />
  </graph>
</graphml>
"""


@pytest.fixture
def triangle(tmp_path: Path) -> Path:
    """A network of three nodes, as the Topology Zoo writes it."""
    path = tmp_path / "Triangle.graphml"
    path.write_text(TRIANGLE, encoding="utf-8")
    return path


def short(name: str, triangle: Path) -> Scenario:
    scenario = library.load(f"library:{name}").set(*SHORT[name])
    return scenario.set(f"file={triangle}") if name == "topology-zoo" else scenario


def resolved(scenario: Scenario) -> dict[str, Any]:
    return tomllib.loads(scenario.resolved())


@pytest.mark.parametrize("name", library.ALL)
def test_every_scenario_runs_and_carries_data(name: str, triangle: Path) -> None:
    scenario = short(name, triangle)
    assert scenario.warnings() == []
    result = scenario.run(check=True)
    moved = sum(row["bytes"] + row["reverse_bytes"] for row in result.flows)
    assert moved > 10_000
    # The same again, from its resolved form: what is written down is all that there is.
    again = Scenario(scenario.resolved()).run()
    assert [row["bytes"] for row in again.flows] == [row["bytes"] for row in result.flows]


@pytest.mark.parametrize("name", [name for name in library.ALL if name != "topology-zoo"])
def test_every_scenario_takes_another_window(name: str, triangle: Path) -> None:
    scenario = short(name, triangle).set('window={ algorithm = "cubic", fast_convergence = false }')
    windows = {
        json.dumps(flow["tcp"]["window"]) for flow in resolved(scenario)["flows"] if "tcp" in flow
    }
    assert any('"fast_convergence": false' in window for window in windows)


def test_dumbbell() -> None:
    scenario = library.load("library:dumbbell").set("pairs=3", "buffer=40 packets", "queue=codel")
    table = resolved(scenario)
    assert (len(table["hosts"]), len(table["links"]), len(table["flows"])) == (6, 7, 3)
    queue = table["links"][0]["queue"]
    assert (queue["kind"], queue["limit"]) == ("codel", "40 packets")


def test_a_fat_tree_of_k_ports_has_k_cubed_over_four_hosts() -> None:
    for k in (2, 4, 8):
        table = resolved(library.fat_tree(k=k, duration="1 ms").scenario())
        # 5 k^2 / 4 switches; each of the three layers has k^3 / 4 links.
        assert len(table["hosts"]) == k**3 // 4
        assert len(table["routers"]) == 5 * k**2 // 4
        assert len(table["links"]) == 3 * k**3 // 4
        assert len(table["flows"]) == k**3 // 4


def test_arrivals_have_the_rate_that_the_load_needs() -> None:
    net = library.short_flows(flows="50 kB", load=0.5, rate="100 Mbit/s", duration="20 s", long=0)
    # 0.5 x 100 Mbit/s over 400 kbit a flow: 125 a second.
    (entry,) = tomllib.loads(net.toml())["flows"]
    assert entry["arrivals"]["per_second"] == pytest.approx(125.0)
    rows = net.scenario().run().flows
    starts = np.array([row["start_s"] for row in rows if row["start_s"] < 20])
    assert starts.size == pytest.approx(2500, abs=200)  # Poisson: standard deviation 50
    gaps = np.diff(starts)
    assert gaps.mean() == pytest.approx(1 / 125, rel=0.08)
    assert gaps.std() == pytest.approx(1 / 125, rel=0.12)  # as large as the mean


def test_means_of_laws_are_those_of_paper_and_pencil() -> None:
    assert sizes.mean(sizes.empirical([("0 B", 0.0), ("10 kB", 0.5), ("30 kB", 1.0)])) == 12_500
    # A step at 1 kB, then a line: 0.4 x 1000 + 0.6 x (1000 + 5000) / 2.
    assert sizes.mean(sizes.empirical([("1 kB", 0.4), ("5 kB", 1.0)])) == pytest.approx(2200)
    assert sizes.mean(sizes.lognormal("30 kB", 1.5)) == 30_000
    # Of shape 1: L H ln(H/L) / (H - L).
    bounded = sizes.bounded_pareto("1 kB", "1 MB", 1.0)
    assert sizes.mean(bounded) == pytest.approx(1e9 / 999e3 * np.log(1000))
    assert sizes.mean(sizes.bounded_pareto("1 kB", "1 MB", 1.0001)) == pytest.approx(
        sizes.mean(bounded), rel=1e-3
    )
    # The tables of pFabric in packets of 1460 B; their means in packets by hand.
    assert sizes.mean(sizes.published("data-mining")) / 1460 == pytest.approx(5116.6, abs=0.1)
    assert sizes.mean(sizes.published("web-search")) / 1460 == pytest.approx(1139, abs=3)


@pytest.mark.parametrize("name", sizes.PUBLISHED)
def test_published_sizes_are_drawn_with_their_mean(name: str) -> None:
    law = sizes.published(name)
    # A network so fast that all have ended.
    net = Network("drawn", duration="100 s")
    net.host("a")
    net.host("b")
    net.link("a", "b", rate="1 Tbit/s", delay="1 us", queue={"limit": "unlimited"})
    points = [[size, min(share, 1.0)] for size, share in law["cdf"] if share <= 0.7]
    law = sizes.empirical([*map(tuple, points), (points[-1][0], 1.0)])  # without the elephants
    net.flow("a", "b", count=2000, sizes=law, start_spread="1 s", tcp={"receive_buffer": "1 GiB"})
    octets = [row["bytes"] for row in net.scenario().run().flows]
    assert np.mean(octets) == pytest.approx(sizes.mean(law), rel=0.15)


def test_sizes_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "some.cdf"
    file.write_text("# octets, percent\n0 0\n10000, 15\n30000 100\n", encoding="utf-8")
    assert sizes.from_file(file)["cdf"] == [["0 B", 0.0], ["10000 B", 0.15], ["30000 B", 1.0]]
    for text, expected in [
        ("1000 0.5 x\n", "line 1"),
        ("1000 0.5\n900 1\n", "line 2"),
        ("1000 0.5\n", "last share"),
    ]:
        file.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=f"some.cdf: field `{expected}`"):
            sizes.from_file(file)


def test_graphml_of_three_nodes(triangle: Path) -> None:
    graph = graphml.read(triangle)
    assert [place.name for place in graph.places] == ["Paris", "London-UK", "n2"]
    assert [edge.rate_bps for edge in graph.edges] == [2.5e9, 622e6, None]
    table = tomllib.loads(graphml.network(graph, rate="1 Gbit/s", delay="3 ms").toml())
    links = {link["name"]: link for link in table["links"] if "name" in link}
    paris_london = links["Paris--London-UK--1"]
    # 343.6 km at 204 220 km/s.
    assert quantities.seconds(paris_london["delay"]) == pytest.approx(343.6 / 204_220, rel=2e-3)
    assert paris_london["rate"] == "2500000000 bit/s"
    # Without a place or a speed what is named as default holds.
    assert quantities.seconds(links["n2--Paris--1"]["delay"]) == pytest.approx(0.003)
    assert links["n2--Paris--1"]["rate"] == "1 Gbit/s"
    assert links["London-UK--n2--1"]["rate"] == "622000000 bit/s"
    result = library.topology_zoo(file=str(triangle), size="50 kB").scenario().run()
    assert Counter(row["bytes"] for row in result.flows) == {50_000: 3}


@pytest.mark.parametrize(
    ("wrong", "by", "expected"),
    [
        ("48.8566", "north", "field `node 0, Latitude`: value `north`: allowed: a number"),
        ("48.8566", "91", "field `node 0, Latitude`: value `91`: allowed: a number from -90 to 90"),
        ("-0.1278", "", "field `node 1, Longitude` is required"),
        ('target="1"', 'target="7"', "field `edge e1, target`: value `7`: allowed: a node's id"),
        (">G<", ">X<", "field `edge e1, LinkSpeedUnits`: value `x`: allowed: K, M, G, T"),
        (">2.5<", ">fast<", "field `edge e1, LinkSpeed`: value `fast`"),
        ("622000000.0", "-5", "field `edge e2, LinkSpeedRaw`: value `-5 bit/s`"),
        ('id="2"', 'id="1"', "field `node 1`: value `its id again`"),
        ("</graphml>", "", "field `XML`"),
        ("graphml", "html", "field `root`: value `html`"),
    ],
)
def test_bad_graphml_names_file_place_and_value(
    triangle: Path, wrong: str, by: str, expected: str
) -> None:
    triangle.write_text(TRIANGLE.replace(wrong, by), encoding="utf-8")
    with pytest.raises(InputError) as raised:
        graphml.read(triangle)
    assert str(raised.value).startswith(f"{triangle}: {expected}")


def test_parts_of_a_network_send_among_themselves(triangle: Path) -> None:
    alone = TRIANGLE.replace('<edge source="1" target="2" id="e2">', '<edge source="0" target="1">')
    alone = alone.replace('<edge source="2" target="0" id="e3" />', "")
    triangle.write_text(alone, encoding="utf-8")
    graph = graphml.read(triangle)
    assert [[each.name for each in part] for part in graphml.parts(graph)] == [
        ["Paris", "London-UK"],
        ["n2"],
    ]
    result = library.topology_zoo(file=str(triangle), size="10 kB").scenario().run()
    assert len(result.flows) == 2


def test_the_suite_has_nine_paths_of_the_round_trips_it_names() -> None:
    table = resolved(library.load("library:access-link").set("duration=100 ms"))
    delays = {link["name"]: quantities.seconds(link["delay"]) for link in table["links"]}
    rtts = sorted(
        round(2e3 * (delays[f"n{near}-left"] + delays["central"] + delays[f"right-n{far}"]))
        for near in (1, 2, 3)
        for far in (4, 5, 6)
    )
    assert rtts == [8, 32, 58, 78, 102, 128, 154, 178, 204]
    assert table["links"][0]["queue"]["limit"] == "1250 kB"  # 100 ms of 100 Mbit/s


@pytest.mark.parametrize(("load", "back"), [(0.3, 0.1), (0.6, 0.3)])
def test_the_suites_traffic_is_the_load_that_was_asked_for(load: float, back: float) -> None:
    scenario = library.load("library:access-link").set(f"load={load}", f"reverse_load={back}")
    links = {row["name"]: row for row in scenario.set("duration=15 s").run().links}
    for name, asked in (("central", load), ("central-reverse", back)):
        carried = links[name]["bytes_delivered"] * 8 / 15 / 100e6
        # Headers and ACKs of the other direction add some percent.
        assert carried == pytest.approx(asked, rel=0.15, abs=0.03)


@pytest.mark.parametrize("case", TRANSIENTS)
def test_transients_change_the_rate(case: str) -> None:
    scenario = library.load("library:transient").set(
        f"case={case}", "rate=10 Mbit/s", "rtt=20 ms", "at=7 s", "duration=14 s"
    )
    series = scenario.run().series["f0.received"]

    def rate(start: float, end: float) -> float:
        at = np.searchsorted(series["time_s"], [start, end], side="right") - 1
        return float(np.diff(series["value"][at])[0]) * 8 / (end - start) / 1e6

    full, rest = pytest.approx(9.7, abs=0.5), pytest.approx(2.43, abs=0.7)
    if case == "bursts":
        assert [rate(7, 8.9), rate(9, 10), rate(12, 13.9)] == [full, rest, full]
    else:
        before, after = (full, rest) if case == "increase" else (rest, full)
        assert [rate(4, 6.9), rate(10, 13.9)] == [before, after]


def test_multiple_bottlenecks_have_one_round_trip_time() -> None:
    table = tomllib.loads(library.multiple_bottlenecks(hops=4).toml())
    delays = {tuple(link["ends"]): quantities.seconds(link["delay"]) for link in table["links"]}
    long = [("long-a", "r0"), *((f"r{n}", f"r{n + 1}") for n in range(4)), ("r4", "long-b")]
    cross = [("cross-2-a", "r2"), ("r2", "r3"), ("r3", "cross-2-b")]
    for way in (long, cross):
        assert sum(delays[hop] for hop in way) == pytest.approx(0.030)


def test_pages_load_faster_when_objects_are_asked_for_together() -> None:
    def mean(pipelined: str) -> float:
        scenario = library.load("library:web").set(
            f"pipelined={pipelined}", "browsers=1", "pages=5", "think=10 ms", "background=0"
        )
        return float(scenario.run().series["browser-0.responses"]["value"].mean())

    assert mean("true") < mean("false") / 2


@pytest.mark.parametrize("protocol", ["tcp", "sctp", "mptcp"])
def test_pages_come_whole_over_every_transport(protocol: str) -> None:
    net = Network("pages")
    a, b = net.host("a"), net.host("b")
    lossy = [{"kind": "bernoulli", "rate": 0.02}]
    net.link(a, b, rate="10 Mbit/s", delay="5 ms", impairments=lossy)
    traffic = {
        "kind": "pages",
        "main": sizes.lognormal("20 kB", 1.0),
        "objects": {"law": "exponential", "mean": 6},
        "object": sizes.exponential("10 kB"),
        "count": 10,
    }
    net.flow(a, b, name="f", protocol=protocol, octets=True, traffic=traffic)
    net.observe("responses")
    result = net.scenario().run(check=True)
    (row,) = result.flows
    assert row["finish_s"] is not None and row["wrong_octets"] == 0
    assert result.series["f.responses"]["value"].size == 10


def test_what_is_wrong_names_scenario_parameter_and_value() -> None:
    def said(*assignments: str, name: str = "dumbbell") -> str:
        with pytest.raises(InputError) as raised:
            library.load(f"library:{name}").set(*assignments).run()
        return str(raised.value)

    assert "field `scenario`: value `nowhere`: allowed: dumbbell, parking-lot" in said(
        name="nowhere"
    )
    assert said("pairs=two").startswith(
        "library:dumbbell: field `pairs`: value `two`: allowed: a whole number"
    )
    assert "field `links[0].rate`: value `10`" in said("rate=10")
    assert "field `load`: value `0`" in said("load=0", name="access-link")
    assert "field `load`: value `nan`" in said("load=nan", name="access-link")
    assert "field `case`: value `x`: allowed: decrease, increase, bursts" in said(
        "case=x", name="transient"
    )
    assert "field `file` is required" in said(name="topology-zoo")
    assert "field `sizes`: value `zipf`: allowed: web-search, data-mining" in said(
        "flows=zipf", name="short-flows"
    )
    assert "field `window`" in said('window={ algorithm = "cubic"')
    with pytest.raises(InputError, match="field `parameter`: value `speed`"):
        library.build("dumbbell", {"speed": "1"})


def test_a_scenario_of_the_library_is_explored_with_what_it_was_given() -> None:
    scenario = library.load("library:dumbbell").set("duration=1 s", "pairs=1")
    explored = scenario.explored().run()
    assert explored.run.end_s == 1.0
    assert {flow.flow for flow in explored.flows} == {"f0"}
    assert {"f0.cwnd", "f0.sends", "bottleneck.queue"} <= explored.series.keys()


def test_a_scenario_of_the_library_is_compared_with_what_it_was_given() -> None:
    (point,), _ = comparison.points(Path("library:dumbbell"), ["duration=100 ms", "pairs=1"])
    assert resolved(point.scenario)["duration"] == "100 ms"


def test_a_scenario_by_its_name_and_by_its_file(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text(library.dumbbell(pairs=1).toml(), encoding="utf-8")
    assert load(file).resolved() == load("library:dumbbell").set("pairs=1").resolved()
    with pytest.raises(InputError, match=r"allowed: a file; anabranch\.load takes"):
        Scenario.load("library:dumbbell")


def test_from_the_command_line(anabranch: Command, tmp_path: Path) -> None:
    listed = anabranch("list", "scenarios")
    assert listed.returncode == 0 and all(name in listed.stdout for name in library.ALL)
    sets = [
        part for each in (*SHORT["dumbbell"], "flows.f0.size=50 kB") for part in ("--set", each)
    ]
    done = anabranch("run", "library:dumbbell", *sets, "--out", str(tmp_path / "run"))
    assert done.returncode == 0, done.stderr
    assert tables.read_csv(tmp_path / "run" / "flows.csv")[0]["bytes"] == "50000"
    wrong = anabranch("run", "library:dumbel", "--out", str(tmp_path / "none"))
    assert wrong.returncode == 2 and "allowed: dumbbell, parking-lot" in wrong.stderr


def test_the_page_has_every_scenario() -> None:
    page = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")
    for name, entry in library.ALL.items():
        (row,) = [line for line in page.splitlines() if line.startswith(f"| `{name}` |")]
        named = row.rpartition("|")[0].rpartition("|")[2].replace("`", "").split(",")
        given = {each.strip() for each in named} - {"the same"}
        assert given <= entry.parameters().keys()


@pytest.mark.parametrize("module", [library, graphml, quantities, sizes, entry_module])
def test_descriptions_show_what_happens(module: ModuleType) -> None:
    flags = doctest.NORMALIZE_WHITESPACE
    outcome = doctest.testmod(module, optionflags=flags)
    assert outcome.attempted > 0 and outcome.failed == 0


def test_examples(tmp_path: Path) -> None:
    assert sweeps.load(ROOT / "examples" / "sweeps" / "library.toml").points()
    program = ROOT / "examples" / "python" / "library_networks.py"
    command = [sys.executable, "-W", "error", str(program)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "flows ended" in done.stdout and "long" in done.stdout


def test_a_sweep_over_parameters_and_fields(tmp_path: Path) -> None:
    file = tmp_path / "sweep.toml"
    file.write_text(
        'scenario = "library:dumbbell"\nset = ["duration=1 s", "pairs=2"]\n'
        '[[parameters]]\nname = "buffer"\nfield = "buffer"\nvalues = ["10 packets", "50 packets"]\n'
        '[[parameters]]\nname = "delay"\nfield = "links.bottleneck.delay"\nvalues = ["5 ms"]\n',
        encoding="utf-8",
    )
    result = sweeps.load(file).run(tmp_path / "out")
    assert result.table("flows").num_rows == 4
    limits = [
        tomllib.loads(state.point.scenario)["links"][0]["queue"]["limit"] for state in result.states
    ]
    assert limits == ["10 packets", "50 packets"]
