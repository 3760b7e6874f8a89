//! A rate that a channel grants and changes: a packet leaves at the rate in
//! force when its transmission begins.
//!
//! What grants the rate is [`Channel`](crate::Channel), or the source of a virtual channel, whose
//! packets leave cell by cell and for which this is an estimate. Since later grants
//! depend on traffic, departures cannot be computed on arrival; links with this
//! transmitter hold their packets.

use super::Line;
use crate::catalogue::Info;
use anabranch_units::{Rate, Time};
use std::collections::VecDeque;

pub(super) const INFO: Info = Info {
    name: "explicit",
    summary: "a rate that a channel grants: its capacity divided among the links in use",
    reference: "max-min fair shares (Bertsekas and Gallager 1992 §6.5.2), as ABR's explicit rate",
};

/// `Explicit` is a line at granted rates.
#[derive(Debug)]
pub(crate) struct Explicit {
    now: Line,
    /// Rates from dates on, ascending, that have not been seen to begin.
    next: VecDeque<(Time, Rate)>,
}

impl Explicit {
    pub(crate) fn new(rate: Rate) -> Explicit {
        Explicit { now: Line::new(rate), next: VecDeque::new() }
    }

    /// The rate is this one from `from` on; dates do not descend.
    pub(crate) fn grant(&mut self, from: Time, rate: Rate) {
        self.next.push_back((from, rate));
    }

    pub(crate) fn rate_at(&self, now: Time) -> Rate {
        let begun = self.next.iter().take_while(|next| next.0 <= now).last();
        begun.map_or(self.now.rate(), |begun| begun.1)
    }

    pub(crate) fn departure(&mut self, start: Time, size: u32) -> Time {
        while let Some(&(from, rate)) = self.next.front()
            && from <= start
        {
            self.next.pop_front();
            self.now = Line::new(rate);
        }
        start.saturating_add(self.now.time_for(size))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_units::Span;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// 1250 octets take 1 ms at 10 Mbit/s, 10 ms at 1 Mbit/s.
    #[test]
    fn a_packet_goes_at_the_rate_at_its_start() {
        let mut explicit = Explicit::new(Rate::mbit(10));
        explicit.grant(at(5), Rate::mbit(1));
        explicit.grant(at(50), Rate::mbit(5));
        assert_eq!(explicit.departure(at(4), 1250), at(5));
        assert_eq!(explicit.rate_at(at(4)), Rate::mbit(10));
        assert_eq!(explicit.rate_at(at(5)), Rate::mbit(1));
        assert_eq!(explicit.rate_at(at(60)), Rate::mbit(5));
        assert_eq!(explicit.departure(at(5), 1250), at(15));
        assert_eq!(explicit.departure(at(49), 1250), at(59));
        assert_eq!(explicit.departure(at(59), 1250), at(61));
        assert_eq!(explicit.rate_at(at(61)), Rate::mbit(5));
    }
}
