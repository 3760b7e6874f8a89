"""What happened in a run and when: outages, handshakes, path states, timeouts, losses, marks, where
new data went.

Everything is found in what was observed (`Scenario.explored` observes it) and in the scenario;
docs/report.md says what is not recorded. Of a run's events this answers when it failed over, and
why then.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anabranch import si
from anabranch.observed import STATES, lasts_until, natural
from anabranch.recorded import Recorded
from anabranch.rows import FlowEvent, Row

BURST_S = 0.05
"""Losses, or retransmissions, that follow each other within this time are one event."""
PAUSE = 0.02
"""Part of the run for which a path sends no new data when it is said to have stopped."""

NEEDED = "a run that observes events, paths or packets, as with `--explore`"
"""What there is a timeline of."""


@dataclass(frozen=True, slots=True)
class Event(Row):
    """Something that happened at a date, or from one to another."""

    time_s: float
    """When, or from when on."""
    until_s: float | None
    """Until when, of what lasts."""
    lane: str
    """The link, flow or path that it is about."""
    kind: str
    """`flow`, `outage`, `state`, `loss`, `retransmission`, `data`, or a kind of
    `anabranch.rows.FlowEvent`."""
    detail: str
    """In words."""
    host: str = ""
    """The host at which it happened, of what happens at one."""
    cause: str = ""
    """What brought it about, in words, where that is known."""


def events(result: Recorded) -> list[Event]:
    """All events of a run in the order of their dates."""
    every = [
        *_flows(result),
        *_outages(getattr(result.run, "resolved", ""), result.run.end_s),
        *_states(result),
        *_happened(result),
        *_bursts(result),
        *_data(result),
    ]
    return sorted(every, key=_place)


FIRST, LAST = ("timeout",), ("retransmission", "data")
"""Of one date: what changes states and has packets sent, and what is sent."""


def _place(event: Event) -> tuple[Any, ...]:
    """Where an event stands: by its date and lane, a cause above what it brings about."""
    order = (event.kind in LAST, event.kind not in FIRST, event.kind)
    return event.time_s, natural(event.lane), order


def lanes(every: list[Event]) -> list[str]:
    """The lanes in the order in which they are shown: links that fail, then flows with their
    paths."""
    links = {event.lane for event in every if event.kind == "outage"}
    others = {event.lane for event in every} - links
    return [*sorted(links, key=natural), *sorted(others, key=natural)]


def _of(result: Recorded, kind: str) -> Iterator[tuple[str, NDArray[Any], NDArray[Any]]]:
    """Name, dates and values of each series of a kind."""
    for name, series in result.series.items():
        of, _, found = name.rpartition(".")
        if found == kind:
            yield of, series["time_s"], series["value"]


def _flows(result: Recorded) -> Iterator[Event]:
    for flow in result.flows:
        if flow.start_s <= result.run.end_s:
            end = result.run.end_s if flow.finish_s is None else flow.finish_s
            how = "goes on" if flow.finish_s is None else "complete"
            detail = f"{si.text(flow.bytes, 'B')}, {how}"
            yield Event(flow.start_s, end, flow.flow, "flow", detail)


def _outages(resolved: str, end_s: float) -> Iterator[Event]:
    """Those that the scenario plans; both directions of a link that fail at the same dates are
    told once, by the name of the link."""
    for link in tomllib.loads(resolved).get("links", ()) if resolved else ():
        back = link.get("reverse", {})
        there, returns = (list(_intervals(side, end_s)) for side in (link, back))
        detail = "carries nothing in either direction" if there == returns else "carries nothing"
        lanes = [(link.get("name", ""), there)]
        lanes += [(back.get("name", ""), returns)] if there != returns else []
        for lane, intervals in lanes:
            for start, until in intervals:
                yield Event(start, until, lane, "outage", detail)


def _intervals(side: Mapping[str, Any], end_s: float) -> Iterator[tuple[float, float]]:
    """Beginning and end of each outage of one direction, within the run."""
    for impairment in side.get("impairments", ()):
        for interval in impairment.get("intervals", ()) if impairment["kind"] == "outage" else ():
            start, lasts = (si.quantity(str(interval.get(key, ""))) for key in ("at", "for"))
            if start and start[0] <= end_s:
                yield start[0], min(start[0] + lasts[0], end_s) if lasts else end_s


def _states(result: Recorded) -> Iterator[Event]:
    """The states of paths, with what brought each about where `events` are observed, too."""
    causes = {
        (f"{row.flow}.{row.path}", row.event.removeprefix("path "), row.time_s): row.cause
        for row in result.events
        if _is_state(row) and row.cause
    }
    ends = {flow.flow: _end(result, flow.flow, flow.finish_s) for flow in result.flows}
    for of, times, values in _of(result, "path_state"):
        if not len(values):
            continue
        ended = lasts_until("path_state", of, ends, result.run.end_s)
        changes = np.flatnonzero(np.r_[True, np.diff(values) != 0])
        for at, change in enumerate(changes):
            last = at + 1 == len(changes)
            since, state = float(times[change]), STATES[int(values[change])]
            until = max(since, ended or since) if last else float(times[changes[at + 1]])
            cause = causes.get((of, state, since), "")
            yield Event(since, until, of, "state", state, cause=cause)


def _end(result: Recorded, flow: str, finish_s: float | None) -> float | None:
    """When a flow that has finished had closed, too, as far as that was observed."""
    if finish_s is None:
        return None
    closes = (row.time_s for row in result.events if row.flow == flow and row.kind == "close")
    return max([finish_s, *closes])


def _happened(result: Recorded) -> Iterator[Event]:
    """What was observed as `events`, in the lane of its flow or path; what happened at the end that
    receives the data has a lane of its own."""
    waiting: dict[tuple[str | None, ...], str] = {}
    for row in result.events:
        if _is_state(row):
            continue
        lane = f"{row.flow}.{row.path}" if row.path else row.flow
        if row.end == "receiver":
            lane = f"{lane} (at {row.host})"
        said = f"{row.event} again" if _is_repeated(row, waiting) else row.event
        detail = said if row.count == 1 else f"{said}, {row.count:,} times"
        until = row.until_s if row.until_s > row.time_s else None
        yield Event(row.time_s, until, lane, row.kind, detail, row.host, row.cause or "")


ANSWERS = {
    "SYN sent": "SYN-ACK received",
    "SYN with MP_JOIN sent": "SYN-ACK with MP_JOIN received",
    "SYN-ACK sent": "",
    "SYN-ACK with MP_JOIN sent": "",
    "INIT sent": "INIT ACK received",
    "COOKIE ECHO sent": "COOKIE ACK received",
}
"""What opens a connection, and the event that answers it, where there is one."""


def _is_repeated(row: FlowEvent, waiting: dict[tuple[str | None, ...], str]) -> bool:
    """Whether the packet of a handshake was sent before and not answered; notes in `waiting` what
    was sent, with the answer that ends it."""
    where = (row.flow, row.path, row.host)
    for key in [
        key for key, answer in waiting.items() if (*key[:3], answer) == (*where, row.event)
    ]:
        del waiting[key]
    if row.event not in ANSWERS:
        return False
    key = (*where, row.event)
    known = key in waiting
    waiting[key] = ANSWERS[row.event]
    return known


def _is_state(row: FlowEvent) -> bool:
    """Whether the row is of a path's state at the sender, whose lanes `path_state` fills."""
    return row.kind == "state" and row.end == "sender"


