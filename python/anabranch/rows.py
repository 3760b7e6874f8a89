"""The rows of results: a class for each table, a field for each column.

`result.flows[0].goodput_bps` is what an editor completes and what a type checker checks. A row is
also a read-only mapping from the names of its columns, so that `row["goodput_bps"]`, `dict(row)`
and whatever takes a mapping go on to work: a program that is given the name of a column (a metric
of a sweep, the header of a CSV file) needs that, and so does the column `from`, which as an
attribute is `from_`. Rows are frozen; `dataclasses.replace` makes a changed one.

Fields that end in `_s` are seconds, in `_bps` bits per second; `bytes` are octets.
"""

from __future__ import annotations

import functools
import keyword
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Self

Cell = str | int | float | bool | None
"""What a field of a CSV file can hold; `None` is an empty one."""

CsvRow = dict[str, Cell]
"""A row of a CSV file that is made here: its columns and their values."""


@functools.cache
def _attributes(kind: type[Row]) -> dict[str, str]:
    """The attribute of each column, in order."""
    # `from` is a word of the language: its attribute is `from_`.
    return {each.name.removesuffix("_"): each.name for each in fields(kind)}  # type: ignore[arg-type]


class Row(Mapping[str, Any]):
    """A row of a table, or a group of facts: attributes, and a mapping from their names."""

    __slots__ = ()

    @classmethod
    def columns(cls) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(_attributes(cls))

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """The row with these values by column; a `TypeError` for one that the table lacks."""
        return cls(**{f"{key}_" if keyword.iskeyword(key) else key: values[key] for key in values})

    def __getitem__(self, column: str) -> Any:
        return getattr(self, _attributes(type(self))[column])

    def __iter__(self) -> Iterator[str]:
        return iter(_attributes(type(self)))

    def __len__(self) -> int:
        return len(_attributes(type(self)))


@dataclass(frozen=True, slots=True)
class Transfer(Row):
    """What packets tell of a flow, and runs of all flows."""

    flow: str
    """Its name."""
    protocol: str
    """Its transport: `tcp`, `mptcp`, `sctp`, `udp`."""
    start_s: float
    """When it started."""
    finish_s: float | None
    """When the last octet reached the receiving application, if it did."""
    bytes: int
    """Octets that the application of the host `to` received."""
    goodput_bps: float
    """`bytes` over the time from the start until the finish, or else until the flow stopped or the
    run ended."""
    retransmitted_packets: int
    """Data packets sent again, by both sides."""
    fast_retransmits: int | None
    """Entries into fast retransmit; `None` of a capture and of a kernel's sender."""
    timeouts: int | None
    """Expiries of the retransmission timer; `None` of a capture."""

    @property
    def duration_s(self) -> float | None:
        """Time from the start to the finish, of a flow that has one."""
        return None if self.finish_s is None else self.finish_s - self.start_s

    def took_s(self) -> float:
        """Returns the time that the flow took; raises a `ValueError` for a flow that has not
        finished."""
        if self.finish_s is None:
            raise ValueError(f"a transfer did not end: {self}")
        return self.finish_s - self.start_s


@dataclass(frozen=True, slots=True)
class Flow(Transfer):
    """A flow of a run, with what became of it."""

    timeouts: int
    """Expiries of the retransmission timer."""
    reverse_bytes: int
    """Octets that the application of the host `from` received."""
    established: bool
    """The connection was established."""
    closed: str | None
    """Why the connection ended, once it has: `normal`, `reset`, `refused`, `timed-out` or
    `aborted`."""
    outcome: str
    """How far it came: `complete`, `open`, `not-started`, `ended`, `unfinished` or `stalled`."""
    why: str | None
    """Where it is `ended`, `unfinished` or `stalled`: how much has arrived of how much, what it
    waits for, and the state of both ends."""
    wrong_octets: int
    """Octets that arrived other than they were sent, of flows of real octets."""
    undone_reductions: int | None
    """Reductions of the window that were undone, by both sides; `None` of a kernel's sender."""
    tail_loss_probes: int | None
    """Tail loss probes of both sides; `None` of a kernel's sender."""
    spurious_retransmissions: int
    """Retransmissions that turned out needless to their sender, of both sides."""
    fallback: bool | None
    """Of Multipath TCP: a side has fallen back to TCP (RFC 8684 §3.7); else `None`."""


@dataclass(frozen=True, slots=True)
class CapturedFlow(Transfer):
    """A direction of a connection in a packet capture."""

    packets: int
    """Data packets sent."""
    established: bool
    """`SYN`s of both sides were seen."""


