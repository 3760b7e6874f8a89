"""The native module: private; use the classes of `anabranch`."""

from os import PathLike
from typing import Any, Self, final

from typing_extensions import disjoint_base

from anabranch.options import BatchOptions, LiveOptions, RunOptions

__all__ = [
    "ALGORITHM_CRATE",
    "WORKLOADS",
    "Ack",
    "AlgorithmError",
    "CallTooLong",
    "Congestion",
    "DataStream",
    "Destination",
    "ForwardLink",
    "InputError",
    "Path",
    "RecoveryAck",
    "Report",
    "Sent",
    "Subflow",
    "Window",
    "__version__",
    "bench",
    "catalogue",
    "check",
    "drill",
    "enter_user_namespace",
    "invariants",
    "kernel_algorithms",
    "kernel_load",
    "kernel_status",
    "kernel_unload",
    "limits_passed",
    "live",
    "load",
    "plugin_needs",
    "replay",
    "resolve",
    "run",
    "run_batch",
    "schema",
    "set_call_limit",
    "warnings",
]

__version__: str

ALGORITHM_CRATE: list[tuple[str, str]]
"""The files of the crate `anabranch-algorithm`: path and text."""
WORKLOADS: list[str]
"""The names that `bench` takes."""

class InputError(ValueError):
    """A scenario that cannot be run as written: file, field, value and what is allowed."""

class AlgorithmError(RuntimeError):
    """An algorithm of the user's own cannot go on: a message, and a dictionary of `algorithm`,
    `place`, `file`, `line` and `time_s`."""

class CallTooLong(BaseException):
    """Raised in a call of an algorithm that did not return within the limit."""

class _Event:
    """What every event of a window algorithm tells of its path. Octets."""

    @property
    def time_s(self) -> float:
        """Simulated time in seconds."""
    @property
    def in_flight(self) -> int:
        """Estimated to be in the network, before the event."""
    @property
    def mss(self) -> int:
        """Largest segment payload."""
    @property
    def srtt_s(self) -> float | None:
        """Smoothed round-trip time in seconds, once measured."""
    @property
    def min_rtt_s(self) -> float | None:
        """Smallest round-trip time seen, in seconds."""
    @property
    def app_limited(self) -> bool:
        """The application, not the window, limits sending: the window must not grow."""
    @property
    def total_sent(self) -> int:
        """Sent so far, each octet counted once."""
    @property
    def total_acked(self) -> int:
        """Acknowledged so far, in order."""

@final
class Ack(_Event):
    """New data was acknowledged while the window may grow."""

    @property
    def acked(self) -> int:
        """Newly acknowledged, as the flow counts."""
    @property
    def rtt_s(self) -> float | None:
        """The round-trip sample of this ACK in seconds, if it has one."""
    @property
    def after_timeout(self) -> bool:
        """What a timeout found lost is being sent again: one segment an ACK (RFC 3465 §2.3)."""
    @property
    def siblings(self) -> tuple[Path, ...]:
        """The connection's other paths; empty where there is one path, or the class is not
        coupled."""

@final
class Congestion(_Event):
    """A congestion signal."""

    @property
    def cause(self) -> str:
        """`loss`, `timeout` or `mark`."""
    @property
    def repeated(self) -> bool:
        """A timeout without an ACK since the last: it is no new signal (RFC 5681 §3.1)."""

@final
class Sent(_Event):
    """Data is about to leave."""

    @property
    def bytes(self) -> int:
        """Octets of the segment."""

@final
class Report(_Event):
    """All that an acknowledgment told, whether the window may grow with it or not."""

    @property
    def acked(self) -> int:
        """Newly acknowledged, in order."""
    @property
    def delivered(self) -> int:
        """Newly known to have arrived, in order or selectively."""
    @property
    def lost(self) -> int:
        """Newly believed lost."""
    @property
    def marked(self) -> int:
        """Newly reported to have met congestion (ECN)."""
    @property
    def rtt_s(self) -> float | None:
        """The round-trip sample of this acknowledgment in seconds, if it has one."""
    @property
    def in_recovery(self) -> bool:
        """A loss is being repaired."""
    @property
    def rate(self) -> float | None:
        """The delivery-rate sample in octets per second, if there is one."""
    @property
    def rate_app_limited(self) -> bool:
        """The application limited that sample."""

@final
class Path:
    """Another path of the same connection."""

    @property
    def cwnd(self) -> int:
        """Congestion window in octets."""
    @property
    def in_slow_start(self) -> bool:
        """Its window is below its threshold."""
    @property
    def mss(self) -> int:
        """Largest segment payload in octets."""
    @property
    def srtt_s(self) -> float | None:
        """Smoothed round-trip time in seconds, once measured."""
    @property
    def min_rtt_s(self) -> float | None:
        """Smallest round-trip time seen, in seconds."""
    @property
    def shared(self) -> float:
        """What its algorithm tells: its `shared`."""

