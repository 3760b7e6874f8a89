//! The monotonic clock as the simulation's time.

use anabranch_units::{Span, Time};
use std::time::Instant;

/// Time since a start. It does not jump when the date is set, and stands still
/// for nobody: a process that was suspended finds the time gone.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Instant,
}

impl Clock {
    /// Starts at [`Time::ZERO`], now.
    #[expect(clippy::disallowed_methods, reason = "this crate drives the world by a clock")]
    pub fn start() -> Clock {
        Clock { start: Instant::now() }
    }

    /// The time.
    pub fn now(&self) -> Time {
        let elapsed = self.start.elapsed();
        Time::ZERO
            + Span::from_secs(elapsed.as_secs())
            + Span::from_nanos(elapsed.subsec_nanos().into())
    }
}
