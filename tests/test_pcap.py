"""`run --pcap`: which packets, and how much of them; tshark is the judge."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from anabranch import InputError, Scenario, replay
from conftest import TWO_HOSTS, Command

EXAMPLES = Path(__file__).parents[1] / "examples"
HEADERS = 20 + 60
"""Most octets of the headers of IPv4 and TCP."""


def tshark(capture: Path, fields: Sequence[str], condition: str = "") -> list[list[str]]:
    """The fields of each packet that the condition means."""
    command = ["tshark", "-n", "-r", str(capture), "-T", "fields"]
    command += [argument for field in fields for argument in ("-e", field)]
    done = subprocess.run(
        [*command, "-Y", condition] if condition else command,
        capture_output=True,
        text=True,
        check=True,
    )
    return [line.split("\t") for line in done.stdout.splitlines()]


def captured(anabranch: Command, file: Path, out: Path, *options: str) -> Path:
    done = anabranch("run", file, "--pcap", *options, "--out", out)
    assert done.returncode == 0, done.stderr
    return out / "capture.pcapng"


@pytest.mark.needs("tshark")
def test_by_default_a_packet_is_there_once_and_ends_with_its_headers(
    anabranch: Command, two_hosts: Path, tmp_path: Path
) -> None:
    run = Scenario.load(two_hosts).run()
    short = captured(anabranch, two_hosts, tmp_path / "short")
    whole = captured(
        anabranch, two_hosts, tmp_path / "whole", "--pcap-side", "both", "--snaplen", "0"
    )
    ends = ("frame.interface_name", "frame.cap_len", "frame.len", "ip.src", "tcp.len")
    packets = tshark(short, ends)
    assert {packet[0] for packet in packets} == {"a"}, "where the data is sent"
    assert all(int(packet[1]) <= HEADERS for packet in packets)
    assert max(int(packet[2]) for packet in packets) == 1500
    data = [int(packet[4]) for packet in packets if packet[4] != "0"]
    assert sum(data) >= run.flows[0].bytes
    # The same packets, in the same order, stand at `a` in the whole capture.
    condition = 'frame.interface_name == "a"'
    assert [packet[2:] for packet in packets] == [
        packet[2:] for packet in tshark(whole, ends, condition)
    ]
    assert tshark(short, ["frame.number"], "_ws.malformed") == []
    assert short.stat().st_size * 10 < whole.stat().st_size


@pytest.mark.needs("tshark")
def test_chunks_of_sctp_are_whole_but_for_the_last_payload(
    anabranch: Command, tmp_path: Path
) -> None:
    example = EXAMPLES / "sctp-multihoming.toml"
    short = captured(anabranch, example, tmp_path, "--set", "flows.0.size=1 MB")
    tsns = tshark(short, ["sctp.data_tsn"], "sctp.chunk_type == 0")
    assert len(tsns) > 500 and all(tsn[0] for tsn in tsns)
    assert (
        tshark(short, ["frame.number"], "sctp.chunk_type == 3 && frame.cap_len < frame.len") == []
    )
    assert tshark(short, ["frame.number"], "_ws.malformed") == []


def test_sides_and_lengths(tmp_path: Path) -> None:
    scenario, file = Scenario(TWO_HOSTS), tmp_path / "c.pcapng"

    def size(**options: object) -> int:
        scenario.run(pcap=file, **options)  # type: ignore[arg-type]
        return file.stat().st_size

    default = size()
    assert size(snaplen=40) < default < size(snaplen=200) < size(snaplen=0)
    receiver = size(capture_end="receiver")
    assert size(capture_end="both") > 1.8 * min(default, receiver)
    scenario.run(pcap=file, capture_end="receiver")
    (flow,) = replay(file).flows
    assert flow.flow.endswith("-b") and flow.bytes == 300_000
    with pytest.raises(InputError, match="sender, receiver, both"):
        scenario.run(pcap=file, capture_end="middle")


def test_real_octets_are_kept(tmp_path: Path) -> None:
    """A flow of real octets has them in its capture."""
    text = TWO_HOSTS.replace("[[flows]]", "[[flows]]\noctets = true", 1)
    file = tmp_path / "c.pcapng"
    Scenario(text).run(pcap=file)
    assert file.stat().st_size > 300_000
