"""Routers that hold back ACKs while their queue fills."""

from __future__ import annotations

from anabranch._core import ForwardLink
from anabranch.algorithms.own import Own


class AckDelay(Own):
    """A delay law: `law` of a link's `regulator`. A subclass has `delay`."""

    def delay(self, forward: ForwardLink) -> float:
        """How many seconds the ACK at the head is held altogether, as the queue of the
        forward link is now. Asked when it comes, and again while it is held: at the
        latest after `recheck` of the regulator."""
        raise NotImplementedError

    def on_release(self, time_s: float) -> None:
        """The ACK at the head went on. Heard only where overridden."""
