"""A congestion controller to copy and change. As it stands it is Reno (RFC 5681).

cp examples/algorithms/template.py mine.py
anabranch check mine.py:MyControl
anabranch run examples/two-hosts.toml --set "flows.*.tcp.window=mine.py:MyControl"
"""

from anabranch.algorithms import Ack, Congestion, WindowControl


class MyControl(WindowControl):
    """Windows are in octets, times in seconds. The sender reads `cwnd`, `ssthresh` and
    `pacing_bps` after every hook."""

    def __init__(self, beta: float = 0.5) -> None:
        # Arguments are options of the scenario: { algorithm = "mine.py:MyControl", beta = 0.7 }
        self.beta = beta

    def on_start(self) -> None:
        # self.cwnd, self.ssthresh, self.mss and self.seed are there. Variables of your own:
        self.losses = 0

    def on_ack(self, ack: Ack) -> None:
        # ack.acked octets are new; ack.rtt_s is a sample or None; ack.srtt_s, ack.min_rtt_s,
        # ack.in_flight, ack.time_s, ...
        if ack.app_limited:  # the window is not what limits sending: it must not grow
            return
        if self.slow_start(ack):  # below ssthresh: grows by what was acknowledged
            return
        self.cwnd += ack.mss * min(1.0, ack.acked / self.cwnd)  # a segment in a round trip

    def on_loss(self, signal: Congestion) -> None:
        # Once for a window of data. signal.in_flight is what was in the network.
        self.losses += 1
        self.ssthresh = max(signal.in_flight * self.beta, 2.0 * signal.mss)
        self.cwnd = min(self.cwnd, self.ssthresh)

    # Others, which have defaults: on_timeout, on_mark (ECN), on_undo, on_idle, on_penalty;
    # heard where defined: on_sent, on_report (delivery rates, losses, marks in octets).
