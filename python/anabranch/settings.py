"""The tables of a scenario as typed dictionaries: an editor completes `tcp={...}`.

What each field means and its default: docs/scenario.md. Quantities are texts with units. The core
reads and checks the tables; these types tell an editor which names there are and what kind of value
each takes. Tables that are not here (window algorithms, recovery schemes, impairments, traffic) are
taken as any mapping.

`make settings` writes this file from what the core declares (tests/settings_page.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Required, TypedDict

Toml = Mapping[str, Any]
"""A table of which no type is here, as `tomllib` reads it."""

Algorithm = str | Toml | type
"""An algorithm by its name, with its options, or a class of the user's own."""

Dscp = int | str
"""A code point of differentiated services, by its number or its name."""


class DelayedAck(TypedDict, total=False):
    """`tcp.delayed_ack`: which ACKs wait, how long."""

    count: int
    delay: str


class TcpRto(TypedDict, total=False):
    """`tcp.rto`: bounds of the timeout (RFC 6298)."""

    granularity: str
    initial: str
    max: str
    min: str
    min_variation: str
    slop: str


class KeepAlive(TypedDict, total=False):
    """`tcp.keep_alive`: probes of idle connections."""

    idle: str
    interval: str
    probes: int


class FastOpen(TypedDict, total=False):
    """`tcp.fast_open`: TCP Fast Open (RFC 7413)."""

    client: bool
    cookieless: bool
    experimental: bool
    key_lifetime: str | Literal[False]
    retry_after: str
    server: bool


class Undo(TypedDict, total=False):
    """`tcp.undo`: what undoes spurious reductions of the window."""

    dsack: bool
    eifel: bool
    frto: bool


class Tcp(TypedDict, total=False):
    """`tcp`: the options of TCP, also of subflows of Multipath TCP."""

    adaptive_acks: bool
    black_hole_detection: bool
    challenge_acks: int
    counting: Literal["bytes", "acks", "delivered"]
    delayed_ack: DelayedAck
    dsack: bool
    dscp: Dscp
    dupack_threshold: int
    echo_old_segments: bool
    ecn: Literal["off", "passive", "on", "dctcp", "accurate"]
    ecn_codepoint: Literal["ect0", "ect1"]
    ecn_control: bool
    ecn_syn_retries: int
    ecn_wait: bool
    fast_open: bool | FastOpen
    go_back_n: bool
    idle_restart: bool
    initial_receive_window: str | float | Literal[False]
    initial_ssthresh: str
    initial_window: str
    keep_alive: bool | KeepAlive
    limited_transmit: bool
    manners: Literal["rfc", "linux", "freebsd"] | Toml
    max_dupack_threshold: int
    max_retries: int
    min_path_mtu: str
    mss: str
    mtu_probe_base: str
    mtu_probing: Literal["off", "black-hole", "always"]
    nagle: Literal["off", "rfc", "minshall"]
    opening_timeout: str | Literal[False]
    pacing_burst: int
    path_mtu_discovery: bool
    paws: bool
    profile: Literal["rfc", "linux", "freebsd", "ns2"]
    protect_time_wait: bool
    quick_acks: int
    receive_buffer: str
    receive_buffer_max: str | Literal[False]
    recovery: Algorithm
    require_timestamps: bool
    reset_timestamps: Literal["none", "aborts", "all"]
    rto: TcpRto
    rto_restart: Literal["acks", "first-resent"]
    rtt_samples: Literal["timed", "every-ack"]
    sack: bool
    segmentation_offload: bool
    send_buffer: str
    soft_errors_end_opening: bool
    stalled_after: int
    syn_ack_retries: int
    syn_linear_timeouts: int
    syn_retries: int
    time_wait: str
    timestamps: bool
    ttl: int
    undo: Undo
    user_timeout: str | Literal[False]
    window: Algorithm
    window_probe: Literal["octet", "empty"]
    window_scale: bool
    window_use: Literal["blocked", "outstanding"]


