//! Pending events of few, busy sources: a tournament tree. Every source has a
//! fixed leaf and every inner node the least key below it, so that a change is
//! one walk to the root without a branch to guess and without an index to
//! keep. Costs 32 octets for each source, pending or not; for many sources
//! that are mostly idle there is [`EventQueue`](crate::EventQueue).

use anabranch_units::Time;

/// Dates of sources; order is (time, source).
#[derive(Debug)]
pub struct Tournament {
    /// The root is 1, the children of i are 2 i and 2 i + 1.
    tree: Vec<u128>,
    leaves: usize,
}

fn key(at: Time, source: u32) -> u128 {
    (at.as_picos() as u128) << 64 | source as u128
}

fn date(key: u128) -> Time {
    Time::from_picos((key >> 64) as u64)
}

impl Tournament {
    /// No events, for sources 0 to `sources` - 1.
    pub fn new(sources: usize) -> Tournament {
        let leaves = sources.next_power_of_two();
        Tournament { tree: vec![key(Time::NEVER, u32::MAX); leaves * 2], leaves }
    }

    /// The first event: its date, [`Time::NEVER`] when there is none, and its
    /// source.
    #[inline]
    pub fn peek(&self) -> (Time, u32) {
        let first = self.tree[1];
        (date(first), first as u32)
    }

    /// When `source` is due; [`Time::NEVER`] when it is not pending.
    pub fn date(&self, source: u32) -> Time {
        date(self.tree[self.leaves + source as usize])
    }

    /// Sets the date of `source`; [`Time::NEVER`] removes it.
    #[inline]
    pub fn set(&mut self, source: u32, at: Time) {
        let mut place = self.leaves + source as usize;
        let mut least = key(at, source);
        self.tree[place] = least;
        while place > 1 {
            least = least.min(self.tree[place ^ 1]);
            place >>= 1;
            self.tree[place] = least;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_a_naive_model(
            n in 1_u32..40,
            steps in prop::collection::vec((0_u32..40, prop::option::of(0_u64..50)), 1..200),
        ) {
            let mut tree = Tournament::new(n as usize);
            let mut model = vec![Time::NEVER; n as usize];
            for (source, at) in steps {
                let (source, at) = (source % n, at.map_or(Time::NEVER, Time::from_picos));
                tree.set(source, at);
                model[source as usize] = at;
                let first = (0..n).map(|source| (model[source as usize], source)).min();
                let (date, winner) = first.unwrap();
                prop_assert_eq!(tree.peek().0, date);
                if date != Time::NEVER {
                    prop_assert_eq!(tree.peek().1, winner);
                }
                prop_assert_eq!(tree.date(source), at);
            }
        }
    }
}