@dataclass(frozen=True, slots=True)
class Link(Row):
    """A direction of a link: packets, and their octets with headers.

    `received` and `duplicated` together are `delivered`, all that was dropped, and `queued`.
    """

    name: str
    """The link's; of its way back with `-reverse`, unless it has a name of its own."""
    received: int
    """Packets offered to it."""
    delivered: int
    """Packets that reached the far end."""
    dropped_queue: int
    """Dropped because the queue was full."""
    dropped_aqm: int
    """Dropped by a decision of active queue management."""
    dropped_loss: int
    """Dropped by a loss impairment."""
    dropped_corrupt: int
    """Dropped because bits were in error."""
    dropped_mtu: int
    """Dropped because they were larger than the MTU."""
    marked: int
    """Marked by the queue: congestion experienced."""
    duplicated: int
    """Copies that the link made."""
    queued: int
    """In the link when the run ended: waiting, being transmitted or under way."""
    bytes_received: int
    """Octets offered, with the headers of IP."""
    bytes_delivered: int
    """Octets that reached the far end."""
    bytes_dropped: int
    """Octets dropped, for any reason."""
    bytes_duplicated: int
    """Octets of the copies."""
    bytes_queued: int
    """Octets in the link when the run ended."""
    utilisation: float | None = None
    """Octets that it delivered over those that its rate carries in the run; `None` where its rate
    changes."""
    queue_mean: float | None = None
    """Packets that wait, without the one being transmitted: mean over time; this column and those
    that follow where `what = "queueing"` observes the link."""
    queue_p50: float | None = None
    """Half of the time no more waited."""
    queue_p95: float | None = None
    """95 % of the time no more waited."""
    queue_p99: float | None = None
    """99 % of the time no more waited."""
    queue_max: float | None = None
    """The most."""
    queue_delay_mean_s: float | None = None
    """Time from joining the queue to the start of the transmission: mean over packets."""
    queue_delay_p50_s: float | None = None
    """Its median."""
    queue_delay_p95_s: float | None = None
    """95 % of packets waited no longer."""
    queue_delay_p99_s: float | None = None
    """99 % of packets waited no longer."""
    queue_delay_max_s: float | None = None
    """The longest."""

    @property
    def dropped(self) -> int:
        """Packets dropped, for any reason."""
        by_queue = self.dropped_queue + self.dropped_aqm
        return by_queue + self.dropped_loss + self.dropped_corrupt + self.dropped_mtu


@dataclass(frozen=True, slots=True)
class Path(Row):
    """A path of an SCTP association, or a subflow of Multipath TCP, in one direction."""

    flow: str
    """The flow that it belongs to."""
    from_: str
    """The sender's interface; the column `from`."""
    to: str
    """The peer's."""
    subflow: int
    """Which of the subflows between the two, from 0."""
    state: str
    """`unconfirmed`, `active`, `potentially-failed` or `inactive`."""
    packets: int
    """Packets with data sent."""
    retransmitted_packets: int
    """Of these, sent again."""
    bytes: int
    """Octets sent this way that the peer has acknowledged; what went several ways counts in
    each."""
    new_bytes: int | None
    """Octets that came this way to the receiver and were new to it; `None` where it does not count
    them."""
    goodput_bps: float | None
    """`new_bytes` over the time of the flow's `goodput_bps`."""
    fast_retransmits: int
    """Reductions of the window for missing reports."""
    timeouts: int
    """Expiries of the retransmission timer."""
    heartbeats: int
    """Heartbeats sent."""
    errors: int
    """Errors in a row."""
    cwnd: int
    """Congestion window in octets."""
    srtt_s: float | None
    """Smoothed round-trip time, once measured."""
    rto_s: float
    """Retransmission timeout."""


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


@dataclass(frozen=True, slots=True)
class Regulator(Row):
    """A regulator, which holds ACKs: packets and octets."""

    name: str
    """Name of its forward link's direction."""
    received: int
    """ACKs that came to it."""
    released: int
    """ACKs that it let go."""
    delayed: int
    """Of these, not at once."""
    dropped: int
    """ACKs that it had no room for."""
    held: int
    """ACKs that it held when the run ended."""
    most_held: int
    """The most that it held at a time."""
    bytes_received: int
    """Octets that came, with the headers of IP."""
    bytes_released: int
    """Octets that went on."""
    bytes_dropped: int
    """Octets dropped."""
    bytes_held: int
    """Octets held when the run ended."""
    total_delay_s: float
    """Sum of the delays of all ACKs."""
    longest_delay_s: float
    """The longest of them."""


