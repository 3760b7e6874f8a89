"""`anabranch run`, `list`, `bench` and what a run leaves behind."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from anabranch import Scenario, tables
from conftest import Command

FOLDER = Path(__file__).parents[1] / "examples"
EXAMPLES = sorted([*FOLDER.glob("*.toml"), *FOLDER.glob("algorithms/*.toml")])


def test_run_writes_every_file(anabranch: Command, two_hosts: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = anabranch("run", two_hosts, "--seed", "3", "--pcap", "--out", out)
    assert result.returncode == 0, result.stderr
    flows = tables.read_csv(out / "flows.csv")
    assert tuple(flows[0])[: len(tables.FLOW_COLUMNS)] == tables.FLOW_COLUMNS
    assert flows[0]["flow"] == "f"
    assert flows[0]["bytes"] == "300000"
    assert 0.24 < float(flows[0]["finish_s"]) < 30
    assert "f" in result.stdout
    facts = json.loads((out / "run.json").read_text())
    assert facts["seed"] == 3
    assert {"version", "generator", "wall_s", "events", "resolved"} <= set(facts)
    assert (out / "links.csv").stat().st_size
    assert tables.read_csv(out / "series" / "f.cwnd.csv")[0].keys() >= {"time_s", "value"}
    assert "Time-sequence" in (out / "report.html").read_text()
    assert not list(out.rglob("*.part"))


def test_a_run_on_several_cores_has_the_same_results(anabranch: Command, tmp_path: Path) -> None:
    """Threads divide it where they gain; else it says why they do not."""
    results = {}
    for cores in (1, 2):
        out = tmp_path / str(cores)
        done = anabranch("run", FOLDER / "wide-area.toml", "--cores", cores, "--out", out)
        assert done.returncode == 0, done.stderr
        facts = json.loads((out / "run.json").read_text())
        assert (facts["cores"], facts["one_core"]) == (cores, None)
        counts = [facts[name] for name in ("events", "packet_hops", "end_s", "ended")]
        files = [(out / f"{name}.csv").read_text() for name in ("flows", "links", "paths")]
        files += [file.read_text() for file in sorted((out / "series").glob("*.cwnd.csv"))]
        assert len(files) > 3
        results[cores] = (counts, files)
    assert results[1] == results[2]
    two_hosts = FOLDER / "two-hosts.toml"
    done = anabranch("run", two_hosts, "--cores", 4, "--out", tmp_path / "watched")
    assert done.returncode == 0
    assert "run on one core: it has observers of packets or queues, which all" in done.stderr
    facts = json.loads((tmp_path / "watched" / "run.json").read_text())
    assert facts["cores"] == 1 and "observers" in facts["one_core"]
    done = anabranch("run", two_hosts, "--cores", 0, "--out", tmp_path / "none")
    assert done.returncode == 2 and "1<=x<=256" in done.stderr


def test_what_is_not_complete_is_said(anabranch: Command, two_hosts: Path, tmp_path: Path) -> None:
    """How far, what it waits for, both states; status 1 where that was asked for."""
    out = tmp_path / "out"
    short = ("run", two_hosts, "--out", out, "--set", "time_limit=150 ms")
    for complete, status in ((), 0), (("--complete",), 1):
        result = anabranch(*short, *complete)
        assert result.returncode == status, result.stderr
        assert "the run ended at its time_limit, 0.1" in result.stderr
        assert "f unfinished: " in result.stderr
        assert "of 300000 octets; waits for a timer at " in result.stderr
    row = tables.read_csv(out / "flows.csv")[0]
    assert row["outcome"] == "unfinished"
    assert "`from` FIN-WAIT-1" in row["why"]
    assert json.loads((out / "run.json").read_text())["ended"] == "time-limit"
    whole = anabranch("run", two_hosts, "--out", out, "--complete")
    assert (whole.returncode, whole.stderr) == (0, "")
    row = tables.read_csv(out / "flows.csv")[0]
    assert (row["outcome"], row["why"]) == ("complete", "")


def test_many_flows_of_one_name_share_a_row_and_a_column_has_one_unit(
    anabranch: Command, two_hosts: Path, tmp_path: Path
) -> None:
    more = "\n[[flows]]\nname = 'web'\nfrom = 'a'\nto = 'b'\nsize = '3 kB'\ncount = 12\n"
    scenario = tmp_path / "web.toml"
    scenario.write_text(two_hosts.read_text(encoding="utf-8") + more, encoding="utf-8")
    result = anabranch("run", scenario, "--out", tmp_path / "out")
    assert result.returncode == 0, result.stderr
    assert re.search(r"^ web +12 +12 ", result.stdout, re.MULTILINE)
    assert "web-1" not in result.stdout and "completion, 95 %" in result.stdout
    assert len(tables.read_csv(tmp_path / "out" / "flows.csv")) == 13
    few = anabranch("run", scenario, "--out", tmp_path / "out", "--set", "flows.web.count=3")
    rows = re.findall(r"^ (?:f|web-[0-9]) .*", few.stdout, re.MULTILINE)
    assert len(rows) == 4
    assert len({tuple(re.findall(r"[a-zA-Zµ/]+(?= )", row.split("tcp")[1])) for row in rows}) == 1


def test_flows_with_different_windows_say_theirs(anabranch: Command, tmp_path: Path) -> None:
    command = ("run", "library:dumbbell", "--set", "pairs=2", "--set", "duration=1 s")
    out = ("--out", tmp_path)
    same = anabranch(*command, *out).stdout
    assert "window" not in same
    told = anabranch(*command, "--set", "flows[0].tcp.window=reno", *out).stdout
    assert re.search(r"flow +protocol +window ", told)
    assert re.search(r"f0 +tcp +reno .*\n f1 +tcp +cubic ", told)


def test_entries_may_be_counted_in_brackets(two_hosts: Path) -> None:
    """As messages count them."""
    base = Scenario.load(two_hosts)
    brackets, dots = (
        base.set(f"{key}=vegas") for key in ("flows[0].tcp.window", "flows.0.tcp.window")
    )
    assert brackets.resolved() == dots.resolved() != base.resolved()
    assert base.set("seed=[[0]]").overrides == ("seed=[[0]]",)


def test_the_resolved_scenario_runs_again_to_the_same_trace(two_hosts: Path) -> None:
    first = Scenario.load(two_hosts).run(seed=5, trace_hash=True)
    again = Scenario(first.run["resolved"]).run(seed=first.run["seed"], trace_hash=True)
    assert again.run["trace_hash"] == first.run["trace_hash"]


def test_one_seed_one_trace(two_hosts: Path) -> None:
    scenario = Scenario.load(two_hosts)
    hashes = [scenario.run(seed=seed, trace_hash=True).run["trace_hash"] for seed in (1, 1, 2)]
    assert hashes[0] == hashes[1] != hashes[2]


def test_threads_change_nothing(two_hosts: Path) -> None:
    scenario = Scenario.load(two_hosts)
    rows = [
        [
            (run.run["replication"], run.run["trace_hash"], run.flows)
            for run in scenario.run_batch(8, seed=1, jobs=jobs, trace_hash=True)
        ]
        for jobs in (1, 2)
    ]
    assert rows[0] == rows[1]
    assert [replication for replication, _, _ in rows[0]] == list(range(8))
    assert len({trace for _, trace, _ in rows[0]}) == 8


def test_a_batch_holds_the_single_run(two_hosts: Path) -> None:
    scenario = Scenario.load(two_hosts)
    assert scenario.run_batch(3, seed=1)[2].flows == scenario.run(seed=1, replication=2).flows


@pytest.mark.needs("tshark")
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_wireshark_reads_every_packet(anabranch: Command, example: Path, tmp_path: Path) -> None:
    whole = ("--pcap", "--pcap-side", "both", "--snaplen", "0")
    assert anabranch("run", example, *whole, "--out", tmp_path).returncode == 0
    # A second or more of the fastest example, the whole of most.
    command = ["tshark", "-r", str(tmp_path / "capture.pcapng"), "-c", "60000"]
    command += ["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"]
    command += ["-o", "sctp.checksum:CRC 32c"]
    # The octets of a datagram are a pattern, which looks like a message of STUN now and then.
    bad = "(_ws.malformed && !udp) || tcp.checksum.status == 0 || ip.checksum.status == 0"
    bad += " || udp.checksum.status == 0 || sctp.checksum.status == 0"
    # Debian's tshark does not know RFC 9653: where it is agreed on, zero is a checksum, too.
    if "zero_checksum = true" in example.read_text(encoding="utf-8"):
        bad += " && sctp.checksum != 0"
    # Among many packets, octets that look like some protocol's header would be found.
    found = subprocess.run(
        [*command, "-Y", f"{bad} || !(tcp || sctp || udp)"],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    assert found.stdout == ""


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("algorithms", ("newreno", "sack", "fack", "decoupled", "cubic")),
        ("destinations", ("all-same", "best-path", "last-heard")),
        ("failovers", ("next", "highest-rate")),
        ("schedulers", ("fcfs", "weighted-fair")),
        ("queues", ("droptail", "red", "fq-codel", "dualpi2")),
        ("transmitters", ("trace", "token-bucket")),
        ("regulators", ("threshold-linear", "ack-bucket")),
        ("allocations", ("erica", "max-min", "efci")),
        ("topologies", ("dumbbell", "fat-tree")),
        ("impairments", ("bernoulli", "packets")),
        ("observers", ("cwnd", "packets")),
        ("studies", ("sack-recovery",)),
    ],
)
def test_list(anabranch: Command, kind: str, names: tuple[str, ...]) -> None:
    result = anabranch("list", kind)
    assert result.returncode == 0, result.stderr
    for name in names:
        assert name in result.stdout


def test_list_of_all_and_help(anabranch: Command) -> None:
    assert "sack-recovery" in anabranch("list").stdout
    assert "reproduce" in anabranch("--help").stdout
    assert anabranch("--version").stdout.startswith("anabranch")
