//! The monotonic clock as the simulation's time.

use anabranch_units::{Span, Time};
use rustix::time::{ClockId, clock_gettime};
use std::time::{Duration, Instant};

/// Time since a start. It does not jump when the date is set, and stands still
/// for nobody: a process that was suspended finds the time gone.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Instant,
    /// What `CLOCK_MONOTONIC` said then, which is what [`Instant`] counts.
    monotonic: Duration,
}

impl Clock {
    /// Starts at [`Time::ZERO`], now.
    #[expect(clippy::disallowed_methods, reason = "this crate drives the world by a clock")]
    pub fn start() -> Clock {
        let monotonic = clock_gettime(ClockId::Monotonic);
        let monotonic = Duration::new(monotonic.tv_sec as u64, monotonic.tv_nsec as u32);
        Clock { start: Instant::now(), monotonic }
    }

    /// The start as programs see it, by `CLOCK_MONOTONIC`.
    pub fn started(&self) -> Duration {
        self.monotonic
    }

    /// The time.
    pub fn now(&self) -> Time {
        let elapsed = self.start.elapsed();
        Time::ZERO
            + Span::from_secs(elapsed.as_secs())
            + Span::from_nanos(elapsed.subsec_nanos().into())
    }
}
