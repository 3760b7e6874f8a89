"""Our SCTP and usrsctp, and usrsctp and itself, over the same link."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from anabranch.errors import RunError
from anabranch.live_speed import scenarios
from anabranch.live_speed.running import Missing, live
from anabranch.trials import usrsctp

ITSELF = "usrsctp with itself"
BUFFER = "receive_buffer=1048576"
PORTS = f"{scenarios.PORT} {scenarios.PORT}"


def measures(megabytes: int) -> list[tuple[str, Callable[[Path], dict[str, float]]]]:
    """Returns the measures by their names."""
    runs = [
        ("our SCTP to usrsctp", "a", False),
        ("our SCTP from usrsctp", "b", False),
        ("our SCTP from usrsctp, receive_offload", "b", True),
        (ITSELF, "", False),
    ]
    return [(name, partial(_run, ours, offload, megabytes)) for name, ours, offload in runs]


def _run(ours: str, offload: bool, megabytes: int, logs: Path) -> dict[str, float]:
    program, octets = _program(logs), megabytes * 1_000_000
    all_ = {
        "a": f"exec {program} connect {{b}} {PORTS} {octets} {BUFFER}",
        "b": f"exec {program} listen {scenarios.PORT} {BUFFER}",
    }
    programs = [(host, command) for host, command in all_.items() if host != ours]
    result = live(scenarios.sctp(ours, megabytes, offload), programs, logs)
    flow = result.run.flows[0]
    if ours == "b":
        told, finish = (flow.bytes, flow.wrong_octets), flow.finish_s
    else:
        said = usrsctp.read(logs / "b.log")
        told, at = (said[:2], said[2]) if said else ((0, 0), None)
        finish = None if at is None else at - result.facts.started_monotonic_s
    for log in logs.glob("*.log"):
        log.unlink()
    if told != (octets, 0) or finish is None:
        raise RunError(f"the transfer failed: {told[0]} octets came, {told[1]} of them wrong")
    packets = sum(port.entered + port.left for port in result.facts.ports)
    seconds = finish - scenarios.START_S
    cpu = result.facts.loop_cpu_s
    return {"mbit_s": megabytes * 8 / seconds, "us_per_packet": 1e6 * cpu / packets}


def _program(folder: Path) -> str:
    """The peer, compiled into the folder by the first who asks."""
    try:
        return usrsctp.built(folder)
    except RunError as missing:
        raise Missing(str(missing)) from None
