//! Measures how late packets leave: a histogram with a relative error below
//! 1/32.

use crate::clock::Clock;
use anabranch_units::{Span, Time};

/// Times in nanoseconds, counted in buckets whose width is at most 1/32 of
/// their value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lateness {
    counts: Vec<u64>,
    total: u64,
    max: u64,
}

/// The clock is read once for so many packets that leave together: reading it
/// takes a fiftieth of the time that writing one does.
const TOGETHER: usize = 8;

/// Binary digits of the number of buckets in a doubling.
const FINE: u32 = 5;

impl Default for Lateness {
    fn default() -> Lateness {
        Lateness { counts: vec![0; bucket(u64::MAX) + 1], total: 0, max: 0 }
    }
}

fn bucket(nanos: u64) -> usize {
    let log = nanos.checked_ilog2().unwrap_or(0);
    match log.checked_sub(FINE) {
        None => nanos as usize,
        Some(shift) => ((shift as usize + 1) << FINE) + (nanos >> shift) as usize - (1 << FINE),
    }
}

/// The largest value of a bucket.
fn upper(bucket: usize) -> u64 {
    let (doubling, rest) = (bucket >> FINE, (bucket & ((1 << FINE) - 1)) as u64);
    match doubling.checked_sub(1) {
        None => rest,
        Some(shift) => (((1 << FINE) + rest + 1) << shift).wrapping_sub(1),
    }
}

impl Lateness {
    /// A packet was late by this much.
    pub fn record(&mut self, late: Span) {
        let nanos = late.as_picos() / 1000;
        self.counts[bucket(nanos)] += 1;
        self.total += 1;
        self.max = self.max.max(nanos);
    }

    /// Those of both together.
    #[must_use]
    pub(crate) fn joined(mut self, other: &Lateness) -> Lateness {
        self.counts.iter_mut().zip(&other.counts).for_each(|(own, theirs)| *own += theirs);
        self.total += other.total;
        self.max = self.max.max(other.max);
        self
    }

    /// Returns how many packets were recorded.
    pub fn count(&self) -> u64 {
        self.total
    }

    /// Returns the largest lateness.
    pub fn max(&self) -> Span {
        Span::from_nanos(self.max)
    }

    /// What a fraction `q` of the packets did not exceed, from above, to the
    /// width of a bucket; zero when there were none.
    pub fn quantile(&self, q: f64) -> Span {
        let rank = (q * self.total as f64).max(1.0);
        let mut seen = 0;
        for (bucket, count) in self.counts.iter().enumerate() {
            seen += count;
            if *count > 0 && seen as f64 >= rank {
                return Span::from_nanos(upper(bucket).min(self.max));
            }
        }
        Span::ZERO
    }
}

/// How late packets left, of each port by its number.
#[derive(Debug)]
pub(crate) struct Departures {
    pub of_port: Vec<Lateness>,
    /// Due times and ports of packets that have left since the clock was read.
    unread: Vec<(Time, usize)>,
}

impl Departures {
    /// Nothing has left through any of so many ports.
    pub fn new(ports: usize) -> Departures {
        Departures {
            of_port: vec![Lateness::default(); ports],
            unread: Vec::with_capacity(TOGETHER),
        }
    }

    /// A packet has left through a port that was due at `due`; how late is known when `clock` is
    /// read, which is once for some.
    pub fn left(&mut self, port: usize, due: Time, clock: &Clock) {
        self.unread.push((due, port));
        if self.unread.len() == TOGETHER {
            self.read(clock);
        }
    }

    /// Those that have left are late by as much as the clock says now.
    pub fn read(&mut self, clock: &Clock) {
        if self.unread.is_empty() {
            return;
        }
        let now = clock.now();
        for (due, port) in self.unread.drain(..) {
            self.of_port[port].record(now.saturating_since(due));
        }
    }

    /// How late packets left, of all ports together.
    pub fn all(&self) -> Lateness {
        self.of_port.iter().fold(Lateness::default(), Lateness::joined)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_contiguous_and_narrow() {
        let mut last = None;
        for nanos in (0..5000).chain((5000..10_000_000).step_by(977)) {
            let index = bucket(nanos);
            assert!(last.is_none_or(|last| index >= last), "{nanos}");
            assert!(upper(index) >= nanos && (upper(index) - nanos) as f64 <= nanos as f64 / 32.0);
            last = Some(index);
        }
        assert_eq!(upper(bucket(u64::MAX)), u64::MAX);
    }

    #[test]
    fn quantiles_are_those_of_the_sorted_list() {
        let mut lateness = Lateness::default();
        assert_eq!(lateness.quantile(0.5), Span::ZERO);
        for us in 1..=1000 {
            lateness.record(Span::from_micros(us));
        }
        for (q, us) in [(0.0, 1), (0.5, 500), (0.99, 990), (0.999, 999), (1.0, 1000)] {
            let found = lateness.quantile(q).as_secs_f64() * 1e6;
            assert!((found - us as f64).abs() <= us as f64 / 32.0, "{q}: {found}");
        }
        assert_eq!(lateness.max(), Span::from_micros(1000));
        assert_eq!(lateness.quantile(1.0), lateness.max());
        // Recorded apart and joined they are the same.
        let [mut even, mut odd] = [Lateness::default(), Lateness::default()];
        for us in 1..=1000 {
            let half = if us % 2 == 0 { &mut even } else { &mut odd };
            half.record(Span::from_micros(us));
        }
        assert_eq!(even.joined(&odd), lateness);
    }
}
