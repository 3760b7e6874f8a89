//! The rate-based rule: the highest rung that a part of the estimated throughput carries. The
//! estimate is the harmonic mean over the last segments, and the part 0.85, as in FESTIVE (Jiang,
//! Sekar and Zhang, CoNEXT 2012, §4), of which the gradual switching and the random scheduling are
//! left out.

use super::{Rule, Situation};
use anabranch_units::Span;
use std::collections::VecDeque;

/// The rule that selects the rung by the estimated throughput.
#[derive(Clone, PartialEq, Debug)]
pub struct RateBased {
    safety: f64,
    window: usize,
    /// Seconds per bit of the last segments.
    pace: VecDeque<f64>,
}

impl RateBased {
    /// Over so many segments, of which a part of the throughput is used.
    pub fn new(safety: f64, window: usize) -> RateBased {
        RateBased { safety, window: window.max(1), pace: VecDeque::new() }
    }
}

impl Rule for RateBased {
    fn select(&mut self, at: &Situation<'_>) -> usize {
        let sum: f64 = self.pace.iter().sum();
        if sum <= 0.0 {
            return 0;
        }
        let estimate = self.safety * self.pace.len() as f64 / sum;
        at.ladder.iter().rposition(|rate| rate.as_bps() as f64 <= estimate).unwrap_or(0)
    }

    fn on_segment(&mut self, octets: u64, took: Span) {
        if self.pace.len() == self.window {
            self.pace.pop_front();
        }
        self.pace.push_back(took.as_secs_f64() / (octets as f64 * 8.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_units::Rate;

    fn select(rule: &mut RateBased) -> usize {
        let ladder: Vec<_> = (1..=5).map(Rate::mbit).collect();
        rule.select(&Situation { ladder: &ladder, buffered: Span::ZERO, last: None })
    }

    #[test]
    fn the_estimate_is_a_harmonic_mean_with_a_margin() {
        let mut rule = RateBased::new(0.85, 2);
        assert_eq!(select(&mut rule), 0, "nothing is known at first");
        let mut load = |mbit: u64| {
            rule.on_segment(mbit * 125_000, Span::from_secs(1));
            select(&mut rule)
        };
        assert_eq!(load(4), 2, "85 % of 4 Mbit/s");
        assert_eq!(load(2), 1, "85 % of 2.67 Mbit/s");
        assert_eq!(load(20), 2, "of 3.64 Mbit/s: the first is forgotten");
        assert_eq!(load(20), 4);
    }
}
