"""Where data goes when there are several paths: schedulers of Multipath TCP, and
policies for the retransmissions of SCTP."""

from __future__ import annotations

from anabranch._core import DataStream, Destination, Subflow
from anabranch.algorithms.own import Own


class Scheduler(Own):
    """A scheduler of Multipath TCP: `mptcp.scheduler`. A subclass has `choose`."""

    copies: bool = False
    """True for one that sends copies: it is asked even when nothing new waits."""

    def choose(
        self, subflows: tuple[Subflow, ...], stream: DataStream
    ) -> int | tuple[int, int] | None:
        """The subflow for the next segment, of at least one; asked again after each.

        The `id` of a subflow that `has_room` gets a segment of new data; a pair of
        an id and a data offset below `stream.nxt` a copy of what others have from
        there on; `None` waits until something changes. Backups, and subflows that
        do not answer, are offered only when there are no others.
        """
        raise NotImplementedError

    def on_window_blocked(self, time_s: float) -> None:
        """The receiver's window, not the subflows', keeps data from leaving."""


class PathPolicy(Own):
    """Where SCTP sends a lost chunk: `sctp.destination`. A subclass has `choose`."""

    def choose(self, reason: str, last: int, paths: tuple[Destination, ...]) -> int:
        """The index of the path for a chunk that was last sent to path `last`.

        `reason` is `fast-retransmit` or `timeout`. Asked more than once for a chunk
        that waits. RFC 9260 §6.4 wants an active path, where there is one.
        """
        raise NotImplementedError

    def failover(self, primary: int, paths: tuple[Destination, ...]) -> int | None:
        """The index of the path for new data while the primary does not work.

        Asked after each SACK, heartbeat and timeout, unless `sctp.failover` names a rule.
        `None`, or a path that is not active, leaves the choice to the next active one in order.
        """
