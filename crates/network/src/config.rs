//! Description of a link, and what is said when it makes no sense.

use crate::catalogue::ConfigError;
use crate::impairment::ImpairmentConfig;
use crate::queue::{QueueConfig, QueueLimit};
use crate::transmitter::{DelaySchedule, TransmitterConfig};
use anabranch_endpoint::Bounds;
use anabranch_units::{Bytes, Rate, Span};

/// `LinkConfig` describes one direction of a link.
#[derive(Clone, PartialEq, Debug)]
pub struct LinkConfig {
    /// Rate of the line, where no transmitter says otherwise.
    pub rate: Rate,
    /// Propagation delay, where `delays` says nothing else.
    pub delay: Span,
    /// Propagation delays that change with time, instead of `delay`.
    pub delays: Option<DelaySchedule>,
    /// `transmitter` is what sends at other rates than `rate` alone. `rate` remains the line's: of
    /// a shaped line, and for disciplines that ask for it.
    pub transmitter: TransmitterConfig,
    /// `mtu` is the largest packet that enters, IP header included; larger ones are dropped.
    pub mtu: Bytes,
    /// `queue` is the queue in front of the transmitter.
    pub queue: QueueConfig,
    /// `impairments` are what goes wrong, in the order in which packets meet it.
    pub impairments: Vec<ImpairmentConfig>,
}

impl LinkConfig {
    /// Makes a link of this rate and delay: MTU 1500 octets, drop-tail queue of 100 packets, no
    /// impairments.
    pub fn new(rate: Rate, delay: Span) -> LinkConfig {
        LinkConfig {
            rate,
            delay,
            delays: None,
            transmitter: TransmitterConfig::Constant,
            mtu: Bytes(1500),
            queue: QueueConfig::default(),
            impairments: Vec::new(),
        }
    }

    /// What `mtu` may be: every link carries 68 octets (RFC 791 §3.2).
    pub const MTU: Bounds<Bytes> = Bounds::of(Bytes(68), Bytes(Self::MAX_MTU));
    /// What `delay` may be, of lines of ATM too.
    pub const DELAY: Bounds<Span> = Bounds::at_most(Span::from_secs(1_000_000));

    /// Checks every field; the error names the first one that is wrong.
    pub fn validate(&self) -> Result<(), ConfigError> {
        Self::MTU.check("mtu", self.mtu)?;
        if self.rate.as_bps() < self.mtu.0 * 8 / 1_000_000 {
            return Err(ConfigError::new("rate", self.rate, "an MTU in at most 10^6 s"));
        }
        Self::DELAY.check("delay", self.delay)?;
        if let Some(delays) = &self.delays {
            delays.validate()?;
        }
        self.transmitter.validate(self.mtu)?;
        self.queue.validate()?;
        if matches!(self.transmitter, TransmitterConfig::Explicit | TransmitterConfig::Cells) {
            self.check_queue_of_explicit_rate()?;
        }
        if self.transmitter == TransmitterConfig::Cells && self.queue.shapes() {
            let allowed = "no shaper before a line of ATM, whose source asks for packets";
            return Err(ConfigError::new("queue", "with a rate of its own", allowed));
        }
        self.impairments.iter().try_for_each(ImpairmentConfig::validate)
    }

    /// Departures at an explicit rate are not known on arrival.
    fn check_queue_of_explicit_rate(&self) -> Result<(), ConfigError> {
        let allowed = "drop-tail of at least 1 packet, or a discipline that decides at the head";
        match &self.queue {
            QueueConfig::DropTail { limit } if *limit != QueueLimit::Packets(0) => Ok(()),
            QueueConfig::DropTail { .. }
            | QueueConfig::Threshold(_)
            | QueueConfig::Red(_)
            | QueueConfig::Blue(_)
            | QueueConfig::Pie(_)
            | QueueConfig::Pi2(_) => Err(ConfigError::new("queue", "at an explicit rate", allowed)),
            _ => Ok(()),
        }
    }

    /// `MAX_MTU` is the largest MTU: a link's ring keeps sizes in 24 bits.
    pub const MAX_MTU: u64 = (1 << 24) - 1;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::impairment::{ImpairmentKind, Position};

    #[test]
    fn errors_name_field_value_and_what_is_allowed() {
        let good = LinkConfig::new(Rate::mbit(10), Span::from_millis(1));
        assert_eq!(good.validate(), Ok(()));

        let small = LinkConfig { mtu: Bytes(40), ..good.clone() };
        let error = small.validate().unwrap_err();
        assert_eq!(error.to_string(), "mtu is 40 B; allowed: 68 B to 16777215 B");

        let kind = ImpairmentKind::Bernoulli { rate: 1.5 };
        let wrong = LinkConfig {
            impairments: vec![ImpairmentConfig { kind, at: Position::Ingress }],
            ..good
        };
        let error = wrong.validate().unwrap_err();
        assert_eq!(error.to_string(), "rate is 1.5; allowed: a probability, 0 to 1");
    }
}
