//! The least of the round-trip times of late: RFC 8985 §6.2 step 1.
//!
//! Three samples are kept, each the least of those that came after the one before it; the least of all
//! goes when its time is over, and the next takes its place. So the least of the last [`WINDOW`] is
//! known up to a quarter of it, whatever the number of samples.

use anabranch_units::{Span, Time};

/// Age up to which a round trip counts as one of late, as in Linux (`tcp_min_rtt_wlen`); the RFC
/// leaves it open.
const WINDOW: Span = Span::from_secs(300);

/// A `RecentMin` knows the least round trip of the last [`WINDOW`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RecentMin {
    /// `kept` are dates and samples, the least first, in the order of their dates.
    kept: [Option<(Time, Span)>; 3],
}

impl RecentMin {
    /// Returns the least round trip of late; `None` before the first.
    #[inline]
    pub fn get(&self) -> Option<Span> {
        self.kept[0].map(|(_, rtt)| rtt)
    }

    /// A round trip was measured.
    #[inline]
    pub fn on_sample(&mut self, now: Time, rtt: Span) {
        let sample = Some((now, rtt));
        let is_least_since =
            |kept: Option<(Time, Span)>| kept.is_none_or(|(_, least)| rtt <= least);
        if is_least_since(self.kept[0]) {
            self.kept = [sample; 3];
            return;
        }
        if is_least_since(self.kept[1]) {
            self.kept[1] = sample;
            self.kept[2] = sample;
        } else if is_least_since(self.kept[2]) {
            self.kept[2] = sample;
        }
        self.let_go(now, rtt);
    }

    /// What is too old goes, and while the least is one, later parts of the window get a sample of
    /// their own.
    fn let_go(&mut self, now: Time, rtt: Span) {
        let age = |kept: Option<(Time, Span)>| kept.map_or(Span::ZERO, |(at, _)| now - at);
        let sample = Some((now, rtt));
        while age(self.kept[0]) > WINDOW {
            self.kept = [self.kept[1], self.kept[2], sample];
        }
        let same = |a: usize, b: usize| self.kept[a] == self.kept[b];
        if same(1, 0) && age(self.kept[0]) > WINDOW / 4 {
            self.kept[1] = sample;
            self.kept[2] = sample;
        } else if same(2, 1) && age(self.kept[0]) > WINDOW / 2 {
            self.kept[2] = sample;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(s: u64) -> Time {
        Time::ZERO + Span::from_secs(s)
    }

    fn ms(ms: u64) -> Span {
        Span::from_millis(ms)
    }

    /// A path becomes longer at 100 s: the least follows once no sample of before counts.
    #[test]
    fn the_least_follows_a_path_that_has_become_longer() {
        let mut min = RecentMin::default();
        assert_eq!(min.get(), None);
        let mut seen = Vec::new();
        for s in 0..600 {
            min.on_sample(at(s), ms(if s < 100 { 20 } else { 90 }));
            if seen.last().is_none_or(|(_, rtt)| Some(*rtt) != min.get()) {
                seen.push((s, min.get().unwrap()));
            }
        }
        let (since, rtt) = seen[1];
        assert_eq!((seen.len(), rtt), (2, ms(90)));
        assert!((375..=401).contains(&since), "{since} s");
        min.on_sample(at(600), ms(10));
        assert_eq!(min.get(), Some(ms(10)));
    }

    proptest! {
        /// Never less than the least of the window, never more than that of its last quarter.
        #[test]
        fn it_lies_between_the_window_and_a_part_of_it(
            samples in prop::collection::vec((1..40_u64, 1..200_u64), 1..200),
        ) {
            let mut min = RecentMin::default();
            let (mut now, mut all) = (0, Vec::new());
            for (gap, rtt) in samples {
                now += gap;
                all.push((now, ms(rtt)));
                min.on_sample(at(now), ms(rtt));
                let least = |window: u64| {
                    let of_late = all.iter().filter(|(s, _)| now - s <= window);
                    of_late.map(|(_, rtt)| *rtt).min().unwrap()
                };
                let kept = min.get().unwrap();
                prop_assert!(least(300) <= kept && kept <= least(75), "{kept:?} at {now} s");
            }
        }
    }
}