class Mptcp(TypedDict, total=False):
    """`mptcp`: the options beside those of its subflows."""

    capable_syns: int
    checksum: bool
    enabled: bool
    ipv6_mss: str
    linger: str
    long_numbers: bool
    max_subflows: int
    opportunistic_retransmission: bool
    passive_path_manager: (
        Literal["single", "full-mesh", "pairs", "n-diffports", "signal", "backup"] | Toml
    )
    path_manager: Literal["single", "full-mesh", "pairs", "n-diffports", "signal", "backup"] | Toml
    penalisation: bool
    reopen: str | Literal[False]
    scheduler: Algorithm


class Rto(TypedDict, total=False):
    """`sctp.rto`: bounds of the timeout (RFC 9260 §6.3.1)."""

    granularity: str
    initial: str
    max: str
    min: str


class ImmediateSacks(TypedDict, total=False):
    """`sctp.immediate_sacks` (RFC 7053)."""

    last: bool
    messages: bool
    reconfiguration: bool
    shutdown_pending: bool
    window_full: bool


class Probing(TypedDict, total=False):
    """`sctp.probing`: heartbeats to the alternates."""

    burst: int
    interval: str


class SctpUndo(TypedDict, total=False):
    """`sctp.undo`: what undoes spurious reductions."""

    duplicates: bool
    timestamps: bool


class Concurrent(TypedDict, total=False):
    """`sctp.concurrent`: data on all paths at once."""

    buffer_split: bool
    delayed_ack: bool
    split_fast_retransmit: bool
    window_update: bool


class Sctp(TypedDict, total=False):
    """`sctp`: the options of SCTP."""

    address_changes: Sequence[Toml]
    alternates: Sequence[str]
    association_max_retrans: int
    authentication: bool | Toml
    burst_keeps_window: bool
    concurrent: bool | Concurrent
    confirm_paths: bool
    cookie_life: str
    count_padding: bool
    destination: Algorithm
    dscp: Dscp
    dynamic_addresses: bool
    ecn: bool
    failover: Literal[
        "destination", "next", "last-heard", "lowest-rtt", "least-loss", "highest-rate"
    ]
    fast_recovery: bool
    growth_needs_advance: bool
    heartbeat_after_rto: bool
    heartbeat_burst: int
    heartbeat_interval: str | Literal[False]
    heartbeat_jitter: Literal["rto", "interval", "none"]
    highest_newly_acked: bool
    immediate_sacks: bool | ImmediateSacks
    inbound_streams: int
    initial_ssthresh: str
    initial_window: str
    interleaving: bool
    ip_header: Literal[20, 40]
    keep_primary: bool
    max_burst: int | Literal[False]
    max_init_retransmits: int
    message_size: str
    missing_reports: int
    mtu: str
    mtu_probe_base: str
    mtu_probe_timer: str | Literal[False]
    mtu_probing: Literal["off", "black-hole", "always"]
    mtu_raise_timer: str
    multiple_fast_retransmit: bool
    ns2_rules: bool | Toml
    outbound_streams: int
    partial_acked: Literal["all", "capped"]
    partial_reliability: bool
    path_max_retrans: int
    potentially_failed: int | Literal[False]
    preset: Literal["rfc2960", "rfc4960", "rfc9260", "ns2"]
    primary: str
    probing: Literal["policy"] | bool | Probing
    receive_buffer: str
    reconfiguration: bool
    rest_sets_ssthresh: bool
    rto: Rto
    sack_delay: str
    sack_frequency: int
    scheduler: Literal[
        "fcfs", "round-robin", "round-robin-packet", "priority", "fair-bandwidth", "weighted-fair"
    ]
    send_buffer: str
    slow_start_at_threshold: bool
    ssthresh_floor: int
    stream_values: Sequence[int]
    timestamps: bool
    trust_given: bool
    undo: SctpUndo
    vary_sack_path: bool
    window: Algorithm
    window_unit: Literal["mtu", "chunk"]
    zero_checksum: bool