@dataclass(frozen=True, slots=True)
class Line(Row):
    """A port of a line of ATM: cells."""

    name: str
    """The line's; of the port at its second end with `-reverse`."""
    received: int
    """Cells that came to the port."""
    forward_rm: int
    """Of these, forward RM cells."""
    backward_rm: int
    """Of these, backward RM cells."""
    delivered: int
    """Cells that left at the line's other end."""
    dropped: int
    """Cells that found the port full."""
    queued: int
    """Cells still there when the run ended."""
    most_waiting: int
    """The most cells that a cell found waiting before it."""
    mean_wait_s: float
    """Mean time that a cell waited, of those that were taken."""
    utilisation: float
    """Share of the run in which the line was busy."""


@dataclass(frozen=True, slots=True)
class Listener(Row):
    """A port that listens to strangers, and what it counted."""

    name: str
    """Its name."""
    accepted: int
    """Connections that it accepted."""
    strangers: int
    """Of these, from hosts that are no flow's."""
    gave_way: int
    """Connections in TIME-WAIT whose place another of the same addresses and ports took."""
    bytes: int
    """Octets that these brought."""
    half_open: int
    """Half-open connections when the run ended."""
    most_half_open: int
    """The most at a time."""
    waiting: int
    """Connections that wait to be accepted."""
    dropped: int
    """Connection requests dropped for want of room."""
    overflows: int
    """Handshakes that were complete and found no room to wait in."""
    cookies_sent: int
    """Requests that were answered without being remembered (RFC 4987 §3.6, RFC 9260 §5.1.3)."""
    cookies_accepted: int
    """Connections made of cookies that came back."""
    most_memory: int
    """The most octets of memory that it took."""


@dataclass(frozen=True, slots=True)
class Attack(Row):
    """An attack from outside, and what was sent."""

    name: str
    """Its name."""
    packets: int
    """Packets that it sent."""
    bytes: int
    """Their octets."""
    answers: int
    """Packets that came back to it."""


@dataclass(frozen=True, slots=True)
class FlowEvent(Row):
    """An event of a flow at one of its ends, or several equal ones less than 50 ms apart."""

    time_s: float
    """When the first of them happened."""
    until_s: float
    """When the last did."""
    flow: str
    """The flow."""
    host: str
    """The host at which it happened."""
    end: str
    """`sender` or `receiver` of the flow's data."""
    path: str | None
    """Of a flow with several paths which, by the name that its series have."""
    kind: str
    """`handshake`, `close`, `address`, `heartbeat`, `mark`, `ecn`, `fast-retransmit`, `timeout`,
    `probe` or `undo`."""
    event: str
    """What happened, in words."""
    count: int
    """How often."""


@dataclass(frozen=True, slots=True)
class Memory(Row):
    """What the connections of a host took of its memory."""

    host: str
    """Its name."""
    mean_bytes: float
    """Mean over the run."""
    most_bytes: int
    """The most at a time."""
    last_bytes: int
    """When the run ended."""


class Facts(Row):
    """Facts that every result has of itself."""

    __slots__ = ()

    end_s: float
    """When it ended, in simulated time; of a capture the last date."""


@dataclass(frozen=True, slots=True)
class Run(Facts):
    """Facts of a run in virtual time."""

    version: str
    """Of this package."""
    seed: int
    """The seed of its randomness."""
    replication: int
    """Which replication, from 0."""
    generator: str
    """Name of the random generator."""
    events: int
    """Events handled."""
    packet_hops: int
    """Packets times the links that each crossed."""
    dropped_checksum: int
    """Packets that hosts dropped because the transport's checksum did not match."""
    icmp_withheld: int
    """ICMP errors that a limit of their rate kept back."""
    wall_s: float
    """Real time that it took."""
    cpu_s: float
    """Processor time of its thread."""
    end_s: float
    """When it ended, in simulated time."""
    ended: str
    """Why it ended then, such as `time-limit`."""
    trace_hash: str | None
    """A hash over all packet events, when asked for."""
    warnings: list[str]
    """What the scenario says, but hardly means."""
    resolved: str = ""
    """The scenario with every default written out; empty of a run that a study has stored."""


@dataclass(frozen=True, slots=True)
class Interface(Row):
    """An interface at which the packets of a capture were seen."""

    name: str
    """As the capture calls it."""
    packets: int
    """Packets seen there."""


