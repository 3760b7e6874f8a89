//! Challenge ACKs (RFC 5961): what an attacker off the path can forge is
//! answered, and believed only when the peer's own answer confirms it. The
//! answers are limited (§7), so that they are no attack themselves.

use super::Connection;
use anabranch_units::{Span, Time};
use anabranch_wire::{TcpFlags, TcpSegment};

/// The interval over which challenge ACKs are counted (RFC 5961 §7).
const INTERVAL: Span = Span::from_secs(5);

/// Challenge ACKs of the interval at hand.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Challenges {
    /// Start of the interval in which `sent` is counted.
    since: Time,
    sent: u32,
    /// The ACK that is due repeats no FIN.
    pub bare: bool,
}

impl Connection {
    /// Answers a segment that is not acceptable (RFC 9293 §3.10.7.4, first check; RFC 7323 §5.3 R1).
    /// What has text may be the peer's, sent again after our ACK was lost, and is always answered;
    /// SYNs (RFC 5961 §4.2) and what has none are limited, as in Linux.
    #[cold]
    pub(super) fn answer_unacceptable(&mut self, now: Time, segment: &TcpSegment) {
        let has_text = segment.seq_len() > 0 && !segment.flags.contains(TcpFlags::SYN);
        if has_text || self.may_answer(now) {
            self.receiver.ack_now = true;
            if segment.flags.contains(TcpFlags::SYN) && self.state().is_synchronized() {
                self.answer_bare();
            }
        }
    }

    /// Answers with an ACK, unless there were too many.
    #[cold]
    pub(super) fn challenge(&mut self, now: Time) {
        if self.may_answer(now) {
            self.receiver.ack_now = true;
            self.answer_bare();
        }
    }

    /// Counts an answer to what may be an attacker's, unless there were too many.
    fn may_answer(&mut self, now: Time) -> bool {
        let limit = self.config.challenge_acks;
        if limit > 0 {
            let count = &mut self.extras.get().challenges;
            if now.saturating_since(count.since) >= INTERVAL {
                *count = Challenges { since: now, sent: 0, ..*count };
            }
            if count.sent >= limit {
                return false;
            }
            count.sent += 1;
        }
        true
    }

    /// The ACK that is due answers what is out of place: where ACKs repeat the FIN, it does not.
    pub(super) fn answer_bare(&mut self) {
        if self.config.manners.repeats_fin {
            self.extras.get().challenges.bare = true;
        }
    }

    /// An ACK leaves that repeats the FIN: its offset, where it has been sent and is not
    /// acknowledged.
    pub(super) fn repeated_fin(&mut self) -> Option<u64> {
        if !self.config.manners.repeats_fin {
            return None;
        }
        let bare =
            self.extras.some().is_some_and(|inside| std::mem::take(&mut inside.challenges.bare));
        let s = &self.sender;
        let outstanding = self.writing.is_closed() && s.max == s.end && s.una < s.end;
        (outstanding && !bare).then_some(s.end - 1)
    }
}