@disjoint_base
class Window:
    """The variables of a window algorithm, see `anabranch.algorithms.WindowControl`."""

    def __new__(cls, *_arguments: Any, **_options: Any) -> Self: ...

    cwnd: float
    ssthresh: float
    pacing_bps: float | None
    shared: float
    @property
    def mss(self) -> int:
        """Largest segment payload in octets; 0 before `on_start`."""
    @property
    def seed(self) -> int:
        """For a generator of its own."""
    @property
    def place(self) -> str:
        """The flow and the side that it governs."""

@final
class RecoveryAck:
    """What a recovery scheme sees with an ACK. Offsets count octets from the SYN."""

    @property
    def time_s(self) -> float:
        """Simulated time in seconds."""
    @property
    def una(self) -> int:
        """Oldest offset that is not acknowledged."""
    @property
    def max(self) -> int:
        """The offset after the highest ever sent."""
    @property
    def mss(self) -> int:
        """Payload of a full segment."""
    @property
    def acked(self) -> int:
        """Octets newly acknowledged in order."""
    @property
    def delivered(self) -> int:
        """Octets newly known to have arrived."""
    @property
    def duplicate(self) -> bool:
        """It is a duplicate."""
    @property
    def dupacks(self) -> int:
        """Duplicates in a row."""
    @property
    def sacked(self) -> list[tuple[int, int]]:
        """SACKed ranges above `una`: first offset, and the one after the last."""
    @property
    def lost(self) -> list[tuple[int, int]]:
        """What was called lost and has not been sent again."""
    @property
    def in_recovery(self) -> bool:
        """A loss is being repaired."""
    @property
    def rtt_s(self) -> float | None:
        """The round-trip sample of this ACK in seconds, if it has one."""
    @property
    def srtt_s(self) -> float | None:
        """Smoothed round-trip time in seconds, once measured."""
    @property
    def min_rtt_s(self) -> float | None:
        """Smallest round-trip time seen, in seconds."""

@final
class Subflow:
    """What a scheduler sees of a subflow. Octets, unless a name says otherwise."""

    @property
    def id(self) -> int:
        """Which: stable while it lives."""
    @property
    def has_room(self) -> bool:
        """A segment of new data would leave at once."""
    @property
    def srtt_s(self) -> float:
        """Smoothed round-trip time in seconds."""
    @property
    def rttvar_s(self) -> float:
        """Its mean deviation in seconds."""
    @property
    def cwnd(self) -> int:
        """Congestion window."""
    @property
    def in_flight(self) -> int:
        """In the network."""
    @property
    def mss(self) -> int:
        """Payload of a full segment."""
    @property
    def sent_to(self) -> int:
        """The data offset after the last that it was given."""

@final
class DataStream:
    """What a scheduler sees of the stream, in data offsets and octets."""

    @property
    def time_s(self) -> float:
        """Simulated time in seconds."""
    @property
    def una(self) -> int:
        """Oldest offset that is not acknowledged."""
    @property
    def nxt(self) -> int:
        """Next offset that no subflow has."""
    @property
    def unsent(self) -> int:
        """Octets that wait to be given to a subflow."""
    @property
    def window_left(self) -> int:
        """How many of them the receiver's window lets leave."""

@final
class Destination:
    """What a path policy sees of a path. Octets, unless a name says otherwise."""

    @property
    def index(self) -> int:
        """Its place in the list."""
    @property
    def active(self) -> bool:
        """Confirmed, and neither inactive nor potentially failed."""
    @property
    def confirmed(self) -> bool:
        """May carry data at all if no path is active."""
    @property
    def cwnd(self) -> int:
        """Congestion window."""
    @property
    def ssthresh(self) -> int:
        """Slow-start threshold."""
    @property
    def in_flight(self) -> int:
        """Outstanding."""
    @property
    def loss(self) -> float:
        """Estimated share of chunks that are lost."""
    @property
    def srtt_s(self) -> float | None:
        """Smoothed round-trip time in seconds, once there was a sample."""
    @property
    def rto_s(self) -> float:
        """Retransmission timeout in force in seconds, back-off included."""
    @property
    def errors(self) -> int:
        """Errors in a row."""
    @property
    def potentially_failed(self) -> bool:
        """Potentially failed: carries data where no path is active."""
    @property
    def min_rtt_s(self) -> float | None:
        """Least round-trip time in seconds, once there was a sample."""
    @property
    def capacity(self) -> float | None:
        """Octets a second that the path takes, once a queue has been seen there."""
    @property
    def heard_s(self) -> float | None:
        """Date in seconds of when the peer last acknowledged what was sent there."""
    @property
    def resent_s(self) -> float | None:
        """Date in seconds of the last retransmission that went there."""