@dataclass(frozen=True, slots=True)
class Capture(Facts):
    """Facts of a packet capture."""

    end_s: float
    """The last date."""
    application: str
    """Who wrote it, as it says itself."""
    other_packets: int
    """Packets that are neither TCP nor SCTP, or not whole in their headers."""
    cut: bool
    """The file ends within a packet."""
    interfaces: list[Interface]
    """Where packets were seen."""


@dataclass(frozen=True, slots=True)
class Lateness(Row):
    """Distribution of the lateness of packets in real time, over all departures."""

    packets: int
    """Departures."""
    median_s: float
    """Half of them left no later than this."""
    p99_s: float
    """99 of 100 packets left no later than this."""
    p999_s: float
    """999 of 1000."""
    max_s: float
    """The latest."""


@dataclass(frozen=True, slots=True)
class Port(Row):
    """The port of an external host: packets."""

    name: str
    """Device and host."""
    entered: int
    """Came from the host."""
    left: int
    """Went to it."""
    ignored: int
    """Came from the host and were not for this network: no IP, a fragment, a wrong checksum, or an
    address that nobody has."""
    refused: int
    """Were for the host, which did not take them."""
    overrun: int
    """Came from the host and were lost in the full queue of the device."""
    first_ignored: str | None
    """Why the first of the ignored was."""
    first_refused: str | None
    """Why the first of the refused was."""


@dataclass(frozen=True, slots=True)
class Program(Row):
    """A program that ran on an external host."""

    host: str
    """The host."""
    command: str
    """Its command, for the shell."""
    status: int | None
    """Its exit status, or 128 and the number of the signal that ended it; `None` if the run ended
    it, or it never ran."""
    failure: str | None
    """Why it could not be started."""


@dataclass(frozen=True, slots=True)
class Control(Row):
    """A window algorithm of ours in the running kernel."""

    name: str
    """What the kernel calls it."""
    flows: int
    """Sockets that began with it."""
    coupled: int
    """Of them subflows that are coupled with those of their connection."""
    no_storage: int
    """Sockets for which there was no memory; their windows are plain Reno's."""
    no_connection: int
    """Subflows of connections for which there was no room; their windows are uncoupled."""
    no_slot: int
    """Subflows beyond the eighth of a connection; their windows are uncoupled."""
    window: str = ""
    """What the scenario calls it; empty outside of scenarios."""

    @property
    def unfitting(self) -> int:
        """Sockets and subflows that did not fit."""
        return self.no_storage + self.no_connection + self.no_slot


@dataclass(frozen=True, slots=True)
class LiveFacts(Row):
    """Facts of a run in real time: its precision, sockets and programs."""

    lateness: Lateness
    """How late packets left."""
    longest_absence_s: float
    """The longest time that the loop was away beyond its sleep."""
    started_monotonic_s: float
    """Date zero of the run by the machine's monotonic clock."""
    loop_cpu_s: float
    """Processor time of the loop."""
    shortest_round_trip_s: float
    """The least that any flow's round trip takes by the delays of links."""
    doubts: list[str]
    """Why the timing may have changed the results; empty where it has not."""
    scheduling: str
    """How the loop's thread is scheduled."""
    unprivileged: bool
    """It ran without root's rights."""
    kernel_senders: list[str]
    """Flows whose sender is a kernel."""
    stopped: bool
    """It was stopped before its end, by Ctrl-C or by its limit."""
    sockets: Sequence[Mapping[str, Any]]
    """What kernels told last of their connections: `flow`, `host`, `ends` and the fields of
    `TCP_INFO` or `MPTCP_INFO`, as the kernel calls them."""
    ports: list[Port]
    """The ports of external hosts."""
    controls: list[Control]
    """Window algorithms of ours that were in the kernel."""
    programs: list[Program]
    """What became of programs."""
    interrupted: bool = field(default=False)
    """Somebody pressed Ctrl-C."""


@dataclass(frozen=True, slots=True)
class Script(Row):
    """The verdict on a packetdrill script."""

    suite: str
    """The suite that an index names; empty of a single script."""
    category: str
    """The folder that it stands in."""
    script: str
    """Its file."""
    verdict: str
    """`passed`, `failed`, `not applicable` or `unreadable`."""
    line: int | None
    """The line at which it failed."""
    report: str
    """What happened, for people."""
    trace: str | None = None
    """Where its packets are, if they were asked for."""


def plain(value: Any) -> Any:
    """What `json.dumps` asks for as its `default`: rows as dictionaries, arrays and numbers of
    NumPy as lists and numbers."""
    return dict(value) if isinstance(value, Row) else value.tolist()
