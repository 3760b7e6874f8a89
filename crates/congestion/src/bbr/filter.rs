//! The largest of what was seen in the last rounds.

/// `BBRBtlBwFilterLen`, rounds.
const ROUNDS: usize = 10;

/// `MaxFilter` is a maximum over the last ten rounds, the current one included: a value for each
/// round.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MaxFilter {
    values: [f64; ROUNDS],
    round: u64,
    max: f64,
}

impl MaxFilter {
    /// Returns the maximum; 0 when nothing was seen. Stays what it was while nothing is.
    pub(super) fn max(&self) -> f64 {
        self.max
    }

    /// Returns the maximum of the current round and the one before.
    pub(super) fn lately(&self) -> f64 {
        let slot = |round: u64| self.values[(round % ROUNDS as u64) as usize];
        slot(self.round).max(self.round.checked_sub(1).map_or(0.0, slot))
    }

    /// `value` was seen in `round`, which never decreases.
    pub(super) fn update(&mut self, value: f64, round: u64) {
        let slot = |round: u64| (round % ROUNDS as u64) as usize;
        if round > self.round {
            let passed = (round - self.round).min(ROUNDS as u64);
            for gone in 0..passed {
                self.values[slot(round - gone)] = 0.0;
            }
            self.round = round;
            self.values[slot(round)] = value;
            self.max = self.values.iter().copied().fold(0.0, f64::max);
        } else {
            let now = &mut self.values[slot(round)];
            *now = now.max(value);
            self.max = self.max.max(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_counts_for_ten_rounds() {
        let mut filter = MaxFilter::default();
        filter.update(9.0, 3);
        for round in 4..13 {
            filter.update(round as f64 / 10.0, round);
            assert_eq!(filter.max(), 9.0, "round {round}");
        }
        filter.update(0.1, 13);
        assert_eq!(filter.max(), 1.2);
        filter.update(0.1, 40);
        assert_eq!(filter.max(), 0.1);
    }

    #[test]
    fn it_is_the_maximum_of_a_plain_list() {
        let mut filter = MaxFilter::default();
        let mut seen = Vec::new();
        let (mut x, mut round) = (1_u64, 0);
        for _ in 0..2000 {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            round += (x >> 60) / 6;
            let value = (x >> 40) as f64;
            filter.update(value, round);
            seen.push((round, value));
            let last = seen.iter().filter(|(at, _)| at + 10 > round);
            assert_eq!(filter.max(), last.map(|(_, value)| *value).fold(0.0, f64::max));
        }
    }
}
