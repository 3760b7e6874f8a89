//! Pending events of few, busy sources: a tournament tree. Every source has a
//! fixed leaf and every inner node the least key below it, so that a change is
//! one walk to the root without an index to keep. Costs 19 octets for each
//! source, pending or not; for many sources that are mostly idle there is
//! [`EventQueue`](crate::EventQueue).
//!
//! A key is one word: the date, counted from a base that moves with time, and
//! the source. A date too far from the base to fit has the key [`FAR`] until
//! nothing nearer is pending; then the base moves. Dates are kept beside.

use anabranch_units::Time;

/// Dates of sources; order is (time, source).
#[derive(Debug)]
pub struct Tournament {
    /// The key of the first event.
    first: u64,
    /// Groups of siblings. The children of the root are group 0; those of the
    /// node at place p, counted through all groups, are group p + 1.
    groups: Vec<[u64; ARITY]>,
    /// The place of source 0; those of the others follow.
    leaves: usize,
    /// Date of each source; [`Time::NEVER`] when it is not pending.
    dates: Vec<Time>,
    /// Time from which keys count; no date is earlier.
    base: Time,
    /// Low bits of a key that hold the source.
    source_bits: u32,
}

/// Four siblings are compared without waiting for each other; with two, the
/// walk is a chain twice as long, with eight it compares more.
const ARITY: usize = 4;
/// Key of a source that is not pending.
const IDLE: u64 = u64::MAX;
/// Pending, and later than every key that is less.
const FAR: u64 = u64::MAX - 1;

impl Tournament {
    /// No events, for sources 0 to `sources` - 1.
    pub fn new(sources: usize) -> Tournament {
        let inner = sources.saturating_sub(1).div_ceil(ARITY - 1).max(1);
        Tournament {
            first: IDLE,
            groups: vec![[IDLE; ARITY]; inner],
            leaves: inner - 1,
            dates: vec![Time::NEVER; sources],
            base: Time::ZERO,
            // One number more, so that no date has the key IDLE or FAR.
            source_bits: usize::BITS - (sources + 1).leading_zeros(),
        }
    }

    /// The first event: its date, [`Time::NEVER`] when there is none, and its
    /// source.
    #[inline]
    pub fn peek(&self) -> (Time, u32) {
        let source = self.first & ((1 << self.source_bits) - 1);
        (self.dates.get(source as usize).copied().unwrap_or(Time::NEVER), source as u32)
    }

    /// Returns when `source` is due; [`Time::NEVER`] when it is not pending.
    pub fn date(&self, source: u32) -> Time {
        self.dates[source as usize]
    }

    /// Sets the date of `source`; [`Time::NEVER`] removes it.
    #[inline]
    pub fn set(&mut self, source: u32, at: Time) {
        self.dates[source as usize] = at;
        if at < self.base {
            return self.rebase();
        }
        let key = self.key(source, at);
        self.put(source, key);
        if self.first == FAR {
            self.rebase();
        }
    }

    #[inline]
    fn key(&self, source: u32, at: Time) -> u64 {
        let offset = (at - self.base).as_picos();
        let key = offset << self.source_bits | source as u64;
        let far = if at == Time::NEVER { IDLE } else { FAR };
        if offset >> (64 - self.source_bits) == 0 { key } else { far }
    }

    /// Walks to the root. The siblings' least is known before the walk comes
    /// by, so that each level adds one comparison to the chain, and no branch
    /// that depends on a key.
    #[inline]
    fn put(&mut self, source: u32, key: u64) {
        let mut place = self.leaves + source as usize;
        let mut least = key;
        loop {
            let above = place / ARITY;
            let group = &mut self.groups[above];
            let slot = place % ARITY;
            let others = (1..ARITY).map(|i| group[slot ^ i]).fold(IDLE, u64::min);
            group[slot] = least;
            least = least.min(others);
            if above == 0 {
                break;
            }
            place = above - 1;
        }
        self.first = least;
    }

    /// Counts from the first date.
    #[cold]
    fn rebase(&mut self) {
        self.base = self.dates.iter().copied().min().unwrap_or(Time::ZERO);
        for source in 0..self.dates.len() as u32 {
            let key = self.key(source, self.date(source));
            self.put(source, key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Steps of a set of sources, with what the first event must be.
    fn follows_a_naive_model(n: u32, steps: Vec<(u32, Option<u64>)>) {
        let mut tree = Tournament::new(n as usize);
        let mut model = vec![Time::NEVER; n as usize];
        for (source, at) in steps {
            let (source, at) = (source % n, at.map_or(Time::NEVER, Time::from_picos));
            tree.set(source, at);
            model[source as usize] = at;
            let first = (0..n).map(|source| (model[source as usize], source)).min();
            let (date, winner) = first.unwrap();
            assert_eq!(tree.peek().0, date);
            if date != Time::NEVER {
                assert_eq!(tree.peek().1, winner);
            }
            assert_eq!(tree.date(source), at);
        }
    }

    #[test]
    fn nothing_is_pending_at_first() {
        for sources in [0, 1, 2, 3, 4, 5, 16, 17, 400] {
            assert_eq!(Tournament::new(sources).peek().0, Time::NEVER);
        }
    }

    #[test]
    fn dates_beyond_the_range_of_keys_keep_their_order() {
        let last = u64::MAX - 1;
        let month = 30 * 86_400 * 1_000_000_000_000;
        let far = [(2, last), (1, last - 1), (0, last), (3, month), (3, 2 * month)];
        let near = [(3, 7), (3, last), (1, last), (2, month), (1, month - 1), (0, 0)];
        let steps = far.into_iter().chain(near).map(|(source, at)| (source, Some(at)));
        follows_a_naive_model(4, steps.chain([(0, None), (1, None), (2, None)]).collect());
    }

    proptest! {
        #[test]
        fn agrees_with_a_naive_model(
            n in 1_u32..100,
            steps in prop::collection::vec((0_u32..100, prop::option::of(0_u64..50)), 1..200),
        ) {
            follows_a_naive_model(n, steps);
        }

        /// Dates of every magnitude, so that keys run out of range both ways.
        #[test]
        fn agrees_at_every_magnitude(
            n in 1_u32..100,
            steps in prop::collection::vec(
                (0_u32..100, prop::option::of((0_u64..u64::MAX, 0_u32..64).prop_map(|(n, s)| n >> s))),
                1..200,
            ),
        ) {
            follows_a_naive_model(n, steps);
        }
    }
}
