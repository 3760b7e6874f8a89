//! Challenge ACKs (RFC 5961): what an attacker off the path can forge is
//! answered, and believed only when the peer's own answer confirms it. The
//! answers are limited (§7), so that they are no attack themselves.

use super::Connection;
use anabranch_units::{Span, Time};

/// The interval over which challenge ACKs are counted (RFC 5961 §7).
const INTERVAL: Span = Span::from_secs(5);

/// Challenge ACKs of the interval at hand.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Challenges {
    /// When the interval began.
    since: Time,
    sent: u32,
}

impl Connection {
    /// Answers with an ACK, unless there were too many.
    #[cold]
    pub(super) fn challenge(&mut self, now: Time) {
        let limit = self.config.challenge_acks;
        if limit > 0 {
            let count = &mut self.extras.get().challenges;
            if now.saturating_since(count.since) >= INTERVAL {
                *count = Challenges { since: now, sent: 0 };
            }
            if count.sent >= limit {
                return;
            }
            count.sent += 1;
        }
        self.receiver.ack_now = true;
    }
}
