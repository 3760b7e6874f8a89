"""Rows of what applications saw: messages, datagrams, pings, calls, videos, page loads."""

from __future__ import annotations

from dataclasses import dataclass

from anabranch.rows.row import Row


@dataclass(frozen=True, slots=True)
class Message(Row):
    """The messages of a flow, in one direction."""

    flow: str
    """The flow; `FLOW.reverse` for the messages of its other host."""
    made: int
    """Made by the application."""
    delivered: int
    """Read by the peer's."""
    delay_s: float | None
    """Mean time from being made to being read, of those that were."""
    longest_delay_s: float | None
    """The longest."""
    wait_s: float | None
    """Mean time that they were complete at the receiver and waited for earlier ones of their stream
    (head-of-line blocking)."""
    longest_wait_s: float | None
    """The longest."""


@dataclass(frozen=True, slots=True)
class Datagrams(Row):
    """The datagrams of a flow over UDP, in one direction."""

    flow: str
    """The flow; `FLOW.reverse` for the datagrams of its other host."""
    sent: int
    """Sent by the host."""
    received: int
    """Received for the first time."""
    duplicates: int
    """Copies received beyond that."""
    under_way: int
    """In the network when the run ended: neither lost nor received."""
    lost: int
    """Sent, and neither received nor under way."""
    loss_runs: int
    """Runs of one or more lost in a row (RFC 3357)."""
    longest_loss_run: int
    """Length of the longest of them."""
    reordered: int
    """Received after one that was sent later (RFC 4737)."""
    loss_ratio: float | None
    """Lost, as a part of those sent and not under way."""
    reordered_ratio: float | None
    """Reordered, as a part of those received."""
    delay_mean_s: float | None
    """One-way delay from the application's making it to its peer's reading it: mean."""
    delay_p50_s: float | None
    """Its median."""
    delay_p95_s: float | None
    """95 % took no longer."""
    delay_p99_s: float | None
    """99 % took no longer."""
    delay_max_s: float | None
    """The longest."""
    jitter_s: float | None
    """Interarrival jitter after the last datagram (RFC 3550, section 6.4.1)."""
    jitter_mean_s: float | None
    """Mean of the estimate over all datagrams."""
    jitter_max_s: float | None
    """Its largest value."""


@dataclass(frozen=True, slots=True)
class Ping(Row):
    """The probes of a flow of kind `ping`."""

    flow: str
    """The flow."""
    sent: int
    """Probes sent."""
    answered: int
    """Echoes that came back."""
    under_way: int
    """Probes and echoes in the network when the run ended."""
    lost: int
    """Neither answered nor under way."""
    loss_ratio: float | None
    """Lost, as a part of those sent and not under way."""
    rtt_mean_s: float | None
    """Round-trip time: mean."""
    rtt_p50_s: float | None
    """Its median."""
    rtt_p95_s: float | None
    """95 % took no longer."""
    rtt_p99_s: float | None
    """99 % took no longer."""
    rtt_max_s: float | None
    """The longest."""


@dataclass(frozen=True, slots=True)
class Call(Row):
    """A direction of a call as its hearer had it."""

    flow: str
    """The flow; `FLOW.reverse` for what the host `from` heard."""
    codec: str
    """The codec."""
    sent: int
    """Packets sent."""
    lost: int
    """Packets lost in the network."""
    late: int
    """Packets that came too late to be played."""
    unplayed_ratio: float | None
    """Lost or late, as a part of those sent; `None` when nothing was heard."""
    burst_ratio: float | None
    """Burst ratio of these: 1 where they are random (ITU-T G.107)."""
    mouth_to_ear_s: float | None
    """Delay from mouth to ear."""
    rating: float | None
    """Rating R of the E-model (ITU-T G.107)."""
    mos: float | None
    """Mean opinion score estimated from it, from 1 to 4.5."""


@dataclass(frozen=True, slots=True)
class Video(Row):
    """A video at an adaptive bit rate."""

    flow: str
    """The flow."""
    selection: str
    """The rule that selects bit rates."""
    segments: int
    """Segments that came."""
    mean_rate_bps: float | None
    """Mean of their bit rates."""
    switches: int
    """Segments of another bit rate than the one before."""
    stalls: int
    """How often playback stopped for want of video."""
    stalled_s: float
    """How long it stood in all."""
    startup_s: float | None
    """From pressing play to the first picture."""
    played_s: float
    """Video played."""


@dataclass(frozen=True, slots=True)
class Load(Row):
    """Loads of a page whose objects depend on each other."""

    flow: str
    """The flow."""
    begun: int
    """Loads begun."""
    complete: int
    """Loads that were complete."""
    load_time_mean_s: float | None
    """Page load time: mean."""
    load_time_p50_s: float | None
    """Its median."""
    load_time_p95_s: float | None
    """95 % took no longer."""
    load_time_p99_s: float | None
    """99 % took no longer."""
    load_time_max_s: float | None
    """The longest."""
