//! Outages that drop: what comes while the link is down is lost. For packets
//! that wait instead there is the schedule of rates.

use crate::catalogue::{ConfigError, Info};
use anabranch_units::{Span, Time};

pub(super) const INFO: Info = Info {
    name: "outage",
    summary: "what comes during given times is dropped, once or in each period",
    reference: "link-down intervals; RFC 3819 §8.5",
};

/// `OutageConfig` has the times at which the link is down.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OutageConfig {
    /// `intervals` has start and length of each outage, ascending and apart.
    pub intervals: Vec<(Span, Span)>,
    /// `period` is the time after which it starts again.
    pub period: Option<Span>,
}

impl OutageConfig {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        let mut end = Span::ZERO;
        for (at, length) in &self.intervals {
            if *at < end || *length == Span::ZERO {
                let allowed = "intervals with a length, ascending and apart";
                return Err(ConfigError::new("intervals", at, allowed));
            }
            end = *at + *length;
        }
        match self.period {
            Some(period) if period < end || period == Span::ZERO => {
                let allowed = format!("at least the end of the last interval, {end}");
                Err(ConfigError::new("period", period, allowed))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn is_down(&self, now: Time) -> bool {
        let picos = now.as_picos();
        let inside =
            Span::from_picos(self.period.map_or(picos, |period| picos % period.as_picos()));
        let before = self.intervals.partition_point(|interval| interval.0 <= inside);
        before > 0 && {
            let (at, length) = self.intervals[before - 1];
            inside < at + length
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: fn(u64) -> Span = Span::from_secs;

    #[test]
    fn intervals_are_half_open_and_repeat() {
        let outage_config =
            OutageConfig { intervals: vec![(S(2), S(1)), (S(5), S(2))], period: Some(S(10)) };
        outage_config.validate().unwrap();
        let down: Vec<_> = (0..20).filter(|s| outage_config.is_down(Time::ZERO + S(*s))).collect();
        assert_eq!(down, [2, 5, 6, 12, 15, 16]);
    }

    #[test]
    fn intervals_that_meet_or_a_short_period_are_refused() {
        let of = |intervals: Vec<_>, period| OutageConfig { intervals, period }.validate();
        assert!(of(vec![(S(2), S(2)), (S(3), S(1))], None).is_err());
        assert!(of(vec![(S(2), S(0))], None).is_err());
        assert!(of(vec![(S(2), S(2))], Some(S(3))).is_err());
    }
}
