"""Loss recovery of TCP: which octets are lost."""

from __future__ import annotations

from collections.abc import Sequence

from anabranch._core import RecoveryAck
from anabranch.algorithms.own import Own


class LossRecovery(Own):
    """A recovery scheme: `tcp.recovery`. A subclass has `on_ack`.

    The scheme says what is lost; the sender does the rest as RFC 6675 has it.
    Recovery begins with the first lost octets, reduces the window once, and ends
    when all that was outstanding then is acknowledged. What is lost leaves the
    pipe, and is sent again, the lowest first. SACK has to be on.
    """

    def on_ack(self, ack: RecoveryAck) -> Sequence[tuple[int, int]] | None:
        """An ACK came: the ranges that are lost, each from its first offset to the one
        after its last. What is SACKed or not outstanding is left out; what was sent
        again may be lost again. Not asked while a timeout is repaired."""
        raise NotImplementedError

    def on_sent(self, time_s: float, start: int, end: int, again: bool) -> None:
        """Octets `start` to `end` left. Heard only where overridden."""

    def on_timeout(self) -> None:
        """The retransmission timer expired: all that is not SACKed is sent again."""
