"""What sockets take of a kernel while an attack lasts: the most beyond what they took at first.

The kernel counts for the whole machine, so that the sockets of clients are among them:
pages of buffers (`mem` of TCP in /proc/net/sockstat) and, where /proc/slabinfo may be read, the
objects for sockets, for half-open connections and for those in TIME-WAIT.
`crates/scenario/examples/attacks_live.rs` starts it at a host without sockets of its own; it writes
a line whenever there is more than before."""

import contextlib
import resource
import time
from pathlib import Path

PAGE = resource.getpagesize()
SLABS = ("TCP", "TCPv6", "MPTCP", "request_sock_TCP", "request_sock_TCPv6", "tw_sock_TCP")


def lines(path: str) -> list[list[str]]:
    """The words of each line; none where the file may not be read."""
    with contextlib.suppress(OSError):
        return [line.split() for line in Path(path).read_text(encoding="ascii").splitlines()]
    return []


def buffers() -> int:
    of_tcp = [words for words in lines("/proc/net/sockstat") if words[0] == "TCP:"]
    return sum(int(words[words.index("mem") + 1]) * PAGE for words in of_tcp)


def objects() -> int:
    slabs = [words for words in lines("/proc/slabinfo") if words[0] in SLABS]
    return sum(int(words[1]) * int(words[3]) for words in slabs)


first, most = None, 0
while True:
    taken = buffers() + objects()
    first = taken if first is None else first
    if taken - first > most or most == 0:
        most = max(taken - first, 1)
        print("memory kB", most // 1000, flush=True)
    time.sleep(0.02)
