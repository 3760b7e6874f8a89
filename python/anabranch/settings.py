"""The tables of a scenario as typed dictionaries: an editor completes `tcp={...}`.

What each field means and its default: docs/scenario.md. Quantities are texts with units. The core
reads and checks the tables; these types tell an editor which names there are and what kind of value
each takes. tests/test_settings.py asks the core for the names of every table and holds these to
them. Tables that are not here yet (window algorithms, recovery schemes, impairments, traffic) are
taken as any mapping.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Required, TypedDict

Toml = Mapping[str, Any]
"""A table of which no type is here, as `tomllib` reads it."""

Algorithm = str | Toml | type
"""An algorithm by its name, with its options, or a class of the user's own."""


class DelayedAck(TypedDict, total=False):
    """`tcp.delayed_ack`: which ACKs wait, and how long."""

    count: int
    delay: str


class Rto(TypedDict, total=False):
    """`sctp.rto`: bounds of the retransmission timeout (RFC 9260 §6.3.1)."""

    initial: str
    min: str
    max: str
    granularity: str


class TcpRto(Rto, total=False):
    """`tcp.rto`: bounds of the retransmission timeout (RFC 6298)."""

    min_variation: str
    slop: str


class KeepAlive(TypedDict, total=False):
    """`tcp.keep_alive`: probes of an idle connection."""

    idle: str
    interval: str
    probes: int


class Undo(TypedDict, total=False):
    """`tcp.undo`: what finds out and undoes spurious reductions of the window."""

    frto: bool
    eifel: bool
    dsack: bool


class Tcp(TypedDict, total=False):
    """`tcp`: the options of TCP, also of the subflows of Multipath TCP."""

    adaptive_acks: bool
    black_hole_detection: bool
    challenge_acks: int
    counting: Literal["bytes", "acks", "delivered"]
    delayed_ack: DelayedAck
    dsack: bool
    dscp: int | str
    dupack_threshold: int
    echo_old_segments: bool
    ecn: str
    ecn_codepoint: Literal["ect0", "ect1"]
    ecn_control: bool
    ecn_syn_retries: int
    ecn_wait: bool
    fast_open: bool | Toml
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
    mtu_probe_base: str
    mss: str
    mtu_probing: Literal["off", "always", "black-hole"]
    nagle: Literal["off", "rfc", "minshall"]
    opening_timeout: str | Literal[False]
    pacing_burst: int
    path_mtu_discovery: bool
    paws: bool
    profile: Literal["rfc", "linux", "freebsd", "ns2"]
    protect_time_wait: bool
    quick_acks: int
    segmentation_offload: bool
    receive_buffer: str
    receive_buffer_max: str | Literal[False]
    recovery: Algorithm
    require_timestamps: bool
    reset_timestamps: Literal["all", "aborts", "none"]
    rto: TcpRto
    rto_restart: Literal["acks", "first-resent"]
    rtt_samples: Literal["timed", "every-ack"]
    sack: bool
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
    """`mptcp`: the options of Multipath TCP beside those of its subflows."""

    capable_syns: int
    checksum: bool
    enabled: bool
    ipv6_mss: str
    linger: str
    long_numbers: bool
    max_subflows: int
    opportunistic_retransmission: bool
    passive_path_manager: str | Toml
    path_manager: str | Toml
    penalisation: bool
    reopen: str | Literal[False]
    scheduler: Algorithm


class Sctp(TypedDict, total=False):
    """Options of the table `sctp`."""

    address_changes: Sequence[Toml]
    alternates: Sequence[str]
    association_max_retrans: int
    authentication: bool | Toml
    burst_keeps_window: bool
    concurrent: bool | Toml
    confirm_paths: bool
    cookie_life: str
    count_padding: bool
    destination: Algorithm
    dscp: int | str
    dynamic_addresses: bool
    ecn: bool
    failover: str | Toml
    fast_recovery: bool
    growth_needs_advance: bool
    heartbeat_after_rto: bool
    heartbeat_burst: int
    heartbeat_interval: str | Literal[False]
    heartbeat_jitter: Literal["rto", "interval", "none"]
    highest_newly_acked: bool
    immediate_sacks: bool | Toml
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
    partial_acked: Literal["capped", "all"]
    partial_reliability: bool
    path_max_retrans: int
    potentially_failed: int | Literal[False]
    preset: Literal["rfc2960", "rfc4960", "rfc9260", "ns2"]
    primary: str
    probing: Literal["policy"] | bool | Toml
    receive_buffer: str
    reconfiguration: bool
    rest_sets_ssthresh: bool
    rto: Rto
    sack_delay: str
    sack_frequency: int
    scheduler: str
    send_buffer: str
    slow_start_at_threshold: bool
    ssthresh_floor: int
    stream_values: Sequence[int]
    timestamps: bool
    trust_given: bool
    undo: Toml
    vary_sack_path: bool
    window: Algorithm
    window_unit: Literal["chunk", "mtu"]
    zero_checksum: bool