def _bursts(result: Recorded) -> Iterator[Event]:
    for of, times, _ in _of(result, "drops"):
        yield from _grouped(of, "loss", times, "lost")
    for name, series in result.series.items():
        of, _, kind = name.rpartition(".")
        if kind == "sends":
            again = np.asarray(series["retransmission"], dtype=bool)
            yield from _grouped(of, "retransmission", series["time_s"][again], "sent again")


def _grouped(lane: str, kind: str, times: NDArray[Any], what: str) -> Iterator[Event]:
    for first, last in _runs(times, BURST_S):
        count = last - first + 1
        until = float(times[last]) if times[last] > times[first] else None
        yield Event(float(times[first]), until, lane, kind, f"{si.counted(count, 'packet')} {what}")


def _data(result: Recorded) -> Iterator[Event]:
    """When a path carried new data, of flows that have several."""
    sends = {
        name.removesuffix(".sends"): series
        for name, series in result.series.items()
        if name.endswith(".sends")
    }
    names = {flow.flow for flow in result.flows}
    for lane, series in sends.items():
        if lane in names:
            continue
        fresh = series["time_s"][~np.asarray(series["retransmission"], dtype=bool)]
        for first, last in _runs(fresh, PAUSE * result.run.end_s):
            detail = f"{si.counted(last - first + 1, 'packet')} of new data"
            yield Event(float(fresh[first]), float(fresh[last]), lane, "data", detail)


def _runs(times: NDArray[Any], gap_s: float) -> Iterator[tuple[int, int]]:
    """First and last index of dates that follow each other within `gap_s`."""
    if not len(times):
        return
    breaks = np.flatnonzero(np.diff(times) > gap_s)
    firsts, lasts = np.r_[0, breaks + 1], np.r_[breaks, len(times) - 1]
    yield from ((int(a), int(b)) for a, b in zip(firsts, lasts, strict=True))
