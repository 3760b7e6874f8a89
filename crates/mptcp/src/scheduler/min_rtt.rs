//! The default of the out-of-tree Linux: of the subflows whose congestion window has room, the
//! one with the lowest smoothed round-trip time (Raiciu et al., "How Hard Can It
//! Be? Designing and Implementing a Deployable Multipath TCP", NSDI 2012).

use super::{Candidate, Choice, Scheduler, Stream, fastest};

/// The scheduler that takes the subflow of the lowest smoothed round-trip time with room.
#[derive(Clone, Copy, Debug)]
pub struct MinRtt;

impl Scheduler for MinRtt {
    fn choose(&mut self, candidates: &[Candidate], _stream: &Stream) -> Choice {
        match fastest(candidates.iter().filter(|candidate| candidate.has_room)) {
            Some(candidate) => Choice::New(candidate.id),
            None => Choice::Wait,
        }
    }

    fn needs_room(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{candidate, full, stream};
    use super::*;

    #[test]
    fn the_fastest_with_room_carries_it() {
        let mut s = MinRtt;
        let choose = |s: &mut MinRtt, all: &[Candidate]| s.choose(all, &stream(5000));
        assert_eq!(choose(&mut s, &[candidate(0, 30), candidate(1, 10)]), Choice::New(1));
        assert_eq!(choose(&mut s, &[candidate(0, 30), full(1, 10)]), Choice::New(0));
        assert_eq!(choose(&mut s, &[candidate(0, 10), candidate(1, 10)]), Choice::New(0));
    }
}