@final
class ForwardLink:
    """What a law that holds ACKs sees of the forward link."""

    @property
    def time_s(self) -> float:
        """Simulated time in seconds."""
    @property
    def held_s(self) -> float:
        """How long the ACK at the head has been held, in seconds."""
    @property
    def packets(self) -> int:
        """Packets that wait in the queue."""
    @property
    def octets(self) -> int:
        """Their octets."""
    @property
    def octets_received(self) -> int:
        """Octets that came to the link so far."""
    @property
    def rate_bps(self) -> int | None:
        """The rate of the link in bit/s, where it has one."""

def load(path: str | PathLike[str]) -> str:
    """The text of a scenario file; refuses what is over 16 MiB or not UTF-8."""

def resolve(text: str, file: str = "scenario", overrides: list[str] = ...) -> str:
    """The scenario with every default spelt out, as TOML that can be run again."""

def warnings(text: str, file: str = "scenario", overrides: list[str] = ...) -> list[str]:
    """What the scenario says, but hardly means."""

def run(text: str, file: str, overrides: list[str], options: RunOptions) -> dict[str, Any]:
    """Runs a scenario once: `flows`, `series`, `links`, `regulators`, `paths`, `messages`,
    `datagrams`, `pings`, `calls`, `videos`, `loads`,
    `listeners`, `attacks`, `memory`, `events` and `run`."""

def live(text: str, file: str, overrides: list[str], options: LiveOptions) -> dict[str, Any]:
    """Runs a scenario once in real time: as `run`, and `live`. An interrupt from the keyboard
    stops it, and so does the limit; the result then says so. On Linux alone."""

def replay(path: str | PathLike[str]) -> dict[str, Any]:
    """What the packets of a capture tell: `flows`, `series` and `run`."""

def enter_user_namespace() -> None:
    """Makes the process, which must have a single thread, root in a user namespace of its own,
    where the kernel allows that; nothing happens to root. On Linux alone."""

def kernel_algorithms() -> list[tuple[str, bool]]:
    """Window algorithms that can be loaded into the kernel, and whether each is coupled. On Linux
    alone, as all of the kernel."""

def kernel_load(algorithm: str, name: str | None = None) -> str:
    """Loads one until it is unloaded; the name by which the kernel knows it."""

def kernel_status() -> list[dict[str, Any]]:
    """Those that are loaded: `name` and counters."""

def kernel_unload(name: str) -> None:
    """Takes one out of the kernel."""

def run_batch(
    text: str, file: str, overrides: list[str], options: BatchOptions
) -> list[dict[str, Any]]:
    """Runs replications on several threads; their results in order."""

def catalogue(kind: str) -> list[tuple[str, str, str]]:
    """Name, summary and reference of each entry of `algorithms`, `recoveries`, `destinations`,
    `schedulers`, `queues`, `transmitters`, `regulators`, `impairments`, `attacks`, `topologies`
    or `observers`."""

def schema() -> str:
    """The JSON Schema of scenarios (draft 2020-12), as text."""

def check(
    name: str,
    options: dict[str, Any] | None = None,
    cases: int = 200,
    steps: int = 100,
    seed: int = 1,
) -> list[dict[str, Any]]:
    """Tries a window algorithm: one dictionary for each invariant that it broke."""

def set_call_limit(seconds: float | None) -> None:
    """How long a call of an algorithm in Python may take; `None` for no limit."""

def limits_passed() -> int:
    """For how many limits the longest call that has not returned has been under way."""

def invariants() -> list[tuple[str, str]]:
    """What `check` looks at: name and meaning."""

def plugin_needs(name: str) -> str:
    """The fields of `tcp` that the window algorithm in a shared library needs, as TOML."""

def bench(workload: str) -> list[dict[str, Any]]:
    """Runs a speed workload: one dictionary a variant."""

def drill(
    places: list[str | PathLike[str]],
    profile: str = "auto",
    definitions: list[tuple[str, str]] = ...,
    settings: list[tuple[str, str]] = ...,
    jobs: int = 1,
    traces: str | PathLike[str] | None = None,
    against: str = "ours",
    ip_version: str = "ipv4",
) -> list[dict[str, Any]]:
    """Runs packetdrill scripts: `suite`, `category`, `script`, `verdict`, `line`, `report`
    and, with a folder for `traces`, `trace` of each, in order; against our stacks, the
    kernel or usrsctp."""
