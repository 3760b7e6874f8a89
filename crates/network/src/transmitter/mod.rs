//! Transmitters: when a packet that goes to the line at a date has left it.
//! Deterministic functions of time, one law a file.

mod constant;
mod explicit;
mod schedule;
mod token_bucket;
mod trace;

pub use schedule::{DelaySchedule, RateSchedule};
pub use token_bucket::TokenBucketConfig;
pub use trace::TraceConfig;

pub(crate) use constant::Line;
pub(crate) use explicit::Explicit;
pub(crate) use schedule::Rates;
pub(crate) use token_bucket::{Bucket, TokenBucket};
pub(crate) use trace::Trace;

use crate::catalogue::{ConfigError, Info};
use anabranch_units::{Bytes, Rate, Time};

/// `TRANSMITTERS` has the transmitters by name.
pub const TRANSMITTERS: &[Info] = &[
    Info { name: "constant", summary: "one rate", reference: "size over rate" },
    schedule::INFO,
    trace::INFO,
    token_bucket::INFO,
    explicit::INFO,
];

/// `TransmitterConfig` describes a transmitter.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum TransmitterConfig {
    /// `Constant` sends at the link's rate, always.
    #[default]
    Constant,
    /// Rates that change at given dates, zero included.
    Schedule(RateSchedule),
    /// `Trace` sends at the delivery opportunities of a trace.
    Trace(TraceConfig),
    /// `TokenBucket` sends at the link's rate, shaped by a token bucket.
    TokenBucket(TokenBucketConfig),
    /// `Explicit` sends at what a [`Channel`](crate::Channel) grants, at most at the link's rate.
    Explicit,
    /// A virtual channel's source ([`Atm`](crate::abr::Atm)), which takes packets when it can send
    /// them; the link's rate is its peak, in octets of packets.
    Cells,
}

impl TransmitterConfig {
    pub(crate) fn validate(&self, mtu: Bytes) -> Result<(), ConfigError> {
        match self {
            TransmitterConfig::Constant
            | TransmitterConfig::Explicit
            | TransmitterConfig::Cells => Ok(()),
            TransmitterConfig::Schedule(schedule) => schedule.validate(),
            TransmitterConfig::Trace(trace) => trace.validate(),
            TransmitterConfig::TokenBucket(token_bucket) => token_bucket.validate(mtu),
        }
    }

    pub(crate) fn build(&self, rate: Rate) -> Transmitter {
        match self {
            TransmitterConfig::Constant => Transmitter::Constant(Line::new(rate)),
            TransmitterConfig::Schedule(schedule) => Transmitter::Schedule(Rates::new(schedule)),
            TransmitterConfig::Trace(trace) => Transmitter::Trace(Trace::new(trace)),
            TransmitterConfig::TokenBucket(token_bucket) => {
                Transmitter::TokenBucket(TokenBucket::new(token_bucket, rate))
            }
            TransmitterConfig::Explicit | TransmitterConfig::Cells => {
                Transmitter::Explicit(Explicit::new(rate))
            }
        }
    }
}

/// A transmitter with its state, as a link holds it.
#[derive(Debug)]
pub(crate) enum Transmitter {
    Constant(Line),
    Schedule(Rates),
    Trace(Trace),
    TokenBucket(TokenBucket),
    Explicit(Explicit),
}

impl Transmitter {
    /// Returns when a packet that waits from `now` on is best chosen: the first date at which the
    /// line would send.
    pub(crate) fn ready(&self, now: Time) -> Time {
        match self {
            Transmitter::Constant(_) | Transmitter::TokenBucket(_) | Transmitter::Explicit(_) => {
                now
            }
            Transmitter::Schedule(schedule) => schedule.ready(now),
            Transmitter::Trace(trace) => trace.ready(now),
        }
    }

    /// Returns the rate at a date, `None` for zero: of a trace its mean, of a shaped line that of
    /// its bucket.
    pub(crate) fn rate_at(&self, now: Time) -> Option<Rate> {
        match self {
            Transmitter::Constant(constant) => Some(constant.rate()),
            Transmitter::Schedule(schedule) => schedule.rate_at(now),
            Transmitter::Trace(trace) => trace.mean_rate(),
            Transmitter::TokenBucket(token_bucket) => Some(token_bucket.rate()),
            Transmitter::Explicit(explicit) => Some(explicit.rate_at(now)),
        }
    }

    /// Returns when a packet of `size` octets that goes to the line at `start` has left it;
    /// [`Time::NEVER`] if it never does. Dates never decrease.
    pub(crate) fn departure(&mut self, start: Time, size: u32) -> Time {
        match self {
            Transmitter::Constant(constant) => start.saturating_add(constant.time_for(size)),
            Transmitter::Schedule(schedule) => schedule.departure(start, size),
            Transmitter::Trace(trace) => trace.departure(start, size),
            Transmitter::TokenBucket(token_bucket) => token_bucket.departure(start, size),
            Transmitter::Explicit(explicit) => explicit.departure(start, size),
        }
    }
}
