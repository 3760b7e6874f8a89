//! Keeps which numbers have arrived, and the runs of those that have not.

/// Losses and their runs (loss periods of RFC 3357 §5.3.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Losses {
    /// Datagrams that were lost.
    pub lost: u64,
    /// Runs of one or more lost in a row.
    pub runs: u64,
    /// Length of the longest run.
    pub longest: u64,
}

/// The set of numbers that have arrived, a bit for each.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arrived {
    words: Vec<u64>,
    count: u64,
}

impl Arrived {
    /// The number has arrived, for the first time.
    pub(crate) fn set(&mut self, number: u64) {
        let word = (number / 64) as usize;
        if self.words.len() <= word {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << (number % 64);
        self.count += 1;
    }

    /// Returns how many numbers have arrived.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    fn has(&self, number: u64) -> bool {
        let word = self.words.get((number / 64) as usize);
        word.is_some_and(|word| word & 1 << (number % 64) != 0)
    }

    /// Losses among the first `sent` numbers; the last `under_way` that have not arrived may still.
    pub(crate) fn losses(&self, sent: u64, under_way: u64) -> Losses {
        let mut end = sent;
        let mut left = under_way;
        while end > 0 && left > 0 {
            end -= 1;
            left -= u64::from(!self.has(end));
        }
        let (mut losses, mut run) = (Losses::default(), 0);
        for number in 0..end {
            if self.has(number) {
                run = 0;
                continue;
            }
            run += 1;
            losses.lost += 1;
            losses.runs += u64::from(run == 1);
            losses.longest = losses.longest.max(run);
        }
        losses
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_counted_over_the_borders_of_words() {
        let mut arrived = Arrived::default();
        (0..200).filter(|n| !(60..70).contains(n) && *n != 100).for_each(|n| arrived.set(n));
        assert_eq!(arrived.losses(200, 0), Losses { lost: 11, runs: 2, longest: 10 });
        assert_eq!(arrived.losses(203, 0), Losses { lost: 14, runs: 3, longest: 10 });
        assert_eq!(arrived.losses(203, 3), Losses { lost: 11, runs: 2, longest: 10 });
        assert_eq!(Arrived::default().losses(5, 5), Losses::default());
    }
}
