//! A timer as a value.

use anabranch_units::Time;

/// Armed until a date, or idle.
///
/// ```
/// use anabranch_endpoint::Timer;
/// use anabranch_units::{Span, Time};
/// let mut rto = Timer::IDLE;
/// rto.set(Time::ZERO + Span::from_secs(1));
/// assert!(!rto.expired(Time::ZERO));
/// assert!(rto.expired(rto.deadline()));
/// rto.stop();
/// assert_eq!(rto.deadline(), Time::NEVER);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timer(Time);

impl Default for Timer {
    fn default() -> Timer {
        Timer::IDLE
    }
}

impl Timer {
    /// A timer that is not armed and never expires.
    pub const IDLE: Timer = Timer(Time::NEVER);

    /// Arms, or re-arms, until `deadline`.
    pub fn set(&mut self, deadline: Time) {
        self.0 = deadline;
    }
    /// Disarms the timer; it does not expire until it is set again.
    pub fn stop(&mut self) {
        self.0 = Time::NEVER;
    }
    /// Whether a deadline is set, passed or not.
    pub fn is_armed(&self) -> bool {
        self.0 != Time::NEVER
    }
    /// Armed, and the date has come.
    pub fn expired(&self, now: Time) -> bool {
        self.0 <= now && self.is_armed()
    }
    /// The date; [`Time::NEVER`] when idle.
    pub fn deadline(&self) -> Time {
        self.0
    }
}
