//! A delay that is zero while little waits in the forward queue, and grows
//! linearly to a maximum:
//!
//! ```text
//! d(q) = 0                              for q <= low
//!      = max (q - low) / (high - low)   between
//!      = max                            for q >= high
//! ```
//!
//! An ACK goes as soon as it has been held for d(q), q being what waits *now*:
//! it stays longer when the queue grows and is free when it drains, and no ACK
//! is held for more than the maximum. The router of "Fast-TCP" (Ma and others;
//! Song and others, 2003) delays ACKs by the forward buffer's occupancy; the
//! papers do not give their law. This one is the simplest with a threshold.

use super::level::{Level, Mark};
use crate::catalogue::{ConfigError, Info};
use crate::config::LinkConfig;
use crate::link::Link;
use anabranch_units::{Span, Time};

pub(super) const INFO: Info = Info {
    name: "threshold-linear",
    summary: "holds ACKs for a time that grows with the forward queue, between two thresholds",
    reference: "Fast-TCP; the law is this package's, see docs/regulators.md",
};

/// `ThresholdLinearConfig` has the parameters of the law.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ThresholdLinearConfig {
    /// `low` is the level up to which ACKs pass at once.
    pub low: Level,
    /// The level from which on they are held for `max_delay`.
    pub high: Level,
    /// `max_delay` is the longest time that an ACK is held.
    pub max_delay: Span,
}

impl Default for ThresholdLinearConfig {
    /// Returns levels of 20 % and 80 % of the queue, and 200 ms.
    fn default() -> Self {
        let (low, high) = (Level::Share(0.2), Level::Share(0.8));
        ThresholdLinearConfig { low, high, max_delay: Span::from_millis(200) }
    }
}

impl ThresholdLinearConfig {
    pub(super) fn validate(&self, forward: &LinkConfig) -> Result<(), ConfigError> {
        let limit = forward.queue.limit();
        let (low, high) = (self.low.of("low", limit)?, self.high.of("high", limit)?);
        if low.octets != high.octets {
            let allowed = "an amount in the unit of `low` (a share has the unit of `queue.limit`)";
            return Err(ConfigError::new("high", shown(self.high), allowed));
        }
        if low.milli >= high.milli {
            let allowed = format!("less than `high`, which is {}", shown(self.high));
            return Err(ConfigError::new("low", shown(self.low), allowed));
        }
        if let Ok(most) = Level::Share(1.0).of("low", limit)
            && most.octets == low.octets
            && low.milli >= most.milli
        {
            let allowed = "less than `queue.limit`, or nothing is ever held";
            return Err(ConfigError::new("low", shown(self.low), allowed));
        }
        if self.max_delay == Span::ZERO {
            return Err(ConfigError::new("max_delay", self.max_delay, "a time above 0"));
        }
        Ok(())
    }
}

fn shown(level: Level) -> String {
    match level {
        Level::Share(share) => share.to_string(),
        Level::Packets(1) => "1 packet".into(),
        Level::Packets(n) => format!("{n} packets"),
        Level::Octets(n) => n.to_string(),
    }
}

/// `ThresholdLinear` is the law, with the levels that it compares the queue with.
#[derive(Debug)]
pub(super) struct ThresholdLinear {
    low: Mark,
    high: Mark,
    max_delay: Span,
}

impl ThresholdLinear {
    pub(super) fn new(config: &ThresholdLinearConfig, forward: &LinkConfig) -> ThresholdLinear {
        let limit = forward.queue.limit();
        let mark = |level: Level| level.of("", limit).expect("the configuration is valid");
        let (low, high) = (mark(config.low), mark(config.high));
        ThresholdLinear { low, high, max_delay: config.max_delay }
    }

    /// Returns when an ACK that is held since `since` may go, as the queue is now.
    pub(super) fn due(&self, now: Time, since: Time, forward: &mut Link) -> Time {
        since.saturating_add(self.delay(self.low.measure(forward.waiting(now))))
    }

