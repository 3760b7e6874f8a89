//! What lets the congestion window grow: how an ACK counts, and whether the window was in use.

use crate::ack::Ack;
use crate::config::{Config, Counting, WindowUse};
use anabranch_units::{Span, Time};

/// A `Growth` knows how the window is used, and what an ACK counts.
#[derive(Clone, Copy, Debug)]
pub struct Growth {
    /// `counting` says by what an ACK lets the window grow.
    counting: Counting,
    /// `window_limited` says that the window, not the application or the receiver, stopped the last
    /// sending opportunity.
    pub window_limited: bool,
    /// `used` tells how the window was used since an offset was sent, where
    /// [`WindowUse::Outstanding`] asks.
    used: Option<Used>,
    /// `last_sent` is the date at which data left last; it is `None` before the first.
    last_sent: Option<Time>,
}

/// A `Used` tells how the window was used since an offset was sent.
#[derive(Clone, Copy, Debug, Default)]
struct Used {
    /// `full` says that the window was full.
    full: bool,
    /// `outstanding` is the most that was outstanding, in octets.
    outstanding: u64,
    /// `until` is the offset after what was sent when this began: once it is acknowledged, it
    /// begins anew.
    until: u64,
}

/// A `Window` shows the window when something asks for its use.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// `cwnd` is the congestion window, in octets.
    pub cwnd: u64,
    /// `slow_start` says that the window is below its threshold.
    pub slow_start: bool,
}

impl Growth {
    /// `new` knows of nothing that was sent.
    pub fn new(config: &Config) -> Growth {
        Growth {
            counting: config.counting,
            window_limited: false,
            used: (config.window_use == WindowUse::Outstanding).then(Used::default),
            last_sent: None,
        }
    }

    /// An ACK counts what it delivers.
    pub fn counts_deliveries(&self) -> bool {
        self.counting == Counting::Delivered
    }

    /// Returns by how many octets the window is to grow for an ACK that acknowledged `octets`: by
    /// them, or by one segment of `mss` when ACKs are counted.
    pub fn octets(&self, ack: &Ack, octets: u64, mss: u64) -> u64 {
        match self.counting {
            Counting::Bytes => octets,
            Counting::Acks => mss,
            Counting::Delivered => octets.min(ack.delivered),
        }
    }

    /// The application or the receiver, not the window, limits what is sent.
    #[inline]
    pub fn is_app_limited(&self, window: impl FnOnce() -> Window) -> bool {
        let Some(used) = &self.used else { return !self.window_limited };
        let Window { cwnd, slow_start } = window();
        !(used.full || slow_start && cwnd < 2 * used.outstanding)
    }

    /// Whether it counts how full the window is, beside what stops the sender.
    #[inline]
    pub fn asks_for_use(&self) -> bool {
        self.used.is_some()
    }

    /// A sending opportunity is over, which the window stopped where `limited`; from `una` to `max` is
    /// outstanding. `full` says whether as much is in flight as the window allows, where that counts.
    #[inline]
    pub fn on_sending_done(&mut self, limited: bool, full: bool, (una, max): (u64, u64)) {
        self.window_limited = limited;
        let Some(used) = &mut self.used else { return };
        let outstanding = max - una;
        let more = !used.full && outstanding > used.outstanding;
        if una >= used.until || full || more {
            *used = Used { full, outstanding, until: max };
        }
    }

    /// Data leaves at this time.
    pub fn on_sent(&mut self, now: Time) {
        self.last_sent = Some(now);
    }

    /// Returns how long no data has left; no time has passed before the first.
    pub fn idle_for(&self, now: Time) -> Span {
        self.last_sent.map_or(Span::ZERO, |last| now - last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn growth(window_use: WindowUse) -> Growth {
        Growth::new(&Config { window_use, ..Config::default() })
    }

    const AVOIDANCE: Window = Window { cwnd: 10_000, slow_start: false };

    #[test]
    fn the_last_sending_opportunity_decides() {
        let mut growth = growth(WindowUse::Blocked);
        assert!(growth.is_app_limited(|| AVOIDANCE));
        growth.on_sending_done(true, true, (1, 10_001));
        assert!(!growth.is_app_limited(|| AVOIDANCE));
        growth.on_sending_done(false, true, (1, 10_001));
        assert!(growth.is_app_limited(|| AVOIDANCE));
    }

    /// A full window counts until what was sent then is acknowledged; in slow start half of one does.
    #[test]
    fn a_window_that_was_full_counts_for_a_round() {
        let mut growth = growth(WindowUse::Outstanding);
        growth.on_sending_done(true, true, (1, 10_001));
        growth.on_sending_done(false, false, (5001, 12_001));
        assert!(!growth.is_app_limited(|| AVOIDANCE));
        growth.on_sending_done(false, false, (10_001, 16_001));
        assert!(growth.is_app_limited(|| AVOIDANCE));
        assert!(!growth.is_app_limited(|| Window { slow_start: true, ..AVOIDANCE }));
    }
}
