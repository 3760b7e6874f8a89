//! Distributions in little memory: counts in buckets whose width grows with the value, exact sum and
//! largest value beside them.

use anabranch_units::Span;
use hdrhistogram::{Counter, Histogram};

/// Mean, quantiles and maximum.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Distribution {
    /// Arithmetic mean of the values.
    pub mean: f64,
    /// Median: half of the values are at most this.
    pub p50: f64,
    /// 95 % of the values are at most this.
    pub p95: f64,
    /// 99 % of the values are at most this.
    pub p99: f64,
    /// Largest value, exactly.
    pub max: f64,
}

/// Decimal digits to which quantiles are right.
const DIGITS: u8 = 3;

fn histogram<C: Counter>() -> Histogram<C> {
    Histogram::new(DIGITS).expect("from 0 to 5 digits are possible")
}

/// Counts a value; the histogram grows to hold it.
fn record<C: Counter>(histogram: &mut Histogram<C>, value: u64, count: C) {
    histogram.record_n(value, count).expect("a histogram grows as far as 64 bits reach");
}

fn distribution<C: Counter>(of: &Histogram<C>, unit: f64, mean: f64, max: f64) -> Distribution {
    let quantile = |part| (of.value_at_quantile(part) as f64 * unit).min(max);
    let [p50, p95, p99] = [0.5, 0.95, 0.99].map(quantile);
    Distribution { mean, p50, p95, p99, max }
}

/// Times, each counted once: quantiles to 0.1 % or 100 ns.
#[derive(Clone, Debug)]
pub(crate) struct Times {
    histogram: Histogram<u32>,
    sum: f64,
    max: Span,
}

/// The unit in which the histogram counts times.
const TICK: Span = Span::from_nanos(100);

impl Times {
    pub(crate) fn new() -> Times {
        Times { histogram: histogram(), sum: 0.0, max: Span::ZERO }
    }

    pub(crate) fn add(&mut self, time: Span) {
        record(&mut self.histogram, time.as_nanos() / TICK.as_nanos(), 1);
        self.sum += time.as_secs_f64();
        self.max = self.max.max(time);
    }

    /// Seconds; `None` without any.
    pub(crate) fn distribution(&self) -> Option<Distribution> {
        let count = self.histogram.len();
        let (mean, max) = (self.sum / count as f64, self.max.as_secs_f64());
        let unit = TICK.as_secs_f64();
        (count > 0).then(|| distribution(&self.histogram, unit, mean, max))
    }
}

/// A level over time, each value weighted by how long it lasted.
#[derive(Clone, Debug)]
pub(crate) struct Level {
    histogram: Histogram<u64>,
    area: f64,
    seconds: f64,
    max: u64,
}

impl Level {
    pub(crate) fn new() -> Level {
        Level { histogram: histogram(), area: 0.0, seconds: 0.0, max: 0 }
    }

    /// It was `value` for so long.
    pub(crate) fn add(&mut self, value: u64, time: Span) {
        if time == Span::ZERO {
            return;
        }
        record(&mut self.histogram, value, time.as_nanos().max(1));
        self.area += value as f64 * time.as_secs_f64();
        self.seconds += time.as_secs_f64();
        self.max = self.max.max(value);
    }

    /// Returns the distribution of the values; `None` before any time has passed.
    pub(crate) fn distribution(&self) -> Option<Distribution> {
        let (mean, max) = (self.area / self.seconds, self.max as f64);
        (self.seconds > 0.0).then(|| distribution(&self.histogram, 1.0, mean, max))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_times_are_near_those_of_the_sorted_list() {
        let mut times = Times::new();
        assert_eq!(times.distribution(), None);
        (1..=1000).for_each(|n| times.add(Span::from_micros(n * 37)));
        let of = times.distribution().expect("there are some");
        let near = |value: f64, micros: u64| (value / (micros as f64 * 1e-6) - 1.0).abs() < 2e-3;
        assert!(near(of.mean, 37 * 500) && near(of.p50, 37 * 500), "{of:?}");
        assert!(near(of.p95, 37 * 950) && near(of.p99, 37 * 990), "{of:?}");
        assert_eq!(of.max, 0.037);
    }

    #[test]
    fn a_level_is_weighted_by_its_time() {
        let mut level = Level::new();
        assert_eq!(level.distribution(), None);
        level.add(0, Span::from_millis(940));
        level.add(10, Span::from_millis(30));
        level.add(100, Span::from_millis(30));
        level.add(999, Span::ZERO);
        let of = level.distribution().expect("time has passed");
        assert!((of.mean - 3.3).abs() < 1e-9, "{of:?}");
        assert_eq!((of.p50, of.p95, of.p99, of.max), (0.0, 10.0, 100.0, 100.0));
    }
}
