//! The timers of a connection as a table.

use anabranch_endpoint::Timer;
use anabranch_units::Time;

/// The connection has these timers, beside those of its subflows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Due {
    /// Data is sent again that has no DATA_ACK (§3.3.6).
    Retransmit,
    /// The receiver's window is closed, or open by too little, and nothing is outstanding: the
    /// peer is asked for it.
    Probe,
    /// ADD_ADDR without an echo is sent again (§3.4.1).
    Announce,
    /// A subflow may be opened again.
    Reopen,
    /// No subflow has come back, or a subflow's FIN has not come.
    Linger,
}

impl Due {
    /// All of them, in the order in which they are looked at.
    pub const ALL: [Due; 5] =
        [Due::Retransmit, Due::Probe, Due::Announce, Due::Reopen, Due::Linger];
}

/// The timers, none of which runs at first.
#[derive(Debug, Default)]
pub(super) struct Timers([Timer; Due::ALL.len()]);

impl Timers {
    /// A timer runs until `at`.
    #[inline]
    pub fn set(&mut self, due: Due, at: Time) {
        self.0[due as usize].set(at);
    }

    /// A timer does not run any more.
    #[inline]
    pub fn stop(&mut self, due: Due) {
        self.0[due as usize].stop();
    }

    /// No timer runs any more.
    pub fn stop_all(&mut self) {
        *self = Timers::default();
    }

    /// Whether the timer of this kind runs.
    #[inline]
    pub fn is_armed(&self, due: Due) -> bool {
        self.0[due as usize].is_armed()
    }

    /// A timer has expired; it does not run any more.
    pub fn take_expired(&mut self, now: Time, due: Due) -> bool {
        let has_expired = self.0[due as usize].expired(now);
        if has_expired {
            self.stop(due);
        }
        has_expired
    }

    /// The first date when one expires.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.0.iter().map(Timer::deadline).fold(Time::NEVER, Time::min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_units::Span;

    #[test]
    fn a_timer_expires_once() {
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        let mut timers = Timers::default();
        assert_eq!(timers.deadline(), Time::NEVER);
        timers.set(Due::Probe, at(20));
        timers.set(Due::Linger, at(10));
        assert_eq!(timers.deadline(), at(10));
        assert!(!timers.take_expired(at(15), Due::Probe));
        assert!(timers.take_expired(at(15), Due::Linger) && !timers.is_armed(Due::Linger));
        assert!(!timers.take_expired(at(15), Due::Linger));
        assert_eq!(timers.deadline(), at(20));
        timers.stop_all();
        assert_eq!(timers.deadline(), Time::NEVER);
    }
}
