//! Heartbeats of a path that wait for their answers: one, or several that left together.

use anabranch_units::Time;

/// The heartbeats that left together last.
#[derive(Clone, Debug, Default)]
pub(crate) struct Probes {
    /// Those without an answer: the nonce of each, and when it left.
    waiting: Vec<(u64, Time)>,
    /// One of them was answered.
    answered: bool,
}

impl Probes {
    /// None waits for its answer.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// When those that wait left.
    pub fn left(&self) -> Option<Time> {
        self.waiting.first().map(|first| first.1)
    }

    /// Another leaves; without others that wait it is the first of its kind.
    pub fn send(&mut self, nonce: u64, now: Time) {
        self.answered &= !self.waiting.is_empty();
        self.waiting.push((nonce, now));
    }

    /// The one with this nonce waits.
    pub fn has(&self, nonce: u64) -> bool {
        self.waiting.iter().any(|it| it.0 == nonce)
    }

    /// The answer to one of them; when it left, if it waits.
    pub fn answer(&mut self, nonce: u64) -> Option<Time> {
        let at = self.waiting.iter().position(|it| it.0 == nonce)?;
        self.answered = true;
        Some(self.waiting.swap_remove(at).1)
    }

    /// No more answers are expected: how many are missing, and whether any came.
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
