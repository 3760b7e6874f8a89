//! LIA (RFC 6356) as a library: a coupled law, the same runs as the one that is built in.

use anabranch_algorithm::{
    Ack, Congestion, Options, Sibling, Window, WindowControl, export_window,
};

struct Lia {
    siblings: Vec<Sibling>,
}

impl WindowControl for Lia {
    const COUPLED: bool = true;

    fn new(_options: &Options) -> Lia {
        Lia { siblings: Vec::new() }
    }

    fn on_siblings(&mut self, _window: &mut Window, siblings: &[Sibling]) {
        self.siblings.clear();
        self.siblings.extend_from_slice(siblings);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if ack.path.app_limited || window.slow_start(ack) {
            return;
        }
        let mss = ack.path.mss as f64;
        let alone = mss * (ack.acked as f64 / window.cwnd).min(1.0);
        let Some(rtt) = ack.path.srtt.seconds() else {
            window.cwnd += alone;
            return;
        };
        // Windows in segments and round-trip times of all paths, this one last.
        let others = self.siblings.iter();
        let others = others.filter_map(|sibling| {
            Some((sibling.cwnd as f64 / sibling.mss as f64, sibling.srtt.seconds()?))
        });
        let paths: Vec<_> = others.chain([(window.cwnd / mss, rtt)]).collect();
        let total: f64 = paths.iter().map(|(w, _)| w).sum();
        let best = paths.iter().map(|(w, rtt)| w / (rtt * rtt)).fold(0.0, f64::max);
        let rate: f64 = paths.iter().map(|(w, rtt)| w / rtt).sum();
        let alpha = total * best / (rate * rate);
        window.cwnd += (alpha * (ack.acked as f64 / mss) / total * mss).min(alone);
    }

    fn on_loss(&mut self, window: &mut Window, signal: &Congestion) {
        window.ssthresh = (signal.path.in_flight as f64 / 2.0).max(2.0 * signal.path.mss as f64);
        window.cwnd = window.cwnd.min(window.ssthresh);
    }
}

export_window!(Lia);
