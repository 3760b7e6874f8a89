"""A packet capture as the result of a run: the same rows, series and figures."""

from __future__ import annotations

from pathlib import Path

from anabranch.errors import InputError, RunError
from anabranch.experiment import TABLES, RunResult, core


def replay(capture: str | Path) -> RunResult:
    """Reads a capture, pcapng or pcap, of a run or of another program.

    Each direction of a TCP connection that carried data is a flow, with the series `sends`,
    `acks`, `receives`, `received`, `in_flight` and `rtt`; a subflow of Multipath TCP is one too. So
    is each direction of an SCTP association, with `received` and, for each path, `FLOW.PATH.sends`,
    `acks`, `sacks`, `receives`, `in_flight` and `rtt`.
    """
    path = Path(capture)
    try:
        value = core().replay(str(path))
    except OSError as error:
        raise RunError(f"{path}: {error}") from None
    except ValueError as error:
        raise InputError(f"{path}: {error}") from None
    nothing: dict[str, list[object]] = {name: [] for name in TABLES}
    return RunResult.from_native(nothing | value)
