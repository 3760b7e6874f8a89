//! Delivery opportunities from a trace in the form of Mahimahi (Netravali et
//! al., USENIX ATC 2015, mm-link): each line is a date in milliseconds at which
//! 1500 octets may leave. The trace starts again at its last date, so that N
//! lines that end at T ms carry N · 12,000 bits in T ms.
//!
//! As there: several small packets that wait share an opportunity, a large one
//! takes as many as it needs and leaves with the last, and what no waiting
//! packet uses is lost. An opportunity serves what came up to and at its date.
//! mm-link counts 1504 octets for packets with the 4 octets of a TUN header;
//! packets here have none.

use crate::catalogue::{ConfigError, Info};
use anabranch_units::{Rate, Span, Time};
use std::sync::Arc;

pub(super) const INFO: Info = Info {
    name: "trace",
    summary: "delivery opportunities of 1500 octets at the milliseconds of a Mahimahi trace",
    reference: "Netravali et al., USENIX ATC 2015 (mm-link)",
};

/// `OPPORTUNITY` is how many octets an opportunity takes.
const OPPORTUNITY: u32 = 1500;

/// `TraceConfig` has the delivery opportunities of a trace.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TraceConfig {
    /// `millis` has the dates of the opportunities in milliseconds, never descending. The last one
    /// is the period.
    pub millis: Arc<[u32]>,
}

impl TraceConfig {
    /// Reads the text of a trace file: one number a line. The error names the
    /// line, from 1.
    pub fn parse(text: &str) -> Result<TraceConfig, ConfigError> {
        let mut millis: Vec<u32> = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let wrong = |allowed: &str| {
                let place = format!("{line:?} in line {}", number + 1);
                ConfigError::new("trace", place, allowed)
            };
            let date = line.trim().parse();
            let date = date.map_err(|_| wrong("a whole number of milliseconds on each line"))?;
            if millis.last().is_some_and(|last| *last > date) {
                return Err(wrong("dates that do not descend"));
            }
            millis.push(date);
        }
        let trace = TraceConfig { millis: millis.into() };
        trace.validate().map(|()| trace)
    }

    /// Returns an error if the dates descend, or the last is 0.
    pub fn validate(&self) -> Result<(), ConfigError> {
        if self.millis.last().is_none_or(|last| *last == 0) {
            return Err(ConfigError::new("trace", "its last date", "more than 0 ms"));
        }
        match self.millis.is_sorted() {
            true => Ok(()),
            false => Err(ConfigError::new("trace", "its dates", "dates that do not descend")),
        }
    }
}

/// `Trace` is a line that sends at the dates of a trace.
#[derive(Debug)]
pub(crate) struct Trace {
    millis: Arc<[u32]>,
    /// `origin` is the start of the period of the opportunity now or next.
    origin: u64,
    /// `index` is the number of the opportunity now or next, within its period.
    index: usize,
    /// `left` is how many octets of that opportunity are left.
    left: u32,
}

impl Trace {
    pub(crate) fn new(config: &TraceConfig) -> Trace {
        Trace { millis: config.millis.clone(), origin: 0, index: 0, left: OPPORTUNITY }
    }

    /// Returns the date of an opportunity.
    fn date(&self, (origin, index): (u64, usize)) -> Time {
        let ms = origin.saturating_add(self.millis[index] as u64);
        Time::ZERO.saturating_add(Span::from_millis(1).saturating_mul(ms))
    }

    fn period(&self) -> u64 {
        self.millis[self.millis.len() - 1] as u64
    }

    /// Returns the opportunity after this one.
    fn after(&self, (origin, index): (u64, usize)) -> (u64, usize) {
        if index + 1 < self.millis.len() {
            (origin, index + 1)
        } else {
            (origin.saturating_add(self.period()), 0)
        }
    }

    /// The first opportunity with octets left that is not before `now`.
    fn usable(&self, now: Time) -> (u64, usize) {
        let here = (self.origin, self.index);
        let first = if self.left > 0 { here } else { self.after(here) };
        if self.date(first) >= now {
            return first;
        }
        // Rounded up: an opportunity a little before `now` has passed.
        let ms = now.as_picos().div_ceil(1_000_000_000);
        // The last line of a period is at the start of the next.
        let origin = (ms - 1) / self.period() * self.period();
        let index = self.millis.partition_point(|date| origin + (*date as u64) < ms);
        (origin, index)
    }

    /// Returns the mean rate; the last date is above zero.
    pub(crate) fn mean_rate(&self) -> Option<Rate> {
        let bits = self.millis.len() as u64 * OPPORTUNITY as u64 * 8;
        Rate::from_bps(bits * 1000 / self.period())
    }

    pub(crate) fn ready(&self, now: Time) -> Time {
        if now == Time::NEVER { now } else { self.date(self.usable(now)) }
    }

