//! The heartbeats of a path that wait for their answers are kept here: one, or several that left
//! together.

use anabranch_units::Time;

/// `Probes` are the heartbeats that left together last.
#[derive(Clone, Debug, Default)]
pub(crate) struct Probes {
    /// `waiting` has those without an answer: the nonce of each, and the date at which it left.
    waiting: Vec<(u64, Time)>,
    /// `answered` says that one of them was answered.
    answered: bool,
}

impl Probes {
    /// Returns whether none waits for its answer.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Returns the date at which those that wait left; `None` when none waits.
    pub fn left(&self) -> Option<Time> {
        self.waiting.first().map(|first| first.1)
    }

    /// Notes that another leaves; without others that wait it begins a new group.
    pub fn send(&mut self, nonce: u64, now: Time) {
        self.answered &= !self.waiting.is_empty();
        self.waiting.push((nonce, now));
    }

    /// Returns whether the one with this nonce waits.
    pub fn has(&self, nonce: u64) -> bool {
        self.waiting.iter().any(|(known, _)| *known == nonce)
    }

    /// Takes the answer to one of them. Returns the date at which that left; `None` when it does
    /// not wait.
    pub fn answer(&mut self, nonce: u64) -> Option<Time> {
        let at = self.waiting.iter().position(|(known, _)| *known == nonce)?;
        self.answered = true;
        Some(self.waiting.swap_remove(at).1)
    }

    /// Ends the wait for answers. Returns how many are missing, and whether any came.
    pub fn give_up(&mut self) -> (u32, bool) {
        let missing = std::mem::take(&mut self.waiting).len() as u32;
        (missing, std::mem::take(&mut self.answered))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_units::Span;

    #[test]
    fn those_that_left_together_are_counted_together() {
        let (first, then) = (Time::ZERO, Time::ZERO + Span::from_secs(1));
        let mut probes = Probes::default();
        for nonce in [7, 8, 9] {
            probes.send(nonce, first);
        }
        assert_eq!(probes.answer(8), Some(first));
        assert_eq!(probes.answer(8), None, "a copy of the answer");
        assert_eq!(probes.answer(5), None, "never sent");
        assert!(probes.has(9) && !probes.has(8));
        assert_eq!(probes.give_up(), (2, true));
        assert!(probes.is_empty());
        // The next has no part in that answer.
        probes.send(10, then);
        assert_eq!(probes.give_up(), (1, false));
        // Nor has one that follows when all were answered.
        probes.send(11, then);
        assert_eq!(probes.answer(11), Some(then));
        probes.send(12, then);
        assert_eq!(probes.give_up(), (1, false));
    }
}