class HtbClass(TypedDict, total=False):
    """A class of a queue of kind `htb`."""

    name: Required[str]
    rate: Required[str]
    burst: str
    cburst: str
    ceil: str
    dscp: Sequence[Dscp]
    flows: Sequence[str]
    hosts: Sequence[str]
    parent: str
    prio: int
    quantum: str
    queue: Toml


class DropTail(TypedDict, total=False):
    """`droptail`: first in, first out; arrivals beyond a limit in packets or octets are dropped."""

    kind: Literal["droptail"]
    limit: str


class Threshold(TypedDict, total=False):
    """`threshold`: drop-tail that marks ECN-capable packets while at least K wait (DCTCP)."""

    kind: Required[Literal["threshold"]]
    limit: str
    mark: str


class Red(TypedDict, total=False):
    """`red`: drops or marks at random by the average queue length; adaptive on request."""

    kind: Required[Literal["red"]]
    adaptive: bool
    by_size: bool
    ecn: bool
    gentle: bool
    interval: str
    limit: str
    max: str
    max_p: float
    mean_packet: str
    min: str
    target_delay: str
    wait: bool
    weight: float | Literal["auto"]


class Choke(TypedDict, total=False):
    """`choke`.

    RED; a packet that meets one of its own flow at a random place is dropped with it.
    """

    kind: Required[Literal["choke"]]
    candidates: int
    ecn: bool
    limit: str
    max: str
    max_p: float
    mean_packet: str
    min: str
    weight: float


class Blue(TypedDict, total=False):
    """`blue`: drops or marks with a probability that overflows raise and idle times lower."""

    kind: Required[Literal["blue"]]
    decrement: float
    ecn: bool
    freeze_time: str
    increment: float
    limit: str
    threshold: str


class Pie(TypedDict, total=False):
    """`pie`: drops or marks at random on arrival so that the delay stays near a target."""

    kind: Required[Literal["pie"]]
    activate: float
    alpha: float
    beta: float
    burst: str
    cap: bool
    delay: Literal["timestamps", "rate"]
    derandomize: bool
    ecn: bool
    ecn_threshold: float
    limit: str
    mean_packet: str
    target: str
    update: str


class Pi2(TypedDict, total=False):
    """`pi2`.

    Drops or marks at random, by the square of what a PI controller says, so that the delay stays
    near a target.
    """

    kind: Required[Literal["pi2"]]
    alpha: float
    beta: float
    coupling: float
    ecn: bool
    limit: str
    mean_packet: str
    scalable: Literal["none", "ect1", "ect"]
    target: str
    update: str


class CoDel(TypedDict, total=False):
    """`codel`: drops or marks at the head while packets have waited longer than a target."""

    kind: Required[Literal["codel"]]
    ce_threshold: str | Literal[False]
    ecn: bool
    interval: str
    limit: str
    max_packet: str
    target: str


class Cobalt(TypedDict, total=False):
    """`cobalt`.

    CoDel for flows that slow down, and BLUE for those that do not, at the head of one queue.
    """

    kind: Required[Literal["cobalt"]]
    blue_threshold: str | Literal[False]
    ce_threshold: str | Literal[False]
    decrement: float
    ecn: bool
    increment: float
    interval: str
    limit: str
    target: str


class FqCoDel(TypedDict, total=False):
    """`fq-codel`: a queue for each hashed flow in turns, new ones first, CoDel on each."""

    kind: Required[Literal["fq-codel"]]
    ce_threshold: str | Literal[False]
    drop_batch: int
    ecn: bool
    interval: str
    limit: str
    max_packet: str
    quantum: str
    queues: int
    target: str


class FqPie(TypedDict, total=False):
    """`fq-pie`: a queue for each hashed flow in turns, new ones first, PIE on each."""

    kind: Required[Literal["fq-pie"]]
    alpha: float
    beta: float
    burst: str
    cap: bool
    delay: Literal["timestamps", "rate"]
    derandomize: bool
    ecn: bool
    ecn_threshold: float
    limit: str
    mean_packet: str
    quantum: str
    queues: int
    target: str
    update: str


