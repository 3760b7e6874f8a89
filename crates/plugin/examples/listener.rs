//! A law that hears all there is, and after some ACKs tells what it heard, by a panic.

use anabranch_algorithm::{
    Ack, Congestion, LostSegment, Options, Report, Sent, Window, WindowControl, export_window,
};

#[derive(Default)]
struct Listener {
    acks: u64,
    sent: u64,
    delivered: u64,
    rates: u64,
    lost: u64,
}

impl WindowControl for Listener {
    const HEARS_SENT: bool = true;
    const HEARS_REPORTS: bool = true;
    const HEARS_LOSSES: bool = true;

    fn new(_options: &Options) -> Listener {
        Listener::default()
    }

    fn on_start(&mut self, window: &mut Window) {
        assert!(window.seed != 0 && window.mss == 1448, "{window:?}");
        window.pacing_bps = 8e6;
    }

    fn on_sent(&mut self, _window: &mut Window, sent: &Sent) {
        self.sent += sent.bytes;
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.acks += 1;
        assert!(
            ack.path.acked <= ack.path.sent
                && ack.rtt.seconds().is_some_and(|seconds| seconds > 0.04)
        );
        window.slow_start(ack);
        assert!(
            self.acks < 500,
            "sent {}, delivered {}, rates {}, lost {}",
            self.sent >= ack.path.sent,
            self.delivered > 500_000,
            self.rates > 400,
            self.lost > 0
        );
    }

    fn on_report(&mut self, _window: &mut Window, report: &Report) {
        self.delivered += report.delivered;
        assert!(self.delivered <= report.path.sent, "{report:?}");
        self.rates += u64::from(report.rate.octets_per_second().is_some_and(|rate| rate < 2e6));
    }

    fn on_lost(&mut self, _window: &mut Window, segment: &LostSegment) {
        assert!(segment.bytes <= 1448 && segment.tx_in_flight > 0, "{segment:?}");
        self.lost += segment.bytes;
    }

    fn on_loss(&mut self, window: &mut Window, signal: &Congestion) {
        window.ssthresh = (window.cwnd / 2.0).max(2.0 * signal.path.mss as f64);
        window.cwnd = window.cwnd.min(window.ssthresh);
    }
}

export_window!(Listener);
