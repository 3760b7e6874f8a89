//! Slow start: how fast the window opens at first, and when that ends.
//!
//! RFC 5681 §3.1 equation (2) with the limit of RFC 3465 §2.2 (`L`). The
//! decision to stop is a seam of its own, [`SlowStartExit`], so that any
//! window algorithm works with any exit rule.

use crate::{Acked, PathView};

/// When slow start ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SlowStartExit {
    /// When the window has reached `ssthresh`, and at losses (RFC 5681 §3.1).
    /// At equality RFC 5681 leaves the choice; here, as in ns-2, slow start
    /// has ended: it lasts while `cwnd < ssthresh`.
    #[default]
    Standard,
}

/// The slow-start part of a controller's state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlowStart {
    exit: SlowStartExit,
    /// RFC 3465 §2.2, `L`: the most segments that one ACK may add.
    limit: u8,
    /// Slow start repairs a timeout: `L` is 1 (RFC 3465 §2.3), since an ACK
    /// may then cover octets that left the network long ago.
    after_timeout: bool,
}

impl SlowStart {
    pub(crate) fn new(exit: SlowStartExit, limit: u8) -> SlowStart {
        SlowStart { exit, limit: limit.max(1), after_timeout: false }
    }

    /// By how many octets this ACK opens the window; `None` when slow start
    /// is over and congestion avoidance must answer.
    pub(crate) fn on_ack(
        &mut self,
        cwnd: f64,
        ssthresh: f64,
        acked: &Acked,
        path: &PathView,
    ) -> Option<f64> {
        match self.exit {
            SlowStartExit::Standard if cwnd < ssthresh => {}
            SlowStartExit::Standard => {
                self.after_timeout = false;
                return None;
            }
        }
        let limit = if self.after_timeout { 1 } else { self.limit as u64 };
        Some(acked.bytes.min(limit * path.mss) as f64)
    }

    /// The retransmission timer expired: what follows repairs.
    pub(crate) fn on_timeout(&mut self) {
        self.after_timeout = true;
    }

    /// The timeout was spurious: nothing is being repaired.
    pub(crate) fn on_undo(&mut self) {
        self.after_timeout = false;
    }
}
