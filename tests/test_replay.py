"""`anabranch replay`: captures of runs, of live runs and of other programs."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

import anabranch as package
from anabranch import InputError, RunError, Scenario, replay, tables
from conftest import TWO_HOSTS, Command
from needs import TWO_KERNELS


def test_a_capture_gives_tables_series_and_figures(
    anabranch: Command, two_hosts: Path, tmp_path: Path
) -> None:
    assert (
        anabranch(
            "run", two_hosts, "--pcap", "--pcap-side", "both", "--out", tmp_path / "run"
        ).returncode
        == 0
    )
    capture, out = tmp_path / "run" / "capture.pcapng", tmp_path / "replay"
    done = anabranch("replay", capture, "--out", out)
    assert done.returncode == 0, done.stderr
    assert (
        "results in" in done.stdout
        and "at 2 interfaces, 0 of them neither TCP nor SCTP" in done.stdout
    )
    row, real = (tables.read_csv(path / "flows.csv")[0] for path in (out, tmp_path / "run"))
    assert row["flow"] == "a-b" and row["timeouts"] == ""
    assert "None" not in done.stdout, "what packets do not tell is no value"
    for name in ("bytes", "retransmitted_packets"):
        assert row[name] == real[name]
    sends = tables.read_csv(out / "series" / "a-b.sends.csv")
    assert sends and [send["value"] for send in sends] == [
        csv["value"] for csv in tables.read_csv(tmp_path / "run" / "series" / "f.sends.csv")
    ]
    assert (out / "report.html").stat().st_size > 10_000


def test_without_a_terminal_names_are_whole(anabranch: Command, tmp_path: Path) -> None:
    """What a pipe is given is not cut to 80 columns."""
    capture, name = tmp_path / "x.pcapng", "a-host-whose-name-is-as-long-as-names-are"
    Scenario(TWO_HOSTS.replace('"a"', f'"{name}"')).run(pcap=capture, capture_end="both")
    done = anabranch("replay", capture, "--out", tmp_path / "replay")
    assert done.returncode == 0, done.stderr
    assert f"{name}-b" in done.stdout and "retransmitted" in done.stdout


def test_a_capture_of_sctp_has_its_paths(anabranch: Command, tmp_path: Path) -> None:
    example = Path(__file__).parents[1] / "examples" / "sctp-multihoming.toml"
    scenario = Scenario.load(example).set("flows.0.size=2 MB", "flows.0.sctp.path_max_retrans=0")
    capture, out = tmp_path / "x.pcapng", tmp_path / "replay"
    run = scenario.run(pcap=capture, capture_end="both")
    done = anabranch("replay", capture, "--out", out)
    assert done.returncode == 0, done.stderr
    (row,) = tables.read_csv(out / "flows.csv")
    assert (row["flow"], row["protocol"], row["bytes"]) == ("a-b", "sctp", "2000000")
    assert int(row["retransmitted_packets"]) == run.flows[0]["retransmitted_packets"] > 0
    result = replay(capture)
    for path in ("b.x", "b.y"):
        least = result.series[f"a-b.{path}.rtt"]["value"].min()
        assert 0.07 < least < 0.12
        assert result.series[f"a-b.{path}.sends"]["len"].max() > 1000
    assert (out / "report.html").stat().st_size > 10_000


def test_figures_are_those_of_a_run(tmp_path: Path) -> None:
    capture = tmp_path / "x.pcapng"
    Scenario(TWO_HOSTS).run(pcap=capture, capture=["a", "a-b"])
    result = replay(capture)
    assert [run["name"] for run in result.run["interfaces"]] == ["a", "a-b", "b-a"]
    for kind in ("time-sequence", "throughput", "rtt", "in_flight"):
        assert result.plot(kind).axes
    assert package.replay is replay


def test_other_files_are_refused(anabranch: Command, two_hosts: Path, tmp_path: Path) -> None:
    done = anabranch("replay", two_hosts, "--out", tmp_path / "o")
    assert done.returncode == 2 and "neither pcapng nor pcap" in done.stderr
    with pytest.raises(RunError, match="nothing-here"):
        replay(tmp_path / "nothing-here")
    done = anabranch("run", two_hosts, "--capture", "c", "--out", tmp_path / "o")
    assert done.returncode == 2 and "a host, an interface or a link: a, b, a-b" in done.stderr
    with pytest.raises(InputError):
        replay(two_hosts)


@pytest.mark.needs("editcap")
def test_a_capture_that_another_program_wrote_again(tmp_path: Path) -> None:
    """editcap's pcap with a snap length: no directions, no names, cut payloads."""
    capture, other = tmp_path / "x.pcapng", tmp_path / "y.pcap"
    Scenario(TWO_HOSTS).run(pcap=capture, capture=["a"])
    subprocess.run(["editcap", "-F", "pcap", "-s", "80", capture, other], check=True)
    ours, theirs = replay(capture), replay(other)
    assert theirs.flows[0]["flow"] == "10.0.0.1-10.0.0.2"
    for what in ("sends", "acks"):
        first = ours.series[f"a-10.0.0.2.{what}"]
        second = theirs.series[f"10.0.0.1-10.0.0.2.{what}"]
        assert np.array_equal(first["value"], second["value"])
        assert np.abs(first["time_s"] - second["time_s"]).max() < 2e-6


@pytest.mark.needs("live")
def test_a_live_capture_at_hosts_and_at_a_link(anabranch: Command, tmp_path: Path) -> None:
    """Two kernels; what the capture tells is what was measured at their sockets."""
    link = tmp_path / "link.toml"
    lossy = "impairments = [{ kind = 'periodic', every = 40 }]\nreverse = { impairments = [] }\n"
    link.write_text(TWO_KERNELS.replace("[[flows]]", f"{lossy}\n[[flows]]"), encoding="utf-8")
    for places, count in (([], 2), (["--capture", "a-b"], 2), (["--capture", "b"], 1)):
        out = tmp_path / f"live{count}{len(places)}"
        done = anabranch("live", link, *(places or ["--pcap", "--pcap-side", "both"]), "--out", out)
        assert done.returncode == 0, done.stderr
        real = tables.read_csv(out / "flows.csv")[0]
        result = replay(out / "capture.pcapng")
        assert len(result.run["interfaces"]) == count
        flow = result.flows[0]
        assert flow["bytes"] == 200_000 and flow["established"]
        if not places:
            assert flow["flow"] == "a-b"
            assert flow["retransmitted_packets"] == int(real["retransmitted_packets"]) > 0
            rtt = result.series["a-b.rtt"]["value"]
            assert 0.010 < rtt.min() < 0.012
        elif count == 2:
            lost = json.loads(json.dumps(tables.read_csv(out / "links.csv")))[0]
            assert result.run["interfaces"][0]["packets"] == int(lost["delivered"])
