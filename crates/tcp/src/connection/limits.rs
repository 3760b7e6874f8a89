//! What limits the sender, and for how long (`tcpi_busy_time`, `tcpi_rwnd_limited` and
//! `tcpi_sndbuf_limited` of Linux): time in which something waits to be sent or acknowledged is
//! busy; of that, time in which the peer's window keeps data back, and time in which the send
//! buffer keeps the user from writing although all of it has left.

use super::Connection;
use crate::recovery::Scheme;
use anabranch_units::{Span, Time};

/// What limits the sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Limit {
    /// There is nothing to send, and nothing outstanding.
    #[default]
    Nothing,
    /// The network, or the user.
    Busy,
    /// The peer's window keeps data back.
    Window,
    /// The user has found no room to write, and all that was written has left.
    Buffer,
}

/// Time for which each has limited the sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LimitTimes {
    /// Something waited to be sent or acknowledged.
    pub busy: Span,
    /// Part of `busy` in which the peer's window kept data back.
    pub window: Span,
    /// Part of `busy` in which the user found no room to write, and all that was written had left.
    pub buffer: Span,
}

/// The clock of the limits.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Limits {
    at: Limit,
    since: Time,
    times: LimitTimes,
    /// A write has found no room in the send buffer.
    starved: bool,
}

impl Limits {
    fn set(&mut self, now: Time, limit: Limit) {
        if limit != self.at {
            self.times = self.times_at(now);
            (self.at, self.since) = (limit, now);
        }
    }

    fn times_at(&self, now: Time) -> LimitTimes {
        let passed = now.saturating_since(self.since);
        let mut times = self.times;
        match self.at {
            Limit::Nothing => return times,
            Limit::Busy => {}
            Limit::Window => times.window += passed,
            Limit::Buffer => times.buffer += passed,
        }
        times.busy += passed;
        times
    }
}

impl Connection {
    /// Measures what limits the connection from now on.
    pub fn keep_limits(&mut self) {
        self.extras.get().limits.get_or_insert_default();
    }

    /// A write has found no room, or there is some again.
    pub fn set_starved(&mut self, starved: bool) {
        if let Some(limits) = self.limits_mut() {
            limits.starved = starved;
        }
    }

    /// Returns how long each limit held, where that is measured.
    pub fn limit_times(&self, now: Time) -> LimitTimes {
        let limits = self.extras.peek().and_then(|extras| extras.limits.as_ref());
        limits.map_or_else(LimitTimes::default, |limits| limits.times_at(now))
    }

    fn limits_mut(&mut self) -> Option<&mut Limits> {
        self.extras.some()?.limits.as_mut()
    }

    /// Nothing more leaves now.
    pub(super) fn note_limit(&mut self, now: Time) {
        let s = &self.sender;
        let (waits, out) = (s.nxt < s.end, s.una < s.max);
        let window = s.peer_window.edge.saturating_sub(s.nxt) < s.mss.min(s.end - s.nxt.min(s.end));
        let room = self.scheme.in_flight(s) < self.scheme.window(s);
        let Some(limits) = self.limits_mut() else { return };
        let limit = match () {
            _ if !waits && !out => Limit::Nothing,
            _ if waits && window && room => Limit::Window,
            _ if !waits && limits.starved => Limit::Buffer,
            _ => Limit::Busy,
        };
        limits.set(now, limit);
    }
}