class DualPi2(TypedDict, total=False):
    """`dualpi2`: a low-latency and a classic queue with coupled marking (L4S)."""

    kind: Required[Literal["dualpi2"]]
    alpha: float
    beta: float
    classic_share: float
    coupling: float
    limit: str
    ramp: str
    ramp_start: str
    target: str
    update: str


class Priority(TypedDict, total=False):
    """`priority`.

    Bands by DSCP, or pure ACKs before the rest; a band is served only while those above it are
    empty.
    """

    kind: Required[Literal["priority"]]
    bands: Sequence[Sequence[Dscp]]
    key: Literal["dscp", "pure-ack"]
    limit: str


class Drr(TypedDict, total=False):
    """`drr`: a queue for each hashed flow or each DSCP, in turns of a quantum of octets."""

    kind: Required[Literal["drr"]]
    key: Literal["flow", "dscp"]
    limit: str
    quantum: str
    queues: int
    weights: Sequence[Sequence[Dscp | int]]


class Sfq(TypedDict, total=False):
    """`sfq`.

    A queue for each hashed flow in turns, the hash perturbed; the longest queue loses on overflow.
    """

    kind: Required[Literal["sfq"]]
    depth: str
    head_drop: bool
    limit: str
    perturb: str | Literal[False]
    quantum: str
    queues: int


class Cake(TypedDict, total=False):
    """`cake`: shaper, tins by DSCP, flow queues fair to hosts with COBALT on each, ACK filter."""

    kind: Required[Literal["cake"]]
    ack_filter: Literal["off", "conservative", "aggressive"]
    autorate: bool
    framing: Literal["none", "atm", "ptm"]
    ingress: bool
    isolation: Literal[
        "flowblind",
        "srchost",
        "dsthost",
        "hosts",
        "flows",
        "dual-srchost",
        "dual-dsthost",
        "triple-isolate",
    ]
    limit: str
    mpu: str
    overhead: int
    rate: str
    rtt: str
    tins: Literal["besteffort", "diffserv3", "diffserv4", "diffserv8", "precedence"]
    wash: bool


class Htb(TypedDict, total=False):
    """`htb`.

    Classes with guaranteed rates that borrow what others leave, each leaf a queue of any kind.
    """

    kind: Required[Literal["htb"]]
    classes: Sequence[HtbClass]
    default: str


class AckFilter(TypedDict, total=False):
    """`ack-filter`.

    Drop-tail; an ACK that comes drops those of its flow that it makes redundant.
    """

    kind: Required[Literal["ack-filter"]]
    aggressive: bool
    limit: str


Queue = (
    DropTail
    | Threshold
    | Red
    | Choke
    | Blue
    | Pie
    | Pi2
    | CoDel
    | Cobalt
    | FqCoDel
    | FqPie
    | DualPi2
    | Priority
    | Drr
    | Sfq
    | Cake
    | Htb
    | AckFilter
    | Toml
)
"""The field `queue` of a link, also as a table that was computed."""


class Reverse(TypedDict, total=False):
    """`links.reverse`: what differs on the way back."""

    delay: str
    delays: Toml
    impairments: Sequence[Toml]
    mtu: str
    name: str
    queue: Queue
    rate: str | Toml
    regulator: Toml | Literal[False]
    schedule: Toml
    token_bucket: Toml
    trace: Toml


class Link(TypedDict, total=False):
    """A link: an entry of `links`."""

    ends: Required[Sequence[str]]
    delay: str
    delays: Toml
    impairments: Sequence[Toml]
    mtu: str
    name: str
    queue: Queue
    rate: str | Toml
    regulator: Toml | Literal[False]
    reverse: Reverse
    schedule: Toml
    token_bucket: Toml
    trace: Toml
