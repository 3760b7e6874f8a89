//! The shaper's rate by what arrives (`autorate-ingress` of tc-cake(8)), for a queue behind a line whose rate is
//! not known: 15/16 of the highest rate at which packets have come.
//!
//! A gap longer than the mean space of packets ends a burst, whose rate is a sample. Means follow longer
//! spaces and higher rates by a quarter, shorter and lower ones by 1/256. The rate changes at most
//! each 250 ms. Packets at perfectly even spaces have no such gap, and give no samples.

use anabranch_units::{Rate, Span, Time};

/// Estimates the rate of the line before the queue.
#[derive(Debug)]
pub(super) struct Autorate {
    last_packet: Time,
    /// Mean space of packets, in picoseconds.
    mean_space: u64,
    window_began: Time,
    window_octets: u64,
    /// Highest rate of late, in bit/s.
    peak: u64,
    last_change: Time,
}

impl Autorate {
    /// Begins with a rate.
    pub(super) fn new(rate: Option<Rate>) -> Autorate {
        Autorate {
            last_packet: Time::ZERO,
            mean_space: 0,
            window_began: Time::ZERO,
            window_octets: 0,
            peak: rate.map_or(0, Rate::as_bps),
            last_change: Time::ZERO,
        }
    }

    /// A packet comes. Returns the rate from now on where it changes.
    pub(super) fn on_arrival(&mut self, now: Time, size: u32) -> Option<Rate> {
        self.window_octets += u64::from(size);
        let space = now.saturating_since(self.last_packet).min(Span::from_secs(1)).as_picos();
        self.mean_space = follow(self.mean_space, space);
        self.last_packet = now;
        if space <= self.mean_space {
            return None;
        }
        let window = now.saturating_since(self.window_began).as_picos();
        let bits = u128::from(self.window_octets) * 8 * 1_000_000_000_000;
        let sample = u64::try_from(bits / u128::from(window.max(1))).unwrap_or(u64::MAX);
        self.peak = follow(self.peak, sample);
        (self.window_octets, self.window_began) = (0, now);
        if now.saturating_since(self.last_change) <= Span::from_millis(250) {
            return None;
        }
        self.last_change = now;
        Rate::from_bps(self.peak / 16 * 15)
    }
}

/// A mean that rises fast and falls slowly.
fn follow(mean: u64, sample: u64) -> u64 {
    let shift = if sample > mean { 2 } else { 8 };
    mean - (mean >> shift) + (sample >> shift)
}
