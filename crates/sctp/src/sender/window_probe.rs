//! A receive window that takes no more is probed (RFC 9260 §6.1 A).

use anabranch_endpoint::Timer;
use anabranch_units::{Span, Time};

/// A `WindowProbe` says when one chunk may leave that the peer's receive window has no room for:
/// the first an RTO after nothing is outstanding any more, later ones in intervals that double. A
/// probe that is not acknowledged is outstanding, and T3-rtx sends it again.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WindowProbe {
    /// `timer` runs while nothing is outstanding and the window takes no more.
    pub timer: Timer,
    /// `due` says that the timer has expired, and no probe has left since.
    due: bool,
    /// `sent` counts the probes since the window was open last.
    sent: u32,
}

impl WindowProbe {
    /// Intervals double this often at most; RTO.Max bounds them before.
    const MOST_DOUBLINGS: u32 = 16;

    /// Ends the probing, as the window takes what is next.
    #[inline]
    pub fn on_open(&mut self) {
        if self.due || self.sent > 0 || self.timer.is_armed() {
            *self = WindowProbe::default();
        }
    }

    /// Starts the timer, unless it runs or a probe is due: nothing is outstanding, and the window
    /// does not take what is next.
    pub fn on_closed(&mut self, now: Time, rto: Span, most: Span) {
        if !self.due && !self.timer.is_armed() {
            let wait = rto * (1 << self.sent.min(Self::MOST_DOUBLINGS));
            self.timer.set(now + wait.min(most.max(rto)));
        }
    }

    /// Lets a probe leave, as the timer has expired.
    pub fn on_timer(&mut self) {
        self.timer.stop();
        self.due = true;
    }

    /// Returns whether a probe may leave, and counts it then.
    pub fn take(&mut self) -> bool {
        let leaves = std::mem::take(&mut self.due);
        self.sent += leaves as u32;
        leaves
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_double_until_the_window_opens() {
        let (rto, most) = (Span::from_secs(1), Span::from_secs(3));
        let mut probe = WindowProbe::default();
        for interval in [1, 2, 3, 3] {
            assert!(!probe.take());
            probe.on_closed(Time::ZERO, rto, most);
            assert_eq!(probe.timer.deadline(), Time::ZERO + Span::from_secs(interval));
            probe.on_timer();
            assert!(!probe.timer.is_armed() && probe.take() && !probe.take());
        }
        probe.on_open();
        probe.on_closed(Time::ZERO, rto, most);
        assert_eq!(probe.timer.deadline(), Time::ZERO + rto);
        probe.on_open();
        assert!(!probe.timer.is_armed(), "nothing is probed any more");
    }
}
