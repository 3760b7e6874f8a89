"""A law by which a router holds ACKs: in proportion to what its queue costs."""

from anabranch.algorithms import AckDelay, ForwardLink


class AsLongAsTheQueue(AckDelay):
    """Holds an ACK for `share` of the time that the forward queue needs to drain."""

    def __init__(self, share: float = 1.0) -> None:
        self.share = share

    def delay(self, forward: ForwardLink) -> float:
        if forward.rate_bps is None:
            return 0.0
        return self.share * 8 * forward.octets / forward.rate_bps