    pub(crate) fn departure(&mut self, start: Time, size: u32) -> Time {
        if start == Time::NEVER {
            return start;
        }
        let mut rest = size;
        let mut here = self.usable(start);
        if here != (self.origin, self.index) {
            self.left = OPPORTUNITY;
        }
        while rest > self.left {
            rest -= self.left;
            self.left = OPPORTUNITY;
            here = self.after(here);
        }
        self.left -= rest;
        (self.origin, self.index) = here;
        self.date(here)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn trace(millis: &[u32]) -> Trace {
        let config = TraceConfig { millis: millis.into() };
        config.validate().unwrap();
        Trace::new(&config)
    }

    fn at_us(us: u64) -> Time {
        Time::ZERO + Span::from_micros(us)
    }

    fn ms(time: Time) -> u64 {
        assert_eq!(time.as_picos() % 1_000_000_000, 0);
        time.as_millis()
    }

    #[test]
    fn a_backlog_leaves_at_the_dates_of_the_trace_and_wraps_exactly() {
        // Q5. Lines 2, 2, 5, 9: the next period starts at 9.
        let mut trace = trace(&[2, 2, 5, 9]);
        let mut start = Time::ZERO;
        let mut dates = Vec::new();
        for _ in 0..10 {
            start = trace.departure(start, 1500);
            dates.push(ms(start));
        }
        assert_eq!(dates, [2, 2, 5, 9, 11, 11, 14, 18, 20, 20]);
    }

    #[test]
    fn a_line_at_zero_is_at_the_end_of_the_period_before() {
        let mut trace = trace(&[0, 3]);
        let dates = [0; 5].map(|_| ms(trace.departure(Time::ZERO, 1500)));
        assert_eq!(dates, [0, 3, 3, 6, 6]);
    }

    #[test]
    fn small_packets_share_an_opportunity_and_large_ones_take_several() {
        let mut trace = trace(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
        let sizes = [500, 500, 500, 40, 3000, 1460, 1500];
        let dates = sizes.map(|size| ms(trace.departure(Time::ZERO, size)));
        // 500 + 500 + 500 at 1. At 2, 40 and 1460 of the 3000, whose rest
        // takes 3 and 40 octets of 4, where 1460 fit.
        assert_eq!(dates, [1, 1, 1, 2, 4, 4, 5]);
    }

    #[test]
    fn what_nobody_waits_for_is_lost() {
        let mut trace = trace(&[1, 2, 3, 10]);
        assert_eq!(ms(trace.departure(at_us(1_500), 1500)), 2);
        assert_eq!(ms(trace.departure(at_us(3_001), 100)), 10);
        assert_eq!(ms(trace.departure(at_us(10_000), 1400)), 10); // comes at its date
        assert_eq!(ms(trace.departure(at_us(10_001), 1)), 11);
        assert_eq!(ms(trace.departure(at_us(1_000_000_000_500), 1)), 1_000_000_001);
        assert_eq!(ms(trace.ready(at_us(1_000_000_004_000))), 1_000_000_010);
    }

    #[test]
    fn files_are_read_line_by_line() {
        assert_eq!(&*TraceConfig::parse("1\n1\n7\n").unwrap().millis, [1, 1, 7]);
        for (text, said) in [
            ("", "more than 0 ms"),
            ("0\n0\n", "more than 0 ms"),
            ("1\nx\n", "\"x\" in line 2"),
            ("5\n4\n", "\"4\" in line 2; allowed: dates that do not descend"),
        ] {
            let error = TraceConfig::parse(text).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }

    proptest! {
        /// A naive model: every opportunity in turn, with what waits then.
        #[test]
        fn agrees_with_opportunities_played_one_by_one(
            millis in prop::collection::vec(0_u32..20, 1..12),
            offers in prop::collection::vec((0_u64..9000, 1_u32..4000), 1..40),
        ) {
            let mut millis = millis;
            millis.sort_unstable();
            *millis.last_mut().unwrap() += 1;
            let mut line = trace(&millis);
            let (mut now, mut free) = (0, Time::ZERO);
            let mut offered = Vec::new();
            let mut departures = Vec::new();
            for (gap, size) in &offers {
                now += gap;
                free = line.departure(at_us(now).max(free), *size);
                offered.push((at_us(now), *size));
                departures.push(free);
            }
            let (mut next, mut rest, mut origin) = (0, offered[0].1, 0);
            let mut model = Vec::new();
            'trace: loop {
                for date in &millis {
                    let date = at_us((origin + *date as u64) * 1000);
                    let mut octets = OPPORTUNITY;
                    while octets > 0 && offered[next].0 <= date {
                        let taken = octets.min(rest);
                        octets -= taken;
                        rest -= taken;
                        if rest == 0 {
                            model.push(date);
                            next += 1;
                            match offered.get(next) {
                                Some(offer) => rest = offer.1,
                                None => break 'trace,
                            }
                        }
                    }
                }
                origin += *millis.last().unwrap() as u64;
            }
            prop_assert_eq!(departures, model);
        }
    }
}
