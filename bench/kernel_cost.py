"""CPU time of windows in the kernel: one TCP flow over a veth pair, seconds of CPU per GB.

    python bench/kernel_cost.py [SECONDS [ROUNDS]]

`make kernel-cost` runs it. Needs root. The algorithms take turns in each round, so that what else
the machine does meanwhile meets all of them; a row shows the median over the rounds, the range, and
the median of its ratio to `reno` within the same round. The time is that of both ends with what
the kernel does on their behalf: over a veth pair a packet is received in the sender's own call or
in the receiver's.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from anabranch.native import core, guarded

KERNELS = ("reno", "cubic")
PORT = 5001
BLOCK = bytes(1 << 18)
SERVER = "10.77.0.1"


def main(seconds: float = 3.0, rounds: int = 5) -> None:
    """Prints a table."""
    if os.geteuid():
        sys.exit("kernel_cost needs root: it makes namespaces and loads programs")
    ours = [name for name, _ in core.kernel_algorithms()]
    found: dict[str, list[tuple[float, float]]] = defaultdict(list)
    with _veth() as spaces, contextlib.ExitStack() as loaded:
        names = {name: name for name in KERNELS}
        for number, name in enumerate(ours):
            names[name] = loaded.enter_context(_loaded(name, f"cost{number}_{os.getpid():x}"))
        for _ in range(rounds):
            for name, kernels in names.items():
                found[name].append(_measure(spaces, kernels, seconds))
    print(f"{os.uname().release}, {rounds} rounds of {seconds:g} s\n")
    print("| window | CPU s per GB | range | times `reno` | Gbit/s |\n|---|---:|---:|---:|---:|")
    base = [cost for cost, _ in found["reno"]]
    for name, rows in found.items():
        costs = [cost for cost, _ in rows]
        ratio = statistics.median(cost / reno for cost, reno in zip(costs, base, strict=True))
        speed = statistics.median(speed for _, speed in rows)
        print(
            f"| `{name}` | {statistics.median(costs):.3f} | {min(costs):.3f} to {max(costs):.3f} |"
            f" {ratio:.2f} | {speed:.1f} |"
        )


@contextlib.contextmanager
def _loaded(algorithm: str, name: str) -> Iterator[str]:
    """The algorithm in the kernel, for as long as the context."""
    with guarded():
        core.kernel_load(algorithm, name)
    try:
        yield name
    finally:
        with guarded():
            core.kernel_unload(name)


@contextlib.contextmanager
def _veth() -> Iterator[tuple[Path, Path]]:
    """Two namespaces with a veth pair between; their files."""
    names = [f"abcost{end}{os.getpid():x}" for end in "ab"]
    try:
        for name in names:
            _ip("netns", "add", name)
        _ip(
            "-n",
            names[0],
            "link",
            "add",
            "v0",
            "type",
            "veth",
            "peer",
            "name",
            "v0",
            "netns",
            names[1],
        )
        for name, address in zip(names, (SERVER, "10.77.0.2"), strict=True):
            _ip("-n", name, "address", "add", f"{address}/24", "dev", "v0")
            _ip("-n", name, "link", "set", "v0", "up")
        server, client = (Path("/run/netns") / name for name in names)
        yield server, client
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "delete", name], check=False, capture_output=True)


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True)


def _measure(spaces: tuple[Path, Path], algorithm: str, seconds: float) -> tuple[float, float]:
    """CPU seconds per GB, and Gbit/s."""
    before = _cpu()
    server, client = (_entered(space) for space in spaces)
    start = time.monotonic()
    with server(socket.create_server, (SERVER, PORT)) as listening:
        sender = client(socket.socket)
        sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, algorithm.encode())
        sender.connect((SERVER, PORT))
        receiver, _ = listening.accept()
        counted = [0]

        def receive() -> None:
            room = bytearray(len(BLOCK))
            while taken := receiver.recv_into(room):
                counted[0] += taken

        thread = threading.Thread(target=receive)
        thread.start()
        while time.monotonic() - start < seconds:
            sender.sendall(BLOCK)
        sender.close()
        thread.join()
        receiver.close()
    took = time.monotonic() - start
    return (_cpu() - before) / (counted[0] / 1e9), counted[0] * 8e-9 / took


def _entered(space: Path) -> Callable[..., Any]:
    """Calls a function in a namespace, by a thread of its own: what it makes stays there."""

    def call(function: Callable[..., Any], *arguments: Any) -> Any:
        made: list[Any] = []

        def inside() -> None:
            with space.open() as file:
                _enter(file.fileno())
            made.append(function(*arguments))

        thread = threading.Thread(target=inside)
        thread.start()
        thread.join()
        return made[0]

    return call


def _enter(namespace: int) -> None:
    """The calling thread from now on is in the network namespace (`os.setns` is of Python 3.12)."""
    clone_newnet = 0x40000000
    if ctypes.CDLL(None, use_errno=True).setns(namespace, clone_newnet):
        raise OSError(ctypes.get_errno(), "setns")


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main(*(kind(value) for kind, value in zip((float, int), sys.argv[1:], strict=False)))
