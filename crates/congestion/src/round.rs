//! Counting round trips by what was sent and acknowledged.

use crate::PathView;

/// A round begins with the first ACK beyond what had been sent when the last
/// one began: by then everything that the round before let leave is counted in
/// `sent` (RFC 8257 §3.3: "if the acknowledged sequence number is less than or
/// equal to WindowEnd, stop"; RFC 9406 §4.2 has the same variable).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Round {
    end: u64,
}

impl Round {
    /// Returns whether this acknowledgment begins a round; the first one does.
    pub(crate) fn begins(&mut self, path: &PathView) -> bool {
        let begins = path.acked > self.end;
        if begins {
            self.end = path.sent;
        }
        begins
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::path;

    #[test]
    fn a_round_is_a_flight() {
        let mut round = Round::default();
        let begins: Vec<_> = [(10, 1), (11, 10), (20, 11), (20, 20), (30, 21)]
            .map(|(sent, acked)| round.begins(&PathView { sent, acked, ..path(1) }))
            .into();
        assert_eq!(begins, [true, false, true, false, true]);
    }
}
