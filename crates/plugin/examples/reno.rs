//! Reno (RFC 5681) as a library: the same runs, packet for packet, as the one that is built in.

use anabranch_algorithm::{Ack, Congestion, Options, Window, WindowControl, export_window};

struct Reno;

impl WindowControl for Reno {
    fn new(_options: &Options) -> Reno {
        Reno
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if !ack.path.app_limited && !window.slow_start(ack) {
            window.cwnd += ack.path.mss as f64 * (ack.acked as f64 / window.cwnd).min(1.0);
        }
    }

    fn on_loss(&mut self, window: &mut Window, signal: &Congestion) {
        window.ssthresh = (signal.path.in_flight as f64 / 2.0).max(2.0 * signal.path.mss as f64);
        window.cwnd = window.cwnd.min(window.ssthresh);
    }
}

export_window!(Reno);
