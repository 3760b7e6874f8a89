"""A congestion controller that takes too much, for `anabranch evaluate` to find out.

anabranch evaluate examples/algorithms/greedy.py:Greedy --quick
"""

from anabranch.algorithms import Ack, Congestion, WindowControl


class Greedy(WindowControl):
    """Eight segments more in each round trip; a loss takes a tenth of the window."""

    def on_ack(self, ack: Ack) -> None:
        if not self.slow_start(ack):
            self.cwnd += 8 * ack.mss * ack.acked / self.cwnd

    def on_loss(self, signal: Congestion) -> None:
        self.ssthresh = max(self.cwnd * 0.9, 2 * signal.mss)
        self.cwnd = self.ssthresh
