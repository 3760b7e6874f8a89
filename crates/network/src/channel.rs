//! A capacity that links share by explicit rates, as the virtual channels of
//! an ATM network share a switch's port under ABR.
//!
//! At every multiple of an interval the channel sees which of its links are in
//! use: those to which a packet came since the last time, or at which one
//! waits or is being sent. It divides the capacity among them, max-min fair
//! under each link's own rate (Bertsekas and Gallager, *Data Networks*, 2nd
//! ed., 1992, §6.5.2). A link that is not in use is granted what it would get
//! if it joined them, so that it begins with a rate that others have yet to
//! give up. A grant holds from a feedback delay later on; until the first one
//! each link has the initial rate.
//!
//! The model ends there. It has no cells of its own for the feedback, no
//! gradual increase, and no queue at the switch: in the interval and the delay
//! after a link has come into use the sum of the rates may exceed the capacity.
//! A link of the channel's rate behind a router is such a queue.

use crate::catalogue::ConfigError;
use crate::link::Link;
use crate::routing::LinkId;
use anabranch_units::{Rate, Span, Time};

/// `ChannelConfig` describes a channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ChannelConfig {
    /// `capacity` is the rate that all links together may use.
    pub capacity: Rate,
    /// `interval` is the time from one allocation to the next.
    pub interval: Span,
    /// `feedback` is the time from an allocation until it holds.
    pub feedback: Span,
    /// `initial` is the rate before the first grant; `None` stands for an equal share of all links.
    pub initial: Option<Rate>,
}

impl ChannelConfig {
    /// Makes a channel that allocates each 10 ms, at once, from equal shares on.
    pub fn new(capacity: Rate) -> ChannelConfig {
        let (interval, feedback) = (Span::from_millis(10), Span::ZERO);
        ChannelConfig { capacity, interval, feedback, initial: None }
    }

    /// Returns an error if the interval is shorter than 1 µs.
    pub fn validate(&self) -> Result<(), ConfigError> {
        ConfigError::repeated("interval", self.interval)
    }
}

/// A channel with its links and what each was granted.
#[derive(Debug)]
pub struct Channel {
    config: ChannelConfig,
    members: Vec<Member>,
}

#[derive(Debug)]
struct Member {
    link: LinkId,
    /// `peak` is the link's own rate, which no grant exceeds.
    peak: Rate,
    /// Octets that had been offered to it by the last allocation.
    received: u64,
    granted: Rate,
}

impl Channel {
    /// Makes a channel of these links, each with its own rate; they have explicit transmitters, and
    /// get their initial rates here.
    pub fn new(config: ChannelConfig, links: &[(LinkId, Rate)], all: &mut [Link]) -> Channel {
        let equal = Rate::from_bps(config.capacity.as_bps() / links.len().max(1) as u64);
        let initial = config.initial.or(equal).unwrap_or(config.capacity);
        let member = |&(link, peak): &(LinkId, Rate)| {
            let granted = initial.min(peak);
            all[link.0 as usize].grant(Time::ZERO, granted);
            Member { link, peak, received: 0, granted }
        };
        Channel { config, members: links.iter().map(member).collect() }
    }

    /// Returns the time of the next allocation after `now`.
    pub fn next_allocation(&self, now: Time) -> Time {
        let interval = self.config.interval.as_picos();
        Time::from_picos((now.as_picos() / interval + 1).saturating_mul(interval))
    }

    /// The date of an allocation has come; false when no link has a packet or
    /// had one since the last, so that there is nothing to allocate for.
    pub fn allocate(&mut self, now: Time, links: &mut [Link]) -> bool {
        let mut any_packet = false;
        let mut used = Vec::with_capacity(self.members.len());
        for member in &mut self.members {
            let link = &links[member.link.0 as usize];
            let received = link.octets_received();
            used.push(received > member.received || link.is_sending(now));
            member.received = received;
            any_packet |= link.next_event() != Time::NEVER;
        }
        let in_use = used.iter().filter(|used| **used).count();
        let peaks = self.members.iter().zip(&used).filter(|item| *item.1).map(|item| item.0.peak);
        let mut peaks: Vec<u64> = peaks.map(Rate::as_bps).collect();
        peaks.sort_unstable();
        let capacity = self.config.capacity.as_bps();
        let level = water_level(capacity, &peaks);
        peaks.push(u64::MAX);
        let joining = water_level(capacity, &peaks);
        let from = now.saturating_add(self.config.feedback);
        for (member, used) in self.members.iter_mut().zip(used) {
            let level = if used { level } else { joining };
            let rate = Rate::from_bps(level.min(member.peak.as_bps())).unwrap_or(member.granted);
            if rate != member.granted {
                member.granted = rate;
                links[member.link.0 as usize].grant(from, rate);
            }
        }
        any_packet || in_use > 0
    }
}

/// The rate that no member exceeds when `capacity` is divided max-min fair
/// among members of these peaks, ascending: each gets its peak or this. At
/// least 1 bit/s.
fn water_level(capacity: u64, peaks: &[u64]) -> u64 {
    let mut left = capacity;
    for (i, peak) in peaks.iter().enumerate() {
        let share = left / (peaks.len() - i) as u64;
        if *peak > share {
            return share.max(1);
        }
        left -= peak;
    }
    u64::MAX
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_example_of_a_link_with_bounded_sources() {
        // 12 among 1, 4 and 10: 1, 4 and the rest.
        assert_eq!(water_level(12, &[1, 4, 10]), 7);
        // Among 2, 8 and 10: 2, and half of the rest each.
        assert_eq!(water_level(12, &[2, 8, 10]), 5);
        assert_eq!(water_level(12, &[2, 3]), u64::MAX);
        assert_eq!(water_level(12, &[]), u64::MAX);
    }

    proptest! {
        /// The capacity is used up or everyone has all it can take; who has
        /// less than another has its peak.
        #[test]
        fn shares_are_max_min_fair(
            capacity in 1_u64..1_000_000,
            mut peaks in prop::collection::vec(1_u64..500_000, 1..20),
        ) {
            peaks.sort_unstable();
            prop_assume!(capacity >= peaks.len() as u64);
            let level = water_level(capacity, &peaks);
            let shares: Vec<u64> = peaks.iter().map(|peak| level.min(*peak)).collect();
            let total: u64 = shares.iter().sum();
            prop_assert!(total <= capacity);
            let rounding = peaks.len() as u64;
            prop_assert!(total + rounding > capacity || shares == peaks);
        }
    }
}