class DropTail(TypedDict, total=False):
    """A queue that drops what finds it full; the kind of a queue that does not say its own."""

    kind: Literal["droptail"]
    limit: str


class Threshold(TypedDict, total=False):
    """A queue that marks what finds so much waiting, as DCTCP asks for."""

    kind: Required[Literal["threshold"]]
    limit: str
    mark: str


class Red(TypedDict, total=False):
    """Options of random early detection (`red`)."""

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
    weight: float | str


class Choke(TypedDict, total=False):
    """Options of CHOKe (Pan, Prabhakar and Psounis 2000)."""

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
    """Options of BLUE (Feng et al. 2002)."""

    kind: Required[Literal["blue"]]
    decrement: float
    ecn: bool
    freeze_time: str
    increment: float
    limit: str
    threshold: str


class Pie(TypedDict, total=False):
    """Options of PIE (RFC 8033)."""

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
    """Options of PI2, PI improved with a square (De Schepper et al. 2016)."""

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
    """Options of CoDel (RFC 8289)."""

    kind: Required[Literal["codel"]]
    ce_threshold: str | Literal[False]
    ecn: bool
    interval: str
    limit: str
    max_packet: str
    target: str


class Cobalt(TypedDict, total=False):
    """Options of COBALT, CoDel and BLUE together (CAKE)."""

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
    """Options of FQ-CoDel (RFC 8290)."""

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
    """Options of FQ-PIE (RFC 8290 with the law of RFC 8033)."""

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


class Cake(TypedDict, total=False):
    """Options of CAKE (Høiland-Jørgensen, Täht and Morton, LANMAN 2018)."""

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


class HtbClass(TypedDict, total=False):
    """A class of a queue of kind `htb`."""

    name: Required[str]
    rate: Required[str]
    burst: str
    cburst: str
    ceil: str
    dscp: Sequence[int | str]
    flows: Sequence[str]
    hosts: Sequence[str]
    parent: str
    prio: int
    quantum: str
    queue: Toml


class Htb(TypedDict, total=False):
    """Options of classes that borrow (`htb`)."""

    kind: Required[Literal["htb"]]
    classes: Sequence[HtbClass]
    default: str


class DualPi2(TypedDict, total=False):
    """Options of DualPI2 (RFC 9332)."""

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
    """Options of bands of strict priority."""

    kind: Required[Literal["priority"]]
    bands: Sequence[Sequence[int | str]]
    key: Literal["dscp", "pure-ack"]
    limit: str


class Drr(TypedDict, total=False):
    """Options of deficit round robin (`drr`)."""

    kind: Required[Literal["drr"]]
    key: Literal["flow", "dscp"]
    limit: str
    quantum: str
    queues: int
    weights: Sequence[Sequence[int | str]]


class Sfq(TypedDict, total=False):
    """Options of stochastic fairness queueing (`sfq`)."""

    kind: Required[Literal["sfq"]]
    depth: str
    head_drop: bool
    limit: str
    perturb: str | Literal[False]
    quantum: str
    queues: int


class AckFilter(TypedDict, total=False):
    """A queue that drops ACKs which a later one makes redundant."""

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
    | Cake
    | Htb
    | FqCoDel
    | FqPie
    | DualPi2
    | Priority
    | Drr
    | Sfq
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
    regulator: Toml
    schedule: Toml
    token_bucket: Toml
    trace: Toml


class Link(Reverse, total=False):
    """A link: an entry of `links`."""

    ends: Required[Sequence[str]]
    reverse: Reverse
