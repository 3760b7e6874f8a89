"""A congestion controller: additive increase, multiplicative decrease, with both as options.

anabranch run examples/algorithms/aimd.toml
anabranch check examples/algorithms/aimd.py:Aimd
"""

from anabranch.algorithms import Ack, Congestion, WindowControl


class Aimd(WindowControl):
    """`increase` segments more in each round trip, `decrease` of the window left after a loss."""

    def __init__(self, increase: float = 1.0, decrease: float = 0.5) -> None:
        self.increase = increase
        self.decrease = decrease

    def on_ack(self, ack: Ack) -> None:
        if ack.app_limited or self.slow_start(ack):
            return
        self.cwnd += self.increase * ack.mss * ack.acked / self.cwnd

    def on_loss(self, signal: Congestion) -> None:
        self.ssthresh = max(self.cwnd * self.decrease, 2 * signal.mss)
        self.cwnd = min(self.cwnd, self.ssthresh)
