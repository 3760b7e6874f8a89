"""A capture of Multipath TCP, read by Wireshark's dissectors, with tokens and HMACs beside
hashlib's."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from conftest import Command

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "mptcp.toml"
CHANGES = [
    "duration=2 s",
    "flows.0.reverse_size=1 MB",
    "flows.0.size=9 MB",
    "flows.0.octets=true",
    "flows.0.mptcp.checksum=true",
]

pytestmark = pytest.mark.needs("tshark")


@pytest.fixture(scope="module")
def pcap(anabranch: Command, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mptcp")
    changes = [part for change in CHANGES for part in ("--set", change)]
    done = anabranch(
        "run", EXAMPLE, *changes, "--pcap", "--pcap-side", "both", "--snaplen", "0", "--out", folder
    )
    assert done.returncode == 0, done.stderr
    return next(folder.glob("*.pcapng"))


def tshark(
    pcap: Path, condition: str, *names: str, options: Sequence[str] = ()
) -> Iterator[list[str]]:
    """The fields of the packets for which the condition holds."""
    fields = [part for name in names for part in ("-e", name)]
    checks = ["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE", *options]
    command = ["tshark", "-n", *checks, "-r", str(pcap), "-Y", condition, "-T", "fields", *fields]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=True)
    return (line.split("\t") for line in done.stdout.splitlines())


def opening(pcap: Path, condition: str, *names: str) -> Iterator[list[str]]:
    """The same of the first thousand packets, which have all handshakes: not all are dissected."""
    return tshark(pcap, condition, *names, options=("-c", "1000"))


def option(name: str) -> str:
    return f"tcp.options.mptcp.{name}"


def octets(number: str, length: int) -> bytes:
    return int(number, 0).to_bytes(length, "big")


def mac(first: bytes, second: bytes, message: bytes) -> bytes:
    return hmac.new(first + second, message, hashlib.sha256).digest()


def test_nothing_is_malformed(pcap: Path) -> None:
    bad = "_ws.malformed || tcp.checksum.status == 0 || ip.checksum.status == 0 || !tcp"
    assert list(tshark(pcap, bad, "frame.number")) == []
    # MP_CAPABLE, MP_JOIN, DSS and ADD_ADDR; data on both paths, in both directions.
    names = (option("subtype"), option("rawdataseqno"), "tcp.len", "ip.src", "ip.dst")
    rows = list(tshark(pcap, option("subtype"), *names))
    assert {int(kind) for kinds, *_ in rows for kind in kinds.split(",")} >= set(range(4))
    carried = {(row[3], row[4]) for row in rows if row[1] and int(row[2]) > 0}
    assert len(carried) == 4


def test_tokens_and_hmacs_are_those_of_hashlib(pcap: Path) -> None:
    keys = opening(pcap, f"{option('recvkey')}", option("sendkey"), option("recvkey"))
    client, server = (octets(key, 8) for key in next(keys))
    joins = f"{option('subtype')} == 1"
    syn = f"{joins} && tcp.flags.syn == 1 && tcp.flags.ack == 0"
    token, ours = next(opening(pcap, syn, option("recvtok"), option("sendrand")))
    assert octets(token, 4) == hashlib.sha256(server).digest()[:4]
    answer = f"{joins} && tcp.flags.syn == 1 && tcp.flags.ack == 1"
    short, theirs = next(opening(pcap, answer, option("sendtrunchmac"), option("sendrand")))
    nonces = octets(ours, 4), octets(theirs, 4)
    assert octets(short, 8) == mac(server, client, nonces[1] + nonces[0])[:8]
    (whole,) = next(opening(pcap, f"{joins} && tcp.flags.syn == 0", option("sendhmac")))
    assert bytes.fromhex(whole.replace(":", "")) == mac(client, server, nonces[0] + nonces[1])[:20]


def test_announced_addresses_carry_the_hmac_of_hashlib(pcap: Path) -> None:
    keys = opening(pcap, f"{option('recvkey')}", option("sendkey"), option("recvkey"))
    client, server = (octets(key, 8) for key in next(keys))
    names = [option(name) for name in ("addrid", "ipv4", "addaddrtrunchmac")]
    number, address, short = next(opening(pcap, option("addaddrtrunchmac"), *names))
    message = octets(number, 1) + ipaddress.ip_address(address).packed + bytes(2)
    assert octets(short, 8) == mac(server, client, message)[-8:]


@pytest.fixture(scope="module")
def shared(anabranch: Command, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The capture of a server with many connections at one port."""
    folder = tmp_path_factory.mktemp("shared")
    example = ROOT / "examples" / "mptcp-server.toml"
    whole = ("--pcap", "--pcap-side", "both", "--snaplen", "0")
    done = anabranch("run", example, "--set", "duration=3 s", *whole, "--out", folder)
    assert done.returncode == 0, done.stderr
    return next(folder.glob("*.pcapng"))


def test_joins_name_the_connection_of_their_client(shared: Path) -> None:
    bad = "_ws.malformed || tcp.checksum.status == 0 || ip.checksum.status == 0 || !tcp"
    assert list(tshark(shared, bad, "frame.number")) == []
    # The third ACK has both keys; its sender's address and port, and the peer's token.
    keys = tshark(shared, option("recvkey"), "ip.src", "tcp.srcport", option("recvkey"))
    tokens = {
        (address, port): hashlib.sha256(octets(key, 8)).digest()[:4] for address, port, key in keys
    }
    assert len(tokens) == len(set(tokens.values())) == 7
    # Each client joins from the same port of its other address, the next one.
    condition = f"{option('subtype')} == 1 && tcp.flags.syn == 1 && tcp.flags.ack == 0"
    fields = ("ip.src", "tcp.srcport", "tcp.dstport", option("recvtok"))
    # Both hosts' packets are in the capture.
    joins = {tuple(join) for join in tshark(shared, condition, *fields)}
    assert len(joins) == 7
    for address, port, to, token in joins:
        first = str(ipaddress.ip_address(address) - 1)
        assert (to, octets(token, 4)) == ("4433", tokens[first, port])