    /// Returns the delay at a length of the queue, which is in thousandths.
    fn delay(&self, milli: u64) -> Span {
        let (low, high) = (self.low.milli, self.high.milli);
        let above = milli.clamp(low, high) - low;
        let picos = self.max_delay.as_picos() as u128 * above as u128 / (high - low) as u128;
        Span::from_picos(picos as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::{QueueConfig, QueueLimit};
    use anabranch_units::{Bytes, Rate};
    use proptest::prelude::*;

    fn forward(limit: QueueLimit) -> LinkConfig {
        let queue = QueueConfig::DropTail { limit };
        LinkConfig { queue, ..LinkConfig::new(Rate::mbit(10), Span::ZERO) }
    }

    fn law(low: Level, high: Level, limit: QueueLimit) -> ThresholdLinear {
        let config = ThresholdLinearConfig { low, high, max_delay: Span::from_millis(60) };
        assert_eq!(config.validate(&forward(limit)), Ok(()));
        ThresholdLinear::new(&config, &forward(limit))
    }

    #[test]
    fn the_delay_is_zero_then_grows_to_the_maximum() {
        // Shares of 10 packets: from 2 to 8 packets, 10 ms a packet.
        let found = law(Level::Share(0.2), Level::Share(0.8), QueueLimit::Packets(10));
        let delays = [0, 2, 3, 5, 8, 10].map(|n| found.delay(n * 1000).as_millis());
        assert_eq!(delays, [0, 0, 10, 30, 60, 60]);
        // The same in octets, without a limit.
        let octets = |n| Level::Octets(Bytes(n));
        let subject = law(octets(3000), octets(12_000), QueueLimit::Unlimited);
        let delays = [0, 3000, 4500, 7500, 20_000].map(|n| subject.delay(n * 1000).as_millis());
        assert_eq!(delays, [0, 0, 10, 30, 60]);
        // Shares of a buffer of one packet still differ.
        let law = law(Level::Share(0.2), Level::Share(0.8), QueueLimit::Packets(1));
        assert_eq!([0, 1000].map(|n| law.delay(n).as_millis()), [0, 60]);
    }

    #[test]
    fn thresholds_that_make_no_sense_are_named() {
        let said = |low, high, limit| {
            let config = ThresholdLinearConfig { low, high, ..ThresholdLinearConfig::default() };
            config.validate(&forward(limit)).unwrap_err().to_string()
        };
        let packets = QueueLimit::Packets(100);
        for (low, high, limit, expected) in [
            (
                Level::Share(0.8),
                Level::Share(0.2),
                packets,
                "low is 0.8; allowed: less than `high`, which is 0.2",
            ),
            (
                Level::Packets(50),
                Level::Share(0.2),
                packets,
                "low is 50 packets; allowed: less than `high`, which is 0.2",
            ),
            (
                Level::Share(0.2),
                Level::Share(0.8),
                QueueLimit::Unlimited,
                "low is 0.2; allowed: packets or octets; a queue without a limit has no shares",
            ),
            (
                Level::Share(0.2),
                Level::Share(1.5),
                packets,
                "high is 1.5; allowed: a share of the queue, from 0 to 1",
            ),
            (
                Level::Packets(2),
                Level::Octets(Bytes(9000)),
                packets,
                "high is 9000 B; allowed: an amount in the unit of `low` (a share has the unit of \
                 `queue.limit`)",
            ),
            (
                Level::Packets(100),
                Level::Packets(200),
                packets,
                "low is 100 packets; allowed: less than `queue.limit`, or nothing is ever held",
            ),
        ] {
            assert_eq!(said(low, high, limit), expected);
        }
        let config =
            ThresholdLinearConfig { max_delay: Span::ZERO, ..ThresholdLinearConfig::default() };
        assert!(config.validate(&forward(packets)).unwrap_err().to_string().contains("max_delay"));
    }

    proptest! {
        #[test]
        fn a_longer_queue_never_means_a_shorter_delay(
            a in 0_u64..2_000_000, b in 0_u64..2_000_000, low in 0.0_f64..0.5, high in 0.5_f64..1.0,
        ) {
            let limit = QueueLimit::Packets(1000);
            let law_under_test = law(Level::Share(low), Level::Share(high + 0.001_f64.min(1.0 - high)), limit);
            let (a, b) = (a.min(b), a.max(b));
            prop_assert!(law_under_test.delay(a) <= law_under_test.delay(b));
            prop_assert!(law_under_test.delay(b) <= Span::from_millis(60));
        }
    }
}
