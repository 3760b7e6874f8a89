//! Scalable TCP: T. Kelly, "Scalable TCP: Improving Performance in Highspeed
//! Wide Area Networks", CCR 33(2), 2003.
//!
//! ```text
//! for each ACK:    cwnd += 0.01 segments for each segment acknowledged
//! for each loss:   cwnd -= 0.125 cwnd
//! ```
//!
//! Below 16 segments (the paper's legacy window) it is Reno.

use anabranch_congestion::{Acked, Cause, CongestionEvent, Controller, PathView};

/// Segments up to which it is Reno.
const LEGACY: f64 = 16.0;

/// A Scalable TCP window, in octets.
pub struct Scalable {
    cwnd: f64,
    ssthresh: f64,
    decrease: f64,
    /// Window and threshold before the last reduction.
    before: Option<(f64, f64)>,
    /// A timeout, and no ACK since.
    backed_off: bool,
}

impl Scalable {
    /// With the part of the window that a loss takes.
    pub fn new(initial: u64, ssthresh: u64, decrease: f64) -> Scalable {
        let ssthresh = if ssthresh == u64::MAX { f64::INFINITY } else { ssthresh as f64 };
        Scalable { cwnd: initial as f64, ssthresh, decrease, before: None, backed_off: false }
    }
}

impl Controller for Scalable {
    fn on_ack(&mut self, acked: &Acked, path: &PathView) {
        self.backed_off = false;
        if path.app_limited {
            return;
        }
        let (mss, octets) = (path.mss as f64, acked.bytes as f64);
        self.cwnd += if self.cwnd < self.ssthresh {
            octets.min(2.0 * mss)
        } else if self.cwnd < LEGACY * mss {
            mss * (octets / self.cwnd).min(1.0)
        } else {
            0.01 * octets
        };
    }

    fn on_congestion(&mut self, event: &CongestionEvent, path: &PathView) {
        let mss = path.mss as f64;
        if !(event.cause == Cause::Timeout && self.backed_off) {
            self.before = Some((self.cwnd, self.ssthresh));
            let legacy = self.cwnd < LEGACY * mss;
            let left = self.cwnd * if legacy { 0.5 } else { 1.0 - self.decrease };
            self.ssthresh = left.max(2.0 * mss);
            self.cwnd = self.cwnd.min(self.ssthresh);
        }
        if event.cause == Cause::Timeout {
            self.cwnd = mss;
            self.backed_off = true;
        }
    }

    fn on_undo(&mut self) {
        if let Some((cwnd, ssthresh)) = self.before.take().filter(|it| self.cwnd <= it.0) {
            (self.cwnd, self.ssthresh) = (cwnd, ssthresh);
        }
    }

    fn on_idle(&mut self, initial: u64) {
        self.before = None;
        self.cwnd = self.cwnd.min(initial as f64);
    }

    fn window(&self) -> u64 {
        self.cwnd as u64
    }

    fn ssthresh(&self) -> u64 {
        self.ssthresh as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_check::{Effort, check};
    use anabranch_congestion::Congestion;

    #[test]
    fn it_keeps_what_every_controller_must() {
        let build = |initial, ssthresh| {
            Congestion::Custom(Box::new(Scalable::new(initial, ssthresh, 0.125)))
        };
        let broken = check(&build, &Effort::default());
        assert!(broken.is_empty(), "{broken:#?}");
    }
}
