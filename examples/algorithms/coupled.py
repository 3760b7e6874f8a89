"""A coupled controller: all paths together take what one connection would."""

from anabranch.algorithms import Ack, Congestion, CoupledControl


class EqualShare(CoupledControl):
    """EWTCP (Honda et al., PFLDNeT 2009): each of n paths grows by 1/n² of Reno's step, so
    that the n of them take as much of a shared bottleneck as one connection."""

    def on_ack(self, ack: Ack) -> None:
        if ack.app_limited or self.slow_start(ack):
            return
        paths = 1 + len(ack.siblings)
        self.cwnd += ack.mss * ack.acked / self.cwnd / paths**2

    def on_loss(self, signal: Congestion) -> None:
        self.ssthresh = max(self.cwnd / 2, 2 * signal.mss)
        self.cwnd = min(self.cwnd, self.ssthresh)
