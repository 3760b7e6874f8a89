//! Subflows in turn, a segment each, as far as their windows have room (Paasch
//! et al., "Experimental Evaluation of Multipath TCP Schedulers", CSWS 2014;
//! one segment a turn, `num_segments` = 1 there).

use super::{Candidate, Choice, Scheduler, Stream};

/// The scheduler that takes subflows in turn, a segment each.
#[derive(Clone, Copy, Debug, Default)]
pub struct RoundRobin {
    /// The subflow that had the last turn.
    last: Option<u32>,
}

impl Scheduler for RoundRobin {
    fn choose(&mut self, candidates: &[Candidate], _stream: &Stream) -> Choice {
        let ids = || {
            candidates.iter().filter(|candidate| candidate.has_room).map(|candidate| candidate.id)
        };
        let after = ids().filter(|id| self.last.is_none_or(|last| *id > last)).min();
        let next = after.or_else(|| ids().min());
        match next {
            Some(id) => {
                self.last = next;
                Choice::New(id)
            }
            None => Choice::Wait,
        }
    }

    fn needs_room(&self) -> bool {
        true
    }

    fn on_only(&mut self, id: u32) {
        self.last = Some(id);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{candidate, full, stream};
    use super::*;

    #[test]
    fn each_has_its_turn_and_the_full_are_passed_over() {
        let mut s = RoundRobin::default();
        let all = [candidate(0, 10), candidate(2, 90), full(3, 20), candidate(5, 10)];
        let turns: Vec<_> = (0..5).map(|_| s.choose(&all, &stream(9000))).collect();
        assert_eq!(turns, [0, 2, 5, 0, 2].map(Choice::New));
    }
}
