//! Decides when a segment that is not full waits for more data: Nagle's
//! algorithm (RFC 9293 §3.7.4), its variant by Minshall, and corking.
//!
//! Nagle: while anything is unacknowledged, less than a full segment waits.
//! Minshall (draft-minshall-nagle-01): only while an earlier segment that was
//! not full is unacknowledged; a sequence of large writes does not wait for the
//! ACK of the last full segment. Neither holds back a FIN, urgent data, or
//! what is sent again.

use super::Connection;
use super::extras::ExtraDue;
use crate::config::{Nagle, WindowProbe};
use crate::range_set::Range;
use crate::undo::Allowed;
use anabranch_units::{Span, Time};

/// The longest that corked data waits, as on Linux (`TCP_CORK`).
const CORK: Span = Span::from_millis(200);

/// What holds segments back.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hold {
    /// The user wants no delay (RFC 9293 §3.7.4, MUST-17).
    no_delay: bool,
    corked: bool,
    /// The user is about to write more.
    pub more: bool,
    /// The user waits for the handshake to write.
    pub writer_waits: bool,
    /// Offset up to which data leaves even while corked.
    flush_to: u64,
    /// The cork has held for long enough.
    pub cork_expired: bool,
    /// The offset after the last segment that was not full.
    small_end: u64,
    /// Time at which data left last while nothing was outstanding.
    began: Option<Time>,
}

impl Connection {
    /// Switches Nagle's algorithm off, or on again as configured
    /// (`TCP_NODELAY`). Off, what waits leaves, even while corked.
    pub fn set_no_delay(&mut self, on: bool) {
        let end = self.sender.end;
        let hold = &mut self.extras.get().hold;
        hold.no_delay = on;
        if on {
            hold.flush_to = end;
        }
    }

    /// A write waits for the handshake to end: where ACKs adapt to the user, the
    /// handshake's last leaves with what is written.
    pub fn set_writer_waiting(&mut self) {
        self.extras.get().hold.writer_waits = true;
    }

    /// Whether ACKs leave without waiting for data to carry them, where that
    /// adapts (`TCP_QUICKACK`); without effect elsewhere.
    pub fn set_quick_acks(&mut self, on: bool) {
        let owed = on && self.receiver.owes_ack() && self.receiver.readable() == 0;
        if let Some(timing) = &mut self.receiver.timing {
            timing.set_interactive(!on);
            self.receiver.ack_now |= owed;
        }
    }

    /// The user is about to write more (`MSG_MORE`): less than a full segment
    /// waits for it, for the next ACK, or for 200 ms.
    pub fn set_more_coming(&mut self, on: bool) {
        if !on && self.extras.some().is_none() {
            return;
        }
        let extras = self.extras.get();
        if on && !extras.hold.more && !extras.hold.corked {
            extras.hold.cork_expired = false;
            extras.timers[ExtraDue::Cork as usize].stop();
        }
        extras.hold.more = on;
    }

    /// While corked, only full segments leave; what else there is leaves when
    /// uncorked, at the end of the stream, or after 200 ms (`TCP_CORK`).
    pub fn set_corked(&mut self, on: bool) {
        let extras = self.extras.get();
        extras.hold.corked = on;
        extras.hold.cork_expired = false;
        extras.timers[ExtraDue::Cork as usize].stop();
    }

    /// A segment that is not full, at the end of what the user gave, waits; but not what F-RTO lets leave out of turn,
    /// without which nothing would (RFC 5682 §2.1, step 2b; Linux has Nagle's algorithm off there).
    #[inline(never)]
    pub(super) fn holds_back(&mut self, now: Time, range: Range) -> bool {
        let s = &self.sender;
        let last = range.end == s.end && range.start >= s.max && !self.writing.is_closed();
        let frto = s.watch.undo.as_ref().map(|undo| undo.allowed());
        let is_out_of_turn = frto == Some(Allowed::NewSegment);
        if !last || is_out_of_turn || self.extras.urgent_end() > range.start {
            return false;
        }
        let (flight, una) = (s.flight(), s.una);
        let nagle = self.config.nagle;
        // Where windows are probed as on Linux what is corked waits for that timer, which runs while
        // nothing is in flight.
        let wait = match self.config.window_probe {
            WindowProbe::Octet => Some(CORK),
            WindowProbe::Empty => (flight == 0).then(|| s.rtt.rto().max(CORK)),
        };
        let Some(extras) = self.extras.some() else { return nagle == Nagle::Rfc && flight > 0 };
        let hold = &mut extras.hold;
        if range.end <= hold.flush_to {
            return false;
        }
        let held = hold.corked || hold.more;
        if held && !std::mem::take(&mut hold.cork_expired) {
            let timer = &mut extras.timers[ExtraDue::Cork as usize];
            match wait {
                Some(wait) if !timer.is_armed() => timer.set(now + wait),
                Some(_) => {}
                None => timer.stop(),
            }
            return true;
        }
        match nagle {
            _ if hold.no_delay => false,
            Nagle::Off => false,
            Nagle::Rfc => flight > 0 && hold.began != Some(now),
            Nagle::Minshall => hold.small_end > una,
        }
    }

    /// Data leaves while nothing is outstanding: where that is the stack's habit, what else there is
    /// leaves with it.
    pub(super) fn on_burst_begins(&mut self, now: Time) {
        if self.config.manners.idle_sends_all {
            self.extras.get().hold.began = Some(now);
        }
    }

    /// A segment that was not full left.
    pub(super) fn on_small_sent(&mut self, end: u64) {
        if self.config.nagle == Nagle::Minshall {
            self.extras.get().hold.small_end = end;
        }
    }
}
